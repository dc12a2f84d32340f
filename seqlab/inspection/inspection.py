"""run.inspect and seqlab inspect: one view of a text, or all that apply; printed, on a page, or as a picture."""

import inspect as signatures
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from rich.console import Group, RenderableType
from rich.text import Text

from seqlab.errors import UsageError, refuse_given
from seqlab.inspection.page import page
from seqlab.inspection.picture import draw_sheets
from seqlab.inspection.reading import TrainedRun, read
from seqlab.inspection.sheet import Sheet
from seqlab.inspection.terminal import render
from seqlab.plotting import refuse_foreign, write_figure
from seqlab.registry import VIEWS
from seqlab.storage import write_atomic
from seqlab.terminal import SafeConsole

PAGE, PICTURES = ".html", (".png", ".svg")


@dataclass(frozen=True)
class Inspection:
    """The sheets of one text, and the views that do not apply to the runs, each with the reason.

    It displays itself in a notebook; `print` it, or `write` it to a file."""

    title: str
    sheets: list[Sheet]
    refused: dict[str, str]
    view: str | None = None  # the one that was chosen
    texts: list[dict[str, str | int]] = field(default_factory=list)  # of each run that reads two: source, target

    def write(self, path: str | Path) -> None:
        """A page (.html) with every sheet, or a picture (.png, .svg) of one view."""
        path = Path(path)
        check_out(path, self.view)
        if path.suffix.lower() == PAGE:
            write_atomic(path, self.html().encode())
        else:
            write_figure(draw_sheets(self.sheets), path)

    def html(self) -> str:
        return page(self.title, self.sheets, self.refused)

    def _repr_html_(self) -> str:
        """For a notebook: a frame, so that the styles of both pages stay apart."""
        from html import escape

        return f'<iframe srcdoc="{escape(self.html())}" width="100%" height="720" style="border:0"></iframe>'

    def terminal(self) -> RenderableType:
        notes = [Text(f"{name}: {reason}", style="dim") for name, reason in self.refused.items()]
        parts = [part for sheet in self.sheets for part in (render(sheet), Text(""))]
        lines = dict.fromkeys(
            f"{name.replace('_', ' ')}: {value}" for each in self.texts for name, value in each.items()
        )
        return Group(*map(Text, lines), *([Text("")] if lines else []), *parts, *notes)

    def __str__(self) -> str:
        """Without colors."""
        console = SafeConsole(file=StringIO(), width=120, color_system=None)
        console.print(self.terminal())
        written = console.file
        assert isinstance(written, StringIO)
        return written.getvalue().rstrip()

    def as_dict(self) -> dict[str, Any]:
        texts = {"texts": self.texts} if self.texts else {}
        return {**{sheet.name: sheet.data for sheet in self.sheets}, **texts, "not_applicable": self.refused}


@torch.no_grad()
def inspect(
    runs: Sequence[TrainedRun], text: str, view: str | None, options: dict[str, Any], target: str | None = None
) -> Inspection:
    """One view, or all that apply. An option that the view does not have, or given without a view, is refused."""
    readings = read(runs, text, target)
    titles = dict.fromkeys(reading.title for reading in readings)
    title = f"{' and '.join(str(run.path) for run in runs)}: {' and '.join(titles)}"
    texts = [reading.texts for reading in readings if reading.texts]
    given = {name: value for name, value in options.items() if value is not None}
    refuse_options(view, given)
    if view is not None:
        return Inspection(title, as_sheets(VIEWS.load(view)(readings, **given)), {}, view, texts)
    sheets, refused = [], {}
    for name in VIEWS:
        try:
            sheets += as_sheets(VIEWS.load(name)(readings))
        except UsageError as reason:
            refused[name] = str(reason)
    if not sheets:
        raise UsageError(f"no view applies: {' '.join(refused.values())}")
    return Inspection(title, sheets, refused, texts=texts)


def refuse_options(view: str | None, options: dict[str, Any], prefix: str = "") -> None:
    """UsageError for options that the view does not have, or that are given without a view, named with a prefix."""
    known = [] if view is None else [*signatures.signature(VIEWS.load(view)).parameters]
    where = "without a view to say what it is for" if view is None else f"in the view {view}"
    refuse_given({f"{prefix}{name}": value for name, value in options.items() if name not in known}, where)


def as_sheets(shown: Sheet | list[Sheet]) -> list[Sheet]:
    """A view shows one sheet, or several where a model reads several texts."""
    return [shown] if isinstance(shown, Sheet) else shown


def check_out(path: Path, view: str | None) -> None:
    """UsageError for a file that cannot hold what there is to show."""
    suffix = path.suffix.lower()
    if suffix not in (PAGE, *PICTURES):
        raise UsageError(f"'{path}' is no page or picture: expected a file name that ends in {PAGE}, .png or .svg.")
    if suffix in PICTURES and view is None:
        raise UsageError(f"a picture shows one view: choose it with --view, or write all of them to a page ({PAGE}).")
    refuse_foreign(path)
