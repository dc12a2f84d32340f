"""The text of files that are more markup than text: web pages and notebooks."""

import json
from html.parser import HTMLParser
from pathlib import PurePosixPath

from seqlab.data.documents.document import Document
from seqlab.errors import DataError

SKIPPED = frozenset({"script", "style", "svg", "template", "noscript", "head"})
BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption",
     "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
     "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul"}
)  # fmt: skip
PAGES, NOTEBOOK = (".html", ".htm", ".xhtml"), ".ipynb"


class _PageText(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._inside: list[str] = []  # elements whose content is no text
        self._in_title = self._in_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and not self.title and "svg" not in self._inside
        if tag in SKIPPED:
            self._inside.append(tag)
        elif tag in BLOCKS:
            self.parts.append("\n")
        self._in_code |= tag == "pre"
        if tag == "body":
            self._inside.clear()  # the head may lack its end

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        self._in_code &= tag != "pre"
        if tag in self._inside:
            del self._inside[self._inside.index(tag) :]
        elif tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._inside:
            self.parts.append(data if self._in_code else data.replace("\n", " "))


def page_document(name: str, content: str) -> Document:
    """A web page: its title and what it shows, a line for each block."""
    parser = _PageText()
    parser.feed(content)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).split("\n"))
    text = "\n".join(line for line in lines if line)
    return Document(name, text, " ".join(parser.title.split()) or PurePosixPath(name).name)


def notebook_text(name: str, content: str) -> str:
    """The cells of a notebook without their outputs; DataError if it is none."""
    try:
        cells = json.loads(content)["cells"]
        sources = [cell["source"] for cell in cells]
        return "\n\n".join(source if isinstance(source, str) else "".join(source) for source in sources)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"'{name}' is no notebook: expected JSON with cells and their sources.") from None
