"""What reading documents corrected, left out and skipped, and how it is said."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seqlab.data.boilerplate import GutenbergScan, document_boilerplate_notes
from seqlab.data.examples.lines import MAX_FAULTS, quote_list
from seqlab.data.examples.odd_texts import MARKUP, MarkedTexts
from seqlab.data.examples.odd_values import is_missing, missing_texts_note
from seqlab.data.file_names import first_names, name_files, shorten
from seqlab.data.files import InputFixes
from seqlab.errors import DataError
from seqlab.wording import counted

NAME_IT = "Name it: --column text=NAME"
SKIP_LIMIT = 0.1  # the share of files and of rows that may be skipped


class Unusable(DataError):
    """A file that has no document. `reason`: why, in a few words, for the files that are left out of a folder."""

    def __init__(self, message: str, reason: str = "no table of documents"):
        super().__init__(message)
        self.reason = reason


@dataclass
class DocumentFixes(InputFixes):
    """Filled while documents are read, for the notes."""

    skip_limit: float = SKIP_LIMIT
    unit: tuple[str, str] = ("document", "documents")  # what a row is
    to_name_text: str = NAME_IT  # what to do about a table without a column of texts, where a command has no --column
    known_columns: Mapping[str, tuple[str, ...]] | None = None  # names of id and text, where no documents are read
    layout_columns: tuple[str, ...] = ("metadata",)  # of BEIR, which nobody expects to be searched
    unreadable: dict[str, str] = field(default_factory=dict)  # files of a folder, and why
    unused: dict[tuple[str, ...], list[str]] = field(default_factory=dict)  # columns that are not read, and files
    without_id: dict[str, int] = field(default_factory=dict)  # rows of files that have ids in other rows
    inner_ids: dict[str, int] = field(default_factory=dict)  # rows of files whose ids are values within objects
    inner_keys: dict[str, None] = field(default_factory=dict)  # under which these stand there
    outputs: dict[str, int] = field(default_factory=dict)  # cells of notebooks that have some
    mail_parts: dict[str, int] = field(default_factory=dict)  # of e-mails, other than their text
    mail_fields: Counter[str] = field(default_factory=Counter)  # of the headers of e-mails that are not read
    encoded: list[str] = field(default_factory=list)  # files with lines of base64
    ebooks: list[GutenbergScan] = field(default_factory=list[GutenbergScan])  # documents with a license around a book
    rows: MarkedTexts = field(default_factory=lambda: MarkedTexts(MARKUP))  # of tables, with tags of HTML
    missing: Counter[str] = field(default_factory=Counter)  # texts of rows that may stand for a missing one
    named_columns: set[str] = field(default_factory=set)  # that were asked for, and that a table has
    own_columns: dict[str, list[str]] = field(default_factory=dict)  # tables without a column that was asked for
    documents: int = 0  # that were read
    without_text: int = 0  # of them, those whose title is read as the text
    first_without_text: str = ""  # the id of one of them
    equal: int = 0  # documents with the title and text of another; the name of a file is no title
    first_equal: tuple[str, str] = ("", "")  # the ids of two of them

    @property
    def can_name_columns(self) -> bool:
        """Whether the command has the option --column."""
        return self.to_name_text == NAME_IT

    def notes(self) -> list[str]:
        notes = super().notes()
        for names, files in self.unused.items():
            columns = f"{'column' if len(names) == 1 else 'columns'} {quote_list(names, MAX_FAULTS)}"
            another = " (--column text=NAME reads another)" if self.can_name_columns else ""
            notes.append(f"{columns} of {first_names(files)} not read{another}")
        for name, files in self.own_columns.items():
            notes.append(f"no column '{name}' in {name_files(files)}: read by the usual columns")
        notes += self._id_notes
        if self.outputs:
            cells = counted(sum(self.outputs.values()), "notebook cell")
            notes.append(f"outputs of {cells} not read, in {first_names([*self.outputs])}")
        notes += self._mail_notes
        if self.encoded:
            files = counted(len(self.encoded), "file")
            notes.append(f"lines of base64, as of attachments, read as words in {files}: {first_names(self.encoded)}")
        notes += document_boilerplate_notes(self.ebooks)
        notes += [*self.rows.notes("text", "tags or entities"), *missing_texts_note(self.missing)]
        if self.without_text:
            amount = f"{self.without_text:,} of {counted(self.documents, 'document')}"
            said, such_as = ("has no text: its", "") if self.without_text == 1 else ("have no text: their", "such as ")
            named = f"{such_as}'{shorten(self.first_without_text, 40)}'"
            notes.append(f"{amount} {said} title is read as the text ({named})")
        if self.equal:
            pair = f"'{shorten(self.first_equal[1], 40)}' and '{shorten(self.first_equal[0], 40)}'"
            documents = counted(self.equal, "document")
            notes.append(f"{documents} equal to an earlier one, such as {pair}: all are kept")
        if self.unreadable:
            reasons = "; ".join(f"{Path(name).name}: {why}" for name, why in [*self.unreadable.items()][:MAX_FAULTS])
            notes.append(f"skipped {counted(len(self.unreadable), 'file')} that cannot be read ({reasons})")
        return notes

    def read_row(self, text: str) -> None:
        """Count what the text of a row may have that is none."""
        self.rows.read(text)
        if is_missing(text):
            self.missing[text.strip()] += 1

    @property
    def _id_notes(self) -> list[str]:
        notes: list[str] = []
        if self.without_id:
            rows = counted(sum(self.without_id.values()), "row")
            files = first_names([*self.without_id])
            notes.append(f"{rows} without an id named by file and line, in {files}, whose other rows have one")
        if self.inner_ids:
            rows, keys = counted(sum(self.inner_ids.values()), "row"), quote_list([*self.inner_keys], MAX_FAULTS)
            notes.append(f"ids of {rows} read from within objects, at {keys}, in {first_names([*self.inner_ids])}")
        return notes

    @property
    def _mail_notes(self) -> list[str]:
        notes: list[str] = []
        if self.mail_parts:
            parts = counted(sum(self.mail_parts.values()), "part")
            notes.append(f"{parts} of e-mails not read, such as attachments, in {first_names([*self.mail_parts])}")
        if self.mail_fields:
            amount = counted(max(self.mail_fields.values()), "e-mail")
            fields = ", ".join(f"{name} ({count:,})" for name, count in self.mail_fields.items())
            notes.append(f"of {amount}, the subject and the text are read, and no other header field: not {fields}")
        return notes
