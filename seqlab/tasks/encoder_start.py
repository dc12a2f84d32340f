"""What a text encoder starts from: another model, and the frequencies of tokens in the training text."""

import warnings

import numpy as np
import torch
from torch import Tensor

from seqlab.baselines.cooccurrence import MAX_COUNTED_TOKENS, MAX_VOCABULARY
from seqlab.data.documents.encoded import DocumentTable
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.models.model import Model
from seqlab.models.pooling import TokenPooling, sif_scores
from seqlab.models.text_encoder import TextEncoder
from seqlab.models.token_model import TokenModel
from seqlab.tasks.cached_vectors import cached_token_vectors
from seqlab.tasks.embed_settings import EmbedSettings

READ = ("embedding.", "backbone.")  # the weights that read a text; the others make something of what was read


def start_weights(
    model: TextEncoder, settings: EmbedSettings, table: DocumentTable, source: Model | None
) -> dict[str, Tensor]:
    """Weights by name; those that are left out are drawn at random."""
    weights: dict[str, Tensor] = {}
    pools = {name: pool for name in ("pooling", "residual") if isinstance(pool := getattr(model, name), TokenPooling)}
    if pools:
        scores_V1 = sif_scores(token_shares(table, model.vocab_size))[:, None]
        weights |= {f"{name}.scores_V1": scores_V1.clone() for name in pools}
    if source is not None:
        if settings.start == "static":
            raise UsageError("task.start=static and --init both say where the embeddings start: leave one of them out.")
        return weights | _inherited(model, source)
    if settings.start != "random":
        weights["embedding.weight"] = _static_vectors(model, table)
    return weights


def _static_vectors(model: TextEncoder, table: DocumentTable) -> Tensor:
    """A vector of length 1 for each token, from the company that it keeps in the training text; where that gives none,
    or fewer dimensions, the random numbers that the model has anyway."""
    rows_VD = model.embedding.weight.detach().clone()
    found = cached_token_vectors(table.texts, *rows_VD.shape)
    known_V = torch.from_numpy(found.any(1))
    rows_VD[known_V, : found.shape[1]] = torch.from_numpy(found)[known_V]
    _warn_of_limits(table, len(rows_VD))
    return rows_VD


def _warn_of_limits(table: DocumentTable, vocab_size: int) -> None:
    tokens, distinct = sum(map(len, table.texts)), int((token_shares(table, vocab_size) > 0).sum())
    limits = [f"the first {MAX_COUNTED_TOKENS:,} of {tokens:,} tokens"] * (tokens > MAX_COUNTED_TOKENS)
    limits += [f"the {MAX_VOCABULARY:,} most frequent of {distinct:,} distinct tokens"] * (distinct > MAX_VOCABULARY)
    if limits:
        start = f"the embeddings start from the company that tokens keep, counted in {' and for '.join(limits)}"
        warnings.warn(f"{start}; other tokens start at random", SeqlabWarning, stacklevel=2)


def token_shares(table: DocumentTable, vocab_size: int) -> Tensor:
    """The share p of each token in the texts (V)."""
    counts_V = np.zeros(vocab_size)
    for ids in table.texts:
        counts_V += np.bincount(ids, minlength=vocab_size)
    return torch.from_numpy(counts_V / max(1.0, counts_V.sum())).float()


def _inherited(model: TextEncoder, source: Model) -> dict[str, Tensor]:
    """Embedding and backbone of a language model, of either kind; all weights of another text encoder."""
    if not isinstance(source, TextEncoder | TokenModel):
        raise UsageError(
            "--task embed can start from a text encoder, or from a language model of either kind (--task language, "
            "--task masked): --init names another kind of run."
        )
    weights = {name: weight.detach() for name, weight in source.named_parameters()}
    if isinstance(source, TokenModel):
        weights = {name: weight for name, weight in weights.items() if name.startswith(READ)}
        # without symbols that are only read in training, and as large as the backbone is used to
        weights["embedding.weight"] = source.input_vectors_VD[: model.vocab_size].detach()
    own = {name: weight.shape for name, weight in model.named_parameters()}
    unfit = [name for name, weight in weights.items() if own.get(name) != weight.shape]
    lacking = [name for name in own if name.startswith(READ) and name not in weights]
    if unfit or lacking:
        raise UsageError(
            f"the weights of --init do not fit: '{(unfit or lacking)[0]}' differs. A text encoder needs the same "
            f"task.pooling and task.dimensions, and an architecture that reads in the same directions."
        )
    return weights
