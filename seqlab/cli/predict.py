"""seqlab predict: what a run says of a text: its label, the tags of its words, or its translation."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

if TYPE_CHECKING:
    from rich.text import Text

    from seqlab.tasks.predictions import Label, Prediction, Tags, Translated

Translating = partial(Option, rich_help_panel="Translating")
LABELS = 5  # the most probable ones, shown with their probability
BARS = 20  # characters of a bar that stands for 1
COLORS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")
SHADES = " ░▒▓█"


def predict(
    run: Annotated[Path, Argument(help="The run's folder.")],
    texts: Annotated[list[str] | None, Argument(help="Texts, each in quotation marks.")] = None,
    file: Annotated[Path | None, Option("--file", "-f", help="Texts from a file, one a line; - reads them in.")] = None,
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
    beam: Annotated[int | None, Translating(help="Hypotheses of the search; else the run's own.", min=1)] = None,
    length_penalty: Annotated[float | None, Translating(help="Divide log-probability by length to this power.")] = None,
    best: Annotated[int, Translating(help="How many translations of each.", min=1)] = 1,
    attention: Annotated[bool, Translating("--attention", help="Show what each word looked at.")] = False,
    picture: Annotated[Path | None, Translating(help="Draw that as a heatmap, of the first text.")] = None,
) -> None:
    """Label, tag or translate texts."""
    from seqlab import api
    from seqlab.cli.show import out
    from seqlab.errors import UsageError

    lines = _lines(file) if file else []
    asked = [*(texts or []), *(line for line in lines if line.strip())]
    if not asked:
        raise UsageError("no text was given. Write it in quotation marks, or name a file of lines: --file FILE.")
    found = api.load(run).predict(
        asked, beam=beam, length_penalty=length_penalty, best=best, weights=attention or picture is not None
    )
    if attention and getattr(found[0], "weights", None) is None:
        raise UsageError(f"'{run}' has no attention to show.")
    if picture is not None:
        _draw(found[0], picture)
    each = iter(found)
    # a blank line has nothing to be said of, and keeps its place
    answers = [next(each) if line.strip() else None for line in (*(texts or []), *lines)]
    if as_json:
        import json

        out.print_json(json.dumps([one.as_dict() if one else {"text": ""} for one in answers]))
        return
    for one in answers:
        _show(one) if one else out.print()


def _lines(file: Path) -> list[str]:
    """The lines of a file; the same strictness as for a corpus."""
    import sys

    from seqlab.data.files import Oddities, read_file

    content = sys.stdin.read() if str(file) == "-" else "".join(read_file(file, Oddities()))
    return content.removesuffix("\n").split("\n")


def _show(one: "Prediction") -> None:
    from seqlab.cli.show import out
    from seqlab.tasks.predictions import Label, Tags, Translated

    match one:
        case Label():
            out.print(_label(one))
        case Tags():
            for line in _tags(one, out.width):
                out.print(line)
        case Translated():
            for line in _translated(one):
                out.print(line)


def _label(one: "Label") -> "Text":
    from rich.text import Text

    shown = Text(f"{one.text}\n")
    for label, chance in list(one.probabilities.items())[:LABELS]:
        bold = "bold" if label == one.label else ""
        shown.append(f"  {label:<20} {chance:6.1%}  {'█' * round(BARS * chance)}\n", style=bold)
    if one.weights:
        most = max(weight for _, weight in one.weights)
        shown.append("  looked at  ")
        for token, weight in one.weights:
            shown.append(f"{token} ", style="bold" if weight > most / 2 else "dim" if weight < most / 8 else "")
        shown.append("\n")
    return shown


def _tags(one: "Tags", width: int) -> "list[Text]":
    """Words, and under each its tag, in as many pairs of lines as it takes."""
    from rich.text import Text

    pairs: list[Text] = []
    above, below = Text(), Text()
    for word, tag in zip(one.words, one.tags, strict=True):
        wide = max(len(word), len(tag)) + 2
        if len(above) and len(above) + wide > width:
            pairs += [above, below]
            above, below = Text(), Text()
        style = "" if tag == "O" else _colour(tag)
        above.append(word.ljust(wide), style=style)
        below.append(("" if tag == "O" else tag).ljust(wide), style=f"dim {style}".strip())
    return [*pairs, above, below, Text()]


def _colour(tag: str) -> str:
    """The same for the same kind of tag, whatever run it comes from."""
    import zlib

    return COLORS[zlib.crc32(tag.split("-", 1)[-1].encode()) % len(COLORS)]


def _translated(one: "Translated") -> "list[Text]":
    from rich.text import Text

    lines = [Text(one.text, style="dim"), Text(f"{one.translation}  ({one.score:.2f})")]
    lines += [Text(f"{text}  ({score:.2f})") for text, score in one.others]
    if one.weights:
        assert one.source_tokens is not None and one.target_tokens is not None
        lines += map(Text, heatmap(one.weights, one.target_tokens, one.source_tokens))
    return [*lines, Text()]


def heatmap(weights_TS: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Weights as shades: a written token in each row, a token that was read in each column, numbered above."""
    side = max(map(len, rows))
    numbers = "".join(f"{at:>3}" for at in range(1, len(columns) + 1))
    lines = [" " * side + numbers]
    for row, weights_S in zip(rows, weights_TS, strict=True):
        cells = "".join(" " + 2 * SHADES[min(len(SHADES) - 1, int(weight * len(SHADES)))] for weight in weights_S)
        lines.append(row.rjust(side) + cells)
    read = "  ".join(f"{at} {token}" for at, token in enumerate(columns, 1))
    return [*lines, f"{' ' * side} {read}"]


def _draw(one: Any, path: Path) -> None:
    from seqlab.errors import UsageError
    from seqlab.measures.heatmaps import draw_alignment

    if getattr(one, "weights", None) is None or not hasattr(one, "translation"):
        raise UsageError("there is no attention over a source to draw: the run is no translator, or has none.")
    draw_alignment(one.weights, one.source_tokens, one.target_tokens, path)
