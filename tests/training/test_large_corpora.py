"""Training on a corpus in shards: said, resumed, scored and audited as any other text."""

import json
from pathlib import Path

import numpy as np
import pytest
from small_runs import SMALL

from seqlab import api
from seqlab.audit.audit import audit
from seqlab.contracts import TextBatch
from seqlab.errors import DataError, SeqlabWarning, UsageError
from seqlab.training.progress import Reporter


class Said(Reporter):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def log(self, message: str) -> None:
        self.lines.append(message)


def write_documents(path: Path, numbers: range) -> Path:
    names = ("cat", "dog", "bird", "fox", "owl")
    rows = ({"text": f"The {names[n % 5]} number {n * n} sat on mat {n % 7}.", "id": n} for n in numbers)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("large")
    said = Said()
    source = write_documents(folder / "docs.jsonl", range(600))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        api.train(source, out=folder / "run", task="language", split_ratios="80/10/10", reporter=said, **SMALL)
    return folder, said.lines


def test_what_is_said(trained: tuple[Path, list[str]]) -> None:
    folder, lines = trained
    text = "\n".join(lines)
    assert "the text is 'text' of docs.jsonl; left out: 'id'" in text
    assert "split 80/10/10, by the SHA-256 of each document" in text
    assert "the tokenizer was learned from the training text" in text
    assert "in 600 documents" in text
    facts = json.loads((folder / "run" / "config.json").read_text())["corpus"]
    assert facts["tokenizer_sample"]["spans"] == [[str(folder / "docs.jsonl"), 0, None]]
    assert len(facts["fingerprint"]) == 64


def test_batches_are_the_same_after_opening_again(trained: tuple[Path, list[str]]) -> None:
    folder, _ = trained
    tasks = [api.load(folder / "run").task() for _ in range(2)]
    for split, index in (("train", 0), ("train", 12_345), ("validation", 3)):
        one, other = (task.batch(split, 5, index) for task in tasks)
        assert isinstance(one, TextBatch) and isinstance(other, TextBatch)
        assert np.array_equal(one.inputs_BT, other.inputs_BT) and np.array_equal(one.targets_BT, other.targets_BT)


def test_more_steps_other_data_and_an_audit(trained: tuple[Path, list[str]]) -> None:
    folder, _ = trained
    api.resume(folder / "run", more=2, reporter=Reporter())
    other = write_documents(folder / "other.jsonl", range(10_000, 10_050))
    with pytest.warns(SeqlabWarning, match="other.jsonl"):
        scored = api.evaluate(folder / "run", other)
    assert scored.metrics["bits_per_char"] > 0
    failed = [result for result in audit(api.load(folder / "run")) if result.passed is False]
    assert not [result for result in failed if "overlap" in result.name or "vocabulary" in result.name], failed


def test_a_changed_corpus_is_no_longer_that_of_the_run(trained: tuple[Path, list[str]], tmp_path: Path) -> None:
    said = Said()
    source = write_documents(tmp_path / "docs.jsonl", range(600))
    api.train(source, out=tmp_path / "run", task="language", reporter=said, **SMALL)
    write_documents(source, range(601))
    with pytest.raises(DataError, match="is no longer the text that"):
        api.resume(tmp_path / "run", more=2, reporter=Reporter())


def test_settings_that_do_nothing_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("the cat sat on the mat. " * 100)
    with pytest.raises(UsageError, match=r"corpus.text_column does nothing: there are no JSON lines"):
        api.train(text, out=tmp_path / "run", text_column="body", reporter=Reporter(), **SMALL)
    with pytest.raises(UsageError, match=r"corpus.skip_limit does nothing for --task language"):
        api.train(text, out=tmp_path / "run", skip_limit=0.5, reporter=Reporter(), **SMALL)
