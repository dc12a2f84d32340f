"""Text for a terminal: control characters in names, labels and texts are shown as escapes, not obeyed."""

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# all control characters but tab and newline, and those that turn the direction of writing
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


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
