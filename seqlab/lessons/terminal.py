"""A lesson in a terminal: prose, code and what the code shows; pictures are on the page."""

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from seqlab.lessons.catalog import Lesson
from seqlab.lessons.page import described
from seqlab.lessons.runner import CellResult, run_lesson

THEME = "ansi_dark"  # the terminal's own colors


class LastLine(io.StringIO):
    """Keeps what is written, and tells the last line as it comes."""

    def __init__(self) -> None:
        super().__init__()
        self.last = ""

    def write(self, text: str, /) -> int:
        self.last = next((line for line in reversed(text.splitlines()) if line.strip()), self.last)
        return super().write(text)

    def notes(self) -> str:
        """What has to be known, without the progress; and forget all of it."""
        lines = [line for line in self.getvalue().splitlines() if line.startswith("note: ")]
        self.seek(0)
        self.truncate()
        self.last = ""
        return "\n".join(lines)


def show_lesson(lesson: Lesson, page: Path, console: Console, progress: Console) -> list[CellResult]:
    """Run the lesson and show each cell as it comes; the results are for the page.

    progress: shows what runs; it has a file of its own, since a running cell's standard output is captured."""
    results: list[CellResult] = []
    written = LastLine()
    running = run_lesson(lesson, written)
    for number, cell in enumerate(lesson.cells, 1):
        if not cell.is_prose:
            console.print(Padding(Syntax(cell.source, "python", theme=THEME, background_color="default"), (0, 0, 1, 2)))
        with _progress(f"lesson {lesson.number}, cell {number} of {len(lesson.cells)}", written, progress):
            result = next(running)
        results.append(result)
        if notes := written.notes():
            console.print(Text(notes, style="dim"))
        console.print(render(result, page))
    next(running, None)  # removes its folder
    return results


def render(result: CellResult, page: Path) -> RenderableType:
    if result.cell.is_prose:
        return Padding(Markdown(result.cell.source, code_theme=THEME), (0, 0, 1, 0))
    parts: list[RenderableType] = []
    if result.text:
        parts.append(Padding(Text(result.text.rstrip("\n")), (0, 0, 1, 4)))
    if result.inspection is not None:
        parts.append(Padding(result.inspection.terminal(), (0, 0, 0, 4)))
    if result.figure is not None:
        parts.append(Padding(Text(f"[picture: {described(result.figure)}; see {page}]", style="italic"), (0, 0, 1, 4)))
    return Group(*parts)


@contextmanager
def _progress(what: str, written: LastLine, console: Console) -> Iterator[None]:
    """A line that says what runs and for how long; only in a terminal, and gone afterwards."""
    if not console.is_terminal:
        yield
        return
    from rich.live import Live

    began = time.monotonic()

    def line() -> Text:
        return Text(f"{what}  {time.monotonic() - began:.0f} s  {written.last}", style="dim", no_wrap=True)

    with Live(
        console=console,
        get_renderable=line,
        transient=True,
        refresh_per_second=2,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield
