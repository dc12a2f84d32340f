"""Metrics by plain counting or by sacrebleu, without the code that tasks score with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from seqlab.data.examples.tag_schemes import detect_scheme
from seqlab.registry import METRICS

Count = Callable[[Sequence[Any], Sequence[Any]], float]  # gold and predicted, to the metric
UNSCORED = "_"


def metric_of(settings: Any, labels: Sequence[str]) -> tuple[str, Count]:
    """The metric that the settings of the task name, and how to count it."""
    name = settings.metric
    if name == "auto":
        name = "accuracy" if detect_scheme([labels]) is None else "entity_f1"
    if name == "bleu":
        return name, lambda gold, predicted: _bleu(gold, predicted, settings.bleu_tokenizer)
    counts = {"accuracy": _accuracy, "entity_f1": _entity_f1, "exact": _accuracy, "chrf": _chrf}
    return (name, counts[name]) if name in counts else (name, lambda gold, predicted: _own(name, gold, predicted))


def _accuracy(gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """The percentage of correct labels, or of correct tags among the words that have a gold tag."""
    pairs = list(zip(gold, predicted, strict=True))
    if not isinstance(gold[0], str):
        pairs = [tags for sentence in pairs for tags in zip(*sentence, strict=True)]
    scored = [(right, guess) for right, guess in pairs if right != UNSCORED or isinstance(gold[0], str)]
    return 100 * sum(right == guess for right, guess in scored) / len(scored)


def _entity_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """As conlleval counts: F1 of the entities whose type, first word and last word are all correct."""
    true, guessed = set[Any](), set[Any]()
    for sentence, (right, guess) in enumerate(zip(gold, predicted, strict=True)):
        guess = [UNSCORED if tag == UNSCORED else word for tag, word in zip(right, guess, strict=True)]
        true |= {(sentence, *entity) for entity in _entities(right)}
        guessed |= {(sentence, *entity) for entity in _entities(guess)}
    return 100 * 2 * len(true & guessed) / max(1, len(true) + len(guessed))


def _entities(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """Type, first word and word after the last: an entity ends before B, O and another type."""
    parts = [(tag[:1], tag[2:]) if tag[:1] in "BI" and tag[1:2] in ("", "-") else ("O", "") for tag in tags]
    firsts = [
        at for at, (letter, kind) in enumerate(parts)
        if letter == "B" or (letter == "I" and (at == 0 or parts[at - 1][0] == "O" or parts[at - 1][1] != kind))
    ]  # fmt: skip
    entities = []
    for first in firsts:
        last = first + 1
        while last < len(parts) and parts[last][0] == "I" and last not in firsts:
            last += 1
        entities.append((parts[first][1], first, last))
    return entities


def _bleu(gold: Sequence[str], predicted: Sequence[str], tokenizer: str) -> float:
    import sacrebleu

    return sacrebleu.corpus_bleu(list(predicted), [list(gold)], tokenize=tokenizer, smooth_method="exp").score


def _chrf(gold: Sequence[str], predicted: Sequence[str]) -> float:
    import sacrebleu

    return sacrebleu.corpus_chrf(list(predicted), [list(gold)]).score


def _own(name: str, gold: Sequence[Any], predicted: Sequence[Any]) -> float:
    """A metric of the user's own: the mean of its numbers, or the ratio of its summed pairs."""
    score = METRICS.load(name)
    if gold and not isinstance(gold[0], str):
        predicted = [
            [UNSCORED if right == UNSCORED else guess for right, guess in zip(*tags, strict=True)]
            for tags in zip(gold, predicted, strict=True)
        ]
    values = [np.atleast_1d(np.asarray(score(*pair), float)) for pair in zip(gold, predicted, strict=True)]
    total = np.sum(values, axis=0)
    return float(total[0] / (total[1] if len(total) > 1 else len(values)))
