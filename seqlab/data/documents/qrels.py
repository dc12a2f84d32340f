"""Judgments of which documents answer which query, from tables as BEIR and TREC write them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from seqlab.data.alike import NUMBER
from seqlab.data.documents.rows import letters_of
from seqlab.data.examples.lines import COMMENTS, BadRow, Location, numbered_lines, quote_list
from seqlab.data.file_names import shorten
from seqlab.data.files import InputFixes, existing_path
from seqlab.errors import DataError, MissingInput

QUERY, DOCUMENT, RELEVANCE = "query", "document", "relevance"
COLUMNS = {  # the names of each column, the first that a header has; in any case and with any marks between the words
    QUERY: ("query_id", "qid", "topic_id", "question_id", "query", "topic", "question"),
    DOCUMENT: (
        *("corpus_id", "doc_id", "document_id", "docno", "passage_id", "pid"),
        *("corpus", "doc", "document", "passage"),
    ),
    RELEVANCE: ("relevance", "relevancy", "rel", "qrel", "judgment", "judgement", "grade", "label", "score"),
}
ITERATION = ("iteration", "iter", "q0")  # the column of TREC that nobody reads
USUAL = (3, 4)  # numbers of columns that are read by position: BEIR's, and TREC's, whose second one is ignored


class _Places(NamedTuple):
    """Where the columns are; `width` is the number of fields of every row, if a header gives it."""

    query: int = 0
    document: int = -2
    relevance: int = -1
    width: int | None = None


def read_qrels(path: str | Path, fixes: InputFixes | None = None) -> dict[str, dict[str, int]]:
    """The judgments of a table: by the names of its header, or without one by position, with three columns (BEIR) or
    four (TREC, whose second one is ignored)."""
    fixes = InputFixes() if fixes is None else fixes
    found = existing_path(str(path))
    if found is None or not found.is_file():
        raise MissingInput(f"there is no file '{shorten(str(path))}': expected judgments, such as qrels/test.tsv.")
    qrels: dict[str, dict[str, int]] = {}
    places: _Places | None = None
    for number, line in numbered_lines(found, fixes):
        if not line.strip():
            continue
        if places is None:
            if line.startswith("#") and not _ends_in_number(line):
                line = line.lstrip("# ")
                if len(_places_of(_header(line))) < len(COLUMNS):
                    fixes.passed_over[COMMENTS] += 1
                    continue
            places = _Places()
            if header := _header(line):
                places = _named_places(Location(found, number), header, fixes)
                continue
        query, document, relevance = _judgment(Location(found, number), line, places)
        if qrels.setdefault(query, {}).setdefault(document, relevance) != relevance:
            reason = f"query '{query}' and document '{document}' have two judgments: {qrels[query][document]} and"
            raise BadRow(Location(found, number), f"{reason} {relevance}. Keep one of them.")
    if not qrels:
        raise DataError(f"'{found}' has no judgment: expected lines of query, document and relevance.")
    return qrels


def _header(line: str) -> list[str]:
    """The names of the columns, if one of them is known and the line does not end in a number, as judgments do."""
    fields = _fields(line)
    return fields if _places_of(fields) and not _ends_in_number(line) else []


def _ends_in_number(line: str) -> bool:
    return NUMBER.fullmatch(_fields(line)[-1]) is not None


def _places_of(header: Sequence[str]) -> dict[str, int]:
    """The place of each column whose name is known."""
    letters = [letters_of(name) for name in header]
    found = {
        role: [letters.index(name) for name in map(letters_of, names) if name in letters]
        for role, names in COLUMNS.items()
    }
    return {role: places[0] for role, places in found.items() if places}


def _named_places(location: Location, header: Sequence[str], fixes: InputFixes) -> _Places:
    """The columns by their names. Those whose names are unknown are the ones that are left, in the usual order."""
    places = _places_of(header)
    others = [place for place in range(len(header)) if place not in places.values()]
    left = [place for place in others if letters_of(header[place]) not in ITERATION]
    unknown = [role for role in COLUMNS if role not in places]
    if unknown:
        if len(header) not in USUAL or len(left) < len(unknown):
            raise BadRow(location, f"expected query, document and relevance, not columns {quote_list(header)}.")
        if QUERY in unknown:
            places[QUERY] = left.pop(0)
        for role in (RELEVANCE, DOCUMENT):
            if role in unknown:
                places[role] = left.pop()
        read = ", ".join(f"'{shorten(header[places[role]], 40)}' as the {role}" for role in COLUMNS)
        fixes.remarks.append(f"columns of {location.path.name} by their position: {read}")
    if left:
        names = quote_list([header[place] for place in left], 3)
        fixes.remarks.append(f"{'column' if len(left) == 1 else 'columns'} {names} of {location.path.name} not read")
    return _Places(places[QUERY], places[DOCUMENT], places[RELEVANCE], len(header))


def _judgment(location: Location, line: str, places: _Places) -> tuple[str, str, int]:
    fields = _fields(line)
    if places.width is None and len(fields) not in USUAL:
        raise BadRow(location, f"expected query, document and relevance, separated by tabs; given: {shorten(line, 80)}")
    if places.width not in (None, len(fields)):
        raise BadRow(
            location, f"expected {places.width} fields separated by tabs, as in the header; given: {shorten(line, 80)}"
        )
    try:
        return fields[places.query], fields[places.document], int(fields[places.relevance])
    except ValueError:
        relevance = shorten(fields[places.relevance], 40)
        raise BadRow(location, f"the relevance '{relevance}' is not a whole number, such as 0 or 1.") from None


def _fields(line: str) -> list[str]:
    return [field.strip() for field in (line.split("\t") if "\t" in line else line.split())]
