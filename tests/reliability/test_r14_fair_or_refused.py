"""R14: what was trained on another text, split, tokenizer or budget is not mixed in, and the reason is given."""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from seqlab.api import compare
from seqlab.comparison.compare import Comparison
from seqlab.comparison.execution.jobs import Job
from seqlab.comparison.execution.progress import ProgressView
from seqlab.comparison.execution.worker import EventReporter, run_job
from seqlab.comparison.plan.plan import read_plan
from seqlab.errors import DataError

pytestmark = pytest.mark.usefixtures("workers_in_process")
OPTIONS = {
    "archs": "rnn",
    "seeds": 1,
    "match": "params=500",
    "tune": 0,
    "window": 16,
    "batch_size": 4,
    "embedding": 8,
    "jobs": 1,
}
TEXT = "the cat sat by the hut and saw {} of them.\n"


def compared(text: Path, out: Path, **options: str) -> Comparison:
    return compare(text, out=out, view=ProgressView(), **{**OPTIONS, "budget": "steps=4", **options})


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, most in (("one", 7), ("other", 9)):
        (folder / name).write_text("".join(TEXT.format(n % most) for n in range(80)))
    return folder


@pytest.fixture(scope="module")
def first(texts: Path) -> Comparison:
    return compared(texts / "one", texts / "first")


@pytest.fixture
def ours(first: Comparison, tmp_path: Path) -> Path:
    """The first comparison, to be finished again without its run."""
    shutil.copytree(first.directory, tmp_path / "ours", symlinks=True)
    shutil.rmtree(tmp_path / "ours/runs/rnn-0")
    (tmp_path / "ours/results.json").unlink()
    return tmp_path / "ours"


@pytest.mark.parametrize(
    ("name", "changed", "why"),
    [
        ("other", {}, "text was"),
        ("one", {"tokenizer": {"name": "byte"}}, "tokenizer was"),
        ("one", {"corpus.split_ratios": "90/10"}, r"settings\.corpus\.split_ratios was 80/10/10, not 90/10"),
        ("one", {"train.steps": 5}, r"settings\.train\.steps was 4, not 5"),
    ],
)
def test_a_run_from_elsewhere_is_not_taken_in(
    name: str, changed: dict[str, Any], why: str, first: Comparison, texts: Path, ours: Path
) -> None:
    """It was made as a comparison makes its runs, and put where the one that is missing should be."""
    plan = read_plan(first.directory)
    assert plan is not None
    own = {"corpus.source": [str(texts / name)], **{key: value for key, value in changed.items() if "." in key}}
    settings = {**plan.models[0].changed(**own).settings, **{k: v for k, v in changed.items() if "." not in k}}
    part = "validation" if "corpus.split_ratios" in changed else "test"
    run_job(Job("runs/rnn-0", settings, part, 0.0), ours, EventReporter(io.StringIO()))
    with pytest.raises(DataError, match=why):
        compared(texts / "one", ours)


def test_what_is_trained_anew_is_the_same(texts: Path, first: Comparison, ours: Path) -> None:
    again = compared(texts / "one", ours)
    assert [run.value for run in again.results.runs] == [run.value for run in first.results.runs]
