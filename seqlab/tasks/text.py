"""What tasks on running text share: batches of windows, scores by unit, and baselines."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from seqlab.baselines.kneser_ney import KneserNey
from seqlab.baselines.role import BaselineRole
from seqlab.baselines.text import BaselineText, TextBaseline, score_text_baselines
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import TextScores
from seqlab.data.text.batches import Batches, choose_batches
from seqlab.data.text.given_splits import read_text, read_whole
from seqlab.data.text.split import SplitText
from seqlab.data.text.tokens import TokenSplit
from seqlab.errors import UsageError
from seqlab.metrics.descriptions import BITS_PER_CHAR, NATS_PER_CHAR
from seqlab.metrics.likelihood import as_metrics, likelihood, of_scores
from seqlab.models.token_model import TokenModel
from seqlab.registry import BACKBONES
from seqlab.tasks.dataset import Log, TextDataset, text_dataset, warn_of_notes
from seqlab.tasks.task import BaselineScore, MetricValues, Task, UnitSums
from seqlab.tasks.text_settings import TextSettings
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.wording import counted, split_in_words


class TextTask(Task):
    """A task on the splits of one text."""

    Model: ClassVar[type[TokenModel]]
    baselines: ClassVar[Mapping[str, BaselineRole]]  # by kind (baselines/text.py): those that predict as the task does
    headline_metric = BITS_PER_CHAR
    metric = NATS_PER_CHAR
    reported_metrics = ("bits_per_char", "perplexity")
    settings: TextSettings
    splits: Mapping[str, TokenSplit]
    counts: KneserNey | None = None  # of the training split, if they are known already

    def make_batches(self, split: TokenSplit) -> Batches:
        settings = self.settings if split.stats.by_lines else fit_sizes(self.settings, split)
        return choose_batches(split, settings.batching, settings.batch_size, settings.trained_window)

    @classmethod
    def read(cls, settings: RunSettings, stdin_copy: Path | None = None) -> SplitText:
        return read_text(settings.corpus, stdin_copy)

    @classmethod
    def encode_splits(cls, data: SplitText, settings: RunSettings, vocabulary: Vocabulary | None = None) -> TextDataset:
        if vocabulary is not None and vocabulary.tokenizer.documents != data.by_lines:
            raise UsageError("the tokenizer comes from a run that was trained with another --documents: use the same.")
        return text_dataset(data, settings, vocabulary)

    @classmethod
    def open_unsplit(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> TextDataset:
        text = read_whole(source, settings.corpus)
        try:
            warn_of_notes(text)
            return text_dataset(text, settings, vocabulary)
        finally:
            if text.corpus.stdin_copy is not None:  # standard input, by now encoded
                text.corpus.stdin_copy.unlink(missing_ok=True)

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: TextDataset, log: Log) -> RunSettings:
        """Smaller windows and batches for a short text."""
        task = settings.task.settings_as(TextSettings)
        train = dataset.splits["train"]
        for note in cut_lines_notes(dataset.splits, task, task.carries):
            log(note)
        smaller = task if train.stats.by_lines else fit_sizes(task, train)
        if smaller == task:
            return settings
        shortest = int(np.diff(train.document_starts()).min())
        segments = f" in {train.stats.documents} segments, the shortest of {shortest:,}" * (train.stats.documents > 1)
        sizes = {
            "window": (smaller.window, task.window),
            "training window": (smaller.train_window, task.train_window),
            "batch size": (smaller.batch_size, task.batch_size),
        }
        changes = [f"a {name} of {now} instead of {before}" for name, (now, before) in sizes.items() if now != before]
        log(f"the training split has only {len(train):,} tokens{segments}: using {' and '.join(changes)}")
        changed = ("window", "train_window", "batch_size")
        return settings.with_values(**{f"task.{name}": getattr(smaller, name) for name in changed})

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> TokenModel:
        backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, settings.model.embedding)
        return cls.Model(settings.model, backbone, sizes.vocab_size)

    @classmethod
    def usage(cls, run: str) -> tuple[str, str]:
        if not cls.generates:
            return "", "run.evaluate()"
        return f"seqlab generate {run}\n", "run.generate(temperature=0.8)"  # a prompt may be strange to the text

    def notes_on(self, split: str, name: str, mode: str) -> list[str]:
        cut = cut_lines_notes({name: self.splits[split]}, self.settings, mode == "carry")
        return [*super().notes_on(split, name, mode), *cut]

    @abstractmethod
    def score(self, model: TokenModel, split: str, mode: str | None = None, limit: int | None = None) -> TextScores: ...

    def unit_sums(self, scores: TextScores) -> UnitSums:
        return merge_into_blocks(scores)

    def metrics(self, scores: TextScores) -> MetricValues:
        return as_metrics(of_scores(scores))

    def wording(self, metrics: Mapping[str, float]) -> str:
        return f"as uncertain as a choice among {self.brief(metrics)} equally likely characters"

    def brief(self, metrics: Mapping[str, float]) -> str:
        return f"{2.0 ** metrics['bits_per_char']:.1f}" if metrics["bits_per_char"] < 20 else "over a million"

    def score_baselines(self, dataset: TextDataset, split: str, units: UnitSums) -> list[BaselineScore]:
        sums_UK, tokens_U = units.sums_UK, units.tokens_U
        firsts_U = np.cumsum([0, *tokens_U[:-1]])
        characters, size = dataset.splits[split].stats.text_size(int(tokens_U.sum()))
        spelling_U = dataset.splits[split].spelling_nats(tokens_U)
        scores = []
        window = None if self.mode == "carry" else self.settings.window
        counts = self.counts if dataset.splits["train"] is self.splits.get("train") else None
        for baseline in text_baselines(dataset, split, int(tokens_U.sum()), window, counts):
            if baseline.kind not in self.baselines:
                continue
            # xz writes the text itself, so nothing is left to spell
            spelled_U = spelling_U if baseline.nats_P is not None else np.zeros_like(spelling_U)
            metrics, carried = (
                as_metrics(likelihood(nats, baseline.tokens, characters, size, float(spelled_U.sum())))
                for nats in (baseline.nats, baseline.carried)
            )
            baseline_UK = None
            if baseline.nats_P is not None:
                nats_U = np.add.reduceat(baseline.nats_P, firsts_U) + spelled_U
                baseline_UK = np.stack([nats_U, sums_UK[:, 1]], 1)
            value = float(baseline.nats + spelled_U.sum()) / float(sums_UK[:, 1].sum())
            role = self.baselines[baseline.kind]
            scores.append(BaselineScore(baseline.name, baseline.about, role, metrics, value, baseline_UK, carried))
        return scores


BLOCK = 1024  # characters of a unit of text
MIN_SEGMENTS = 10  # from this number on, segments are the units
# baselines of a long training text use its end
MAX_TOKENS = 40_000_000
MAX_CHARACTERS = 80_000_000


def merge_into_blocks(scores: TextScores) -> UnitSums:
    """Windows or lines, merged into units: the segments of a text that has ten or more, otherwise blocks of about 1,024
    characters that never cross a seam between segments. Sums are nats and characters."""
    per_token = scores.characters / scores.tokens
    segment_U = np.zeros(len(scores.tokens_U), int) if scores.segment_U is None else scores.segment_U
    begins_U = np.diff(segment_U, prepend=-1) > 0
    if begins_U.sum() < MIN_SEGMENTS:
        for piece in np.split(np.arange(len(segment_U)), np.flatnonzero(begins_U)[1:]):
            begins_U[piece] = _begin_blocks(scores.tokens_U[piece] * per_token)
    firsts = np.flatnonzero(begins_U)
    nats_N = np.add.reduceat(scores.nats_U + scores.spelling_U, firsts)
    tokens_N = np.add.reduceat(scores.tokens_U, firsts)
    return UnitSums(np.stack([nats_N, tokens_N * per_token], 1), tokens_N)


def _begin_blocks(characters_U: np.ndarray) -> np.ndarray:
    """Whether each window begins a block. It belongs to the block of its last character; a short rest to the last."""
    ends_U = np.cumsum(characters_U)
    count = max(1, round(ends_U[-1] / BLOCK))
    block_U = np.minimum(np.ceil(ends_U / BLOCK - 1e-9).astype(int) - 1, count - 1)
    return np.diff(block_U, prepend=-1) > 0


def most_units(split: TokenSplit) -> int:
    """How many units a split has at most, before it is scored."""
    tokens_D = [len(split)] if split.stats.by_lines else np.diff(split.document_starts()).tolist()
    blocks_D = [max(1, round(tokens * split.stats.characters / len(split) / BLOCK)) for tokens in tokens_D]
    return len(blocks_D) if len(blocks_D) >= MIN_SEGMENTS else sum(blocks_D)


def one_unit(split: TokenSplit) -> UnitSums:
    """A split as a single unit, for baselines without a model beside them."""
    return UnitSums(np.array([[0.0, split.stats.scored_characters]]), np.array([split.stats.scored_tokens]))


def text_baselines(
    dataset: TextDataset, split: str, scored: int, window: int | None, counts: KneserNey | None = None
) -> list[TextBaseline]:
    """Baselines fitted on the training split, on as many tokens as were scored, in windows like those of the models;
    without a window they read on. `counts` are those of the training split, if they are known."""
    train, held_out, text = dataset.splits["train"], dataset.splits[split], dataset.data
    first = max(0, len(train) - MAX_TOKENS)
    train_starts = train.document_starts()[:-1]
    train_starts_D = np.append(0, train_starts[train_starts > first] - first)  # a document that is cut starts at 0
    starts = held_out.document_starts()
    targets_D = starts[1:] - np.arange(1, len(starts))  # up to the end of each document: all tokens but the firsts
    last = scored + 1 + int(np.searchsorted(targets_D, scored))
    characters = round(held_out.stats.characters * last / len(held_out))
    baselines = score_text_baselines(
        BaselineText(train.read(first, len(train)), text.tail("train", MAX_CHARACTERS).encode(), train_starts_D),
        BaselineText(held_out.read(0, last), text.text(split, characters).encode(), starts[:-1][starts[:-1] < last]),
        dataset.vocabulary.tokenizer.vocab_size,
        window,
        counts,
    )
    note = f"; the last {MAX_TOKENS:,} training tokens" if first else ""
    return [replace(one, about=one.about + note) if one.kind == "unigram" else one for one in baselines]


def cut_lines_notes(splits: Mapping[str, TokenSplit], settings: TextSettings, carries: bool) -> list[str]:
    """How many lines are longer than a window, so that what comes after it is read without what came before.

    A model that `carries` its state through held-out text reads whole lines of it."""
    cut: dict[int, list[str]] = {}  # by window
    for name, split in splits.items():
        window = settings.trained_window if name == "train" else settings.window
        whole = name != "train" and carries
        longer = int((np.diff(split.document_starts()) - 1 > window).sum()) if split.stats.by_lines and not whole else 0
        if longer:
            lines = counted(split.stats.documents, f"{split_in_words(name)} line")
            cut.setdefault(window, []).append(f"{longer:,} of {lines}")
    return [
        f"longer than the window of {window:,} tokens: {', '.join(lines)}; they are cut into windows, each read "
        f"without what came before it (task.window)"
        for window, lines in cut.items()
    ]


def fit_sizes(settings: TextSettings, split: TokenSplit) -> TextSettings:
    """Smaller windows if one does not fit into every segment; a smaller batch if the text is shorter than one."""
    fitted = _fit_window(settings, split)
    return fitted.model_copy(update={"train_window": fitted.train_window and fitted.trained_window})


def _fit_window(settings: TextSettings, split: TokenSplit) -> TextSettings:
    tokens = len(split)
    if settings.batching == "windows":
        shortest = int(np.diff(split.document_starts()).min())
        settings = settings.model_copy(update={"window": max(1, min(settings.window, shortest - 1))})
    if tokens > settings.batch_size * settings.window:
        return settings
    window = max(1, min(settings.window, tokens // 8, tokens - 1))
    return settings.model_copy(
        update={"window": window, "batch_size": max(1, min(settings.batch_size, (tokens - 1) // window))}
    )
