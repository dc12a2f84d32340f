"""The contrastive loss: among the documents of a batch, each anchor has to find its own.

Gradient caching (Gao et al. 2021) is here the recomputation of chunks: a chunk of texts is encoded without keeping what
its gradient needs, and is encoded again, with the same dropout, when the gradient of its vectors is known. A batch of
512 then takes the memory of one chunk, and its gradients stay the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from seqlab.contracts import Batch, Loss
from seqlab.distributed.gradients import gather_rows
from seqlab.distributed.rows import batch_rows
from seqlab.distributed.world import RowSpan
from seqlab.models.text_encoder import TextEncoder
from seqlab.precision import is_rounding, training_precision, unrounded
from seqlab.tasks.embed_settings import EmbedSettings
from seqlab.tasks.examples import mask_or_none, pad_rows


@dataclass(frozen=True)
class ContrastiveBatch(Batch):
    """Row b of the documents belongs to anchor b; the rows beyond are negatives."""

    anchors_BT: Tensor
    anchor_mask_BT: Tensor | None
    documents_NT: Tensor
    document_mask_NT: Tensor | None

    def document_rows(self, rows: RowSpan) -> RowSpan:
        """The documents that the process with these anchors encodes: as large a share of them."""
        documents = len(self.documents_NT)
        return RowSpan(documents * rows.first // rows.total, documents * rows.last // rows.total, documents)


def contrastive_loss(model: TextEncoder, batch: ContrastiveBatch, rows: RowSpan, settings: EmbedSettings) -> Loss:
    """What some anchors add to the loss of a batch. Each is compared with all documents: the vectors of those that
    other processes encode come from there."""
    encode = partial(_encode_rows, model, chunk=settings.cache_batch)
    anchors_BD = encode(batch.anchors_BT, batch.anchor_mask_BT, rows)
    documents_ND = encode(batch.documents_NT, batch.document_mask_NT, batch.document_rows(rows))
    if not settings.matryoshka and not settings.symmetric:
        return Loss(_sum_of_rows(contrastive_nats(anchors_BD, documents_ND, settings.scale), rows), len(rows))
    nats_B = prefix_nats(anchors_BD, documents_ND, settings.scale, settings.symmetric, settings.matryoshka)
    with torch.no_grad():
        plain = contrastive_nats(anchors_BD, documents_ND, settings.scale)[rows.slice].sum()
    return Loss(_sum_of_rows(nats_B, rows), len(rows), cross_entropy=plain)


def contrastive_nats(anchors_BD: Tensor, documents_ND: Tensor, scale: float, symmetric: bool = False) -> Tensor:
    """The loss of each anchor: the cross-entropy of finding document b of N by the cosine times `scale`.

    Documents beyond the first B are negatives of every anchor. `symmetric`: the mean with that of finding the anchor
    of each of the first B documents."""
    with unrounded(anchors_BD.device):
        scores_BN = scale * normalize(anchors_BD, dim=1) @ normalize(documents_ND, dim=1).T
    own_B = torch.arange(len(anchors_BD), device=anchors_BD.device)
    nats_B = cross_entropy(scores_BN, own_B, reduction="none")
    if not symmetric:
        return nats_B
    backward_B = cross_entropy(scores_BN[:, : len(anchors_BD)].T, own_B, reduction="none")
    return (nats_B + backward_B) / 2


def prefix_nats(
    anchors_BD: Tensor, documents_ND: Tensor, scale: float, symmetric: bool, prefixes: Sequence[int]
) -> Tensor:
    """`contrastive_nats` of the whole vectors plus that of each prefix of them (Kusupati et al. 2022)."""
    return sum(
        (
            contrastive_nats(anchors_BD[:, :width], documents_ND[:, :width], scale, symmetric)
            for width in sorted({*prefixes} - {anchors_BD.shape[1]})
        ),
        start=contrastive_nats(anchors_BD, documents_ND, scale, symmetric),
    )


def _sum_of_rows(nats_B: Tensor, rows: RowSpan) -> Tensor:
    """The loss of these rows, with the gradient of all: what another row's loss says about the vectors of these."""
    if len(rows) == rows.total:
        return nats_B.sum()
    own, every = nats_B[rows.slice].sum(), nats_B.sum()
    return own.detach() + (every - every.detach())


def _encode_rows(
    model: TextEncoder, tokens_BT: Tensor, mask_BT: Tensor | None, rows: RowSpan, chunk: int | None
) -> Tensor:
    """The vectors_BD of all rows; those that are not `rows` come from other processes, without their gradient."""
    if len(rows) == rows.total:
        return encode_in_chunks(model, tokens_BT, mask_BT, chunk)
    vectors_RD = next(model.parameters()).new_zeros(0, model.dimensions, requires_grad=True)
    if len(rows):
        with batch_rows(rows):
            mask_RT = None if mask_BT is None else mask_BT[rows.slice]
            vectors_RD = encode_in_chunks(model, tokens_BT[rows.slice], mask_RT, chunk)
    return gather_rows(vectors_RD, rows.first, rows.total)


def encode_in_chunks(encoder: nn.Module, tokens_BT: Tensor, mask_BT: Tensor | None, rows: int | None) -> Tensor:
    """The vectors_BD; with `rows`, so many texts at a time, whose activations are computed anew for the gradient.

    Each chunk is only as wide as its longest text."""
    if rows is None or len(tokens_BT) <= rows:
        return encoder(tokens_BT, mask_BT)
    vectors = []
    for first in range(0, len(tokens_BT), rows):
        chunk_RT, kept_RT = tokens_BT[first : first + rows], None
        if mask_BT is not None:
            kept_RT = mask_BT[first : first + rows]
            longest = max(1, int(kept_RT.sum(1).max()))
            chunk_RT, kept_RT = chunk_RT[:, :longest], kept_RT[:, :longest]
        vectors.append(_Recomputed.apply(encoder, chunk_RT, kept_RT, *encoder.parameters()))
    return torch.cat(vectors)


class _Recomputed(torch.autograd.Function):
    """The vectors of an encoder, whose graph is not kept but computed again for the gradient.

    torch.utils.checkpoint drops the saved tensors but keeps the graph, which takes some megabytes for each chunk."""

    @staticmethod
    def forward(ctx: Any, encoder: nn.Module, tokens_BT: Tensor, mask_BT: Tensor | None, *weights: Tensor) -> Tensor:
        ctx.encoder, ctx.inputs, ctx.weights = encoder, (tokens_BT, mask_BT), weights
        ctx.random = _random_states(tokens_BT)
        ctx.precision = "bf16" if is_rounding(tokens_BT.device) else "float32"
        return encoder(tokens_BT, mask_BT)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        tokens_BT, mask_BT = ctx.inputs
        now = _random_states(tokens_BT)
        _set_random_states(tokens_BT, ctx.random)
        with torch.enable_grad(), training_precision(ctx.precision, tokens_BT.device):
            vectors_BD = ctx.encoder(tokens_BT, mask_BT)
        _set_random_states(tokens_BT, now)
        trained = [weight for weight in ctx.weights if weight.requires_grad]
        found = iter(torch.autograd.grad(vectors_BD, trained, gradients, allow_unused=True))
        return None, None, None, *(next(found) if weight.requires_grad else None for weight in ctx.weights)


def _random_states(tokens_BT: Tensor) -> tuple[Tensor, Tensor | None]:
    """Of the generators that dropout draws from."""
    return torch.get_rng_state(), torch.cuda.get_rng_state(tokens_BT.device) if tokens_BT.is_cuda else None


def _set_random_states(tokens_BT: Tensor, states: tuple[Tensor, Tensor | None]) -> None:
    torch.set_rng_state(states[0])
    if states[1] is not None:
        torch.cuda.set_rng_state(states[1], tokens_BT.device)


def contrastive_batch(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], negatives: Sequence[np.ndarray] = ()
) -> ContrastiveBatch:
    """The pairs by the length of their documents, the longest first, so that chunks of them have little padding."""
    pairs = sorted(pairs, key=lambda pair: -len(pair[1]))
    anchors_BT, anchor_mask_BT = pad_rows([anchor for anchor, _ in pairs])
    documents_NT, document_mask_NT = pad_rows([*(document for _, document in pairs), *negatives])
    return ContrastiveBatch(anchors_BT, mask_or_none(anchor_mask_BT), documents_NT, mask_or_none(document_mask_NT))
