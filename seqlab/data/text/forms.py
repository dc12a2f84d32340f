"""Texts that are something else, whatever they are called: tables as a program prints them, dumps, tagged words, RTF,
mail, subtitles.

They can be read as running text, and then their marks are part of it: a note says what they look like, and how to
convert them."""

import json
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from seqlab.data.drawn_tables import drawn_table
from seqlab.data.examples.possible_columns import options_to_read
from seqlab.data.examples.table_sample import sample_rows
from seqlab.data.file_layout import SAMPLE_BYTES, FileLayout, recognize_layout
from seqlab.data.files import read_beginning
from seqlab.data.nested_json import nested_texts_advice
from seqlab.data.new_files import free_name, new_file
from seqlab.data.text.arff import arff_table
from seqlab.data.text.mail import mail_bodies, one_mail_command
from seqlab.data.text.tagged_words import tags_beside_sentences, words_with_tags
from seqlab.errors import DataError

MIN_LINES = 4
FITTING = 0.95  # the share of lines that have the form

R_FIELD = r'(?:"(?:[^"\\]|\\.|"")*"|-?[\d.eE+-]+|NA|TRUE|FALSE)'
R_LINE = re.compile(rf"{R_FIELD}(?: {R_FIELD})+")
GAPPED_RULE = re.compile(r"-+(?: +-+)+")
BOX = "┌╭╔"
ARCHIVE = re.compile(r"window\.YTD\.\w+(\.\w+)* *= *[\[{]")
INSERT = re.compile(r"INSERT\s+(?:IGNORE\s+)?INTO\s+(\S+?)\s*(?:\([^)]*\)\s*)?VALUES\b", re.IGNORECASE)
ROW_OF_VALUES = re.compile(r"\s*\(.*\)[,;]?\s*")  # below VALUES, as phpMyAdmin writes it
COPY = re.compile(r"COPY (\S+) \(([^)]*)\) FROM stdin;", re.IGNORECASE)
SUBTITLE_TAGS = r"s#</?[A-Za-z][^<>]*>|<[0-9:.]+>|\{\\[^{}]*\}##g"  # for sed: <i>, <v Ann>, <00:01.000>, {\an8}
WITHOUT_MARKS = r"1s/^\xef\xbb\xbf//; s/\r$//"
# for awk: a line waits for the next one, which tells whether a number is that of a cue, above a time code, or was said
SPOKEN = (
    "function say() { if (line !~ /^(WEBVTT.*)?$/) print line } "
    '/ --> / { if (line !~ /^[0-9]+$/) say(); line = ""; next } { say(); line = $0 } END { say() }'
)
TIME_CODE = re.compile(r"(?:\d+:)?\d\d:\d\d[.,]\d{3} --> (?:\d+:)?\d\d:\d\d[.,]\d{3}(?: .*)?")  # SubRip, WebVTT
MIN_TIME_CODES = 0.2  # the share of lines: one of three or four
EMBEDDED = re.compile(r"\bdata:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]{200,}")
WITHOUT_ROW_NAMES = (
    'import csv, sys; rows = [*csv.reader(sys.stdin, delimiter=" "{escapes})]; '
    "csv.writer(sys.stdout).writerows(row[-len(rows[0]):] for row in rows)"
)


NOTEBOOK_LINES = 50
NOTEBOOK = re.compile(r'"cells" *: *\[ *\{.*"cell_type" *: *"(?:code|markdown|raw)"')
CELLS = '.cells[].source | if type == "array" then add // "" else . end'  # lines, or one text


PAGE = re.compile(r"\s*<(?:!doctype html|html|body)\b", re.IGNORECASE)
END_TAG = re.compile(r"</[A-Za-z][\w:-]*>")
MIN_TAGGED = 0.5  # the share of lines where a tag ends; <unk> has no end


class TextForm(NamedTuple):
    """What a text looks like, and how to convert it."""

    looks_like: str
    advice: str
    is_table: bool = False  # that can be read as it is
    is_spaced: bool = False  # a table whose fields nothing but spaces separate, which must be converted
    is_annotated: bool = False  # by a tool, in columns of its own
    is_dump: bool = False  # statements with rows in them, which are no table
    has_tags: bool = False  # one for each word of a line
    is_mail: bool = False
    has_markup: bool = False  # tags within lines, which may be rows of a table
    as_lines: str = ""  # how to write a text on each line, as parallel files need it, where that is another advice


def form_of_text(path: Path) -> TextForm | None:
    """The form of the first lines; None for running text, or a file that cannot be read."""
    try:
        lines = [line for line in read_beginning(path, SAMPLE_BYTES)[0] if line.strip()]
    except (OSError, EOFError, zlib.error, DataError):
        return None  # reading the text reports it
    if not lines:
        return None
    packed = path.suffix == ".gz"
    name = shlex.quote(free_name("unpacked", path.with_suffix("").suffix) if packed else str(path))
    form = next((form for find in FORMS if (form := find(lines, name))), None)
    return _unpacked_first(form, path, name) if form and packed else form


def layout_of_text(path: Path) -> FileLayout | None:
    """The layout of lines that form columns, unless they are something else, which must be converted."""
    layout = recognize_layout(path)
    form = form_of_text(path) if layout and not layout.certain else None
    if not layout or not form or form.is_table:
        return layout
    if form.has_markup and layout.kind == "table":
        return replace(layout, reason=f"{layout.reason}, and tags of HTML or XML, which stay in the texts")
    return FileLayout("other", f"{path.name} looks like {form.looks_like}. {form.advice}")


def _unpacked_first(form: TextForm, path: Path, name: str) -> TextForm:
    """The commands of a form, where they read the file of this name, after the one that unpacks it there: some of them
    read a file several times, or by its name alone."""
    unpack = f"gzip -dc {shlex.quote(str(path))} > {name} && "
    advice, as_lines = (
        said.replace(": ", f": {unpack}", 1) if name in said else said for said in (form.advice, form.as_lines)
    )
    return form._replace(advice=advice, as_lines=as_lines)


def _json_lines(lines: Sequence[str], name: str) -> TextForm | None:
    found = [line for line in lines if line.startswith("{") and line.rstrip().endswith("}")]
    if len(lines) < MIN_LINES or len(found) < FITTING * len(lines):
        return None
    try:
        rows = [json.loads(line) for line in found]
    except (ValueError, RecursionError):
        return None
    if any(isinstance(value, str) for row in rows for value in row.values()):
        copy = f"cp {name} {new_file('.jsonl')}"
        return TextForm("JSON lines", f"To read the text of each: {copy}", as_lines=_as_lines(rows, name))
    [path] = shlex.split(name)
    return TextForm("JSON lines", nested_texts_advice(rows, path) or "They have no texts")


def _as_lines(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """The command that writes the longest texts of JSON lines, each on one line, also where a row has none."""
    lengths: Counter[str] = Counter()
    for row in rows:
        lengths.update({key: len(value) for key, value in row.items() if isinstance(value, str)})
    program = f'.[{json.dumps(lengths.most_common(1)[0][0])}] // "" | gsub("\\n"; " ")'
    [path] = shlex.split(name)
    return f"To write its texts line by line: jq -r {shlex.quote(program)} {name} > {new_file(Path(path).suffix)}"


def _page(lines: Sequence[str], name: str) -> TextForm | None:
    """The beginning of a page, or tags on most lines."""
    tagged = sum(END_TAG.search(line) is not None for line in lines)
    if not PAGE.match(lines[0]) and (len(lines) < MIN_LINES or tagged < MIN_TAGGED * len(lines)):
        return None
    command = f"pandoc -f html -t plain {name} -o {new_file('.txt')}"
    begins = PAGE.match(lines[0]) is not None
    return TextForm("HTML or XML, with tags", f"To get the text of a page: {command}", has_markup=not begins)


def _notebook(lines: Sequence[str], name: str) -> TextForm | None:
    """JSON with cells; long ones are recognized by their first lines."""
    begins = " ".join(line.strip() for line in lines[:NOTEBOOK_LINES])
    if not begins.startswith("{") or not NOTEBOOK.search(begins):
        return None
    command = f"jq -r {shlex.quote(CELLS)} {name} > {new_file('.txt')}"
    return TextForm("a Jupyter notebook, cells and outputs in JSON", f"To get the text of its cells: {command}")


def _web_anno(lines: Sequence[str], name: str) -> TextForm | None:
    if not lines[0].startswith("#FORMAT=WebAnno"):
        return None
    advice = "Export the document as CoNLL 2003 or CoNLL-U instead"
    return TextForm("WebAnno TSV, which INCEpTION exports", advice, is_annotated=True)


def _rtf(lines: Sequence[str], name: str) -> TextForm | None:
    if not lines[0].startswith("{\\rtf"):
        return None
    return TextForm("RTF, which word processors write", f"To get its text: unrtf --text {name} > {new_file('.txt')}")


def _drawn(lines: Sequence[str], name: str) -> TextForm | None:
    table = drawn_table(lines)
    widths = Counter(table.widths if table else ())
    if widths.total() < MIN_LINES or widths.most_common(1)[0][1] < FITTING * widths.total():
        return None
    header, *rows = table.rows.values() if table else [[]]
    options = options_to_read(sample_rows(header, rows))
    advice = f"To read its rows: seqlab train {name} {options}" if options else "Its bars and rules are part of it"
    return TextForm("a table as Markdown, psql or mysql draws it", advice, is_table=True)


def _printed(lines: Sequence[str], name: str) -> TextForm | None:
    """Columns between spaces below a rule with gaps, or in a box of lines."""
    if len(lines) < MIN_LINES or not (GAPPED_RULE.fullmatch(lines[1].rstrip()) or lines[0][0] in BOX):
        return None
    command = f"sqlite3 -header -csv DATABASE 'SELECT * FROM TABLE' > {new_file('.csv')}"
    return TextForm(
        "a table that a program printed, as sqlite does", f"Export it instead, such as: {command}", is_spaced=True
    )


def _from_r(lines: Sequence[str], name: str) -> TextForm | None:
    """Fields in quotes between spaces, and names of the rows, which the header does not have."""
    fitting = [line for line in lines if R_LINE.fullmatch(line.strip())]
    if not lines[0].startswith('"') or len(lines) < MIN_LINES or len(fitting) < FITTING * len(lines):
        return None
    escapes = r', escapechar="\\"' if any('\\"' in line for line in lines) else ""
    program = shlex.quote(WITHOUT_ROW_NAMES.format(escapes=escapes))
    return TextForm(
        "a table with spaces between its fields, as R's write.table writes it",
        f"To make a table of it: python3 -c {program} < {name} > {new_file('.csv')} "
        "(or in R: write.csv with row.names = FALSE)",
        is_spaced=True,
    )


def _tagged_words(lines: Sequence[str], name: str) -> TextForm | None:
    found = words_with_tags(lines, name) or tags_beside_sentences(lines, name)
    return TextForm(*found, has_tags=True) if found else None


def _arff(lines: Sequence[str], name: str) -> TextForm | None:
    found = arff_table(lines, name)
    return TextForm(*found, is_dump=True) if found else None


def _archive(lines: Sequence[str], name: str) -> TextForm | None:
    if not ARCHIVE.match(lines[0]):
        return None
    return TextForm(
        "JavaScript with JSON in it, as an archive of Twitter has",
        f"To get the JSON: sed '1s/^[^=]*= *//' {name} > {new_file('.json')}",
    )


def _dump(lines: Sequence[str], name: str) -> TextForm | None:
    """Statements of SQL that hold most of the text, with their rows beside or below them."""
    begins = [(place, match) for place, line in enumerate(lines) if (match := INSERT.match(line))]
    if not begins:
        return _copy(lines, name)
    first, statement = begins[0]
    rows = [line for line in lines[first:] if INSERT.match(line) or ROW_OF_VALUES.fullmatch(line)]
    if 2 * sum(map(len, rows)) <= sum(map(len, lines)):
        return None
    table = statement[1].strip("`\"'")
    advice = f"mysql --batch -e {shlex.quote(f'SELECT * FROM {table}')} DATABASE > {new_file('.tsv')}"
    said = f"Export the table instead, such as: {advice}"
    return TextForm("a dump of a database, statements of SQL", said, is_dump=True)


def _copy(lines: Sequence[str], name: str) -> TextForm | None:
    match = next((match for line in lines if (match := COPY.fullmatch(line.strip()))), None)
    if match is None:
        return None
    header = r"\t".join(column.strip(' "') for column in match[2].split(","))
    rows = rf"sed -n '/^COPY {match[1]} /,/^\\\.$/p' {name} | sed '1c\{header}' | sed '$d' > {new_file('.tsv')}"
    return TextForm("a dump of a database, a COPY of PostgreSQL", f"To make a table of it: {rows}", is_dump=True)


def _mail(lines: Sequence[str], name: str) -> TextForm | None:
    bodies = mail_bodies(lines)
    if bodies is None:
        return None
    return TextForm(f"mail, with {bodies}", f"To get its text: {one_mail_command(name)}", is_mail=True)


def _subtitles(lines: Sequence[str], name: str) -> TextForm | None:
    codes = sum(TIME_CODE.fullmatch(line.strip()) is not None for line in lines)
    if codes < MIN_LINES or codes < MIN_TIME_CODES * len(lines):
        return None
    clean = f"sed -E '{WITHOUT_MARKS}; {SUBTITLE_TAGS}' {name}"
    command = f"{clean} | awk '{SPOKEN}' > {new_file('.txt')}"
    return TextForm("subtitles, with time codes", f"To keep what is said: {command}")


def _embedded(lines: Sequence[str], name: str) -> TextForm | None:
    if not any(map(EMBEDDED.search, lines)):
        return None
    command = f"sed -E 's#data:[^;]*;base64,[A-Za-z0-9+/=]+##g' {name} > {new_file('.txt')}"
    return TextForm("text with files in base64 inside, such as pictures", f"To remove them: {command}")


FORMS: tuple[Callable[[Sequence[str], str], TextForm | None], ...] = (
    *(_rtf, _notebook, _web_anno, _json_lines, _drawn, _printed, _from_r, _archive, _arff, _dump, _tagged_words),
    *(_mail, _subtitles, _embedded, _page),
)
