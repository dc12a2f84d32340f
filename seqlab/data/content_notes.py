"""What training will not show: labels as they were read, held-out text that is not new, invisible characters."""

from seqlab.data.examples.checks import label_notes
from seqlab.data.examples.example import Examples
from seqlab.data.invisible import invisible_notes
from seqlab.data.overlap import overlap_notes
from seqlab.data.text.split import SplitText


def content_notes(data: SplitText | Examples) -> list[str]:
    """For the log. Repeated lines and examples have notes of their own, from where they are read."""
    if isinstance(data, Examples):
        inputs = (example.input for split in data.splits.values() for example in split)
        return [*label_notes(data.splits), *invisible_notes(inputs)]
    blocks = (block for split in data.splits for block in data.blocks(split))
    return [*overlap_notes(data), *invisible_notes(blocks)]
