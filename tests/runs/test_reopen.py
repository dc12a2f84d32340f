"""A run finds the data that it was trained on, or says what it was trained on and where that was."""

from pathlib import Path
from typing import Any

import pytest

from seqlab import api
from seqlab.errors import DataError, MissingInput


def test_the_data_of_a_run_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "my.txt"
    text.write_text("the quick brown fox jumps over the lazy dog\n" * 20)
    monkeypatch.chdir(tmp_path)
    sizes: dict[str, Any] = {
        "hidden": 8,
        "embedding": 8,
        "batch_size": 4,
        "window": 16,
        "steps": 1,
        "threads": 1,
        "sample_tokens": 0,
    }
    before = api.train("my.txt", out="r", **sizes).evaluate().metrics
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert api.evaluate("../r").metrics == before
    text.write_text("the quick brown fox is dead\n" * 20)
    with pytest.raises(DataError, match=r"or train on the new one: seqlab train \S+/my\.txt --init \.\./r$"):
        api.evaluate("../r")
    (tmp_path / "r/model.safetensors").rename("kept")
    with pytest.raises(DataError, match=r"or train anew, with its settings: seqlab train \S+/my\.txt --from \.\./r$"):
        api.resume("../r")  # it has no weights to start from
    Path("kept").rename(tmp_path / "r/model.safetensors")
    text.write_bytes(b"\0\0")
    with pytest.raises(DataError, match=r"the data that '\.\./r' was trained on can no longer be read\. .* NUL"):
        api.evaluate("../r")
    text.unlink()
    with pytest.raises(MissingInput) as error:
        api.evaluate("../r")
    assert str(error.value) == (
        f"'../r' was trained on '{text}', which is no longer there: put it back. "
        "To score other data: seqlab evaluate ../r FILE"
    )


def test_data_with_new_labels_is_trained_anew(tmp_path: Path) -> None:
    table = tmp_path / "my.csv"
    rows = [f"a film number {at},{'pos' if at % 2 else 'neg'}\n" for at in range(40)]
    table.write_text("text,label\n" + "".join(rows))
    run = tmp_path / "r"
    api.train(str(table), out=str(run), task="classify", hidden=8, embedding=8, batch_size=4, steps=1, threads=1)
    table.write_text(table.read_text().replace("pos", "good"))
    said = r"it has as many characters in its inputs, .* or train anew, with its settings: seqlab train \S+ --from \S+$"
    with pytest.raises(DataError, match=said):
        api.evaluate(str(run))


TINY: dict[str, Any] = {"hidden": 8, "embedding": 8, "batch_size": 4, "steps": 1, "threads": 1, "sample_tokens": 0}


def refused(run: str) -> str:
    with pytest.raises(DataError) as error:
        api.evaluate(run)
    return str(error.value)


def labeled(kind: str, numbers: range) -> str:
    rows = [f"a {kind} film number {at},{'pos' if at % 2 else 'neg'}\n" for at in numbers]
    return "text,label\n" + "".join(rows)


def test_of_files_of_examples_those_that_changed_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = {name: labeled(name, range(10, 50)) for name in ("tr", "dev", "te")}
    for name, content in before.items():
        Path(f"{name}.csv").write_text(content)
    api.train("tr.csv", test="te.csv", task="classify", out="r", **TINY)
    Path("te.csv").write_text(labeled("te", range(10, 30)))
    assert refused("r") == (
        "'te.csv' is no longer the text that 'r' holds out: it has 380 characters instead of 760, and another SHA-256. "
        "Restore the old text, or train on the new one: seqlab train tr.csv --init r --test te.csv --task classify"
    )
    Path("tr.csv").write_text(labeled("tr", range(10, 40)))
    assert refused("r").startswith(
        "'tr.csv' and 'te.csv' together are no longer the text that 'r' was trained on: they have 950 characters "
        "instead of 1,520, and another SHA-256."
    )
    Path("te.csv").write_text(before["te"])
    assert refused("r").startswith(
        "'tr.csv' is no longer the text that 'r' was trained on: it has 570 characters instead of 760,"
    )
    Path("tr.csv").write_text(before["tr"])
    api.train("tr.csv", validation="dev.csv", test="te.csv", task="classify", out="r3", **TINY)
    Path("dev.csv").write_text(before["dev"].replace("pos", "neg", 1))
    assert refused("r3").startswith(
        "'dev.csv' is no longer the text that 'r3' holds out: it has as many characters in its inputs, and another"
    )


def test_of_files_of_text_those_that_changed_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "te"):
        Path(f"{name}.txt").write_text(f"the {name} quick brown fox jumps over the lazy dog\n" * 20)
    api.train(["one.txt", "two.txt"], test="te.txt", out="r", window=16, **TINY)
    kept = Path("te.txt").read_text()
    Path("te.txt").write_text("the fox\n" * 20)
    assert refused("r").startswith("'te.txt' is no longer the text that 'r' holds out: it has 160 characters instead")
    Path("te.txt").write_text(kept)
    Path("two.txt").write_text("the fox\n" * 20)
    assert refused("r").startswith(
        "'one.txt' and 'two.txt' together are no longer the text that 'r' was trained on: they have 1,120 characters "
        "instead of "
    )
