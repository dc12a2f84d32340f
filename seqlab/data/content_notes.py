"""What training will not show: labels as they were read, held-out text that is not new, invisible characters."""

from collections.abc import Iterator
from itertools import chain

from seqlab.data.accents import accent_notes, count_characters
from seqlab.data.boilerplate import boilerplate_notes
from seqlab.data.corpora.large_text import LargeText
from seqlab.data.double_encoding import DoubleEncoding
from seqlab.data.examples.checks import label_notes, labels_of
from seqlab.data.examples.example import Examples, TextPair
from seqlab.data.invisible import invisible_notes
from seqlab.data.overlap import overlap_notes
from seqlab.data.text.split import SplitText


def content_notes(data: SplitText | Examples) -> list[str]:
    """For the log. Repeated lines and examples have notes of their own, from where they are read."""
    if isinstance(data, Examples):
        return [*label_notes(data.splits), *invisible_in_examples(data)]
    if isinstance(data, LargeText):
        return _sample_notes(data)
    blocks = (block for split in data.splits for block in data.blocks(split))
    twice = DoubleEncoding()
    counts = count_characters(twice.watch(blocks))
    seen = [*invisible_notes(counts), *accent_notes(counts), *twice.notes()]
    return [*overlap_notes(data), *boilerplate_notes(data.corpus), *seen]


def _sample_notes(text: LargeText) -> list[str]:
    """The notes on characters, for a sample of the training text."""
    split = text.splits[0]
    twice, sizes = DoubleEncoding(), [0]

    def blocks() -> Iterator[str]:
        for block in text.sampled(split):
            sizes[0] += len(block)
            yield block

    counts = count_characters(twice.watch(blocks()))
    seen = [*invisible_notes(counts), *accent_notes(counts), *twice.notes()]
    checked = f"odd characters were looked for in {sizes[0]:,} characters of the {split} text"
    return [*seen, f"{checked}; held-out text was not compared with it (seqlab audit does)"]


def invisible_in_examples(data: Examples) -> list[str]:
    """Notes on the invisible characters and the accents of inputs, and of labels, tags and targets."""
    examples = [example for split in data.splits.values() for example in split]
    answers = ([example.target] if isinstance(example, TextPair) else labels_of(example) for example in examples)
    texts = chain((example.input for example in examples), chain.from_iterable(answers))
    twice = DoubleEncoding()
    counts = count_characters(twice.watch(texts))
    return [*invisible_notes(counts), *accent_notes(counts), *twice.notes()]
