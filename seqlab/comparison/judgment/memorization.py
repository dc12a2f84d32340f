"""How much of a model's generated text is copied from its training text, with held-out text for reference."""

from collections.abc import Iterable

import numpy as np

from seqlab.analysis.overlap import hashes
from seqlab.comparison.results import Memorization, Sample
from seqlab.data.text.split import SplitText
from seqlab.runs.run import Run

GRAM = 8  # characters
SEARCHED = 2_000_000  # characters of training text in which the longest copy is searched
TEMPERATURE = 0.8
SAMPLE_TOKENS = 400
TEXTS, TOKENS = 4, 500  # generated to be checked for copies
PROMPT = 48  # characters of held-out text that every model continues
FIRST_LINE = 400  # characters within which the start of a line is searched


def sample(run: Run, name: str, prompt: str) -> Sample:
    text = run.generate(prompt, SAMPLE_TOKENS, temperature=TEMPERATURE, seed=0, engine="plain")
    return Sample(name, run.settings.train.seed, prompt, TEMPERATURE, str(text))


def shared_prompt(text: SplitText, split: str) -> str:
    """The first words of the held-out text that begin a line; empty where every line is a document."""
    if text.by_lines:
        return ""
    beginning = text.text(split, FIRST_LINE + PROMPT)
    start = beginning.find("\n", 0, FIRST_LINE) + 1
    prompt = beginning[start : start + PROMPT].lstrip()
    return prompt.rpartition(" ")[0] or prompt


def generated_by(run: Run) -> str:
    return "\n".join(run.generate("", TOKENS, samples=TEXTS, temperature=TEMPERATURE, seed=0, engine="plain").texts)


def memorized(texts: dict[str, str], split: SplitText) -> list[Memorization]:
    """Of each text by its name."""
    known = split.text("train", SEARCHED)
    novel = _novel(texts.values(), split)
    found = []
    for (name, text), share in zip(texts.items(), novel, strict=True):
        longest = longest_copy(text, known)
        found.append(Memorization(name, len(text), len(longest), longest, share))
    return found


def longest_copy(text: str, known: str) -> str:
    """The longest stretch of `text` that stands in `known`."""
    best = ""
    for first in range(len(text)):
        while first + len(best) < len(text) and text[first : first + len(best) + 1] in known:
            best = text[first : first + len(best) + 1]
    return best


def _novel(texts: Iterable[str], split: SplitText) -> list[float]:
    """The share of each text's 8-grams that the training text does not have."""
    none = np.empty(0, np.uint64)
    asked = [np.concatenate([none, *hashes([text], GRAM)]) for text in texts]
    wanted = np.unique(np.concatenate([none, *asked]))
    met = np.zeros(len(wanted), bool)
    for hashes_N in hashes(split.blocks("train"), GRAM):
        met |= np.isin(wanted, hashes_N)
    known = wanted[met]
    return [float(1 - np.isin(grams, known).mean()) if len(grams) else 0.0 for grams in asked]
