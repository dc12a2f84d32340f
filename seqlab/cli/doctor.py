"""seqlab doctor: examine a text before training on it."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from seqlab.registry import CORPORA

if TYPE_CHECKING:
    from seqlab.analysis.doctor import Diagnosis
    from seqlab.analysis.scan import TextScan

EXAMPLES = ("seqlab doctor my.txt", "seqlab doctor names.txt --documents lines", "seqlab doctor my-folder --json")


def doctor(
    text: Annotated[list[str], Argument(help=f"Files, a folder, - or one of {', '.join(CORPORA)}.")],
    documents: Annotated[str, Option(help="stream: one running text; lines: every line is a document.")] = "stream",
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Examine a text: encoding faults, rare characters, duplicates, n-gram baselines, and suggested settings."""
    import json

    from rich.console import Console

    from seqlab.analysis.doctor import examine
    from seqlab.cli.show import out
    from seqlab.errors import DataError

    with Console(stderr=True).status("reading, counting and timing ..."):
        diagnosis = examine(text, documents)
    if as_json:
        out.print_json(json.dumps(diagnosis.as_dict()))
    else:
        _show(diagnosis)
    if diagnosis.refusal:
        raise DataError(diagnosis.refusal)


def _show(diagnosis: "Diagnosis") -> None:
    from seqlab.cli.show import next_steps, out, table

    _show_scan(diagnosis)
    if diagnosis.overlap:
        out.print(f"\n{diagnosis.overlap}")
    if diagnosis.baselines:
        out.print()
        rows = [
            [baseline.name, baseline.about, f"{baseline.metrics['bits_per_char']:.3f}"]
            for baseline in diagnosis.baselines
        ]
        table(f"without a model, on {diagnosis.baselines_on}", ["", "", "bits/char"], rows, texts=2)
    if diagnosis.suggestion and diagnosis.estimate:
        out.print()
        for reason in diagnosis.suggestion.reasons:
            out.print(f"- {reason}.", markup=False)
        out.print(f"- {diagnosis.estimate}")
        next_steps(str(diagnosis.command))


def _show_scan(diagnosis: "Diagnosis") -> None:
    from seqlab.cli.show import out, table

    scan = diagnosis.scan
    sizes = f"{scan.characters:,} characters in {scan.lines.total:,} lines, about {scan.words:,} words"
    out.print(f"{diagnosis.name}: {sizes}, {scan.bytes:,} bytes", markup=False)
    for note in _notes(scan):
        out.print(f"- {note}", markup=False)
    for fault in scan.faults:
        out.print()
        more = f", the first {len(fault.locations)}" if fault.count > len(fault.locations) else ""
        rows = [[at.file, at.line, at.offset, at.what] for at in fault.locations]
        table(f"{fault.kind}: {fault.count:,}{more}", ["file", "line", "offset", "what"], rows)
    if scan.character_stats.rarest:
        out.print()
        rows = [[rare.code, rare.name.lower(), rare.count] for rare in scan.character_stats.rarest]
        table("rare characters", ["", "", "seen"], rows, texts=2)


def _notes(scan: "TextScan") -> list[str]:
    """One-line notes on characters, encoding and line ends."""
    from seqlab.analysis.scan import LONG_LINE, RARE

    lines, characters = scan.lines, scan.character_stats
    share = characters.rare_occurrences / max(1, scan.characters)
    rare = f"{characters.rare:,} occur fewer than {RARE} times ({share:.4%} of the text)"
    notes = [f"distinct characters: {characters.distinct:,}; {rare if characters.rare else 'none of them is rare'}"]
    if not scan.faults:
        notes.append("encoding: no faults")
    if scan.byte_order_marks:
        notes.append(f"byte-order marks: {scan.byte_order_marks:,}, removed when the text is read")
    if lines.crlf:
        notes.append(
            f"line endings: {lines.crlf:,} CRLF{f' and {lines.lf:,} LF, mixed' if lines.lf else ''}; read as LF"
        )
    if lines.lone_cr:
        notes.append(f"CR without LF: {lines.lone_cr:,}, read as characters, not as line endings")
    if lines.long:
        longest = f"the longest has {lines.longest:,} ({lines.longest_at})"
        notes.append(f"lines of more than {LONG_LINE:,} characters: {lines.long:,}; {longest}")
    return notes
