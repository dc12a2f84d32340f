"""How a corpus is divided: into units that one worker reads, whatever their number, and the shards they are encoded to.

A unit is a range of a large file, several small files, or a large file that can only be read from its beginning. The
shards of the latter are shared out: a worker reads all of the file and encodes every n-th shard.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from seqlab.data.corpora.documents import STRETCH, CorpusDocument, DocumentReader
from seqlab.data.corpora.faults import CUT, Faults
from seqlab.data.corpora.parquet import parquet_documents, row_groups
from seqlab.data.corpora.source import TextSource
from seqlab.data.corpora.streams import ByteWindow, opened, unpacked

PIECE = 64 * STRETCH  # bytes of text in a shard
UNPACKED = 4  # the size of a packed text beside its packed size, about
MAX_SAMPLE_BYTES, SAMPLE_STRETCHES = 1 << 25, 64  # of the training text, from which a tokenizer is learned


class Span(NamedTuple):
    """A part of a source, in unpacked bytes; without `last`, up to its end."""

    source: int  # its place among the sources
    first: int = 0
    last: int | None = None


@dataclass(frozen=True)
class WorkUnit:
    """What is read from beginning to end. If it is striped, shard k holds its k-th piece; otherwise it is one shard."""

    number: int
    spans: tuple[Span, ...]
    striped: bool = False

    def shard(self, piece: int = 0) -> str:
        return f"{self.number:06d}-{piece:06d}"


class EncodingJob(NamedTuple):
    """The pieces first, first + step, ... of a unit."""

    unit: WorkUnit
    first: int
    step: int

    @property
    def name(self) -> str:
        return f"{self.unit.number:06d}-{self.first}of{self.step}"


def divide(sources: Sequence[TextSource], first_number: int = 0) -> list[WorkUnit]:
    """The units of a corpus, in the order of its text; small files are joined."""
    units: list[tuple[list[Span], bool]] = []
    room = 0  # bytes that the last unit can still take
    for number, source in enumerate(sources):
        expected = source.size * (UNPACKED if source.packing or source.form == "parquet" else 1)
        if 0 <= expected <= room:
            units[-1][0].append(Span(number))
            room -= expected
        elif 0 <= expected <= PIECE:
            units.append(([Span(number)], False))
            room = PIECE - expected
        else:
            room = 0
            firsts = range(0, source.size, PIECE) if source.is_divisible else [0]
            lasts = [first + PIECE if source.is_divisible else None for first in firsts]
            units += [([Span(number, first, last)], last is None) for first, last in zip(firsts, lasts, strict=True)]
    return [WorkUnit(first_number + at, tuple(spans), striped) for at, (spans, striped) in enumerate(units)]


def jobs_of(units: Sequence[WorkUnit], workers: int) -> list[EncodingJob]:
    """The work to share out: all workers read a file that cannot be divided."""
    jobs: list[EncodingJob] = []
    for unit in units:
        step = max(1, workers) if unit.striped else 1
        jobs += [EncodingJob(unit, first, step) for first in range(step)]
    return jobs


def read_spans(sources: Sequence[TextSource], spans: Sequence[Span], faults: Faults) -> Iterator[CorpusDocument]:
    """The documents of several parts of a corpus, one after the other."""
    for span in spans:
        source = sources[span.source]
        reader = DocumentReader(source, faults)
        with opened(source) as stream:
            if source.form == "parquet":
                for group in range(row_groups(stream, source.name)):
                    yield from parquet_documents(reader, stream, group)
            else:
                before = max(0, span.first - 1) if source.is_divisible else 0
                window = ByteWindow(unpacked(stream, source, before), before)
                window.drop(before)
                yield from reader.documents(window, span.first, span.last)
                _note_damage(window, source, faults)


def read_stripe(
    sources: Sequence[TextSource], unit: WorkUnit, first: int, step: int, faults: Faults
) -> Iterator[tuple[int, Iterator[CorpusDocument]]]:
    """The pieces first, first + step, ... of a striped unit, with their documents, which may be left unread."""
    source = sources[unit.spans[0].source]
    reader = DocumentReader(source, faults)
    with opened(source) as stream:
        if source.form == "parquet":
            for group in range(first, row_groups(stream, source.name), step):
                yield group, parquet_documents(reader, stream, group)
            return
        window = ByteWindow(unpacked(stream, source))
        piece = first
        while True:
            begin = piece * PIECE
            window.drop(max(0, begin - 1))
            window.fill(begin + 1)
            if window.ended and window.end <= begin:
                break
            yield piece, reader.documents(window, begin, begin + PIECE)
            piece += step
        _note_damage(window, source, faults)


def _note_damage(window: ByteWindow, source: TextSource, faults: Faults) -> None:
    if window.damage is not None:
        faults.add(CUT, source.name, f"unpacked offset {window.end:,}: {window.damage}")


def sample_spans(sources: Sequence[TextSource]) -> list[Span]:
    """Parts from all over a corpus that a tokenizer is learned from; all of a small one.

    Of files that can only be read from their beginnings, it is these."""
    sizes = [max(0, source.size) * (UNPACKED if source.packing else 1) for source in sources]
    total = sum(sizes)
    if total <= MAX_SAMPLE_BYTES and all(source.size >= 0 for source in sources):
        return [Span(number) for number in range(len(sources))]
    size = MAX_SAMPLE_BYTES // SAMPLE_STRETCHES
    chosen: dict[tuple[int, int], int] = {}
    for place in range(SAMPLE_STRETCHES):
        at, number = total * (2 * place + 1) // (2 * SAMPLE_STRETCHES), 0
        while number < len(sources) - 1 and at >= sizes[number]:
            at, number = at - sizes[number], number + 1
        first = at // STRETCH * STRETCH if sources[number].is_divisible else 0
        chosen[number, first] = chosen.get((number, first), 0) + size
    return [Span(number, first, first + length) for (number, first), length in sorted(chosen.items())]
