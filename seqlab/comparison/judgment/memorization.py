"""How much of a model's generated text is copied from its training text, with held-out text for reference."""

from collections.abc import Iterable

import numpy as np

from seqlab.comparison.results import Memorization, Sample
from seqlab.data.overlap import hashes
from seqlab.data.text.split import SplitText
from seqlab.runs.run import Run

GRAM = 8  # characters
SEARCHED = 2_000_000  # characters of training text that are searched for the longest copy
TEMPERATURE = 0.8
SAMPLE_TOKENS = 400
TEXTS, TOKENS = 4, 500  # generated to be checked for copies
PROMPT = 48  # characters of held-out text that every model continues
FIRST_LINE = 400  # characters that are searched for the start of a line


def sample(run: Run, name: str, prompt: str) -> Sample:
    text = run.generate(prompt, SAMPLE_TOKENS, temperature=TEMPERATURE, seed=0, engine="plain")
    return Sample(name, run.settings.train.seed, prompt, TEMPERATURE, str(text))


def shared_prompt(text: SplitText, split: str) -> str:
    """The beginning of the first complete line of held-out text; empty if every line is a document."""
    if text.by_lines:
        return ""
    beginning = text.text(split, FIRST_LINE + PROMPT)
    start = beginning.find("\n", 0, FIRST_LINE) + 1
    prompt = beginning[start : start + PROMPT].lstrip()
    return prompt.rpartition(" ")[0] or prompt


def generate_texts(run: Run) -> str:
    return "\n".join(run.generate("", TOKENS, samples=TEXTS, temperature=TEMPERATURE, seed=0, engine="plain").texts)


def memorization(texts: dict[str, str], split: SplitText) -> list[Memorization]:
    train = split.text("train", SEARCHED)
    results = []
    for (name, text), novel in zip(texts.items(), _novel_shares(texts.values(), split), strict=True):
        longest = longest_copy(text, train)
        results.append(Memorization(name, len(text), len(longest), longest, novel))
    return results


def longest_copy(text: str, train: str) -> str:
    """The longest substring of `text` that occurs in `train`."""
    best = ""
    for first in range(len(text)):
        while first + len(best) < len(text) and text[first : first + len(best) + 1] in train:
            best = text[first : first + len(best) + 1]
    return best


def _novel_shares(texts: Iterable[str], split: SplitText) -> list[float]:
    """The share of each text's 8-grams that do not occur in the training text."""
    empty = np.empty(0, np.uint64)
    grams_by_text = [np.concatenate([empty, *hashes([text], GRAM)]) for text in texts]
    grams_N = np.unique(np.concatenate([empty, *grams_by_text]))
    seen_N = np.zeros(len(grams_N), bool)
    for segment in split.segments("train"):
        for block in hashes(segment, GRAM):
            seen_N |= np.isin(grams_N, block)
    seen = grams_N[seen_N]
    return [float(1 - np.isin(grams, seen).mean()) if len(grams) else 0.0 for grams in grams_by_text]
