"""Windows of training that are shorter than those that are scored."""

from pathlib import Path

import pytest
from small_runs import train_small

from seqlab.contracts import TextBatch
from seqlab.errors import UsageError
from seqlab.tasks import text_scores


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "my.txt"
    file.write_text("the cat sat on the mat. a dog ran to the sea.\n" * 60, encoding="utf-8")
    return file


def test_training_reads_shorter_windows_than_scoring(text: Path, tmp_path: Path) -> None:
    run = train_small(text, tmp_path / "run", window=24, settings={"task.train_window": 8})
    task = run.task()
    batch = task.batch("train", 0, 0)
    assert isinstance(batch, TextBatch) and batch.inputs_BT.shape[1] == 8
    assert run.results is not None and run.results.window == 24
    assert task.steps_per_epoch == len(task.splits["train"]) / (task.settings.batch_size * 8)
    assert len(run.evaluate().by_position) == 24


def test_an_evaluation_takes_fewer_windows_at_once_where_they_are_large(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that its memory stays bounded, however small the batches of training are."""
    run = train_small(text, tmp_path / "run", window=24, settings={"task.train_window": 8})
    rows: list[int] = []
    run.model.register_forward_pre_hook(lambda _, given: rows.append(len(given[0])))
    whole = run.evaluate().metrics["nats_per_token"]
    assert max(rows) > 3
    rows.clear()
    layer = 8 * (8 + 4)  # numbers of a token, for 8 units in 1 layer
    monkeypatch.setattr(text_scores, "COMPUTED_AT_ONCE", 3 * 24 * layer)
    assert run.evaluate().metrics["nats_per_token"] == pytest.approx(whole, rel=1e-6)
    assert max(rows) == 3


def test_longer_windows_in_training_are_refused(text: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="train_window is 32, more than the window of 24"):
        train_small(text, tmp_path / "run", window=24, settings={"task.train_window": 32})
