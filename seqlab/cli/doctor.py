"""seqlab doctor: examine a text before training on it."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument

from seqlab.cli import options
from seqlab.registry import CORPORA

if TYPE_CHECKING:
    from seqlab.analysis.doctor import Diagnosis
    from seqlab.analysis.scan import TextScan

EXAMPLES = ("seqlab doctor my.txt", "seqlab doctor names.txt --documents lines", "seqlab doctor my-folder --json")


def doctor(
    text: Annotated[list[str], Argument(help=f"Files, a folder, - or one of {', '.join(CORPORA)}.")],
    documents: options.Documents = None,
    as_json: options.Json = False,
) -> None:
    """Examine a text: encoding faults, rare characters, duplicates, n-gram baselines, and suggested settings."""

    from rich.console import Console

    from seqlab.analysis.doctor import examine
    from seqlab.cli.show import console
    from seqlab.errors import DataError

    with Console(stderr=True).status("reading, counting and timing ..."):
        diagnosis = examine(text, documents or "stream")
    if as_json:
        console.print_json(data=diagnosis.as_dict())
    else:
        _show(diagnosis)
    if diagnosis.refusal:
        raise DataError(diagnosis.refusal)


def _show(diagnosis: "Diagnosis") -> None:
    from seqlab.cli.show import console, next_steps, table

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
    if diagnosis.suggestion and diagnosis.estimate:
        console.print()
        for reason in diagnosis.suggestion.reasons:
            console.print(f"- {reason}.", markup=False)
        console.print(f"- {diagnosis.estimate}")
        next_steps(str(diagnosis.command))


def _show_scan(diagnosis: "Diagnosis") -> None:
    from seqlab.cli.show import console, table

    scan = diagnosis.scan
    sizes = f"{scan.characters:,} characters in {scan.lines.total:,} lines, about {scan.words:,} words"
    console.print(f"{diagnosis.name}: {sizes}, {scan.bytes:,} bytes", markup=False)
    for note in _notes(scan):
        console.print(f"- {note}", markup=False)
    for fault in scan.faults:
        console.print()
        more = f", the first {len(fault.locations)}" if fault.count > len(fault.locations) else ""
        rows = [[at.file, at.line, at.offset, at.what] for at in fault.locations]
        table(f"{fault.kind}: {fault.count:,}{more}", ["file", "line", "offset", "what"], rows)
    if scan.character_stats.rarest:
        console.print()
        rows = [[rare.code, rare.name.lower(), rare.count] for rare in scan.character_stats.rarest]
        table("rare characters", ["", "", "seen"], rows, texts=2)


def _notes(scan: "TextScan") -> list[str]:
    """One-line notes on characters, encoding and line ends."""
    from seqlab.analysis.scan import LONG_LINE, RARE
    from seqlab.data.files import name_files

    lines, characters = scan.lines, scan.character_stats
    share = characters.rare_occurrences / max(1, scan.characters)
    occur = "occurs" if characters.rare == 1 else "occur"
    rare = f"{characters.rare:,} {occur} fewer than {RARE} times ({100 * share:.3g}% of the text)"
    notes = [f"distinct characters: {characters.distinct:,}; {rare if characters.rare else 'none of them is rare'}"]
    for encoding in dict.fromkeys(scan.encodings.values()):
        files = [file for file, found in scan.encodings.items() if found == encoding]
        notes.append(f"encoding: {name_files(files)} in {encoding}, read as such")
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
