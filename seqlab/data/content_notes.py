"""What training will not show: labels as they were read, held-out text that is not new, invisible characters."""

from itertools import chain

from seqlab.data.accents import accent_notes, count_characters
from seqlab.data.boilerplate import boilerplate_notes
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
    blocks = (block for split in data.splits for block in data.blocks(split))
    twice = DoubleEncoding()
    counts = count_characters(twice.watch(blocks))
    seen = [*invisible_notes(counts), *accent_notes(counts), *twice.notes()]
    return [*overlap_notes(data), *boilerplate_notes(data.corpus), *seen]


def invisible_in_examples(data: Examples) -> list[str]:
    """Notes on the invisible characters and the accents of inputs, and of labels, tags and targets."""
    examples = [example for split in data.splits.values() for example in split]
    answers = ([example.target] if isinstance(example, TextPair) else labels_of(example) for example in examples)
    texts = chain((example.input for example in examples), chain.from_iterable(answers))
    twice = DoubleEncoding()
    counts = count_characters(twice.watch(texts))
    return [*invisible_notes(counts), *accent_notes(counts), *twice.notes()]
