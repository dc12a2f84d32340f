"""JSON that is nearly one object per line: the printed command mends it."""

import json
import subprocess

import pytest

from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.tables import read_labeled
from seqlab.errors import DataError, UsageError
from seqlab.training.request import settings_from_request


@pytest.mark.parametrize("task", [None, "classify"])
def test_commas_after_objects_are_removed_by_the_command(tmp_path, monkeypatch, task):
    rows = [{"text": f"a, b {at}", "label": "odd" if at % 2 else "even"} for at in range(30)]
    path = tmp_path / "my rows.jsonl"
    path.write_text(",\n".join(map(json.dumps, rows)) + "\n")
    with pytest.raises((UsageError, DataError)) as refused:
        settings_from_request(path, {}, {}, {}) if task is None else read_labeled(path, None, InputFixes())
    command = str(refused.value).partition("to remove the commas: ")[2].partition(" > new.jsonl")[0]
    monkeypatch.chdir(tmp_path)
    subprocess.run(["bash", "-c", f"{command} > new.jsonl"], check=True)
    assert len(read_labeled(tmp_path / "new.jsonl", None, InputFixes())) == 30
