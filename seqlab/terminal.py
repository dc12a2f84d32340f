"""A console for text from anywhere: control characters are shown, not obeyed."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from seqlab.printable import printable


class SafeConsole(Console):
    """A console that renders every text printable, whatever it comes from."""

    def __init__(self, **options: Any):
        super().__init__(highlight=False, **options)

    def on_broken_pipe(self) -> None:
        """Called while a BrokenPipeError is handled, which should end the command like one of a plain write."""
        raise

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
