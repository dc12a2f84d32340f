"""What tasks on running text share: batches of windows, scores by unit, and baselines."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.baselines.role import BaselineRole
from seqlab.baselines.text import TextBaseline, score_text_baselines
from seqlab.config import CorpusSettings, RunSettings, VocabSizes
from seqlab.contracts import Loss, State, TextBatch, TextScores
from seqlab.data.text.batches import NOT_SCORED, Batches, TokenRows, choose_batches, cut_windows, pad_windows
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.split import split_text
from seqlab.data.text.tokens import TokenSplit
from seqlab.metrics.descriptions import BITS_PER_CHAR, NATS_PER_CHAR
from seqlab.metrics.likelihood import likelihood, of_scores
from seqlab.models.token_model import TokenModel
from seqlab.registry import BACKBONES
from seqlab.tasks.dataset import Log, TextDataset, open_text_dataset, text_dataset
from seqlab.tasks.task import BaselineScore, MetricValues, Task, UnitSums
from seqlab.tasks.text_settings import TextSettings
from seqlab.tokenization.vocabulary import Vocabulary

SCORED_AT_ONCE = 1 << 25  # logits of one forward pass when scoring


class TextTask(Task):
    """A task on the splits of one text."""

    Model: ClassVar[type[TokenModel]]
    baselines: ClassVar[Mapping[str, BaselineRole]]  # by kind (baselines/text.py): those that predict as the task does
    headline_metric = BITS_PER_CHAR
    metric = NATS_PER_CHAR
    settings: TextSettings
    splits: Mapping[str, TokenSplit]

    def __init__(self, settings: TextSettings, splits: Mapping[str, TokenSplit], vocab_size: int, unknown: int | None):
        self.settings = settings
        self.splits = splits
        self.vocab_size = vocab_size
        self.unknown = unknown
        self._batches: dict[str, Batches] = {name: make_batches(settings, split) for name, split in splits.items()}

    @classmethod
    def open_dataset(
        cls,
        settings: RunSettings,
        log: Log,
        vocabulary: Vocabulary | None = None,
        kept: Path | None = None,
        expected: str | None = None,
    ) -> TextDataset:
        return open_text_dataset(settings, log, vocabulary, kept, expected)

    @classmethod
    def open_unsplit(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> TextDataset:
        whole = CorpusSettings(source=source, documents=settings.corpus.documents, split_ratios="whole")
        corpus = open_corpus(source)
        try:
            return text_dataset(split_text(corpus, whole), vocabulary)
        finally:
            if corpus.stdin_copy is not None:  # standard input, by now encoded
                corpus.stdin_copy.unlink(missing_ok=True)

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: TextDataset, log: Log) -> RunSettings:
        """Smaller windows and batches for a short text."""
        task = settings.task.settings_as(TextSettings)
        train = dataset.splits["train"]
        smaller = task if train.stats.documents > 1 else fit_sizes(task, len(train))
        if smaller == task:
            return settings
        log(
            f"the training split has only {len(train):,} tokens: using a window of {smaller.window} and a batch size "
            f"of {smaller.batch_size} instead of {task.window} and {task.batch_size}"
        )
        return settings.with_values(**{"task.window": smaller.window, "task.batch_size": smaller.batch_size})

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> TokenModel:
        backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, settings.model.embedding)
        return cls.Model(settings.model, backbone, sizes.vocab_size)

    @classmethod
    def usage(cls, run: str) -> tuple[str, str]:
        if not cls.generates:
            return "", "run.evaluate()"
        return f'seqlab generate {run} --prompt "The "\n', 'run.generate("The ", temperature=0.8)'

    @classmethod
    def from_dataset(cls, settings: RunSettings, dataset: TextDataset) -> Self:
        tokenizer = dataset.vocabulary.tokenizer
        task = settings.task.settings_as(TextSettings)
        return cls(task, dataset.splits, tokenizer.vocab_size, tokenizer.unknown)

    @property
    def steps_per_epoch(self) -> int:
        return self._batches["train"].batches_per_epoch

    @abstractmethod
    def batch(self, split: str, seed: int, index: int) -> TextBatch: ...

    @abstractmethod
    def loss(self, model: TokenModel, batch: TextBatch, carry: State | None, step: int) -> Loss: ...

    @abstractmethod
    def score(self, model: TokenModel, split: str, mode: str | None = None, limit: int | None = None) -> TextScores: ...

    def validate(self, model: TokenModel, limit: int) -> TextScores:
        return self.score(model, "validation", limit=limit)

    def unit_sums(self, scores: TextScores) -> UnitSums:
        return merge_into_blocks(scores)

    def metrics(self, scores: TextScores) -> MetricValues:
        return asdict(of_scores(scores))

    @property
    def reported_metrics(self) -> Sequence[str]:
        return ("bits_per_char", "perplexity")

    def wording(self, metrics: Mapping[str, float]) -> str:
        return f"as uncertain as a choice among {self.brief(metrics)} equally likely characters"

    def brief(self, metrics: Mapping[str, float]) -> str:
        return f"{2.0 ** min(metrics['bits_per_char'], 1000):.1f}"

    def score_baselines(self, dataset: TextDataset, split: str, units: UnitSums) -> list[BaselineScore]:
        sums_UK, tokens_U = units.sums_UK, units.tokens_U
        firsts_U = np.cumsum([0, *tokens_U[:-1]])
        facts = dataset.splits[split].stats
        share = int(tokens_U.sum()) / (facts.tokens - facts.documents)
        characters, size = round(facts.scored_characters * share), round(facts.scored_bytes * share)
        scores = []
        for baseline in text_baselines(dataset, split, int(tokens_U.sum())):
            if baseline.kind not in self.baselines:
                continue
            metrics = likelihood(baseline.nats, baseline.tokens, characters, size)
            baseline_UK = None
            if baseline.nats_P is not None:
                baseline_UK = np.stack([np.add.reduceat(baseline.nats_P, firsts_U), sums_UK[:, 1]], 1)
            value = baseline.nats / float(sums_UK[:, 1].sum())
            role = self.baselines[baseline.kind]
            scores.append(BaselineScore(baseline.name, baseline.about, role, asdict(metrics), value, baseline_UK))
        return scores


BLOCK = 1024  # characters of a unit of text
# baselines of a long training text use its end
MOST_TOKENS = 40_000_000
MOST_CHARACTERS = 80_000_000


def merge_into_blocks(scores: TextScores) -> UnitSums:
    """Neighboring windows or lines, merged into units of about 1,024 characters; sums are nats and characters."""
    per_token = scores.characters / scores.tokens
    characters_U = np.cumsum(scores.tokens_U) * per_token
    # a window belongs to the block of its last character; a short rest joins the block before it
    count = max(1, round(characters_U[-1] / BLOCK))
    block_U = np.minimum(np.ceil(characters_U / BLOCK - 1e-9).astype(int) - 1, count - 1)
    firsts = np.flatnonzero(np.diff(block_U, prepend=-1))
    nats_N = np.add.reduceat(scores.nats_U, firsts)
    tokens_N = np.add.reduceat(scores.tokens_U, firsts)
    return UnitSums(np.stack([nats_N, tokens_N * per_token], 1), tokens_N)


def one_unit(split: TokenSplit) -> UnitSums:
    """A split as a single unit, for baselines without a model beside them."""
    facts = split.stats
    return UnitSums(np.array([[0.0, facts.scored_characters]]), np.array([facts.tokens - facts.documents]))


def text_baselines(dataset: TextDataset, split: str, scored: int) -> list[TextBaseline]:
    """Baselines fitted on the training split, on as many tokens of a stream as were scored."""
    train, held_out, text = dataset.splits["train"], dataset.splits[split], dataset.data
    documented = train.stats.documents > 1
    last = len(held_out) if documented else min(len(held_out), scored + 1)  # the first is context only
    first = 0 if documented else max(0, len(train) - MOST_TOKENS)
    return score_text_baselines(
        train.read(first, len(train)),
        held_out.read(0, last),
        dataset.vocabulary.tokenizer.vocab_size,
        text.tail("train", MOST_CHARACTERS).encode(),
        text.text(split, round(held_out.stats.characters * last / len(held_out))).encode(),
        train.document_starts()[:-1] if documented else None,
        held_out.document_starts()[:-1] if documented else None,
    )


def make_batches(settings: TextSettings, split: TokenSplit) -> Batches:
    if split.stats.documents == 1:
        settings = fit_sizes(settings, len(split))
    return choose_batches(split, settings.batching, settings.batch_size, settings.window)


def fit_sizes(settings: TextSettings, tokens: int) -> TextSettings:
    """A smaller window and batch size if the text is shorter than one batch of windows."""
    if tokens > settings.batch_size * settings.window:
        return settings
    window = max(1, min(settings.window, tokens // 8, tokens - 1))
    return settings.model_copy(
        update={"window": window, "batch_size": max(1, min(settings.batch_size, (tokens - 1) // window))}
    )


def as_batch(rows: TokenRows) -> TextBatch:
    mask_BT = None if rows.mask_BT is None else torch.from_numpy(rows.mask_BT)
    return TextBatch(torch.from_numpy(rows.inputs_BT), torch.from_numpy(rows.targets_BT), mask_BT, fresh=rows.fresh)


def token_nats(logits_BTV: Tensor, targets_BT: Tensor, reduction: str) -> Tensor:
    flat = logits_BTV.flatten(0, 1)
    return cross_entropy(flat, targets_BT.flatten(), ignore_index=NOT_SCORED, reduction=reduction)


class ScoreAccumulator:
    """Adds up the losses of a split, unit by unit."""

    def __init__(self, split: TokenSplit, unknown: int | None, mode: str):
        self.split, self.unknown, self.mode = split, unknown, mode
        self.units: dict[int, tuple[float, int]] = {}
        self.by_position = np.zeros((2, 0))
        self.unknown_sums = np.zeros(2)

    def add(self, units_B: np.ndarray, nats_BT: np.ndarray, targets_BT: np.ndarray) -> None:
        """Add the losses of these units; padding is left out."""
        kept_BT = targets_BT != NOT_SCORED
        nats_BT = np.where(kept_BT, nats_BT.astype(np.float64), 0.0)
        for unit, nats, count in zip(units_B, nats_BT.sum(1), kept_BT.sum(1), strict=True):
            before = self.units.get(int(unit), (0.0, 0))
            self.units[int(unit)] = (before[0] + nats, before[1] + int(count))
        longer = max(self.by_position.shape[1], nats_BT.shape[1])
        grown = np.zeros((2, longer))
        grown[:, : self.by_position.shape[1]] = self.by_position
        grown[0, : nats_BT.shape[1]] += nats_BT.sum(0)
        grown[1, : nats_BT.shape[1]] += kept_BT.sum(0)
        self.by_position = grown
        if self.unknown is not None:
            met_BT = targets_BT == self.unknown
            self.unknown_sums += (met_BT.sum(), nats_BT[met_BT].sum())

    def scores(self) -> TextScores:
        units = [self.units[unit] for unit in sorted(self.units)]
        facts = self.split.stats
        count = sum(count for _, count in units)
        # the characters of some tokens of a split are known only on average
        share = count / (facts.tokens - facts.documents)
        return TextScores(
            nats_U=np.array([nats for nats, _ in units]),
            tokens_U=np.array([count for _, count in units]),
            nats_by_position_T=self.by_position[0],
            tokens_by_position_T=self.by_position[1],
            characters=round(facts.scored_characters * share),
            bytes=round(facts.scored_bytes * share),
            unknown_tokens=int(self.unknown_sums[0]),
            unknown_nats=float(self.unknown_sums[1]),
            mode=self.mode,
        )


def batch_size(model: TokenModel, window: int) -> int:
    """Windows per forward pass: fewer for a large vocabulary, whose logits fill the memory."""
    return max(1, min(64, SCORED_AT_ONCE // (window * model.vocab_size)))


def pieces_within(split: TokenSplit, window: int, limit: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First token, length and document of every piece that begins within the first `limit` tokens."""
    cut = cut_windows(split, window)
    last = len(cut[0]) if limit is None else int(np.searchsorted(cut[0], limit))
    return cut[0][:last], cut[1][:last], cut[2][:last]


def windows(
    model: TokenModel, split: TokenSplit, window: int, limit: int | None
) -> Iterator[tuple[np.ndarray, TokenRows]]:
    """The windows of a split, laid end to end, in batches of similar length: their numbers and their ids."""
    firsts_P, lengths_P, _ = pieces_within(split, window, limit)
    order_P = np.argsort(lengths_P, kind="stable")
    size = batch_size(model, window)
    for at in range(0, len(order_P), size):
        units_B = order_P[at : at + size]
        yield units_B, pad_windows(split, firsts_P[units_B], lengths_P[units_B])


def score_rows(model: TokenModel, rows: TokenRows, state: State | None = None) -> tuple[np.ndarray, State]:
    """The loss of every target, and the state after them."""
    batch = as_batch(rows).to(next(model.parameters()).device)
    logits_BTV, after = model(batch.inputs_BT, state, batch.mask_BT)
    return token_nats(logits_BTV, batch.targets_BT, "none").view(rows.targets_BT.shape).cpu().numpy(), after
