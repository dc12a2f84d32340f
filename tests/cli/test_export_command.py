"""seqlab export: what it suggests to type next can be typed."""

import shlex
from pathlib import Path
from typing import Any

from seqlab import api


def test_the_suggested_command_has_all_its_quotes(seqlab: Any, tmp_path: Path) -> None:
    data, run = tmp_path / "reviews.csv", tmp_path / "run"
    data.write_text("label,text\n" + "".join(f"good,fine film {n}\nbad,dull film {n}\n" for n in range(20)))
    api.train(data, out=run, task="classify", arch="gru", steps=1, threads=1, hidden=4, embedding=4)
    answer = seqlab("export", str(run), "--out", str(tmp_path / "exported"))
    assert answer.code == 0, answer.err
    suggested = shlex.split(answer.out.partition("What to type next:\n")[2])
    assert suggested[0] == "python" and suggested[2:] == ["a fine old film"]
