"""Every planted leak is found, and no honest run is flagged: all of them among the slow tests, a few by default."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from audit_cases import new_text, red
from example_files import paired, tagged
from leaks import LEAKS, SHORT_TRANSLATIONS, labeled_sentences, trained, written

from seqlab import api

FEW_LEAKS = ("short inputs in other case", "labels in inputs", "a test split looked at too often")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.training.finish.draw_curves", lambda *_: None)
    monkeypatch.setattr("os.fsync", lambda _: None)


def is_found(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    return LEAKS[name].found_by in red(LEAKS[name].plant(folder, monkeypatch))


@pytest.mark.parametrize("name", FEW_LEAKS)
def test_some_leaks_are_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_found(name, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LEAKS if name not in FEW_LEAKS])
def test_all_leaks_are_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_found(name, tmp_path, monkeypatch)


def test_there_are_enough_of_both() -> None:
    assert len(LEAKS) >= 20 and len(HONEST) >= 40


# --- honest runs ----------------------------------------------------------------------------------------------------

TEXT_ARCHS = ("feedforward", "rnn", "gru", "lstm", "lstm-attention", "transformer")
BPE = {"tokenizer": "bpe", "vocab_size": 300}
HONEST: list[dict[str, Any]] = [
    *(
        {"kind": "text", "arch": arch, "seed": seed, "split_ratios": ratios, **tokenizer}
        for (seed, arch), (ratios, tokenizer) in zip(
            enumerate(TEXT_ARCHS * 2),
            [("90/10", {}), ("80/10/10", BPE), ("80/10/10", {"tokenizer": "byte"})] * 4,
            strict=True,
        )
    ),
    {"kind": "text", "arch": "gru", "documents": "lines"},
    {"kind": "text", "arch": "transformer", "documents": "lines", "split_ratios": "80/10/10"},
    {"kind": "text", "arch": "lstm", "split": "scattered", "split_ratios": "80/10/10"},
    {"kind": "text", "arch": "gru", "batching": "stream"},
    {"kind": "text", "arch": "lstm", "init": True},
    {"kind": "text", "arch": "transformer-encoder", "task": "masked"},
    {"kind": "text", "arch": "transformer-encoder", "task": "masked", "documents": "lines"},
    *({"kind": kind, "arch": arch, "seed": 1} for kind, arch in product(("classify", "tag"), TEXT_ARCHS[1:])),
    *({"kind": "translate", "arch": arch, "seed": 2} for arch in ("gru", "lstm", "transformer")),
    *({"kind": "authors", "arch": arch, "split_ratios": "80/10/10"} for arch in ("gru", "transformer-encoder")),
    *({"kind": "classify", "arch": "gru", **tokenizer} for tokenizer in (BPE, {"tokenizer": "char"})),
    {"kind": "tag", "arch": "gru", "settings": {"task.output_layer": "crf"}},
    *(
        {"kind": corpus, "arch": "gru", "difficulty": difficulty}
        for corpus, difficulty in (("adding", 8), ("copy", 6), ("dates", 3), ("brackets", 2), ("parity", 12))
    ),
]  # fmt: skip
FEW_HONEST = [HONEST[1], *(case for case in HONEST if case["kind"] == "authors")]


def source_of(kind: str, folder: Path) -> Any:
    """New data of this kind, or the name of a built-in corpus."""
    sentences = labeled_sentences()
    authored = [f"{sentence}\t{label}\tAuthor {at % 50}" for at, (sentence, label) in enumerate(sentences)]
    files = {
        "text": ("text.txt", new_text(12_000, seed=4)),
        "classify": ("reviews.tsv", "\n".join(["text\tlabel", *("\t".join(one) for one in sentences)]) + "\n"),
        "authors": ("reviews.tsv", "\n".join(["text\tlabel\tauthor", *authored]) + "\n"),
        "tag": ("words.conll", tagged()),
        "translate": ("pairs.tsv", paired()),
    }
    return written(folder, files[kind][1], files[kind][0]) if kind in files else kind


def honest(case: dict[str, Any], folder: Path) -> api.Run:
    options = {key: value for key, value in case.items() if key not in ("kind", "init")}
    source = source_of(case["kind"], folder)
    if case["kind"] == "authors":
        options["groups"] = "author"
    if case["kind"] in ("translate", "copy", "dates"):
        options["settings"] = SHORT_TRANSLATIONS
    if case.get("init"):
        before = written(folder, new_text(12_000, seed=9), "before.txt")
        options["init"] = trained(before, "before", arch=case["arch"]).path
    if isinstance(source, str):
        small = {"steps": 2, "hidden": 8, "embedding": 8, "threads": 1, **options}
        return api.train(source, out=folder / "run", **small)
    return trained(source, **options)


@pytest.mark.parametrize("case", FEW_HONEST, ids=str)
def test_some_honest_runs_pass(case: dict[str, Any], tmp_path: Path) -> None:
    assert red(honest(case, tmp_path)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in HONEST if case not in FEW_HONEST], ids=str)
def test_all_honest_runs_pass(case: dict[str, Any], tmp_path: Path) -> None:
    assert red(honest(case, tmp_path)) == set()
