"""Options that cannot apply are refused, never ignored."""

from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.comparison.plan.request import build_request
from seqlab.errors import UsageError

TEXT = "the cat sat on the mat\n" * 50
TABLE = "text\tlabel\n" + "".join(f"film {n}\t{'good' if n % 2 else 'bad'}\n" for n in range(40))
SMALL: dict[str, Any] = {"arch": "rnn", "hidden": 4, "steps": 1, "sample_tokens": 0, "threads": 1}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, content in {"my.txt": TEXT, "films.tsv": TABLE}.items():
        (tmp_path / name).write_text(content)
    return {"text": tmp_path / "my.txt", "examples": tmp_path / "films.tsv"}


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("examples", {"documents": "lines"}),
        ("examples", {"split": "scattered"}),
        ("examples", {"window": 32}),
        ("examples", {"batching": "stream"}),
        ("examples", {"difficulty": 3}),
        ("examples", {"decoder": "gru"}),
        ("text", {"task": "language", "columns": ["a", "b"]}),
        ("text", {"batch_tokens": 100}),
        ("text", {"decoder": "gru"}),
        ("text", {"difficulty": 3}),
        ("text", {"vocab_size": 50}),
        ("text", {"metric": "accuracy"}),
    ],
)
def test_train_and_compare_refuse_what_does_nothing(files: dict[str, Path], kind: str, options: dict[str, Any]):
    with pytest.raises(UsageError):
        seqlab.train(files[kind], **SMALL, **options)
    with pytest.raises(UsageError):
        build_request(files[kind], None, {}, {"archs": "rnn,gru", **options})


def test_evaluate_refuses_a_split_of_other_data(files: dict[str, Path], tmp_path: Path):
    run = seqlab.train(files["text"], **SMALL, window=8, out=tmp_path / "run")
    with pytest.raises(UsageError, match="split of the run's own data"):
        run.evaluate(files["text"], split="test")
