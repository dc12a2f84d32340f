"""distill: the same student with and without its teacher, under one plan."""

from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab import api
from seqlab.comparison.distill import students
from seqlab.errors import UsageError
from tests.small_runs import train_small

TEXT = "the cat sat on the mat and the dog sat on the log. " * 120
SMALL = {"embedding": 16, "window": 32, "batch_size": 8}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distilling")
    (folder / "my.txt").write_text(TEXT)
    own: dict[str, Any] = {"hidden": 48, "split_ratios": "80/10/10", "threads": 1, **SMALL}
    return api.train(folder / "my.txt", arch="lstm", steps=60, out=folder / "teacher", **own).path


def test_both_students_and_what_became_of_them(teacher: Path, tmp_path: Path, workers_in_process: None) -> None:
    """The text, its split and the window are the teacher's; a second call finds everything done."""
    out = tmp_path / "students"
    wanted = {"match": "params=2000", "budget": "steps=30", "seeds": 2, "tune": 0, "embedding": 16, "batch_size": 8}
    done = seqlab.distill(teacher, arch="gru", teacher_weight=0.9, temperature=3.0, out=out, **wanted)
    taught, alone = (api.load(out / "runs" / f"{name}-0") for name in ("distilled", "plain"))
    for run, mix in ((taught, 0.9), (alone, 0.0)):
        own: Any = run.settings.task.settings
        assert (own.teacher, own.teacher_weight, own.temperature, own.window) == (str(teacher), mix, 3.0, 32)
        assert run.settings.corpus.split_ratios == "80/10/10" and run.settings.backbone.name == "gru"
    assert done.results.entrant("distilled").core_parameters == done.results.entrant("plain").core_parameters
    assert {run.steps for run in done.results.runs} == {30} and len(done.results.runs) == 4
    # distillation minimizes another loss than the plain cross-entropy, which stands beside it
    for point in done.results.runs_of("distilled")[0].curve:
        assert point["train_cross_entropy"] and point["train_cross_entropy"] != point["train_loss"]
    assert "train_cross_entropy" not in done.results.runs_of("plain")[0].curve[0]
    assert done.results.runs_of("distilled")[0].value != done.results.runs_of("plain")[0].value
    assert len(done.verdicts) == 1
    assert any("the teacher, lstm with" in remark and "bits/char" in remark for remark in done.results.warnings)
    assert done.results.command.startswith(f"seqlab.distill('{teacher}', arch='gru', teacher_weight=0.9")
    again = seqlab.distill(teacher, arch="gru", teacher_weight=0.9, temperature=3.0, out=out, **wanted)
    assert again.results == done.results
    with pytest.raises(UsageError, match=r"task\.teacher_weight was 0\.9, not 0\.5"):
        seqlab.distill(teacher, arch="gru", teacher_weight=0.5, temperature=3.0, out=out, **wanted)


def test_what_cannot_be_distilled_is_refused_before_anything_is_made(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not counted in FLOPs"):
        seqlab.distill(teacher, out=tmp_path / "a", budget="flops=1e9")
    reviews = tmp_path / "reviews.tsv"
    reviews.write_text("text\tlabel\n" + "".join(f"good film {n}\tyes\nbad film {n}\tno\n" for n in range(30)))
    other = api.train(
        reviews, task="classify", steps=2, out=tmp_path / "classifier", embedding=8, hidden=8, threads=1
    ).path
    with pytest.raises(UsageError, match="is not a language model"):
        seqlab.distill(other, out=tmp_path / "b")
    with pytest.raises(UsageError, match=r"task\.teacher_weight"):
        seqlab.distill(teacher, teacher_weight=1.5, out=tmp_path / "c")
    with pytest.raises(UsageError, match="teacher_weight is 0, so the teacher and the temperature do nothing"):
        seqlab.distill(teacher, teacher_weight=0, temperature=2.0, out=tmp_path / "c")
    with pytest.raises(UsageError, match=r"task\.teacher_weight is 0, so the teacher"):
        seqlab.distill(teacher, settings={"task.teacher_weight": 0}, out=tmp_path / "c")
    assert not any((tmp_path / name).exists() for name in "abc")


def test_students_read_the_text_as_their_teacher_does(tmp_path: Path) -> None:
    (tmp_path / "symbols.txt").write_text(" ".join("the fox and the cat ".replace(" ", "_") * 60))
    layout = {"corpus.layout": "symbols", "corpus.sharded": False}
    train_small(tmp_path / "symbols.txt", tmp_path / "teacher", settings=layout)
    corpus = students(tmp_path / "teacher", "gru", {}).models["plain"]["corpus"]
    assert corpus["layout"] == "symbols" and corpus["sharded"] is False
