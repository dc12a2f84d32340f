"""The text of files that are more markup than text: web pages, notebooks and e-mails."""

import json
import re
from collections.abc import Iterator
from email import message_from_string
from email.errors import MessageError
from email.message import Message
from email.policy import default as mail_policy
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import NamedTuple

from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import Unusable

SKIPPED = frozenset({"script", "style", "svg", "template", "noscript"})
BLOCKS = frozenset(  # which stand apart from the text around them: words of two are two
    {"address", "article", "aside", "blockquote", "br", "button", "canvas", "caption", "center", "dd", "details",
     "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
     "h5", "h6", "header", "hgroup", "hr", "iframe", "input", "label", "legend", "li", "listing", "main", "menu", "nav",
     "object", "ol", "optgroup", "option", "output", "p", "pre", "search", "section", "select", "summary", "table",
     "tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul", "video"}
)  # fmt: skip
PAGES, NOTEBOOK, MAIL, MAILBOX = (".html", ".htm", ".xhtml"), ".ipynb", ".eml", ".mbox"
FORWARDED = "message/rfc822"  # a mail within a mail
MAIL_FIELDS = ("From", "To", "Cc", "Date")  # that are not read
# in a mailbox, before the first field of a mail; within one, such a line begins with >
BEFORE_MAIL = re.compile(r"(?:\A|(?<=\n\n))From .*\n(?=[!-9;-~]+:)")
QUOTED_FROM = re.compile(r"^>(>*From )", re.MULTILINE)
BASE64_LINES = re.compile(r"(?:^[A-Za-z0-9+/]{60,76}$\n){4,}", re.MULTILINE)  # of letters and digits, without a space
BASE64_SIGNS = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]")))  # sequences of DNA or protein have no digits


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
            if self._inside[-1:] == ["svg"]:
                self._inside.pop()  # a drawing has no blocks: it lacks its end
        self._in_code |= tag == "pre"
        if tag == "body":
            self._inside.clear()  # what stands in the head may lack its end

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


def notebook_text(name: str, content: str) -> tuple[str, int]:
    """The cells of a notebook, and how many have outputs, which are left out; Unusable if it is none."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        message = f"'{name}' is no notebook: it is not whole JSON. Was it cut off?"
        raise Unusable(message, "a notebook that is cut off or damaged") from None
    try:
        if "cells" in notebook:
            cells = notebook["cells"]
        else:  # format 3 and older: sheets of cells, the source of code is its "input"
            cells = [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
        sources = [cell["source"] if "source" in cell else cell["input"] for cell in cells]
        outputs = sum(bool(cell.get("outputs")) for cell in cells)
        return "\n\n".join(source if isinstance(source, str) else "".join(source) for source in sources), outputs
    except (KeyError, TypeError, AttributeError):
        message = f"'{name}' is no notebook: expected JSON with cells and their sources."
        raise Unusable(message, "a notebook without cells") from None


def has_base64(content: str) -> bool:
    """Whether lines are a file in base64, as of an attachment."""
    return any(all(sign.search(lines[0]) for sign in BASE64_SIGNS) for lines in BASE64_LINES.finditer(content))


def mails_of(content: str) -> dict[int, str]:
    """The e-mails of a mailbox (mbox), by the line on which each begins; none if it has another form."""
    begins = [*BEFORE_MAIL.finditer(content)]
    ends = [*(match.start() for match in begins[1:]), len(content)]
    return {
        content.count("\n", 0, match.start()) + 1: QUOTED_FROM.sub(r"\1", content[match.end() : end])
        for match, end in zip(begins, ends, strict=bool(begins))
    }


class Mail(NamedTuple):
    """An e-mail: its subject and its decoded text, and what is left out."""

    document: Document
    parts: int  # other than the text
    fields: list[str]  # of its header that a reader may look for


def read_mail(name: str, content: str) -> Mail:
    try:
        message: Message = message_from_string(content, policy=mail_policy)
        texts, parts = _mail_texts(message, name)
        subject, fields = _subject(message), [field for field in MAIL_FIELDS if field in message]
    except (MessageError, ValueError, LookupError, AttributeError, RecursionError):  # what the library cannot read
        return Mail(Document(name, content, PurePosixPath(name).name), 0, [])
    text = "\n\n".join(text.strip("\n") for text in texts if text.strip())
    document = Document(name, text if text or message.keys() else content, subject or PurePosixPath(name).name)
    return Mail(document, parts, fields)


def _mail_texts(message: Message, name: str) -> tuple[list[str], int]:
    """The plain texts of a mail, or its first page if it has none, then each mail within it, with its subject; and how
    many other parts there are."""
    parts = [*_parts_of(message)]
    plain = [part for part in parts if part.get_content_type() == "text/plain" and not part.get_filename()]
    kept = [part for part in plain if _part_text(part, name).strip()]
    kept = kept or [part for part in parts if part.get_content_type() == "text/html"][:1] or plain
    texts = [_part_text(part, name) for part in kept]
    others = len(parts) - len(kept)
    for part in parts:
        if part.get_content_type() == FORWARDED and part.is_multipart():
            inner = part.get_payload(0)
            assert isinstance(inner, Message)
            within, more = _mail_texts(inner, name)
            texts, others = [*texts, _subject(inner), *within], others - 1 + more
    return texts, others


def _parts_of(message: Message) -> Iterator[Message]:
    """What is not made of parts; a mail within a mail is one."""
    if not message.is_multipart() or message.get_content_type() == FORWARDED:
        yield message
        return
    for part in message.get_payload():
        assert isinstance(part, Message)
        yield from _parts_of(part)


def _subject(message: Message) -> str:
    return " ".join(str(message.get("subject", "")).split())


def _part_text(part: Message, name: str) -> str:
    payload = part.get_payload()
    if str(part.get("content-transfer-encoding", "")).lower() in ("base64", "quoted-printable"):
        decoded = part.get_payload(decode=True)
        assert isinstance(decoded, bytes)
        payload = decoded.decode(part.get_content_charset() or "utf-8", "replace")
    text = payload if isinstance(payload, str) else ""
    return page_document(name, text).text if part.get_content_type() == "text/html" else text
