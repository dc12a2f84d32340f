"""Measures of a run, and shows that need no run."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import seqlab
from seqlab.measures import mask_off
from seqlab.measures.contextual import contextual
from seqlab.measures.lengths import by_length
from seqlab.measures.measurement import MeasureContext
from seqlab.measures.samples import TAIL, beam, closed, closing, temperatures
from seqlab.measures.scaling import attention_scaling, entropy_and_gradient
from seqlab.measures.speed import memory, speed
from seqlab.recipes import Writing
from seqlab.runs.run import Run

WRITING = Writing("the ", (0.2, 1.0))
TINY: dict[str, Any] = {
    "steps": 3,
    "hidden": 8,
    "embedding": 4,
    "batch_size": 4,
    "window": 16,
    "sample_tokens": 0,
    "threads": 1,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("run")
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        return seqlab.train("toy-words", arch="gru", out=folder / "run", **TINY)


@pytest.mark.parametrize(
    "text, pair, expected",
    [
        ("(a) (b", "()", (2, 1)),
        ("((a)) )", "()", (2, 2)),
        ('"a" "b', '""', (2, 1)),
        ("“a” “b”", "“”", (2, 2)),
        ("nothing", "()", (0, 0)),
    ],
)
def test_what_is_closed(text: str, pair: str, expected: tuple[int, int]) -> None:
    assert closed([text + " " * TAIL], pair) == expected


def test_what_is_opened_at_the_end_is_not_counted() -> None:
    assert closed(["x" * TAIL + "(x)"], "()") == (0, 0)


def test_texts_at_each_temperature(run: Run, tmp_path: Path) -> None:
    measured = temperatures(run, MeasureContext(tmp_path, WRITING))
    assert list(measured.data["texts"]) == ["0.2", "1"]
    assert all(len(text) == 300 for text in measured.data["texts"].values())
    assert measured.data["texts"]["0.2"] == str(run.generate("the ", 300, temperature=0.2))


def test_a_beam_finds_nothing_less_probable_than_one_hypothesis(run: Run, tmp_path: Path) -> None:
    measured = beam(run, MeasureContext(tmp_path, WRITING))
    assert measured.data["beam"]["logprob"] >= measured.data["greedy"]["logprob"] - 1e-3
    assert "beam 5" in measured.text


def test_a_text_without_brackets_says_so(run: Run, tmp_path: Path) -> None:
    assert "Neither the text nor" in closing(run, MeasureContext(tmp_path, WRITING)).text


def test_speed(run: Run, tmp_path: Path) -> None:
    data = speed(run, MeasureContext(tmp_path, WRITING)).data
    assert 0 < data["batched_ms"] < data["alone_ms"] < 1000
    assert 0 < data["step_ms"] < 10_000
    assert set(data["profile_ms"]) == {"10", "100", "400", "1000"}


def test_memory(run: Run, tmp_path: Path) -> None:
    data = memory(run, MeasureContext(tmp_path, WRITING)).data
    assert data["weights"] == 4 * run.config["parameters"]["total"]
    assert data["training"] == 4 * data["weights"], "weights, gradients and two moments"
    assert data["state"] == {"128": 32, "1024": 32}
    assert data["process"] > 50e6


def test_quality_by_length_takes_the_shortest_sources_first(tmp_path: Path) -> None:
    lengths = [1 + 7 * number % 12 for number in range(48)]
    (tmp_path / "pairs.tsv").write_text(
        "source\ttarget\n" + "".join(f"{' '.join(['a'] * n)} {i}\tb {i}\n" for i, n in enumerate(lengths))
    )
    (tmp_path / "train.tsv").write_text(
        "source\ttarget\n" + "".join(f"{' '.join(['a'] * n)} {i}\tb {i} c\n" for i, n in enumerate(lengths))
    )
    files: dict[str, Any] = {
        "task": "translate",
        "validation": tmp_path / "pairs.tsv",
        "metric": "chrf",
        "tokenizer": "word",
    }
    files |= {key: value for key, value in TINY.items() if key != "window"}
    run = seqlab.train(tmp_path / "train.tsv", out=tmp_path / "run", **files)
    measured = by_length(run, MeasureContext(tmp_path, WRITING))
    bins = measured.data["bins"]
    assert [(first, last) for first, last, *_ in bins] == [(2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)]
    assert [count for _, _, count, _ in bins] == [8] * 6
    assert [figure.is_file() for figure in measured.figures] == [True]
    task, scores = MeasureContext(tmp_path).scores(run)
    short_K = task.unit_sums(scores).sums_UK[[at for at, n in enumerate(lengths) if n <= 2]].sum(0)
    assert bins[0][3] == pytest.approx(float(task.metric.value(short_K)))


def test_every_word_in_its_context(tmp_path: Path) -> None:
    encoder: dict[str, Any] = {
        "arch": "transformer-encoder",
        "task": "masked",
        "tokenizer": "word",
        "documents": "lines",
    }
    run = seqlab.train("toy-sentences", out=tmp_path / "run", settings={"tokenizer.lowercase": True}, **encoder, **TINY)
    measured = contextual(run, MeasureContext(tmp_path, WRITING))
    assert len(measured.data) == 10
    first = measured.data["The cat sat on the mat"]
    assert first["tokens"] == ["the", "cat", "sat", "on", "the", "mat"]
    embeddings_TH = np.array(first["embeddings"])
    assert embeddings_TH.shape == (6, 8)
    assert not np.allclose(embeddings_TH[0], embeddings_TH[4]), "the same word has the same vector in two contexts"
    assert len(measured.figures) == 4  # layers
    assert all(figure.stat().st_size > 1000 for figure in measured.figures)


def test_why_scores_are_scaled(tmp_path: Path) -> None:
    data = attention_scaling(MeasureContext(tmp_path)).data
    assert [row["d"] for row in data["table"]] == [4, 16, 64, 256, 1024, 4096]
    raw, scaled = (np.array([row[kind] for row in data["table"]]) for kind in ("raw", "scaled"))
    assert (np.diff(raw[:, 0]) < 0).all() and raw[-1, 0] < 0.1, "raw scores saturate"
    assert np.ptp(scaled[:, 0]) < 0.15, "scaled ones do not"
    assert scaled[-1, 1] > 10 * raw[-1, 1], "and keep their gradient"
    example = data["example"]
    raw_S, scaled_S = np.array(example["raw scores of query 1"]), np.array(example["scaled scores of query 1"])
    assert scaled_S == pytest.approx(raw_S / 2, rel=1e-5)
    assert example["weights"][0] == pytest.approx(np.exp(scaled_S) / np.exp(scaled_S).sum(), rel=1e-5)


def test_entropy_and_gradient_by_hand() -> None:
    entropy, slope = entropy_and_gradient(torch.zeros(3, 4))
    assert entropy == pytest.approx(math.log(4))
    assert slope == pytest.approx(0.25 * 0.75)


def test_without_the_mask_answers_are_read_off_the_future(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_DATA", str(shared_data))
    for name, value in {"STEPS": 60, "HIDDEN": 32, "EMBEDDING": 16, "SCORED": 2, "LR": 1e-2}.items():
        monkeypatch.setattr(mask_off, name, value)
    monkeypatch.setattr(mask_off, "default_threads", lambda: 1)
    data = mask_off.mask_off(MeasureContext(tmp_path)).data
    on, off = data["mask on"], data["mask off"]
    assert off["everything visible"] < off["future hidden"]
    assert on["future hidden"] < off["future hidden"]
