"""The contract of views: each of them shows the model of every task and architecture, or says why not in a sentence."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from inspected_runs import UntrainedRun, untrained

from seqlab.errors import UsageError
from seqlab.inspection.inspection import Inspection, inspect
from seqlab.inspection.maps import map_charts
from seqlab.inspection.sheet import Chart
from seqlab.plotting import new_figure
from seqlab.registry import BACKBONES, TASKS, VIEWS

TEXT = 'The "cat" sat on the "mat" and I ran'  # a quotation in each half, of known letters
LOOKS = ("lstm-attention", "transformer", "transformer-encoder")
GATED = ("gru", "lstm", "lstm-attention")


@cache
def run_of(task: str, arch: str) -> UntrainedRun | None:
    """None if the task refuses the architecture."""
    try:
        return untrained(arch, task)
    except UsageError:
        return None


@pytest.mark.parametrize("arch", list(BACKBONES))
@pytest.mark.parametrize("task", list(TASKS))
def test_every_view_shows_every_model_or_says_why_not(task: str, arch: str) -> None:
    run = run_of(task, arch)
    if run is None:
        assert (task == "masked") != (arch == "transformer-encoder")  # one reads ahead, the others do not
        return
    found = inspect([run], TEXT, None, {})
    applies = {sheet.name.partition("-")[0] for sheet in found.sheets}
    assert applies | set(found.refused) == set(VIEWS) and not applies & set(found.refused)
    assert all(reason.endswith(".") for reason in found.refused.values())
    expected = {"cells", "lens", "ablate", "attribution"} | ({"surprise"} if task != "classify" else set())
    expected |= {"attention"} if arch in LOOKS or task == "translate" else set()
    expected |= {"gates"} if arch in GATED else set()
    expected |= {"step"} if arch != "feedforward" or task == "translate" else set()
    expected |= {"gradients", "memory"} if task != "masked" else set()
    assert applies - {"similar", "embeddings"} == expected
    written = " ".join(str(found).split())
    assert all(sheet.sentence in written for sheet in found.sheets)
    assert "NaN" not in written and " nan" not in written
    for chart in charts(found):
        chart.draw(new_figure(*chart.size).subplots())
    content = replace(found, sheets=[replace(sheet, charts=[], maps=None) for sheet in found.sheets]).html()
    assert all(f'<section id="{sheet.name}">' in content for sheet in found.sheets)


def charts(found: Inspection) -> Iterator[Chart]:
    for sheet in found.sheets:
        yield from (*sheet.charts, *(map_charts(sheet.maps) if sheet.maps else ()))


DRAWN = {"cells": "tag", "lens": "classify", "gradients": "language", "memory": "language", "attribution": "tag"}


@pytest.mark.parametrize("view", list(VIEWS))
def test_every_view_is_a_picture(view: str, tmp_path: Path) -> None:
    from PIL import Image

    run = run_of(DRAWN.get(view, "translate"), "lstm-attention")
    assert run is not None
    inspect([run], TEXT, view, {}).write(tmp_path / "picture.png")
    with Image.open(tmp_path / "picture.png") as image:
        assert image.width >= 1200 and image.convert("L").getextrema() == (0, 255)
