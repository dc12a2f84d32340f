"""seqlab predict: label, tag or translate texts."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from seqlab.cli import options
from seqlab.decode.limits import LONGEST_TARGET, MAX_BEAM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from seqlab.data.examples.inputs import Input
    from seqlab.runs.run import Run
    from seqlab.tasks.predictions import Prediction

EXAMPLES = (
    'seqlab predict runs/reviews-lstm-1 "What a film!"',
    "seqlab predict runs/reviews-lstm-1 --file reviews.csv --json",
    'seqlab predict runs/pairs-lstm-1 "a sentence" --beam 5 --attention',
)

Translating = partial(Option, rich_help_panel="Translating")


def predict(
    run: options.RunFolder,
    texts: Annotated[list[str] | None, Argument(help="Texts, each in quotation marks.")] = None,
    file: Annotated[
        Path | None,
        Option("--file", "-f", help="A file as for training (table, tagged words), or one text per line; - for stdin."),
    ] = None,
    column: Annotated[str | None, Option(help="Column of the texts in a table; inferred if its name is known.")] = None,
    as_json: options.Json = False,
    beam: Annotated[int | None, Translating(help="Beam size; default the run's setting.", min=1, max=MAX_BEAM)] = None,
    length_penalty: Annotated[float | None, Translating(help="Divide log-probability by length to this power.")] = None,
    n_best: Annotated[int | None, Translating(help="Translations per text; default 1.", min=1, max=MAX_BEAM)] = None,
    max_length: Annotated[
        int | None,
        Translating(help="Tokens of a translation at most; default the run's settings.", min=1, max=LONGEST_TARGET),
    ] = None,
    attention: Annotated[bool, Translating("--attention", help="Show the attention weights.")] = False,
    picture: Annotated[Path | None, Translating(help="Draw the attention of the first text as a heatmap.")] = None,
) -> None:
    """Classify, tag or translate texts with a trained model."""
    from rich.text import Text

    from seqlab import api
    from seqlab.cli.show import console
    from seqlab.errors import UsageError
    from seqlab.plotting import check_format, refuse_foreign
    from seqlab.runs.prediction import first_reading

    if picture is not None:
        check_format(picture)
        refuse_foreign(picture, "--picture")
    if column and file is None:
        raise UsageError("--column names a column of a table: name the table with --file.")
    model = api.load(run)
    lines, unread = _lines(file, model, column) if file else ({}, {})
    given = [*(texts or []), *(line for line in lines.values() if not _is_blank(line))]
    if not given:
        raise UsageError("no text was given. Write it in quotation marks, or name a file of lines: --file FILE.")
    if file is not None and (reading := first_reading(model, given)):
        typer.echo(f"note: {reading}", err=True)
    predictions = model.predict(
        given,
        beam=beam,
        length_penalty=length_penalty,
        n_best=n_best,
        max_length=max_length,
        weights=attention or picture is not None,
    )
    if picture is not None:
        _draw(predictions[0], picture)
    remaining = iter(predictions)
    # a blank line has no prediction and keeps its place
    answers = [None if _is_blank(line) else next(remaining) for line in (*(texts or []), *lines.values())]
    if as_json:
        console.print_json(data=_as_dicts(answers, lines, unread))
        return
    for prediction in answers:
        for line in prediction.lines(console.width) if prediction else [[]]:
            console.print(Text.assemble(*line))


def _as_dicts(
    answers: "Sequence[Prediction | None]", lines: "Mapping[int, Input]", unread: "Mapping[int, str]"
) -> list[dict[str, object]]:
    """The answers to texts, and to lines with their numbers; where there is none, why."""
    shown: list[dict[str, object]] = []
    for number, answer in zip([*[None] * (len(answers) - len(lines)), *lines], answers, strict=True):
        reason = unread.get(number or 0, "the line has no text.")
        fields: dict[str, object] = answer.as_dict() if answer else {"text": "", "reason": reason}
        shown.append(fields if number is None else {"line": number, **fields})
    return shown


def _is_blank(line: "Input") -> bool:
    return not (line.strip() if isinstance(line, str) else line)


def _lines(file: Path, run: "Run", column: str | None) -> "tuple[Mapping[int, Input], Mapping[int, str]]":
    """The texts of a file by line, read as for training, and why some lines have none; notes go to standard error."""
    from seqlab.data.examples.inputs import Trained, read_inputs, read_standard_input
    from seqlab.data.files import STANDARD_INPUT, InputFixes

    fixes = InputFixes()
    kind = run.settings.task.settings.examples
    if kind is None:
        return {1: file.name}, {}  # a language model does not predict, and says so
    trained = Trained.on(run.settings.corpus, run.config["corpus"].get("columns", ()), run.vocabulary.labels)
    if str(file) == STANDARD_INPUT:
        lines, notes = read_standard_input(kind, column, fixes, trained)
    else:
        lines = read_inputs(kind, file, column, fixes, trained)
        notes = fixes.notes()
    for note in notes:
        typer.echo(f"note: {note}.", err=True)
    return lines, fixes.unread


def _draw(prediction: "Prediction", path: Path) -> None:
    from seqlab.errors import UsageError
    from seqlab.measures.heatmaps import draw_alignment

    attention = prediction.alignment
    if attention is None:
        raise UsageError("there is no attention over a source to draw: only translators with attention have it.")
    draw_alignment(attention.weights_TS, attention.source_tokens, attention.target_tokens, path)
