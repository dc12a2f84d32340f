"""Tables as Weka writes them (ARFF): how to make a CSV file of one."""

import re
import shlex
from collections.abc import Sequence

from seqlab.data.new_files import new_file

RELATION, ATTRIBUTE, DATA = (re.compile(rf"@{word}\b", re.IGNORECASE) for word in ("relation", "attribute", "data"))
PROGRAM = (
    "import csv, re, sys; "
    'lines = [line for line in sys.stdin if line.strip() and not line.startswith("%")]; '
    'data = next(at for at, line in enumerate(lines) if line.lower().startswith("@data")); '
    r'name = r"(?i)@attribute\s+(?:\x27([^\x27]*)\x27|\x22([^\x22]*)\x22|(\S+))"; '
    "declared = [re.match(name, line) for line in lines[:data]]; "
    r'rows = csv.reader(lines[data + 1:], quotechar=QUOTE, escapechar="\\", skipinitialspace=True); '
    "csv.writer(sys.stdout).writerows([[max(found.groups(default=str())) for found in declared if found], *rows])"
)


def arff_table(lines: Sequence[str], name: str) -> tuple[str, str] | None:
    """What a file looks like whose first lines are those of ARFF, and the command that makes a table of it."""
    lines = [line for line in lines if not line.startswith("%")]
    if not lines or not RELATION.match(lines[0]) or not any(map(ATTRIBUTE.match, lines)):
        return None
    begin = next((at + 1 for at, line in enumerate(lines) if DATA.match(line)), len(lines))
    if any(line.startswith("{") for line in lines[begin:]):
        return "ARFF, which Weka writes", "Its rows name some of the columns only: write all of them, as CSV"
    single, double = (sum(line.count(mark) for line in lines[begin:]) for mark in "'\"")
    program = shlex.quote(PROGRAM.replace("QUOTE", "chr(39)" if single >= double else "chr(34)"))
    return "ARFF, which Weka writes", f"To make a table of it: python3 -c {program} < {name} > {new_file('.csv')}"
