"""Inputs that give their label away: its name stands in them, or a mark such as an identifier that tells the label.

A word that goes with a label is what a classifier should learn. What is looked for here is what nobody would write:
names of labels in the inputs of most labels, and identifiers, keys or first and last words that settle the label.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from seqlab.data.examples.example import UNSCORED, Example, LabeledText, TaggedSentence, TextPair

MAX_CHECKED = 5_000  # inputs, evenly spaced
MIN_EXAMPLES = 5  # of a label whose name is looked for
NAMED, ALWAYS = 0.3, 0.98  # the share of a label's inputs with its name: for half of the labels, or for one
MORE_OFTEN, HARDLY = 10, 0.005  # as often as in the inputs of other labels; the share of theirs that may have it too
RIGHT = 0.95  # the share of labels that a mark tells correctly, from which on it gives them away
FEWER_ERRORS = 0.2  # of those that the most frequent label makes
COVERED, OF_LABEL = 0.2, 0.3  # the share of all inputs, or of those of one label, that have the mark
CHANCE = 1e-6  # that as many labels are told by accident
TARGETS, SHORTEST_TARGET = 0.5, 4  # the share of pairs whose source begins or ends with the target; characters

WORD = re.compile(r"[^\W_]+")
EDGES = ".,;:!?\"'()-"
KEY = re.compile(r"([^\W\d][\w.-]*)[=:](?!//)(.+)")  # not a web address
STRUCTURE = re.compile(r"[_#<>\[\]{}|~§]")
NUMBERED = re.compile(r"[^\W\d_]{3,}\d+|\d+[^\W\d_]{3,}")  # doc0042; not 7pm, 2nd or mp3
DIGITS = re.compile(r"\d+")
PLACES = ("the first word", "the last word")


@dataclass(frozen=True)
class Labeled:
    """A text or a word with its label."""

    text: str
    label: str


def sample_inputs(splits: Mapping[str, Sequence[Example]]) -> list[Example]:
    """The different examples of all splits, or some of many: a repeated one would tell the label of the other."""
    examples = [example for split in splits.values() for example in split]
    return [*dict.fromkeys(examples[:: -(-len(examples) // MAX_CHECKED)])]


def giveaway_notes(splits: Mapping[str, Sequence[Example]]) -> list[str]:
    """For the log: what gives labels, tags or targets away."""
    checked = sample_inputs(splits)
    return [
        f"{found} ({len(checked):,} inputs checked). Where new inputs lack this, a model does worse than its score: "
        f"remove it from the inputs (seqlab audit checks it, too)"
        for found in giveaways(checked)
    ]


def giveaways(examples: Sequence[Example]) -> list[str]:
    """What gives labels, tags or targets away, as sentences; empty if nothing does."""
    if isinstance(examples[0], TextPair):
        return _targets([example for example in examples if isinstance(example, TextPair)])
    units = list(_units(examples))
    found = _names(units)
    return found + _marks(units) if isinstance(examples[0], LabeledText) else found


def _units(examples: Sequence[Example]) -> Iterator[Labeled]:
    for example in examples:
        if isinstance(example, LabeledText):
            yield Labeled(example.text, example.label)
        elif isinstance(example, TaggedSentence):
            kinds = (re.sub(r"^[BIES]-", "", tag) for tag in example.tags)
            pairs = zip(example.words, kinds, strict=True)
            yield from (Labeled(word, kind) for word, kind in pairs if kind not in ("O", UNSCORED))


# --- names of labels ------------------------------------------------------------------------------------------------


def _names(units: Sequence[Labeled]) -> list[str]:
    """Labels whose name stands in their own inputs, and hardly in those of others."""
    totals = Counter(unit.label for unit in units)
    by_word: dict[str, list[str]] = defaultdict(list)  # the labels whose name begins with a word
    for label in totals:
        for first in _words(label)[:1]:
            by_word[first].append(label)
    own, others = Counter[str](), Counter[str]()
    for unit in units:
        words = _words(unit.text)
        text = f" {' '.join(words)} "
        for label in {label for word in words for label in by_word.get(word, ())}:
            if f" {' '.join(_words(label))} " in text:
                (own if label == unit.label else others)[label] += 1
    asked = [label for label, count in totals.items() if count >= MIN_EXAMPLES]
    given: dict[str, tuple[float, float]] = {}
    always: list[str] = []
    for label in asked:
        rate, rest = own[label] / totals[label], others[label] / max(1, len(units) - totals[label])
        if rate >= NAMED and rate >= MORE_OFTEN * rest:
            given[label] = rate, rest
            always += [label] if rate >= ALWAYS and rest <= HARDLY else []
    if len(asked) < 2 or not given or (2 * len(given) < len(asked) and not always):
        return []
    label = always[0] if always else max(given, key=lambda one: given[one][0])
    rate, rest = given[label]
    return [
        f"the names of {len(given)} of {len(asked)} labels are in their own inputs: '{label}' in {rate:.0%} of them, "
        f"and in {rest:.1%} of the others"
    ]


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


# --- marks ----------------------------------------------------------------------------------------------------------


def _marks(units: Sequence[Labeled]) -> list[str]:
    """Marks whose presence or value tells the label."""
    places: dict[str, dict[int, str]] = defaultdict(dict)  # by mark: the value in each input that has it
    for index, unit in enumerate(units):
        for mark, value in _marks_of(unit.text):
            places[mark].setdefault(index, value)
    totals = Counter(unit.label for unit in units)
    found: list[str] = []
    for mark, values in places.items():
        labels = [units[index].label for index in values]
        if len(values) >= COVERED * len(units):
            told = _told(list(values.values()), labels)
            right = sum(guess == label for guess, label in told)
            frequent = max(Counter(label for _, label in told).values(), default=0)
            if len(told) >= COVERED * len(units) and _tells(right, len(told), frequent):
                found.append(f"{_shown(mark, values)} tells {right:,} of {len(told):,} labels")
                continue
        label, count = Counter(labels).most_common(1)[0]
        expected = len(values) * totals[label] / len(units)
        if mark not in PLACES and count >= OF_LABEL * totals[label] and _tells(count, len(values), expected):
            where = f"{count:,} of {totals[label]:,} inputs of '{label}' and in {len(values) - count:,} others"
            found.append(f"{_shown(mark, values)} is in {where}")
    return found


def _shown(mark: str, values: Mapping[int, str]) -> str:
    """A mark as inputs have it: one that stands for words with different digits by the first of them."""
    words = [*dict.fromkeys(values.values())]
    same = mark in PLACES or not mark.startswith("'") or words in ([""], [mark.strip("'")])
    return mark if same else f"'{words[0]}', also with other digits,"


def _marks_of(text: str) -> Iterator[tuple[str, str]]:
    """The marks of a text and their values: its first and last word, keys, and what looks like an identifier."""
    tokens = text.split()
    yield from zip(PLACES, (tokens[0], tokens[-1]), strict=True) if tokens else ()
    for token in tokens:
        bare = token.strip(EDGES)
        if key := KEY.fullmatch(bare):
            yield f"the key '{key[1]}'", key[2]
            yield f"'{bare}'", ""
        elif WORD.search(bare) and (STRUCTURE.search(bare) or NUMBERED.fullmatch(bare)):
            template = DIGITS.sub("0", bare)
            yield f"'{template}'", bare


def _told(values: Sequence[str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """The label that the other inputs with the same value have, or else those with the nearest number; and the label.

    Inputs whose value says nothing are left out."""
    by_value: dict[str, Counter[str]] = defaultdict(Counter)
    for value, label in zip(values, labels, strict=True):
        by_value[value][label] += 1
    numbers = sorted((_number(value), value) for value in by_value if DIGITS.search(value))
    neighbor = _neighbors([value for _, value in numbers])
    told: list[tuple[str, str]] = []
    for value, label in zip(values, labels, strict=True):
        known = by_value[value] - Counter([label])
        known = known or by_value.get(neighbor.get(value, ""), Counter())
        if known:
            told.append((known.most_common(1)[0][0], label))
    return told


def _number(value: str) -> int:
    return int("".join(DIGITS.findall(value))[:18])


def _neighbors(ordered: Sequence[str]) -> Mapping[str, str]:
    """For each value the nearest other one."""
    neighbors: dict[str, str] = {}
    for index, value in enumerate(ordered):
        near = [ordered[other] for other in (index - 1, index + 1) if 0 <= other < len(ordered)]
        neighbors |= {value: min(near, key=lambda other: abs(_number(other) - _number(value)))} if near else {}
    return neighbors


def _tells(right: int, total: int, by_frequency: float) -> bool:
    """Whether so many right labels of `total` are far more than the most frequent label gives, and no accident."""
    if not total or right < RIGHT * total or total - right > FEWER_ERRORS * (total - by_frequency):
        return False
    return _chance(right, total, by_frequency / total) < CHANCE


def _chance(right: int, total: int, rate: float) -> float:
    """The probability of at least so many successes."""
    if rate <= 0 or rate >= 1:
        return rate
    logs = (
        math.lgamma(total + 1) - math.lgamma(k + 1) - math.lgamma(total - k + 1)
        + k * math.log(rate) + (total - k) * math.log1p(-rate)
        for k in range(right, total + 1)
    )  # fmt: skip
    return sum(math.exp(log) for log in logs)


# --- targets --------------------------------------------------------------------------------------------------------


def _targets(pairs: Iterable[TextPair]) -> list[str]:
    """Sources that begin or end with their target; those that are equal to it are to be copied."""
    counts = Counter(_contains(pair.source.strip(), pair.target.strip()) for pair in pairs)
    if counts[True] < TARGETS * counts.total():
        return []
    return [f"{counts[True]:,} of {counts.total():,} sources begin or end with their target"]


def _contains(source: str, target: str) -> bool:
    """Whether a source has its target at one end, and beside it something that is not part of the same word."""
    if len(target) < SHORTEST_TARGET or len(source) <= len(target):
        return False
    at_end = source.endswith(target) and not source[-len(target) - 1].isalnum()
    return at_end or (source.startswith(target) and not source[len(target)].isalnum())
