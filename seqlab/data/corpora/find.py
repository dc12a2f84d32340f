"""The sources of a corpus: which files and addresses are read, as what, and what is left out and why."""

import json
import shlex
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from seqlab.data.corpora.parquet import text_columns
from seqlab.data.corpora.source import Form, TextSource, form_and_packing, is_address
from seqlab.data.corpora.streams import DamagedPacking, file_system, opened, source_errors, stamp_of, unpacked
from seqlab.data.documents.fixes import Unusable
from seqlab.data.documents.rows import FIELDS
from seqlab.data.encoding import ENCODING_NAMES, UTF8, iconv_name, recognize_encoding
from seqlab.data.examples.groups import AUTO
from seqlab.data.examples.json_forms import jq_command, no_json
from seqlab.data.examples.lines import Location, quote_list
from seqlab.data.examples.split_column import find_split_column
from seqlab.data.file_names import first_names, name_files
from seqlab.data.files import STANDARD_INPUT, InputFixes, existing_path
from seqlab.data.folders import COPIED, copies_among, files_below, is_result, note_links
from seqlab.data.foreign import Foreign, on_file, refuse_foreign
from seqlab.data.nested_json import nested_texts_advice
from seqlab.data.new_files import free_name
from seqlab.data.parquet_files import PARQUET
from seqlab.data.text.corpus import note_forms
from seqlab.data.text_columns import chosen_text_column, text_keys
from seqlab.data.unmarked import CONTROLS
from seqlab.errors import DataError, MissingInput, UsageError
from seqlab.registry import CORPORA
from seqlab.wording import counted

SAMPLE = 1 << 16  # bytes at the beginning of a file that tell what it is
MAX_CONTROLS = 0.001  # the share of bytes of a text that are NULs or other controls; binary data has far more
READ_AS = {"text": "running text", "rows": "JSON lines", "parquet": "Parquet"}
PACKED_AS = {"gz": "unpacked by gzip", "zst": "unpacked by zstd"}


def find_sources(items: Sequence[str], column: str, fixes: InputFixes) -> list[TextSource]:
    """The sources of a corpus; `fixes` notes what they are read as, and what is left out of folders."""
    sources: dict[str, TextSource] = {}
    unused: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for item in items:
        names, is_folder = _list(item, fixes)
        for name in names:
            if name in sources:
                raise UsageError(f"'{name}' is given twice: name every file once.")
            try:
                sources[name], others = recognize_source(name, column, fixes)
            except DataError as error:
                if not is_folder:
                    raise
                fixes.left_out[name] = why_left_out(error)
                continue
            if sources[name].column:
                unused.setdefault((sources[name].column, others), []).append(name)
    local = [Path(name) for name in sources if not is_address(name)]
    for copy, original in copies_among(local).items():
        if str(copy) in items:
            raise UsageError(f"'{copy}' has the same content as '{original}': give every text once.")
        fixes.left_out[str(copy)] = COPIED
        del sources[str(copy)]
    if not sources:
        left_out = "".join(f" {note[0].upper()}{note[1:]}." for note in fixes.source_notes)
        raise DataError(f"{', '.join(items)}: there is no file with text.{left_out}")
    note_links([Path(name) for name in sources if not is_address(name) and name not in items], fixes)
    note_forms([Path(name) for name, one in sources.items() if one.form == "text" and not is_address(name)], fixes)
    fixes.remarks += [*_form_notes([*sources.values()]), *_column_notes(unused)]
    return [*sources.values()]


def why_left_out(error: DataError) -> str:
    return error.reason if isinstance(error, Foreign | Unusable) else str(error).rstrip(".")


def _list(item: str, fixes: InputFixes) -> tuple[list[str], bool]:
    """The files of an item, and whether it is a folder or a pattern: what cannot be read of it is left out."""
    if is_address(item):
        return _list_address(item)
    if item == STANDARD_INPUT or item in CORPORA:
        raise UsageError(f"'{item}' is encoded into one file: leave out corpus.sharded, and give it alone.")
    path = existing_path(item)
    if path is None:
        raise MissingInput(f"there is no file or folder '{item}'.")
    if path.is_dir() and is_result(path):
        raise DataError(f"'{item}' is a run or a comparison, not a folder of texts.")
    return ([str(file) for file in files_below(path, fixes)], True) if path.is_dir() else ([item], False)


def _list_address(address: str) -> tuple[list[str], bool]:
    system, path = file_system(address)
    with source_errors(address):
        if "*" in address:
            found = sorted(map(str, system.glob(path)))
        elif address.endswith("/") and system.isdir(path):
            found = sorted(map(str, system.find(path)))
        else:
            return [address], False
    if not found:
        raise MissingInput(f"there is nothing at '{address}'.")
    return [system.unstrip_protocol(one) for one in found], True


def recognize_source(name: str, column: str, fixes: InputFixes) -> tuple[TextSource, tuple[str, ...]]:
    """A file as a source, and the columns of it that are not read; DataError if it is no text."""
    form, packing = form_and_packing(name)
    size, stamp, can_seek = stamp_of(name)
    if size == 0:
        raise Unusable(f"'{name}' is empty.", "empty")
    source = TextSource(name, size, stamp, form, packing, can_seek=can_seek)
    with opened(source) as stream:
        if form == "parquet":
            names, texts = text_columns(stream, name, column)
        else:
            beginning = _beginning(stream, source)
            codec = _codec(beginning, name, form)
            if form == "text":
                return TextSource(name, size, stamp, form, packing, codec, "", can_seek), ()
            names, texts = _row_columns(beginning, name)
            fixes.remarks += _split_notes(_rows(beginning), name) if _is_local(name, packing) else []
    chosen = _choose_column(name, names, texts, column)
    return (
        TextSource(name, size, stamp, form, packing, UTF8, chosen, can_seek),
        tuple(one for one in names if one != chosen),
    )


def _beginning(stream: object, source: TextSource) -> bytes:
    beginning = b""
    try:
        for block in unpacked(stream, source):  # pyright: ignore[reportArgumentType]
            beginning += block
            if len(beginning) >= SAMPLE:
                break
    except DamagedPacking:
        if not beginning:
            raise
    if not beginning:
        raise Unusable(f"'{source.name}' is empty.", "empty")
    return beginning


def _codec(beginning: bytes, name: str, form: Form) -> str:
    refuse_foreign(beginning, name)
    whole_lines = beginning[: beginning.rfind(b"\n") + 1] or beginning[:-4]
    codec = recognize_encoding([whole_lines])
    if codec is None and b"\0" in beginning:
        controls = len(beginning) - len(beginning.translate(None, CONTROLS))
        if controls > max(1, MAX_CONTROLS * len(beginning)):
            raise Unusable(f"'{name}' is binary, not text: it has NUL bytes.", "binary")
        codec = recognize_encoding([whole_lines.replace(b"\0", b"")])  # readers remove and count them
    codec = codec or UTF8
    if form == "rows" and codec == "cp1252":  # JSON is UTF-8: rows with other bytes are counted
        return UTF8
    if codec not in (UTF8, "cp1252"):
        raise _other_encoding(name, codec, form)
    return codec


def _other_encoding(name: str, codec: str, form: Form) -> DataError:
    read = "JSON lines are" if form == "rows" else "what is encoded into shards is"
    command = on_file(f"iconv -f {iconv_name(codec)} -t UTF-8 FILE > NEW", name)
    return DataError(f"'{name}' is {ENCODING_NAMES[codec]}, and {read} read as UTF-8. Convert it: {command}")


def _rows(beginning: bytes) -> list[dict[str, Any]]:
    """The first rows of JSON lines; those that cannot be read are passed over."""
    lines = beginning.splitlines()
    rows: list[dict[str, Any]] = []
    for line in (lines if len(lines) == 1 or beginning.endswith(b"\n") else lines[:-1])[:100]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        rows += [row] if isinstance(row, dict) else []
    return rows


def _is_local(name: str, packing: str) -> bool:
    """Whether the commands of a note can read a file."""
    return not is_address(name) and packing != "zst"


def _split_notes(rows: Sequence[dict[str, Any]], name: str) -> list[str]:
    """How to keep to the splits that a column of the rows names."""
    names = [*dict.fromkeys(key for row in rows for key in row)]
    column = find_split_column(names, lambda: rows, AUTO, (), Location(Path(name), 1))
    if column is None:
        return []
    values: dict[str, list[str]] = {}  # by split, as JSON
    for row in rows:
        if split := column.given(row).split:
            values.setdefault(split, []).append(json.dumps(row.get(column.name)))
    if len(values) < 2 or "train" not in values:
        return []
    key = f".[{json.dumps(column.name)}]"
    made = {split: free_name(f"{Path(name).stem}-{split}", ".jsonl") for split in values}
    commands = [
        jq_command(Path(name), f"select({' or '.join(f'{key} == {value}' for value in dict.fromkeys(values[split]))})")
        + f" > {shlex.quote(file)}"
        for split, file in made.items()
    ]
    train = ["seqlab", "train", made.pop("train"), "--task", "language"]
    commands.append(shlex.join([*train, *chain.from_iterable((f"--{split}", file) for split, file in made.items())]))
    return [
        f"'{column.name}' of {first_names([name])} names splits, and is not used: rows are split by their SHA-256. To "
        f"keep to it: {'; '.join(commands)}"
    ]


def _row_columns(beginning: bytes, name: str) -> tuple[list[str], list[str]]:
    """The keys of the first rows of JSON lines, and those of texts; DataError where all texts stand deeper."""
    rows = _rows(beginning)
    keys = [*dict.fromkeys(key for row in rows for key in row)]
    if not keys:
        if len(beginning.splitlines()) == 1 and len(beginning) >= SAMPLE:  # one long row
            return [], []
        if recognize_encoding([beginning]) == "cp1252":  # few rows with such bytes are counted instead
            raise _other_encoding(name, "cp1252", "rows")
        if not is_address(name) and (advice := no_json(Path(name), beginning.decode(UTF8, "replace").splitlines())):
            raise DataError(advice)
        raise DataError(f"'{name}' has no JSON object on its first lines: expected one on each line.")
    texts = text_keys(rows)
    if not texts and (advice := nested_texts_advice(rows, name)):
        raise DataError(f"the objects of '{name}' have no key of a text ({quote_list(keys)} in all). {advice}")
    return keys, texts


def _choose_column(name: str, names: Sequence[str], texts: Sequence[str], wanted: str) -> str:
    """The column of the text: the one that the user names, one with a known name, or the only one of texts."""
    word = "column" if name.lower().endswith(PARQUET) else "key"
    if wanted != "auto":
        if names and wanted not in names:
            raise DataError(f"'{name}' has no {word} '{wanted}': there is {quote_list(names)}.")
        return wanted
    if chosen := chosen_text_column(texts):
        return chosen
    if not names:  # one long row
        return FIELDS["text"][0]
    which = f"has the {word}s {quote_list(texts)} of texts" if texts else "has no texts"
    example = f" Name it: --set corpus.text_column={texts[0]}" if texts else ""
    raise DataError(f"'{name}' {which} ({quote_list(names)} in all): which one is the text?{example}")


def _form_notes(sources: Sequence[TextSource]) -> list[str]:
    notes = []
    kinds: dict[tuple[str, str], list[str]] = {}
    for source in sources:
        kinds.setdefault((source.form, source.packing), []).append(source.name)
    for (form, packing), files in kinds.items():
        unpacking = f", {PACKED_AS[packing]}" if packing else ""
        number = counted(len(files), "file")
        notes.append(f"read {number} as {READ_AS[form]}{unpacking}: {name_files(files)}")
    western = [source.name for source in sources if source.codec != UTF8]
    if western:
        notes.append(f"read {name_files(western)} as {ENCODING_NAMES['cp1252']}, not UTF-8")
    return notes


def _column_notes(unused: dict[tuple[str, tuple[str, ...]], list[str]]) -> list[str]:
    notes = []
    for (column, others), files in unused.items():
        left = f"; left out: {quote_list(others, 10)}" if others else ""
        notes.append(f"the text is '{column}' of {name_files(files)}{left}")
    return notes
