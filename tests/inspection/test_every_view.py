"""The contract of views: each of them shows the model of every task and architecture, or says why not in a sentence."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from inspected_runs import UntrainedRun, untrained
from torch import Tensor

from seqlab.backbones.recurrent import Gru
from seqlab.contracts import Recorded
from seqlab.errors import UsageError
from seqlab.inspection.inspection import Inspection, inspect
from seqlab.inspection.maps import map_charts
from seqlab.inspection.sheet import Chart
from seqlab.plotting import new_figure
from seqlab.registry import BACKBONES, TASKS, VIEWS
from seqlab.tasks.tag import TagTask

pytestmark = pytest.mark.filterwarnings("ignore:.*encoded as the unknown token")  # taggers know few words

TEXT = '"T"he "c"at'  # a quotation in each half, of known letters
SENTENCE = 'The "cat" sat on the "mat" and I ran'
LOOKS = ("lstm-attention", "transformer", "transformer-encoder")
GATED = ("gru", "lstm", "lstm-attention")


@cache
def run_of(task: str, arch: str) -> UntrainedRun | None:
    """None if the task refuses the architecture."""
    try:
        return untrained(arch, task)
    except UsageError:
        return None


def text_for(task: str) -> str:
    return SENTENCE if task == "tag" else TEXT


@pytest.mark.parametrize("arch", list(BACKBONES))
@pytest.mark.parametrize("task", [name for name in TASKS if TASKS.load(name).reading])
def test_every_view_shows_every_model_or_says_why_not(task: str, arch: str) -> None:
    run = run_of(task, arch)
    if run is None:
        assert (task == "masked") != (arch == "transformer-encoder")  # one reads ahead, the others do not
        return
    found = inspect([run], text_for(task), None, {})
    applies = {sheet.name.partition("-")[0] for sheet in found.sheets}
    assert applies | set(found.refused) == set(VIEWS) and not applies & set(found.refused)
    assert all(reason.endswith(".") for reason in found.refused.values())
    expected = {"cells", "lens", "ablate", "attribution"} | ({"surprise"} if task != "classify" else set())
    expected |= {"attention"} if arch in LOOKS or task == "translate" else set()
    expected |= {"gates"} if arch in GATED else set()
    expected |= {"step"} if arch != "feedforward" or task == "translate" else set()
    expected |= {"gradients", "memory"} if task != "masked" else set()
    expected |= {"embeddings"}  # these have no text of their own in which to look for similar places
    assert applies == expected
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


class Silent(Gru):
    """Declares nothing and records nothing."""

    @property
    def records(self) -> dict[str, Recorded]:
        return {}

    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None) -> Any:
        return super().forward(x_BTD, state, mask_BT, None)


@pytest.mark.parametrize("task", ["classify", "tag", "translate"])
def test_views_of_what_goes_in_and_out_need_no_records(task: str) -> None:
    run = untrained("gru", task, **({"attention": "none"} if task == "translate" else {}))
    run.model.backbone.__class__ = Silent
    if task == "translate":
        run.model.decoder.inner.__class__ = Silent
    found = inspect([run], text_for(task), None, {})
    expected = {"attribution", "gradients", "memory", "embeddings"} | ({"surprise"} if task != "classify" else set())
    assert {sheet.name for sheet in found.sheets} - {"step"} == expected
    assert all(reason.endswith(".") and "\n" not in reason for reason in found.refused.values())


def test_a_task_without_a_reading_has_no_views(monkeypatch: pytest.MonkeyPatch) -> None:
    run = untrained("gru", "tag")
    monkeypatch.setattr(TagTask, "reading", None)
    with pytest.raises(UsageError, match="is a tagger: the task 'tag' declares no reading"):
        inspect([run], TEXT, None, {})


DRAWN = {"cells": "tag", "lens": "classify", "gradients": "language", "memory": "language", "attribution": "tag"}


@pytest.mark.parametrize("view", list(VIEWS))
def test_every_view_is_a_picture(view: str, tmp_path: Path) -> None:
    from PIL import Image

    task = DRAWN.get(view, "translate")
    run = run_of(task, "lstm-attention")
    assert run is not None
    (tmp_path / "corpus.txt").write_text(text_for(task))
    options = {"corpus": str(tmp_path / "corpus.txt")} if view == "similar" else {}
    inspect([run], text_for(task), view, options).write(tmp_path / "picture.png")
    with Image.open(tmp_path / "picture.png") as image:
        assert image.width >= 1200 and image.convert("L").getextrema() == (0, 255)
