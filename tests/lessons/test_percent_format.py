"""The cells of a file are those that jupytext reads."""

import jupytext
import pytest

from seqlab.lessons.catalog import Lesson, lessons
from seqlab.lessons.cells import read_cells

FILE = """\
# %% [markdown]
# # Title
#
# A question?

# %%
import math

math.pi


# %%
def f():
    return 1


# %% [markdown]
# - one
#   more
#
# ## End
"""


def as_jupytext_reads(text: str) -> list[tuple[bool, str]]:
    cells = jupytext.reads(text, fmt="py:percent").cells  # pyright: ignore[reportAttributeAccessIssue]
    return [(cell.cell_type == "markdown", cell.source) for cell in cells]


def test_cells_are_read() -> None:
    cells = read_cells(FILE)
    assert [(cell.is_prose, cell.source) for cell in cells] == as_jupytext_reads(FILE)
    assert [cell.line for cell in cells] == [2, 7, 13, 18]
    assert cells[0].source == "# Title\n\nA question?"


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_jupytext_reads_the_same_cells(lesson: Lesson) -> None:
    assert [(cell.is_prose, cell.source) for cell in lesson.cells] == as_jupytext_reads(lesson.source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import math\n# %%\n1\n", "on the first line"),
        ("", "on the first line"),
        ("# %% [raw]\n1\n", "line 1 is '# %% [raw]'"),
        ("# %% [markdown]\n# fine\nx = 1\n", "line 3 is no prose"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        read_cells(text)
    assert message in str(refused.value)
