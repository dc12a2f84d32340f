"""The contrastive loss against its formula, and gradients in chunks against those of the whole batch."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from seqlab.config import ModelSettings, VocabSizes
from seqlab.models.text_encoder import TextEncoder
from seqlab.registry import BACKBONES
from seqlab.tasks.contrastive import contrastive_nats, encode_in_chunks, prefix_nats

SCALE = 20.0


def vectors(rows: int, seed: int, width: int = 6) -> Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_hand(anchors: Tensor, documents: Tensor) -> list[float]:
    """-log of the share of exp(20 cos) that each anchor's own document has among all."""
    nats = []
    for row, anchor in enumerate(anchors):
        shares = [math.exp(SCALE * float(cosine_similarity(anchor, document, dim=0))) for document in documents]
        nats.append(-math.log(shares[row] / sum(shares)))
    return nats


def test_the_loss_is_its_formula() -> None:
    anchors, documents = vectors(3, 0), vectors(5, 1)
    expected = torch.tensor(by_hand(anchors, documents), dtype=torch.float64)
    torch.testing.assert_close(contrastive_nats(anchors, documents, SCALE), expected)
    backward = torch.tensor(by_hand(documents[:3], anchors), dtype=torch.float64)
    torch.testing.assert_close(contrastive_nats(anchors, documents, SCALE, True), (expected + backward) / 2)


def test_lengths_of_vectors_do_not_matter() -> None:
    anchors, documents = vectors(3, 0), vectors(5, 1)
    torch.testing.assert_close(
        contrastive_nats(7 * anchors, documents / 9, SCALE), contrastive_nats(anchors, documents, SCALE)
    )


def test_prefixes_are_added() -> None:
    anchors, documents = vectors(3, 0), vectors(5, 1)
    whole, half = (contrastive_nats(anchors[:, :width], documents[:, :width], SCALE) for width in (6, 3))
    torch.testing.assert_close(prefix_nats(anchors, documents, SCALE, False, [3]), whole + half)
    # the whole width is no second time in the sum
    torch.testing.assert_close(prefix_nats(anchors, documents, SCALE, False, [3, 6]), whole + half)


# --- gradients in chunks --------------------------------------------------------------------------------------------

LENGTHS = [7, 6, 6, 5, 4, 4, 2, 1, 1, 0]


def encoder(arch: str, dropout: float) -> TextEncoder:
    torch.manual_seed(0)
    backbone = BACKBONES.load(arch)
    settings = ModelSettings(embedding=6, embedding_dropout=dropout, output_dropout=dropout)
    return TextEncoder(settings, backbone(backbone.Settings(hidden=8), 6), VocabSizes(11), "attention", 5).double()


def gradients(model: TextEncoder, encode: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
    draw = torch.Generator().manual_seed(1)
    sides = [torch.randint(11, (len(LENGTHS), 7), generator=draw) for _ in range(2)]
    mask = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    torch.manual_seed(2)
    model.train()
    model.zero_grad()
    total = contrastive_nats(encode(sides[0], mask), encode(sides[1], mask), SCALE).sum()
    total.backward()
    return total.detach(), {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("arch", ["gru", "lstm-attention", "transformer-encoder"])
def test_chunks_have_the_gradients_of_the_whole(arch: str) -> None:
    model = encoder(arch, dropout=0.0)
    whole = gradients(model, model)
    for rows in (1, 3, 10, 64):
        chunked = gradients(model, lambda tokens, mask, rows=rows: encode_in_chunks(model, tokens, mask, rows))
        torch.testing.assert_close(chunked, whole)


def test_recomputed_chunks_have_the_same_dropout() -> None:
    model = encoder("gru", dropout=0.4)

    def kept(tokens: Tensor, mask: Tensor) -> Tensor:
        """The same chunks, with everything that their gradients need."""
        cuts = [slice(first, first + 3) for first in range(0, len(tokens), 3)]
        widths = [max(1, int(mask[cut].sum(1).max())) for cut in cuts]
        pieces = zip(cuts, widths, strict=True)
        return torch.cat([model(tokens[cut, :width], mask[cut, :width]) for cut, width in pieces])

    expected = gradients(model, kept)
    torch.testing.assert_close(
        gradients(model, lambda tokens, mask: encode_in_chunks(model, tokens, mask, 3)), expected
    )


def test_chunks_keep_no_graph() -> None:
    """Neither activations nor the nodes that would compute with them, which take memory, too."""
    model, tokens = encoder("gru", dropout=0.0), torch.randint(11, (32, 7))

    def nodes(rows: int | None) -> set[str]:
        left, seen = [encode_in_chunks(model, tokens, None, rows).grad_fn], set()
        while left:
            node = left.pop()
            if node is not None and node not in seen:
                seen.add(node)
                left += [following for following, _ in node.next_functions]
        return {node.name() for node in seen}

    assert len(nodes(None)) > 8
    assert nodes(4) == {"CatBackward0", "_RecomputedBackward", "torch::autograd::AccumulateGrad"}
