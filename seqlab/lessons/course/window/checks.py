"""The checks of the lesson on windows."""

from itertools import product
from types import ModuleType

from torch import nn


def seen(words: list[str], span: int) -> list[str | None]:
    return [*[None] * max(0, span - len(words)), *words[-span:]]


def check_context(answer: ModuleType) -> None:
    """The words that a window sees"""
    for words, span in ((["the", "cat", "was"], 2), (["the", "cat"], 4), (["a", "b", "c"], 3), ([], 1)):
        expected, found = seen(words, span), answer.context(list(words), span)
        assert list(found) == expected, (
            f"your context({words}, {span}) returned {found!r}; expected {expected}: the last words in their order, "
            "and None in front where there is no word."
        )


def check_window_parameters(answer: ModuleType) -> None:
    """The parameters of a window network"""
    for words, width, span, hidden in ((28, 16, 4, 32), (100, 8, 1, 5), (65, 7, 9, 3)):
        network = nn.ModuleList([nn.Embedding(words + 1, width), nn.Linear(span * width, hidden), nn.Linear(hidden, 2)])
        expected = sum(weights.numel() for weights in network.parameters())
        found = answer.window_parameters(words, width, span, hidden)
        assert found == expected, (
            f"your window_parameters({words}, {width}, {span}, {hidden}) returned {found!r}; expected {expected:,}: "
            "the embeddings are (words + 1) x width, the first layer reads span x width numbers, and both have biases."
        )


def check_indistinguishable(answer: ModuleType) -> None:
    """What a window cannot tell apart"""
    sentences = (["the", "cats", "near", "the", "dog"], ["a", "cat", "near", "the", "dog"], ["the", "dog"], ["dog"])
    for first, second, span in product(sentences, sentences, (1, 2, 3, 5)):
        expected = seen(first, span) == seen(second, span)
        found = answer.indistinguishable(list(first), list(second), span)
        assert found == expected, (
            f"your indistinguishable({first}, {second}, {span}) returned {found!r}; expected {expected}: compare what "
            "the window sees of each, with None where there is no word."
        )
