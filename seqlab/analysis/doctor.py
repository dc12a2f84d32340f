"""What a text is like before anything is trained on it.

`examine` reads all of it once (scan.py), looks for held-out text in the training part (overlap.py), measures what
counting achieves, and suggests settings with the time that they take here (suggestion.py).
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from seqlab.analysis.overlap import Overlap, overlap
from seqlab.analysis.scan import Scan, scan
from seqlab.analysis.suggestion import Expected, Suggestion, expect, suggest
from seqlab.config import CorpusSettings, build_settings, checked
from seqlab.data.text.corpus import Corpus, corpus_from_text, open_corpus
from seqlab.data.text.split import SplitText, slice_text, split_text
from seqlab.errors import DataError, SeqlabWarning
from seqlab.runs.reopen import make_task
from seqlab.runs.results import BaselineResult
from seqlab.tasks.dataset import text_dataset, train_tokenizer
from seqlab.tasks.text import one_unit
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.training.baselines import measure_baselines

MAX_BASELINE_CHARACTERS = 2_000_000  # of a longer text, floors are measured on so much of it
TIMED_CHARACTERS = 500_000  # and steps are timed on so much


@dataclass(frozen=True)
class Diagnosis:
    """All that `examine` found. Where training would refuse the text, `refusal` says why and the rest is missing."""

    name: str
    source: tuple[str, ...]
    documents: str
    scan: Scan
    refusal: str | None = None
    overlap: Overlap | None = None
    baselines: list[BaselineResult] = field(default_factory=list)
    baselines_on: str = ""
    suggestion: Suggestion | None = None
    expected: Expected | None = None

    @property
    def command(self) -> str | None:
        """How to train as suggested."""
        return self.suggestion.command(self.source) if self.suggestion else None

    def as_dict(self) -> dict[str, Any]:
        content = {**asdict(self), "command": self.command}
        if self.overlap:
            content["overlap"] |= {"share": self.overlap.share, "sentence": str(self.overlap)}
        if self.expected:
            content["expected"]["sentence"] = str(self.expected)
        return content


def examine(source: Sequence[str], documents: str = "stream") -> Diagnosis:
    """Examine the text that paths, a built-in name or '-' name; a faulty one is examined as far as possible."""
    settings = checked(CorpusSettings, {"source": tuple(source), "documents": documents}, "corpus")
    corpus = open_corpus(settings.source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeqlabWarning)  # of characters that samples lack
            return _examine(corpus, settings)
    finally:
        if corpus.stdin_copy is not None:
            corpus.stdin_copy.unlink(missing_ok=True)


def _examine(corpus: Corpus, settings: CorpusSettings) -> Diagnosis:
    found = scan(corpus)
    about = {"name": corpus.name, "source": settings.source, "documents": settings.documents, "scan": found}
    try:
        split = split_text(corpus, settings)
        baselines, baselines_on = _floors(split)
        suggestion, expected = expect(suggest(found, settings.documents), found, _sample(split, TIMED_CHARACTERS)[0])
        return Diagnosis(
            **about,
            overlap=overlap(split),
            baselines=baselines,
            baselines_on=baselines_on,
            suggestion=suggestion,
            expected=expected,
        )
    except DataError as error:
        if not found.bytes:
            raise
        return Diagnosis(**about, refusal=str(error))


def _floors(split: SplitText) -> tuple[list[BaselineResult], str]:
    """By characters, whatever tokenizer is suggested: they are stated in bits per character."""
    sample, which = _sample(split, MAX_BASELINE_CHARACTERS)
    settings = build_settings({"corpus": split.settings.model_dump()}, [("tokenizer.name", "char")])
    part = split_text(sample, settings.corpus)
    dataset = text_dataset(part, Vocabulary(train_tokenizer(part, settings)))
    task = make_task(settings, dataset)
    return measure_baselines(settings, dataset, task, one_unit(dataset.splits["validation"])), which


def _sample(split: SplitText, size: int) -> tuple[Corpus, str]:
    """At most `size` characters, and what they are. A stretch of a stream is split where the whole text is."""
    total = split.stats.characters
    if total <= size:
        return split.corpus, "the whole text"
    if split.by_lines:
        text = "".join(slice_text(split.corpus.blocks(), 0, size))
        return corpus_from_text(
            text[: text.rfind("\n") + 1] or text, split.corpus.name
        ), f"the first {size:,} characters"
    first = total * 9 // 10 - size * 9 // 10
    text = "".join(slice_text(split.corpus.blocks(), first, first + size))
    return corpus_from_text(text, split.corpus.name), f"the {size:,} characters around the start of the held-out split"
