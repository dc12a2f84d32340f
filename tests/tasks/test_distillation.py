"""A student's loss: what was right, and what its teacher thinks."""

from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab import api
from seqlab.data.text.batches import NOT_SCORED
from seqlab.errors import UsageError
from seqlab.tasks.distillation import divergence

TEXT = "".join(f"the {w} sat on the {v}.\n" for w in ("cat", "dog", "hen") for v in ("mat", "hut", "sea")) * 40
SMALL: dict[str, Any] = {"hidden": 16, "embedding": 8, "batch_size": 8, "window": 16, "threads": 1}


def test_a_worked_example() -> None:
    """Two positions of which one is scored: teacher 3/4 and 1/4, student 1/2 and 1/2, at temperature 1."""
    teacher = torch.tensor([[[3.0, 1.0], [9.0, 1.0]]]).log()
    student = torch.zeros(1, 2, 2)
    targets = torch.tensor([[0, NOT_SCORED]])
    expected = 0.75 * torch.log(torch.tensor(1.5)) + 0.25 * torch.log(torch.tensor(0.5))
    assert divergence(student, teacher, targets, 1.0) == pytest.approx(float(expected), abs=1e-6)
    assert float(divergence(teacher, teacher, targets, 3.0)) == pytest.approx(0, abs=1e-6)


def test_softening_keeps_the_size_of_gradients() -> None:
    """At a high temperature the gradient is that of half the squared distance of centred logits over the vocabulary."""
    draw = torch.Generator().manual_seed(0)
    student, teacher = (torch.randn(2, 3, 5, generator=draw) for _ in range(2))
    student.requires_grad_()
    divergence(student, teacher, torch.zeros(2, 3, dtype=torch.long), 200.0).backward()
    centered = [logits - logits.mean(-1, keepdim=True) for logits in (student.detach(), teacher)]
    torch.testing.assert_close(student.grad, (centered[0] - centered[1]) / 5, atol=5e-3, rtol=0.05)


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("teacher")
    (folder / "my.txt").write_text(TEXT)
    return api.train(folder / "my.txt", arch="lstm", steps=150, out=folder / "run", **SMALL).path


def loss_of(run: Any, **task: Any) -> float:
    settings = run.settings.with_values(**{f"task.{key}": value for key, value in task.items()})
    from seqlab.runs.reopen import make_task

    student_task = make_task(settings, run.dataset())
    return float(student_task.loss(run.model, student_task.batch("train", 0, 0), None, 0).total.detach())


def test_the_mix_of_both(teacher: Path) -> None:
    run = api.load(teacher)
    hard = loss_of(run)
    assert loss_of(run, teacher=str(teacher), teacher_weight=0.0) == pytest.approx(hard)
    assert loss_of(run, teacher=str(teacher), teacher_weight=1.0) == pytest.approx(0, abs=1e-3), "it is its own teacher"
    assert loss_of(run, teacher=str(teacher), teacher_weight=0.25) == pytest.approx(0.75 * hard, rel=1e-4)


def test_a_student_is_trained_resumed_and_used_without_its_teacher(teacher: Path, tmp_path: Path) -> None:
    settings = {"task.teacher": str(teacher), "task.teacher_weight": 0.7}
    before = (teacher / "model.safetensors").read_bytes()
    api.train(teacher.parent / "my.txt", arch="gru", steps=30, out=tmp_path / "s", settings=settings, **SMALL)
    further = api.resume(tmp_path / "s", more=10)
    assert further.results is not None and further.results.steps == 40
    assert (teacher / "model.safetensors").read_bytes() == before
    moved = teacher.rename(teacher.with_name("away"))
    try:
        assert further.evaluate().metrics["bits_per_char"] > 0 and str(further.generate("the ", 10))
        with pytest.raises(Exception, match="there is no run"):
            api.resume(tmp_path / "s", more=5)
    finally:
        moved.rename(teacher)


def test_a_student_reads_another_text_in_its_teachers_symbols(teacher: Path, tmp_path: Path) -> None:
    """What the text itself does not have is among them, and what the teacher does not know is unknown."""
    (tmp_path / "other.txt").write_text(TEXT[: len(TEXT) // 2].replace("a", "e"))
    settings = {"task.teacher": str(teacher), "task.teacher_weight": 0.1}
    run = api.train(tmp_path / "other.txt", arch="gru", steps=2, out=tmp_path / "o", settings=settings, **SMALL)
    assert run.vocabulary.fingerprint == api.load(teacher).vocabulary.fingerprint


def test_what_cannot_teach_is_refused(teacher: Path, tmp_path: Path) -> None:
    taught = {"task.teacher": str(teacher)}
    with pytest.raises(UsageError, match=r"has the tokenizer .*'char'.* its student .*'byte'"):
        api.train(teacher.parent / "my.txt", steps=2, out=tmp_path / "o", tokenizer="byte", settings=taught, **SMALL)
    with pytest.raises(UsageError, match="was trained on the 90/10 contiguous split of this text"):
        api.train(
            teacher.parent / "my.txt", steps=2, out=tmp_path / "q", split_ratios="80/10/10", settings=taught, **SMALL
        )
    with pytest.raises(UsageError, match=r"needs task\.batching=windows"):
        api.train(teacher.parent / "my.txt", steps=2, out=tmp_path / "p", batching="stream",
                  settings={"task.teacher": str(teacher)}, **SMALL)  # fmt: skip
