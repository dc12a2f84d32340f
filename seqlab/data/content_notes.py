"""What training will not show: labels as they were read, held-out text that is not new, invisible characters."""

from collections.abc import Iterable, Iterator
from itertools import chain

from seqlab.data.accents import accent_notes, count_characters
from seqlab.data.boilerplate import boilerplate_notes
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.documents.pairs import RetrievalExamples
from seqlab.data.double_encoding import DoubleEncoding
from seqlab.data.examples.checks import label_notes, labels_of
from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.examples.giveaways import giveaway_notes
from seqlab.data.invisible import invisible_notes, space_notes
from seqlab.data.lost_characters import lost_notes
from seqlab.data.near_copies import reworded_notes
from seqlab.data.overlap import overlap_notes
from seqlab.data.split_records import split_record_notes
from seqlab.data.subwords import CutText
from seqlab.data.text.held_out_files import held_out_notes
from seqlab.data.text.lists import list_notes
from seqlab.data.text.split import SplitText


def content_notes(data: SplitText | Examples) -> list[str]:
    """For the log. Repeated lines and examples have notes of their own, from where they are read."""
    if isinstance(data, Examples):
        leaks = [*reworded_notes(data.splits), *giveaway_notes(data.splits)]
        return [*label_notes(data.splits), *leaks, *notes_on_content(data)]
    if isinstance(data, LargeText):
        return _sample_notes(data)
    lines = [*list_notes(data), *split_record_notes(data)]
    return [*held_out_notes(data), *overlap_notes(data), *lines, *notes_on_content(data)]


def notes_on_content(data: SplitText | Examples) -> list[str]:
    """What is odd in the text itself, whether it is to be trained on or scored; nothing of a text too large to keep."""
    if isinstance(data, Examples):
        return _notes_on_examples(data)
    if isinstance(data, LargeText):
        return []
    blocks = (block for split in data.splits for block in data.blocks(split))
    return [*boilerplate_notes(data.corpus), *_seen(blocks, cut=True)]


def _seen(blocks: Iterable[str], cut: bool) -> list[str]:
    """Odd characters; and marks of subwords, which examples have by side."""
    twice, pieces = DoubleEncoding(), CutText()
    counts = count_characters(pieces.watch(twice.watch(blocks)) if cut else twice.watch(blocks))
    return [
        *(*lost_notes(counts), *invisible_notes(counts), *space_notes(counts), *accent_notes(counts)),
        *(*twice.notes(), *(pieces.notes() if cut else [])),
    ]


def _sample_notes(text: LargeText) -> list[str]:
    """The notes on characters, for a sample of the training text."""
    split = text.splits[0]
    sizes = [0]

    def blocks() -> Iterator[str]:
        for block in text.sampled(split):
            sizes[0] += len(block)
            yield block

    seen = _seen(blocks(), cut=True)
    checked = f"odd characters were looked for in {sizes[0]:,} characters of the {split} text"
    return [*seen, checked, f"held-out text was not compared with the {split} text (seqlab audit does)"]


def _notes_on_examples(data: Examples) -> list[str]:
    """Notes on the invisible characters and the accents of inputs, of labels, tags and targets, and of documents."""
    examples = [example for split in data.splits.values() for example in split]
    documents = data.all_documents if isinstance(data, RetrievalExamples) else ()
    answers = ([example.target] if isinstance(example, TextPair) else labels_of(example) for example in examples)
    inputs, read = (example.input for example in examples), (document.with_title for document in documents)
    return _seen(chain(inputs, chain.from_iterable(answers), read), cut=False)
