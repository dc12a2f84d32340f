"""R14: what was trained on another text, split, tokenizer or budget is not mixed in, and the reason is given."""

import shutil
from pathlib import Path

import pytest

from seqlab.comparison.experiment import Comparison, compare
from seqlab.comparison.view import Quiet
from seqlab.errors import DataError

OPTIONS = {
    "archs": "rnn",
    "seeds": 1,
    "match": "params=500",
    "tune": 0,
    "window": 16,
    "batch": 4,
    "embedding": 8,
    "jobs": 1,
}
TEXT = "the cat sat by the hut and saw {} of them.\n"


def compared(folder: Path, name: str, **options: str) -> Comparison:
    text = folder / f"{name}.txt"
    text.write_text("".join(TEXT.format(n % (7 if name == "one" else 9)) for n in range(80)))
    given = {**OPTIONS, "budget": "steps=4", **options}
    return compare(text if name == "one" else [text], out=folder / f"{name}-{len(options)}", view=Quiet(), **given)


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("other", {}, "text was"),
        ("one", {"tokenizer": "byte"}, "tokenizer was"),
        ("one", {"split": "90/10"}, r"settings\.corpus\.split was 80/10/10, not 90/10"),
        ("one", {"budget": "steps=5"}, r"settings\.train\.steps was 4, not 5"),
    ],
)
def test_a_run_from_elsewhere_is_not_taken_in(name: str, options: dict[str, str], why: str, tmp_path: Path) -> None:
    ours = compared(tmp_path, "one")
    theirs = compared(tmp_path, name, **options)
    shutil.rmtree(ours.directory / "runs" / "rnn-0")
    shutil.copytree(theirs.directory / "runs" / "rnn-0", ours.directory / "runs" / "rnn-0")
    (ours.directory / "results.json").unlink()
    with pytest.raises(DataError, match=why):
        compared(tmp_path, "one")
    shutil.rmtree(ours.directory / "runs" / "rnn-0")
    again = compared(tmp_path, "one")  # trained anew, it is the same
    assert [run.value for run in again.results.runs] == [run.value for run in ours.results.runs]
