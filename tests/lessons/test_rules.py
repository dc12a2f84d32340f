"""The rules that lessons are held to notice what they should."""

import io
import re
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from prose_numbers import unproven
from torch import nn
from wrong_answers import spoiled, spoiled_answer

from seqlab.lessons.cells import read_cells
from seqlab.lessons.terminal import show_lesson
from seqlab.terminal import SafeConsole

CELLS = """\
# %% [markdown]
# # Title
#
# Is it right 95% of the time, 1,200 times, or 0.5 (Cho et al. 2014) of them? See lessons 4 and 5, `7` and exercise 8.
#
# 9. ``` 10 ```

# %%
share, count = 0.96, 1200
assert share > 0.95 and count == 1200
"""


def lesson(text: str) -> Any:
    return SimpleNamespace(cells=read_cells(text), number=1, name="small")


def test_numbers_that_nothing_asserts_are_found() -> None:
    assert unproven(lesson(CELLS)) == ["0.5"]
    assert unproven(lesson(CELLS.replace("assert", "true ="))) == ["95", "1,200", "0.5"]
    assert unproven(lesson(CELLS.replace("count ==", "0.5 < count =="))) == []


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * x


@pytest.mark.parametrize(
    "value", [1, 0.5, True, "abc", [1, 2], (0.1,), {"a": 1}, torch.ones(2), torch.tensor([True]), np.zeros(3)]
)
def test_spoiled_answers_differ(value: Any) -> None:
    assert repr(spoiled(value)) != repr(value) and type(spoiled(value)) is type(value)
    assert repr(spoiled(lambda: value)()) == repr(spoiled(value))


def test_modules_and_files_are_spoiled() -> None:
    assert spoiled(Twice)()(torch.ones(1)).item() == 13
    answer = ModuleType("answer")
    answer.__dict__.update(limit=2, torch=torch, _hidden=3)
    assert spoiled_answer(answer).limit == 13 and spoiled_answer(answer).torch is torch
    assert spoiled_answer(answer)._hidden == 3


def test_a_terminal_shows_what_runs_and_the_lesson_does_not_see_it(tmp_path: Any, capsys: Any) -> None:
    cell = "import sys, time\nprint('step 3/4', file=sys.stderr)\ntime.sleep(0.8)\nprint('done')"
    made = lesson(f"# %% [markdown]\n# # Title\n\n# %%\n{cell}\n")
    made.path = tmp_path / "lesson.py"
    progress = SafeConsole(file=io.StringIO(), force_terminal=True, width=100)
    _, result = show_lesson(made, tmp_path / "page.html", SafeConsole(force_terminal=True), progress)
    assert result.printed == "done\n"
    written = progress.file
    assert isinstance(written, io.StringIO)
    assert re.search(r"lesson 1, cell 2 of 2  \d+ s  step 3/4", written.getvalue())
    assert "\x1b[2K" in written.getvalue()  # the line is erased
    assert "cell 2 of 2" not in capsys.readouterr().out
