"""More than twenty different leaks and false reports, each planted in a small run, and the check that must find it."""

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from audit_cases import TINY, learnt_from_everything, new_text, untrained, with_backbone, with_model
from example_files import labelled, paired, tagged
from test_example_audit import ReportsMore
from test_planted import Centred, DropsAlways, Stale, Unmasked, one_longer

from seqlab import api
from seqlab.audit import data, examples, looks, metric, model, origins, scoring
from seqlab.config import RunSettings
from seqlab.data.text.split import SplitText
from seqlab.registry import TASKS, TOKENIZERS
from seqlab.runs.looks import record_comparison
from seqlab.tasks.classify import ClassifyTask
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.training.progress import Reporter

EXAMPLE_TINY: dict[str, Any] = {"steps": 2, "hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1}
SHORT_TRANSLATIONS = {"task.beam": 1, "task.max_target_length": 12}
Plant = Callable[[Path, pytest.MonkeyPatch], api.Run]


@dataclass(frozen=True)
class Leak:
    plant: Plant
    found_by: str


def written(folder: Path, content: str, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def trained(source: Path, name: str = "run", **options: Any) -> api.Run:
    sizes = TINY if source.suffix == ".txt" else EXAMPLE_TINY
    return api.train(source, out=source.parent / name, reporter=Reporter(), **{**sizes, **options})


def text(folder: Path) -> Path:
    return written(folder, new_text(8000))


# --- text -----------------------------------------------------------------------------------------------------------


def from_held_out(split: SplitText, settings: RunSettings) -> Tokenizer:
    kind = TOKENIZERS.load(settings.tokenizer.name)
    held_out = [split.text(name) for name in ("validation", "test")]
    return kind.train(held_out, settings.tokenizer.settings, split.by_lines)


def copied(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    new = new_text(9000)[:9000]
    return untrained(written(folder, new + new[:1000]))


def copied_with_changes(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    new = new_text(18_000)[:18_000]
    changed = "".join("." if at % 30 == 15 else letter for at, letter in enumerate(new[:2000]))
    return untrained(written(folder, new + changed))


def same_positions(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    def bounds(self: SplitText, part: str, total: int) -> tuple[int, int]:
        return {"train": (0, total * 91 // 100), "validation": (total * 9 // 10, total), "whole": (0, total)}[part]

    run = untrained(text(folder))
    patch.setattr(SplitText, "_bounds", bounds)
    return run


def flatters(task: str, split_ratios: str = "90/10") -> Plant:
    """A task on text whose tables say a hundredth of what was measured."""

    def plant(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
        kind = TASKS.load(task)

        def metrics(self: Any, scores: Any) -> dict[str, float]:
            measured = kind.metrics(self, scores)
            return {**measured, "bits_per_char": measured["bits_per_char"] / 100}

        patch.setattr(sys.modules[kind.__module__], kind.__name__, type(kind.__name__, (kind,), {"metrics": metrics}))
        arch = {"language": "gru", "masked": "transformer-encoder"}[task]
        return untrained(text(folder), arch=arch, task=task, split_ratios=split_ratios)

    return plant


def scores_test_text_better(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    """Honest on validation, half of the nats on test."""
    kind = TASKS.load("language")

    def score(self: Any, model: Any, split: str, mode: Any = None, limit: Any = None) -> Any:
        scores = kind.score(self, model, split, mode, limit)
        return replace(scores, nats_U=scores.nats_U / 2) if split == "test" else scores

    patch.setattr(sys.modules[kind.__module__], kind.__name__, type(kind.__name__, (kind,), {"score": score}))
    return untrained(text(folder), split_ratios="80/10/10")


def scored_twice(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    patch.setattr("seqlab.tasks.text_scores.cut_windows", one_longer)
    return untrained(text(folder))


def started_from(role: str) -> Plant:
    def plant(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
        first, second = new_text(6000), new_text(6000, seed=1)
        before = trained(written(folder, first[-1500:] + second, "other.txt"), "before")
        options: dict[str, Any] = (
            {"init": before.path} if role == "init" else {"settings": {"task.teacher": str(before.path)}}
        )
        return trained(written(folder, first), **options)

    return plant


def looked_at(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    run = trained(text(folder), split_ratios="80/10/10")
    for number in range(looks.MAX_LOOKS + 1):
        (folder / f"comparison-{number}").mkdir()
        record_comparison(folder / f"comparison-{number}", run.dataset().data)
    return run


# --- examples -------------------------------------------------------------------------------------------------------


def rewritten(change: Callable[[int, str, str], str], **options: Any) -> Plant:
    """Two hundred labeled texts, each rewritten with its number and label."""

    def plant(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
        rows = [change(at, sentence, label) for at, (sentence, label) in enumerate(labeled_sentences())]
        header = "text\tlabel\tauthor" if rows[0].count("\t") == 2 else "text\tlabel"
        return trained(written(folder, "\n".join([header, *rows]) + "\n", "reviews.tsv"), **options)

    return plant


def labeled_sentences(count: int = 200) -> list[tuple[str, str]]:
    """Warm is what is red, and that word may stand anywhere."""
    draw = random.Random(3)
    known = new_text(3000, seed=5).replace(".", "").split()
    sentences: list[tuple[str, str]] = []
    for _ in range(count):
        words = draw.sample(known, k=5) + draw.sample(["red", "blue", "green"], k=1)
        draw.shuffle(words)
        sentences.append((" ".join(words), "warm" if "red" in words else "cold"))
    return sentences


def held_out_again(change: Callable[[str], str]) -> Plant:
    """Validation examples that are training examples with a change."""

    def plant(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
        rows = [f"{sentence}\t{label}" for sentence, label in labeled_sentences()]
        copies = [f"{change(sentence)}\t{label}" for sentence, label in labeled_sentences()[:40]]
        validation = written(folder, "\n".join(["text\tlabel", *copies]) + "\n", "validation.tsv")
        source = written(folder, "\n".join(["text\tlabel", *rows]) + "\n", "reviews.tsv")
        return trained(source, validation=str(validation))

    return plant


def praises_itself(task: str, lie: str) -> Plant:
    def plant(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
        kind = TASKS.load(task)
        lying = type(kind.__name__, (ReportsMore, kind), {"lies": (lie,)})
        patch.setattr(sys.modules[kind.__module__], kind.__name__, lying)
        names = {"classify": ("e.tsv", labelled), "tag": ("e.conll", tagged), "translate": ("e.tsv", paired)}
        name, content = names[task]
        settings = SHORT_TRANSLATIONS if task == "translate" else {}
        return trained(written(folder, content(), name), task=task, settings=settings, split_ratios="80/10/10")

    return plant


def words_of_all_examples(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    build = ClassifyTask.build_vocabulary.__func__  # pyright: ignore[reportFunctionMemberAccess]
    everything = [examples.LabeledText(*line.split("\t")) for line in labelled().splitlines()[1:]]
    with patch.context() as planted:
        leaking = classmethod(lambda cls, given, settings: build(cls, everything, settings))
        planted.setattr(ClassifyTask, "build_vocabulary", leaking)
        return trained(written(folder, labelled(), "reviews.tsv"))


def examples_seen_before(folder: Path, patch: pytest.MonkeyPatch) -> api.Run:
    header, *rows = labelled().splitlines(keepends=True)
    before = trained(written(folder, labelled(), "all.tsv"), "before")
    return trained(written(folder, header + "".join(rows[:30]), "half.tsv"), init=before.path)


LEAKS: dict[str, Leak] = {
    "a convolution that sees the future": Leak(
        lambda folder, patch: with_backbone(untrained(text(folder)), Centred), model.causality.name
    ),
    "padding that is attended to": Leak(
        lambda folder, patch: with_backbone(untrained(text(folder), arch="transformer"), Unmasked), model.padding.name
    ),
    "a stale cache": Leak(
        lambda folder, patch: with_backbone(untrained(text(folder), arch="transformer"), Stale), model.generation.name
    ),
    "dropout that is left on": Leak(
        lambda folder, patch: with_model(untrained(text(folder), {"model.output_dropout": 0.3}), DropsAlways),
        scoring.scored_twice.name,
    ),
    "characters of all text": Leak(
        lambda folder, patch: untrained(written(folder, new_text(4000) + "été où ça"), learn=learnt_from_everything),
        data.vocabulary.name,
    ),
    "byte pairs of held-out text": Leak(
        lambda folder, patch: untrained(
            text(folder),
            {"tokenizer.vocab_size": 400},
            learn=from_held_out,
            tokenizer="bpe",
            split_ratios="80/10/10",
            window=4,
            batch_size=2,
        ),
        data.vocabulary.name,
    ),
    "copied text": Leak(copied, data.split_overlap.name),
    "text copied with changes": Leak(copied_with_changes, data.near_copied.name),
    "splits that share positions": Leak(same_positions, data.split_overlap.name),
    "tokens scored twice": Leak(scored_twice, scoring.counted_once.name),
    "a language model that flatters itself": Leak(flatters("language"), scoring.metric.name),
    "a masked model that flatters itself": Leak(flatters("masked"), scoring.metric.name),
    "test text that is scored better": Leak(scores_test_text_better, scoring.recount.name),
    "weights that saw held-out text": Leak(started_from("init"), origins.origins.name),
    "a teacher that saw held-out text": Leak(started_from("teacher"), origins.origins.name),
    "a test split looked at too often": Leak(looked_at, looks.test_looks.name),
    "copied inputs": Leak(held_out_again(str), examples.split_overlap.name),
    "short inputs in other case": Leak(
        held_out_again(lambda sentence: sentence.capitalize() + "!"), examples.near_copied.name
    ),
    "authors on both sides": Leak(
        rewritten(lambda at, sentence, label: f"{sentence}\t{label}\tAuthor {at % 20}"), examples.shared_groups.name
    ),
    "labels in inputs": Leak(
        rewritten(lambda at, sentence, label: f"{sentence} {label}\t{label}"), examples.given_away.name
    ),
    "identifiers that tell labels": Leak(
        rewritten(lambda at, sentence, label: f"{at + 1000 * (label == 'warm')} {sentence}\t{label}"),
        examples.given_away.name,
    ),
    "words of all examples": Leak(words_of_all_examples, examples.vocabulary.name),
    "weights that saw held-out examples": Leak(examples_seen_before, origins.origins.name),
    "a classifier of 100%": Leak(praises_itself("classify", "compare"), metric.metric.name),
    "a tagger of 100%": Leak(praises_itself("tag", "unit_sums"), metric.metric.name),
    "a translator of 100%": Leak(praises_itself("translate", "compare"), metric.metric.name),
}
