"""seqlab doctor: examine a text before training on it."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from seqlab.registry import CORPORA

if TYPE_CHECKING:
    from seqlab.analysis.doctor import Diagnosis
    from seqlab.analysis.scan import Scan

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
    if diagnosis.suggestion and diagnosis.expected:
        out.print()
        for reason in diagnosis.suggestion.reasons:
            out.print(f"- {reason}.", markup=False)
        out.print(f"- {diagnosis.expected}")
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
        more = f", the first {len(fault.places)}" if fault.count > len(fault.places) else ""
        rows = [[place.file, place.line, place.offset, place.what] for place in fault.places]
        table(f"{fault.kind}: {fault.count:,}{more}", ["file", "line", "offset", "what"], rows)
    if scan.symbols.rarest:
        out.print()
        rows = [[symbol.code, symbol.name.lower(), symbol.count] for symbol in scan.symbols.rarest]
        table("rare characters", ["", "", "seen"], rows, texts=2)


def _notes(scan: "Scan") -> list[str]:
    """One-line notes on characters, encoding and line ends."""
    from seqlab.analysis.scan import LONG_LINE, RARE

    lines, symbols = scan.lines, scan.symbols
    share = symbols.rare_places / max(1, scan.characters)
    rare = f"{symbols.rare:,} seen fewer than {RARE} times, in {symbols.rare_places:,} places ({share:.4%} of the text)"
    notes = [f"distinct characters: {symbols.distinct:,}; {rare if symbols.rare else 'none of them is rare'}"]
    if not scan.faults:
        notes.append("encoding: nothing is wrong")
    if scan.byte_order_marks:
        notes.append(f"byte-order marks: {scan.byte_order_marks:,}, left out when the text is read")
    if lines.crlf:
        notes.append(f"line ends: {lines.crlf:,} CRLF{f' and {lines.lf:,} LF, mixed' if lines.lf else ''}; read as LF")
    if lines.lone_cr:
        notes.append(f"CR without LF: {lines.lone_cr:,}, read as characters and not as line ends")
    if lines.long:
        longest = f"the longest has {lines.longest:,} ({lines.longest_at})"
        notes.append(f"lines of more than {LONG_LINE:,} characters: {lines.long:,}; {longest}")
    return notes
