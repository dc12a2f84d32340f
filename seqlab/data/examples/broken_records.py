"""Where a broken record of CSV ends: the lines below may be the rest of a cell, and no rows of the table."""

import csv
import re
from collections.abc import Sequence

from seqlab.data.examples.delimiters import split_fields

QUOTE = re.compile(r'(?<!\\)"')


class BrokenRecords:
    """The ends of broken records of a table, asked for from the top down."""

    def __init__(self, lines: Sequence[str], delimiter: str):
        self.lines, self.delimiter = lines, delimiter
        self.complete = re.compile(rf'(?:"(?:[^"]|"")*"|(?!")[^{re.escape(delimiter)}]*){re.escape(delimiter)}')
        self.searched = 0  # lines above have neither an unpaired quote nor a row, from the last broken record on

    def end_of(self, first: int, width: int) -> int:
        """The place below a broken record that begins at `first`, in a table of `width` columns.

        It is that of the first line below with an unpaired quote, if that closes a cell and no row stands between. Else
        the record has one line."""
        place = max(first + 1, self.searched)
        while place < len(self.lines) and not self._is_unpaired(place) and not self._is_row(place, width):
            place += 1
        self.searched = place
        if place == len(self.lines) or not self._is_unpaired(place):
            return first + 1
        closing = self._closing_fields(place)
        fits = self._fields_before(first) + closing == width and not self._is_row(place, width)
        return place + 1 if closing and (self._is_unpaired(first) or fits) else first + 1

    def _is_unpaired(self, place: int) -> bool:
        return len(QUOTE.findall(self.lines[place])) % 2 == 1

    def _is_row(self, place: int, width: int) -> bool:
        """Whether a line has the fields of a row, none of them with a space first, as after the commas of a text."""
        fields = split_fields(self.lines[place], self.delimiter)
        return len(fields) == width and not any(field.startswith(" ") for field in fields)

    def _fields_before(self, place: int) -> int:
        """The complete fields with which a line begins."""
        fields = at = 0
        while match := self.complete.match(self.lines[place], at):
            fields, at = fields + 1, match.end()
        return fields

    def _closing_fields(self, place: int) -> int:
        """The fields of a line that begins within a quoted one; 0 if it is broken then."""
        try:
            return len(next(csv.reader([f'"{self.lines[place]}'], delimiter=self.delimiter, strict=True)))
        except csv.Error:
            return 0
