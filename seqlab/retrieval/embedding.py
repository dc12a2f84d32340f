"""Texts to vectors by a trained run: sorted by length, padded to the longest of each batch, without gradients.

`TextEmbedder.embed` is for texts in memory, such as queries; shards.py divides a corpus of any size.
N: texts, D: dimensions, V: vocabulary; the other letters are those of contracts.py.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Backbone, Trace
from seqlab.data.examples.encoded import cut_by_tokens
from seqlab.distributed.world import joined
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.models.classifier import Classifier
from seqlab.models.pooling import AttentionPooling, TokenPooling, pool, sif_scores
from seqlab.models.text_encoder import TextEncoder
from seqlab.models.token_model import TokenModel
from seqlab.runs import manifest
from seqlab.runs.directory import CONFIG, TOKENIZER, WEIGHTS
from seqlab.runs.run import Run
from seqlab.tasks.examples import mask_or_none, pad_rows, with_leading_space
from seqlab.tasks.read_counts import ReadCounts
from seqlab.threads import compute_threads

Pooling = Literal["mean", "last", "max", "attention", "sif"]
ReadBatch = Callable[[Tensor, Tensor], Tensor]  # tokens_BT and mask_BT to vectors_BD
BATCH_TOKENS = 1 << 12  # of one batch with its padding: larger ones no longer fit into the caches of a CPU


@dataclass(frozen=True)
class Pooled:
    """How a text becomes one vector: from which layer (None: the last output, 0: the embedding), and how its tokens are
    joined (None: as the run has learned it, else the mean)."""

    pooling: Pooling | None = None
    layer: int | None = None


class TextEmbedder:
    """`embed` gives the same vector for a text, up to rounding, whatever texts it is embedded with.

    shares_V: the share of each token in the documents, for SIF weights."""

    def __init__(self, run: Run, pooled: Pooled | None = None, shares_V: np.ndarray | None = None):
        self.run, self.model, self.tokenizer = run, run.model, run.tokenizer
        self.pooled = pooled or Pooled()
        self.limit: int | None = self.model.limit
        self.seen = ReadCounts()
        self._read = _reader(run, self.pooled, shares_V)

    @property
    def fingerprint(self) -> str:
        """Of everything that its vectors depend on but for the SIF weights: files of the run, pooling and layer."""
        files, _ = manifest.read_manifest(self.run.path)
        parts = [*(files[name][-1] for name in (CONFIG, TOKENIZER, WEIGHTS)), repr(self.pooled)]
        return " ".join(parts)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(N, D) in float32; zeros for a text without tokens."""
        rows = [self._encode(text) for text in texts]
        lengths_N = np.array([len(row) for row in rows], dtype=np.int64)
        vectors_ND: np.ndarray | None = None
        with torch.inference_mode(), compute_threads(None if joined().size > 1 else self.run.settings.train.threads):
            for batch in length_batches(lengths_N):
                vectors_BD = self._read(*pad_rows([rows[row] for row in batch])).float().numpy()
                if vectors_ND is None:
                    vectors_ND = np.zeros((len(texts), vectors_BD.shape[1]), np.float32)
                vectors_ND[batch] = vectors_BD
        return np.zeros((len(texts), self.width), np.float32) if vectors_ND is None else vectors_ND

    @property
    def width(self) -> int:
        with torch.inference_mode():
            return self._read(torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1, dtype=torch.bool)).shape[1]

    def token_shares(self, texts: Iterable[str]) -> np.ndarray:
        """The share of each token in these texts (V)."""
        counts_V = np.zeros(self.tokenizer.vocab_size, np.int64)
        for text in texts:
            counts_V += np.bincount(self._ids(text), minlength=len(counts_V))
        return counts_V / max(1, counts_V.sum())

    @property
    def usual_length(self) -> int | None:
        """Tokens of the texts that an encoder was trained on; it reads longer ones as well."""
        return self.run.settings.task.settings.sequence_length if isinstance(self.model, TextEncoder) else None

    def count_tokens(self, text: str) -> int:
        return len(self._ids(text))

    def knows(self, text: str) -> bool:
        """Whether any token of a text is known: the vectors of others mean nothing."""
        return self._known(self._ids(text)) > 0

    def unknown_in(self, text: str) -> list[str]:
        """What the tokenizer does not know of a text, as it warns of it."""
        collecting = self.tokenizer.collecting()
        collecting.encode_array(text)
        return collecting.collected

    def _known(self, ids_T: np.ndarray) -> int:
        """How many tokens are known."""
        return int((ids_T != self.tokenizer.unknown).sum()) if self.tokenizer.has_unknown else len(ids_T)

    def _encode(self, text: str) -> np.ndarray:
        ids_T = self._ids(text)
        self.seen.add(ids_T, self._known(ids_T), self.limit)
        return ids_T[: self.limit]

    def _ids(self, text: str) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)  # of unknown text: it is counted
            # as training reads it: an example begins with a space, so that its first word is a word like the others
            of_examples = self.run.settings.task.settings.examples is not None
            return np.asarray(self.tokenizer.encode_array(with_leading_space(text) if of_examples and text else text))


def length_batches(lengths_N: np.ndarray) -> list[np.ndarray]:
    """Rows of similar length, longest first, so that memory runs out at once or never; empty texts are left out."""
    order_N = np.argsort(-lengths_N, kind="stable")
    return cut_by_tokens(order_N[lengths_N[order_N] > 0], lengths_N, BATCH_TOKENS)


# --- what a model computes --------------------------------------------------------------------------------------------


def _reader(run: Run, pooled: Pooled, shares_V: np.ndarray | None) -> ReadBatch:
    """From tokens to vectors; UsageError if this model has no such layer or pooling."""
    model, pooling = run.model, pooled.pooling
    if pooling is not None and pooling not in get_args(Pooling):
        raise UsageError(f"there is no pooling '{pooling}': expected {', '.join(get_args(Pooling))}.")
    if isinstance(model, TextEncoder):
        if pooled.layer is not None or pooling not in (None, model.pooling_kind):
            raise UsageError(
                f"'{run.path}' was trained to embed texts, with {model.pooling_kind} pooling of its last layer: leave "
                f"pooling and layer out."
            )
        return lambda tokens_BT, mask_BT: model(tokens_BT, mask_or_none(mask_BT))
    if not isinstance(model, TokenModel | Classifier):
        kind = run.settings.task.name
        raise UsageError(
            f"'{run.path}' was trained to {kind}, and its backbone does not read tokens alone: embed with a run of the "
            f"task embed, language, masked or classify."
        )
    states = _states(run, model, pooled.layer)
    learned = model.pooling if isinstance(model, Classifier) and isinstance(model.pooling, AttentionPooling) else None
    join = _join(run, model.backbone, pooling or "mean", learned, shares_V)
    if pooling == "attention" and pooled.layer is not None:
        raise UsageError(f"'{run.path}' has learned its attention weights for the last layer: leave the layer out.")
    return lambda tokens_BT, mask_BT: join(tokens_BT, states(tokens_BT, mask_BT), mask_BT)


def _states(run: Run, model: Any, layer: int | None) -> ReadBatch:
    """The vectors of the tokens (B, T, H) of a layer."""

    def embedded(tokens_BT: Tensor) -> Tensor:
        return model.embed(tokens_BT) if isinstance(model, TokenModel) else model.embedding(tokens_BT)

    if layer is None:  # what is to the right of a text changes nothing if the model reads from left to right
        masked = not model.backbone.causal
        return lambda tokens_BT, mask_BT: model.backbone(
            embedded(tokens_BT), None, mask_or_none(mask_BT) if masked else None
        )[0]
    if layer == 0:
        return lambda tokens_BT, mask_BT: embedded(tokens_BT)
    names = [name for name, recorded in model.records.items() if recorded.kind == "layer"]
    name = next((name for name in names if name.endswith(f"layer{layer}")), None)
    if name is None:
        there = ", ".join(names) or "none that it records"
        raise UsageError(f"'{run.path}' has no layer {layer}: it has 0 (the embedding) and {there}.")

    def traced(tokens_BT: Tensor, mask_BT: Tensor) -> Tensor:
        trace = Trace()
        model.backbone(embedded(tokens_BT), None, mask_BT, trace)
        return trace[name]

    return traced


def _join(
    run: Run, backbone: Backbone, pooling: Pooling, learned: AttentionPooling | None, shares_V: np.ndarray | None
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """From tokens and their vectors to one vector for each text."""
    if pooling == "attention":
        if learned is None:
            raise UsageError(
                f"'{run.path}' has learned no attention weights to pool by: give mean, last, max or sif, or a run "
                f"with task.pooling=attention."
            )
        return lambda tokens_BT, y_BTH, kept_BT: learned(y_BTH, kept_BT)
    if pooling == "sif":
        assert shares_V is not None, "SIF weights need the shares of tokens"
        weigh = TokenPooling(len(shares_V))
        weigh.scores_V1.data = sif_scores(torch.from_numpy(shares_V).float())[:, None]
        return weigh
    if pooling == "last" and backbone.causal:
        return lambda tokens_BT, y_BTH, kept_BT: y_BTH[torch.arange(len(y_BTH)), kept_BT.sum(1) - 1]
    if pooling == "last" and type(backbone).summarize is Backbone.summarize:
        raise UsageError(
            f"'{run.path}' reads a text from both ends at once and has no last output: give mean, max or sif."
        )
    return lambda tokens_BT, y_BTH, kept_BT: pool(pooling, backbone, y_BTH, kept_BT)
