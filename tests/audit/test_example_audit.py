"""The audit of runs on labelled examples: green where all is well, red where a mistake was planted."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from example_files import labelled, write_examples
from pytest import MonkeyPatch

from seqlab import api
from seqlab.audit import examples
from seqlab.audit.audit import audit
from seqlab.audit.metric import metric
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import LabeledText
from seqlab.registry import BACKBONES, TASKS
from seqlab.tasks.classify import ClassifyTask
from seqlab.tasks.embed import EmbedTask
from seqlab.tasks.examples import ExampleTask
from seqlab.training.progress import Reporter

TINY: dict[str, Any] = {"steps": 2, "hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1, "evaluate_every": 1}

METRIC = metric.name


def trained(task: str, folder: Path, **short: Any) -> api.Run:
    source = write_examples(task, folder)
    settings = {"task.beam": 1, "task.max_target_length": 12} if task == "translate" else {}
    return api.train(source, out=folder / "run", task=task, reporter=Reporter(), settings=settings, **{**TINY, **short})


EXAMPLE_TASKS = [name for name in TASKS if issubclass(TASKS.load(name), ExampleTask)]


@pytest.mark.parametrize("arch", [*BACKBONES])
@pytest.mark.parametrize("task", [*EXAMPLE_TASKS, "embed"])
def test_every_architecture_passes(task: str, arch: str, tmp_path: Path) -> None:
    result = audit(trained(task, tmp_path, arch=arch))
    assert [check for check in result if check.failed] == []
    assert sum(check.passed is True for check in result) >= 7


def failing(run: api.Run) -> list[str]:
    return [check.name for check in audit(run) if check.failed]


def test_an_encoder_that_reads_its_padding_is_found(tmp_path: Path) -> None:
    run = trained("embed", tmp_path, arch="gru")
    run.model.forward = lambda tokens_BT, mask_BT=None, trace=None: run.model.embedding(tokens_BT).mean(1).repeat(1, 32)
    assert "a padded row equals the row alone" in failing(run)


def test_a_ranking_that_is_reported_too_well_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained("embed", tmp_path, arch="gru")
    score = EmbedTask.score

    def flattering(self: EmbedTask, *args: Any, **kwargs: Any) -> Any:
        scores = score(self, *args, **kwargs)
        return replace(scores, metrics={**scores.metrics, "ndcg_10": 0.99})

    monkeypatch.setattr(EmbedTask, "score", flattering)
    assert METRIC in failing(run)


def collection(folder: Path, shared: int) -> Path:
    """20 documents, a training query for each of the first ten, and ten test queries of which some share a document."""
    words = [f"{one}{other}" for one in "klmn" for other in ("ar", "ed", "ig", "op", "ub")]
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"d{place}", "text": f"{word} " * 9} for place, word in enumerate(words)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = [(f"q{place}", f"{split} {place}") for split in ("who", "where") for place in range(20)]
    asked = [(f"{text[:3]}{name}", text) for name, text in asked]
    lines = [json.dumps({"_id": name, "text": text}) for name, text in asked]
    (folder / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    train = [f"whoq{place}\td{place}\t1" for place in range(10)]
    test = [f"wheq{place}\td{place if place < shared else place + 10}\t1" for place in range(10)]
    (folder / "qrels" / "train.tsv").write_text("\n".join(train), encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("\n".join(test), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("shared", "passed"), [(0, True), (3, False)])
def test_queries_that_ask_for_documents_of_training_queries_are_found(tmp_path: Path, shared, passed) -> None:
    run = api.train(
        collection(tmp_path / "c", shared), out=tmp_path / "run", arch="gru", reporter=Reporter(), **TINY,
        settings={"task.dimensions": 8},
    )  # fmt: skip
    (found,) = [check for check in audit(run) if check.name == "held-out queries ask for documents of their own"]
    assert found.passed is passed
    assert f"test: {shared} of 10 queries ({10 * shared:.1f}%) have a relevant document" in found.detail
    assert "validation: 0 of 1 queries" in found.detail


def test_a_decoder_that_sees_the_future_is_found(tmp_path: Path) -> None:
    run = trained("translate", tmp_path, arch="gru")
    forward = run.model.forward

    def ahead(source: Any, inputs_BT: torch.Tensor, mask_BT: Any = None, trace: Any = None) -> torch.Tensor:
        return forward(source, inputs_BT, mask_BT, trace) + inputs_BT.float().sum(1)[:, None, None] * 1e-3

    run.model.forward = ahead
    assert "a future token changes nothing before it" in failing(run)


def test_padding_that_counts_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    run = trained("classify", tmp_path)
    forward = run.model.forward
    monkeypatch.setattr(
        run.model, "forward", lambda tokens_BT, mask_BT=None, trace=None: forward(tokens_BT, None, trace)
    )
    assert "a padded row equals the row alone" in failing(run)


def test_a_vocabulary_from_held_out_examples_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    learn = ClassifyTask.build_vocabulary.__func__

    def leaking(cls: type[ClassifyTask], given: list[LabeledText], settings: Any) -> Any:
        return learn(cls, everything, settings)

    everything = [LabeledText(*line.split("\t")) for line in labelled().splitlines()[1:]]
    with monkeypatch.context() as patch:
        patch.setattr(ClassifyTask, "build_vocabulary", classmethod(leaking))
        run = trained("classify", tmp_path)
    assert failing(run) == ["vocabulary from the training text only"]


def test_a_label_that_only_held_out_examples_have_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    """Even if the task builds the same vocabulary whenever it is asked."""
    learn = ClassifyTask.build_vocabulary.__func__

    def leaking(cls: type[ClassifyTask], given: list[LabeledText], settings: Any) -> Any:
        return replace(learn(cls, given, settings), labels=("cold", "lukewarm", "warm"))

    monkeypatch.setattr(ClassifyTask, "build_vocabulary", classmethod(leaking))
    run = trained("classify", tmp_path)
    assert failing(run) == ["vocabulary from the training text only"]


def test_inputs_on_both_sides_are_found(tmp_path: Path) -> None:
    run = trained("classify", tmp_path)
    dataset = run.dataset()
    parts = {**dataset.data.splits, "validation": dataset.data.splits["train"][:6]}
    result = examples.split_overlap(replace(dataset, data=replace(dataset.data, splits=parts)))
    assert not result.passed and "6 of 6" in result.detail


@pytest.mark.parametrize("column", ["auto", "author", "none"])
def test_groups_on_both_sides_are_found(column: str, tmp_path: Path) -> None:
    header, *rows = labelled().splitlines()
    authored = [f"{row}\tAuthor {at % 20}" for at, row in enumerate(rows)]
    source = tmp_path / "reviews.tsv"
    source.write_text("\n".join([f"{header}\tauthor", *authored]) + "\n", encoding="utf-8")
    run = api.train(source, out=tmp_path / "run", reporter=Reporter(), groups=column, **TINY)
    result = next(check for check in audit(run) if check.name == examples.shared_groups.name)
    assert result.passed is {"auto": False, "author": True, "none": None}[column]
    shared = {"auto": "validation: 6 of 6 examples (100.0%)", "author": "0 of 6 examples (0.0%)", "none": "no column"}
    assert shared[column] in result.detail


def test_an_example_that_is_scored_twice_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    run = trained("tag", tmp_path)
    scoring_batches = ExampleSplit.scoring_batches
    monkeypatch.setattr(
        ExampleSplit, "scoring_batches", lambda self, count: [*scoring_batches(self, count), np.array([0])]
    )
    assert "evaluation counts every example once" in failing(run)


def test_generation_with_another_state_is_found(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    run = trained("translate", tmp_path, arch="lstm")
    step = run.model.step

    def stale(token_B: torch.Tensor, state: Any, trace: Any = None) -> Any:
        logits_BV, after = step(token_B, state, trace)
        return logits_BV, replace(after, inner=state.inner)

    monkeypatch.setattr(run.model, "step", stale)
    result = failing(run)
    assert "step by step equals parallel" in result and "cached equals uncached generation" in result


class ReportsMore:
    """A task that is pleased with itself: what its tables say, what its verdicts follow from, or both."""

    lies: tuple[str, ...] = ()

    def metrics(self, scores: Any) -> dict[str, float]:
        told = super().metrics(scores)  # pyright: ignore[reportAttributeAccessIssue]
        return {**told, self.metric.key: 100.0} if "metrics" in self.lies else told  # pyright: ignore

    def unit_sums(self, scores: Any) -> Any:
        units = super().unit_sums(scores)  # pyright: ignore[reportAttributeAccessIssue]
        best = units.sums_UK.copy()
        best[:, 0] = best[:, -1]
        return replace(units, sums_UK=best) if "unit_sums" in self.lies else units

    def compare(self, examples: Any, predicted: Any) -> Any:
        gold = [
            getattr(example, "label", None) or getattr(example, "tags", None) or example.target for example in examples
        ]
        return super().compare(examples, gold if "compare" in self.lies else predicted)  # pyright: ignore


@pytest.mark.parametrize(
    ("task", "lie"),
    [("classify", "metrics"), ("tag", "unit_sums"), *((task, "compare") for task in EXAMPLE_TASKS)],
)
def test_a_task_that_reports_more_than_it_predicts_is_found(
    task: str, lie: str, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    kind = TASKS.load(task)
    monkeypatch.setattr(
        sys.modules[kind.__module__], kind.__name__, type(kind.__name__, (ReportsMore, kind), {"lies": (lie,)})
    )
    run = trained(task, tmp_path, split_ratios="80/10/10")
    assert failing(run) == [METRIC]


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_results_that_the_weights_do_not_give_are_found(task: str, tmp_path: Path) -> None:
    run = trained(task, tmp_path)
    assert run.results is not None
    key = run.results.headline_metric.key
    run.results = replace(run.results, validation={**run.results.validation, key: 99.0})
    assert failing(run) == [METRIC]
    result = next(check for check in audit(run) if check.name == METRIC)
    assert "99 in results.json" in result.detail


@pytest.mark.parametrize(
    "options", [{"task.output_layer": "crf"}, {"tokenizer.name": "bpe", "tokenizer.vocab_size": 300}]
)
def test_chains_and_pieces_of_words_are_counted_alike(options: dict[str, Any], tmp_path: Path) -> None:
    run = api.train(
        write_examples("tag", tmp_path), out=tmp_path / "run", task="tag", reporter=Reporter(), settings=options, **TINY
    )
    assert failing(run) == []
