"""Finished runs as points of a law: real runs of several sizes and amounts of data."""

import random
from pathlib import Path

import pytest

import seqlab
from seqlab.errors import DataError, UsageError
from seqlab.scale.trained import trained_points
from tests.small_runs import train_small

TEXT = "".join(f"the {a} {b} saw the {c} by the sea. " for a in ("red", "old") for b in ("cat", "dog") for c in "xyz")
HARDWARE = {"devices": 1, "flops_per_device": 1e14, "memory_per_device": 24e9}


def test_a_run_is_a_point(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text(TEXT * 20)
    run = train_small(tmp_path / "my.txt", tmp_path / "run")
    assert run.results is not None
    (point,) = trained_points([tmp_path / "run"], "gru")
    assert point.parameters == sum(weight.numel() for weight in run.model.parameters())
    assert point.tokens == 2 * 4 * 16
    assert point.loss == run.results.validation["nats_per_token"]
    with pytest.raises(UsageError, match="no finished run of --arch lstm"):
        trained_points([tmp_path / "run"], "lstm")
    with pytest.raises(DataError, match="needs at least 9 runs"):
        seqlab.plan("gru", params=1e6, tokens=1e7, runs=[tmp_path / "run"], **HARDWARE)
    (tmp_path / "other.txt").write_text("another text of other letters. " * 40)
    train_small(tmp_path / "other.txt", tmp_path / "second")
    with pytest.raises(UsageError, match="different texts, tokenizers or scored splits"):
        trained_points([tmp_path / "run", tmp_path / "second"], "gru")


@pytest.mark.slow
def test_real_runs_give_a_law_or_a_reason(tmp_path: Path) -> None:
    """Nine small runs on a made text: near the runs the law is held to their losses, far away it may be refused."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(2, 6))) for _ in range(60)]
    (tmp_path / "my.txt").write_text(" ".join(draw.choices(words, weights=range(1, 61), k=8000)))
    folders = []
    for hidden in (8, 24, 64):
        for steps in (20, 80, 320):
            folders.append(tmp_path / f"{hidden}-{steps}")
            seqlab.train(
                tmp_path / "my.txt", arch="gru", hidden=hidden, embedding=hidden, steps=steps, batch_size=16, window=32,
                out=folders[-1], settings={"train.sample_tokens": 0, "train.lr": 3e-3},
            )  # fmt: skip
    points = trained_points(folders, "gru")
    largest = max(points, key=lambda point: (point.parameters, point.tokens))
    asked = {"params": 2e5, "tokens": 3e5, "vocab_size": 256, "window": 32, **HARDWARE}
    try:
        (planned,) = seqlab.plan("gru", runs=folders, **asked)
    except DataError as error:
        assert "the law explains" in str(error) or "do not say" in str(error)
        return
    assert planned.expected is not None
    assert planned.expected.low < planned.expected.high
    assert planned.expected.loss == pytest.approx(largest.loss, rel=0.3)
