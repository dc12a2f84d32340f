"""A text file as a document: what is its title, and what is its text."""

import re
from pathlib import Path

from seqlab.data.documents.document import Document
from seqlab.data.text.forms import TIME_CODE

LONGEST_TITLE = 120  # characters of a first line that is taken for a title
HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*$")
RULE = re.compile(r"([=\-~^\"'`#*+])\1{2,}\s*$")  # above or below a heading
FIELD = re.compile(r"[\w.-]+:(?:\s|$)|\s|- |#|$")  # how lines of front matter begin: YAML
FENCES = ("---", "...")  # below front matter
FRONT_TITLE = re.compile(r"^title:[ \t]+(.*\S)[ \t]*\n", re.M | re.I)


def text_document(name: str, text: str) -> Document:
    """A text file: its title is that of its front matter, else the first heading, else a short first line, else the
    name; the text is what follows. Other fields of the front matter stay in the text."""
    fields, body = _front_matter(text)
    if not fields:
        title, rest = _heading(text)
        return Document(name, rest, title) if title else Document(name, text.strip("\n"), Path(name).name)
    given = FRONT_TITLE.search(fields)
    title = _unquoted(given[1]) if given else ""
    if given and title and len(title) <= LONGEST_TITLE:
        fields = fields[: given.start()] + fields[given.end() :]
    else:
        title, body = _heading(body)
        title = title or Path(name).name
    return Document(name, "\n".join(part for part in (fields.strip("\n"), body.strip("\n")) if part.strip()), title)


def _front_matter(text: str) -> tuple[str, str]:
    """The fields between two lines of dashes at the start, and what follows; no fields if there are none."""
    lines = text.lstrip("\n").split("\n")
    end = 1
    while end < len(lines) and lines[end].rstrip() not in FENCES and FIELD.match(lines[end]):
        end += 1
    closed = lines[0].rstrip() == "---" and end < len(lines) and lines[end].rstrip() in FENCES
    return ("\n".join([*lines[1:end], ""]), "\n".join(lines[end + 1 :])) if closed and end > 1 else ("", text)


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].strip() if quoted else value


def _heading(text: str) -> tuple[str, str]:
    """The first heading or short first line, and the text below it; nothing and the whole text if there is none."""
    lines = text.split("\n")
    filled = [place for place, line in enumerate(lines) if line.strip()][:3]
    title, end = "", 0
    if any(TIME_CODE.fullmatch(lines[place].strip()) for place in filled) or text.lstrip().startswith("WEBVTT"):
        return "", text  # subtitles: their first line is a number, or the name of the format
    if filled:
        place = filled[1] if RULE.match(lines[filled[0]]) and len(filled) > 1 else filled[0]
        heading = HEADING.match(lines[place])
        title = (heading[1] if heading else lines[place]).strip()
        end = place + 1
        if end < len(lines) and RULE.match(lines[end]):
            end += 1
    rest = "\n".join(lines[end:]).strip("\n")
    if not title or len(title) > LONGEST_TITLE or not rest.strip():
        return "", text
    return title, rest
