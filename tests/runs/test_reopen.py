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
