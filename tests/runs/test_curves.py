"""curves.png is a picture, whatever the log and the title hold."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.plotting import new_figure
from seqlab.runs.curves import draw_curves, draw_losses, smoothed

STEPS = [{"step": step, "loss": 3 / step, "lr": 0.1, "norm": 1.0} for step in range(1, 30)]
EVALUATIONS = [{"step": step, "train_loss": 2.0 / step, "validation_loss": 2.5 / step} for step in (10, 20, 29)]


def size(path: Path) -> tuple[int, int]:
    """Width and height, read from the header as the PNG specification (section 11.2.2) has it."""
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n" and content[12:16] == b"IHDR" and content[-8:-4] == b"IEND"
    return struct.unpack(">II", content[16:24])


LOGS: dict[str, list[dict[str, Any]]] = {
    "whole": STEPS + EVALUATIONS,
    "nothing": [],
    "steps alone": STEPS,
    "one step": STEPS[:1],
    "evaluations alone": EVALUATIONS,
    "a spike": [*STEPS, {"step": 30, "loss": 1e30}],
    "not finite": [*STEPS, {"step": 30, "loss": None}, {"step": 30, "train_loss": None, "validation_loss": None}],
    "diverged": [{"step": 1, "train_loss": 1e30, "validation_loss": 1e30}],
}


@pytest.mark.parametrize("log", LOGS)
def test_a_picture_comes_out(log: str, tmp_path: Path) -> None:
    draw_curves(LOGS[log], "lstm on text", tmp_path / "curves.png")
    width, height = size(tmp_path / "curves.png")
    assert width > 1000 and 400 < height < width
    assert [path.name for path in tmp_path.iterdir()] == ["curves.png"]


def test_the_plain_cross_entropy_is_drawn_where_the_loss_is_another(tmp_path: Path) -> None:
    smoothed_log = [{**line, "cross_entropy": line["loss"] / 2} if "loss" in line else line for line in STEPS]
    for name, log in (("plain", STEPS + EVALUATIONS), ("smoothed", smoothed_log + EVALUATIONS)):
        draw_curves(log, "a title", tmp_path / f"{name}.png")
    assert (tmp_path / "plain.png").read_bytes() != (tmp_path / "smoothed.png").read_bytes()
    figure = new_figure(9, 3.6)
    draw_losses(axes := figure.subplots(), smoothed_log)
    assert axes.get_legend_handles_labels()[1][-1] == "training, plain cross-entropy"


@pytest.mark.parametrize("title", ["$x_{$ and \\frac", "caf\udce9", "[b]", "a\nb"], ids=ascii)
def test_titles(title: str, tmp_path: Path) -> None:
    draw_curves(EVALUATIONS, title, tmp_path / "curves.png")
    assert min(size(tmp_path / "curves.png")) > 400


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "curves.png").symlink_to(tmp_path / "precious")
    draw_curves(EVALUATIONS, "title", tmp_path / "curves.png")
    assert min(size(tmp_path / "curves.png")) > 400 and (tmp_path / "precious").read_text() == "mine"


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=300))
def test_smoothing_is_a_running_mean(values: list[float]) -> None:
    width = max(1, len(values) // 50)
    expected = [np.mean(values[max(0, i + 1 - width) : i + 1]) for i in range(len(values))]
    np.testing.assert_allclose(smoothed(np.array(values)), expected, atol=1e-9)
