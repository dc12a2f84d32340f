"""seqlab doctor: examine a text or a file of examples before training on it."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument

from seqlab.cli import options
from seqlab.cli.options import Data
from seqlab.registry import CORPORA

if TYPE_CHECKING:
    from seqlab.analysis.diagnosis import Diagnosis
    from seqlab.analysis.doctor import TextDiagnosis
    from seqlab.analysis.example_doctor import ExampleDiagnosis
    from seqlab.analysis.scan import TextScan

EXAMPLES = (
    "seqlab doctor my.txt",
    "seqlab doctor names.txt --documents lines",
    "seqlab doctor reviews.csv --json",
)


def doctor(
    source: Annotated[list[str], Argument(help=f"Files, a folder, - or one of {', '.join(CORPORA)}.")],
    documents: options.Documents = None,
    task: options.Task = None,
    validation: options.Validation = None,
    test: Annotated[list[str] | None, Data(help="File to test on.")] = None,
    assignments: Annotated[
        list[str] | None,
        Data("--set", metavar="SECTION.KEY=VALUE", help="A setting of corpus or task, for examples; may be repeated."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Examine a text or labeled examples: faults, rare characters or labels, duplicates, baselines, settings."""

    from rich.console import Console

    from seqlab.analysis.doctor import TextDiagnosis, diagnose
    from seqlab.cli.show import console
    from seqlab.errors import DataError

    stderr = Console(stderr=True)
    with stderr.status("") as status:

        def show(beginning: str) -> None:  # lines where nothing can be drawn over
            status.update(f"{beginning} ...") if stderr.is_terminal else stderr.print(f"{beginning} ...")

        found = diagnose(source, documents, task, validation or (), test or (), assignments or (), show)
    if as_json:
        console.print_json(data=found.as_dict())
    else:
        _show_text(found) if isinstance(found, TextDiagnosis) else _show_examples(found)
        _show_suggestion(found)
    if found.refusal:
        raise DataError(found.refusal)


def _show_suggestion(diagnosis: "Diagnosis") -> None:
    from seqlab.cli.show import console, next_steps

    if diagnosis.suggestion and diagnosis.estimate:
        console.print()
        for reason in diagnosis.suggestion.reasons:
            console.print(f"- {reason}.", markup=False)
        console.print(f"- {diagnosis.estimate}")
        next_steps(str(diagnosis.command))


def _show_examples(diagnosis: "ExampleDiagnosis") -> None:
    from seqlab.analysis.scan import MAX_LISTED
    from seqlab.cli.show import console, metrics_table, table
    from seqlab.data.invisible import show_invisible

    columns = f", in the columns {' and '.join(map(repr, diagnosis.columns))}" if diagnosis.columns else ""
    counts = ", ".join(f"{count:,} {split}" for split, count in diagnosis.splits.items())
    amount = f": {counts} examples" if counts else ""
    console.print(f"{diagnosis.name}{amount} for --task {diagnosis.task}{columns}", markup=False)
    for note in [*diagnosis.notes, *_example_notes(diagnosis)]:
        console.print(f"- {note}", markup=False, soft_wrap=True)
    for warning in diagnosis.warnings:
        console.print(f"- warning: {warning}", markup=False, soft_wrap=True)
    if diagnosis.labels:
        console.print()
        kind = "tags" if diagnosis.task == "tag" else "labels"
        more = f", the {MAX_LISTED} most frequent" if len(diagnosis.labels) > MAX_LISTED else ""
        rows = [
            [show_invisible(label.label), f"{label.train:,}", f"{label.share:.1%}", f"{label.validation:,}"]
            for label in diagnosis.labels[:MAX_LISTED]
        ]
        table(f"{kind}: {len(diagnosis.labels):,}{more}", ["", "train", "share", "validation"], rows)
    if diagnosis.baselines and diagnosis.metric:
        console.print()
        scores = [(baseline.name, baseline.metrics) for baseline in diagnosis.baselines]
        metrics_table(f"without a model, on {diagnosis.baselines_on}", scores, [diagnosis.metric])


def _example_notes(diagnosis: "ExampleDiagnosis") -> list[str]:
    """One-line notes on splits, lengths and repeated inputs."""
    notes = [f"split: {diagnosis.rule}"] if diagnosis.rule else []
    if lengths := diagnosis.lengths:
        over = f"{lengths.over:,} of {diagnosis.splits['train']:,}" if lengths.over else "none"
        notes.append(
            f"lengths of training examples in tokens: median {lengths.median:,}, longest {lengths.longest:,}; longer "
            f"than task.max_length ({lengths.limit:,}) and left out of training: {over}"
        )
    if diagnosis.inputs and not diagnosis.inputs.repeated and not diagnosis.inputs.alike:
        notes.append("no input occurs twice")
    return notes


def _show_text(diagnosis: "TextDiagnosis") -> None:
    from seqlab.cli.show import console, table

    _show_scan(diagnosis)
    if diagnosis.overlap:
        console.print(f"\n{diagnosis.overlap}")
    if diagnosis.baselines:
        console.print()
        rows = [
            [baseline.name, baseline.about, f"{baseline.metrics['bits_per_char']:.3f}"]
            for baseline in diagnosis.baselines
        ]
        table(f"without a model, on {diagnosis.baselines_on}", ["", "", "bits/char"], rows, texts=2)


def _show_scan(diagnosis: "TextDiagnosis") -> None:
    from seqlab.analysis.scan import UNDECODED
    from seqlab.cli.show import console, table
    from seqlab.wording import counted

    scan = diagnosis.scan
    converted = " in UTF-8" if scan.encodings else ""
    sizes = (
        f"{counted(scan.characters, 'character')} in {counted(scan.lines.total, 'line')}, "
        f"about {counted(scan.words, 'word')}, {counted(scan.bytes, 'byte')}{converted}"
    )
    if not scan.is_decoded:
        undecoded = f"{scan.undecoded:,} of {counted(scan.bytes, 'byte')} are not UTF-8"
        sizes = f"{undecoded}: nothing is said of its characters, words and lines before its encoding is known"
    console.print(f"{diagnosis.name}: {sizes}", markup=False)
    empty = [f"empty lines: {scan.lines.empty:,}, skipped"] * (diagnosis.documents == "lines" and scan.lines.empty > 0)
    for note in [*diagnosis.notes, *(_notes(scan) + empty if scan.is_decoded else [])]:
        console.print(f"- {note}", markup=False)
    for fault in scan.faults:
        if not scan.is_decoded and fault.kind != UNDECODED:
            continue
        console.print()
        more = f", the first {len(fault.locations)}" if fault.count > len(fault.locations) else ""
        rows = [[at.file, at.line, at.offset, at.what] for at in fault.locations]
        table(f"{fault.kind}: {fault.count:,}{more}", ["file", "line", "offset", "what"], rows)
    if scan.character_stats.rarest and scan.is_decoded:
        console.print()
        rows = [[rare.code, rare.name.lower(), rare.count] for rare in scan.character_stats.rarest]
        table("rare characters", ["", "", "seen"], rows, texts=2)


def _notes(scan: "TextScan") -> list[str]:
    """One-line notes on characters, encoding and line ends."""
    from seqlab.analysis.scan import LONG_LINE, MAX_LISTED, RARE
    from seqlab.data.file_names import name_files
    from seqlab.wording import counted

    lines, characters = scan.lines, scan.character_stats
    share = characters.rare_occurrences / max(1, scan.characters)
    occur = "occurs" if characters.rare == 1 else "occur"
    rare = f"{characters.rare:,} {occur} fewer than {RARE} times ({100 * share:.3g}% of the text)"
    without = f", without {counted(scan.undecoded, 'byte')} that are not UTF-8" if scan.undecoded else ""
    rare = rare if characters.rare else "none of them is rare"
    notes = [f"distinct characters: {characters.distinct:,}{without}; {rare}"]
    for encoding in dict.fromkeys(scan.encodings.values()):
        files = [file for file, found in scan.encodings.items() if found == encoding]
        notes.append(f"encoding: {name_files(files)} in {encoding}, read as such")
    if not scan.faults:
        notes.append("encoding: no faults")
    if invisible := characters.invisible:
        named = ", ".join(f"{one.code} {one.name.lower()} ({one.count:,})" for one in invisible[:MAX_LISTED])
        more = f", and {len(invisible) - MAX_LISTED:,} more kinds" if len(invisible) > MAX_LISTED else ""
        notes.append(f"invisible characters: {sum(one.count for one in invisible):,}, read as they are: {named}{more}")
    if scan.byte_order_marks:
        notes.append(f"byte-order marks: {scan.byte_order_marks:,}, removed when the text is read")
    if lines.crlf:
        notes.append(
            f"line endings: {lines.crlf:,} CRLF{f' and {lines.lf:,} LF, mixed' if lines.lf else ''}; read as LF"
        )
    if lines.cr:
        notes.append(f"line endings: {lines.cr:,} CR in files without LF; read as LF")
    if lines.lone_cr:
        notes.append(f"CR without LF: {lines.lone_cr:,}, read as characters, not as line endings")
    if lines.long:
        longest = f"the longest has {lines.longest:,} ({lines.longest_at})"
        notes.append(f"lines of more than {LONG_LINE:,} characters: {lines.long:,}; {longest}")
    return notes
