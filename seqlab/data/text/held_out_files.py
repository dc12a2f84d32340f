"""Which files of several the held-out text comes from: the last ones may be of another kind than all others."""

from itertools import pairwise

from seqlab.data.file_names import name_files
from seqlab.data.text.given_splits import GivenSplits
from seqlab.data.text.split import SplitText


def held_out_notes(text: SplitText) -> list[str]:
    """For the log, if files are joined and the end of the text is held out."""
    text = text.texts["train"] if isinstance(text, GivenSplits) else text
    corpus = text.corpus
    if len(corpus.paths) < 2 or text.is_whole or text.by_lines or text.scattering is not None:
        return []
    if corpus.file_ends[-1:] != [text.stats.characters]:  # another text is read from the files, such as one of symbols
        return []
    held_out = ", ".join(f"{split} from {name_files(_files(text, split))}" for split in text.splits[1:])
    can_scatter = text.settings.split == "contiguous" and text.settings.split_ratios != "90/5/5"
    return [f"held out: {held_out}{'; --split scattered takes stretches from all files' * can_scatter}"]


def _files(text: SplitText, split: str) -> list[str]:
    [(first, last)] = text.ranges(split)
    files = zip(text.corpus.paths, pairwise([0, *text.corpus.file_ends]), strict=True)
    return [str(path) for path, (begin, end) in files if begin < last and first < end]
