"""seqlab inspect: what happens inside a model as it reads a text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from seqlab.cli import options
from seqlab.registry import VIEWS

if TYPE_CHECKING:
    from seqlab.runs.run import Run

EXAMPLES = (
    'seqlab inspect runs/my-lstm-1 --text "To be, or not" --out page.html',
    'seqlab inspect runs/my-lstm-1 --text "To be" --view step --unit 3',
    'seqlab inspect runs/a runs/b --text "To be" --view surprise',
)


def inspect(
    runs: Annotated[list[Path], Argument(help="Folder of the run; several for views that compare.")],
    text: Annotated[str | None, Option("--text", "-t", help="The text to read.")] = None,
    text_file: Annotated[Path | None, Option(help="A file with the text to read.")] = None,
    target: Annotated[
        str | None, Option(help="The translation, tags or label to look at; the model's own if not given.")
    ] = None,
    view: Annotated[
        str | None,
        Option(help=f"{', '.join(VIEWS)}; all that apply if not given.", autocompletion=lambda: [*VIEWS]),
    ] = None,
    out: Annotated[Path | None, Option(help="Write a page (.html) or a picture (.png, .svg) instead.")] = None,
    layer: Annotated[
        int | None,
        Option(help="attention, gates, step, similar, embeddings: the layer. ablate: each of its units.", min=1),
    ] = None,
    unit: Annotated[int | None, Option(help="gates, step: the unit, or the component of a head.", min=1)] = None,
    head: Annotated[int | None, Option(help="attention, step: the attention head.", min=1)] = None,
    position: Annotated[
        int | None, Option(help="attribution, similar, step: the token, counted from 1; the last if not given.", min=1)
    ] = None,
    before: Annotated[
        bool | None,
        Option(
            "--before/--no-before",
            help="gradients: also before training; if not given, for a single run.",
        ),
    ] = None,
    span: Annotated[str | None, Option(help="similar: several tokens, such as 3:7, counted from 1.")] = None,
    corpus: Annotated[
        Path | None, Option(help="similar: a file to search; if not given, what the run was trained on.")
    ] = None,
    word: Annotated[str | None, Option(help="embeddings: a word of the text, to see its neighbors.")] = None,
    color: Annotated[str | None, Option(help="embeddings: by token (the default) or by position.")] = None,
    how: Annotated[
        str | None,
        Option(help="ablate: replace by the mean (the default), by zero, or by the second run's value (run)."),
    ] = None,
    follow: Annotated[
        str | None,
        Option(help="cells: quotes (the default), line, indentation, capitals, or a file with a number per character."),
    ] = None,
    listed: Annotated[bool, Option("--list", help="List what the model records, and nothing else.")] = False,
    as_json: options.Json = False,
) -> None:
    """Look inside a trained model: surprise, gates, attention, gradients, memory, similar places, one step."""
    from seqlab import api
    from seqlab.cli.show import console
    from seqlab.errors import UsageError, refuse_given

    chosen = {"layer": layer, "unit": unit, "head": head, "position": position, "how": how, "follow": follow}
    chosen |= {"before": before, "span": span, "corpus": corpus and str(corpus), "word": word, "color": color}
    if listed:
        given = {"text": text, "text-file": text_file, "target": target, "view": view, "out": out, **chosen}
        refuse_given({f"--{name}": value for name, value in given.items()}, "beside --list")
        if len(runs) > 1:
            raise UsageError(f"--list shows what one run records: {len(runs)} were given.")
        _list(api.load(runs[0]), as_json)
        return
    from seqlab.inspection.inspection import check_out, refuse_options

    refuse_options(view, chosen, prefix="--")
    if out is not None:
        refuse_given({"--json": as_json or None}, "beside --out")
        check_out(out, view)
    content = _read(text, text_file)
    loaded = [api.load(run) for run in runs]
    inspection = loaded[0].inspect(content, view, target=target, against=loaded[1:], **chosen)
    if out is not None:
        inspection.write(out)
        for name, reason in inspection.refused.items():
            console.print(f"{name} is left out: {reason}", markup=False)
        console.print(f"Written: {out}", markup=False)
    elif as_json:
        console.print_json(data=inspection.as_dict())
    else:
        console.print(inspection.terminal())


def _read(text: str | None, file: Path | None) -> str:
    from seqlab.data.files import InputFixes, read_file
    from seqlab.errors import UsageError

    if text is not None and file is not None:
        raise UsageError("both --text and --text-file were given: give one, for one text is read.")
    if text is None and file is None:
        raise UsageError("expected a text to read: --text TEXT, or --text-file FILE, or --list for what is recorded.")
    if file is None:
        return text or ""
    fixes = InputFixes()
    content = "".join(read_file(file, fixes))
    for note in fixes.notes():
        typer.echo(f"note: {note}.", err=True)
    return content


def _list(run: "Run", as_json: bool) -> None:
    from dataclasses import asdict

    from seqlab.cli.show import console, table

    arch, records = run.settings.backbone.name, run.model.records
    if as_json:
        console.print_json(data={name: asdict(about) for name, about in records.items()})
        return
    table("", ["name", "kind", ""], [[name, about.kind, about.about] for name, about in records.items()], texts=3)
    if not run.model.backbone.records:
        console.print(
            f"The architecture '{arch}' declares nothing that it records: surprise, gradients, memory, attribution, "
            "similar and embeddings need only what goes in and what comes out.",
            markup=False,
        )
