"""Numbers and sentences in messages: '1 example', '2,000 examples', '1.35e+09'."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun in its form; the plural of the last word ends in s unless it is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def split_in_words(split: str) -> str:
    """As in 'the training text': the name of a split, or what stands for it."""
    return {"train": "training", "whole": "given"}.get(split, split)


def ended(sentence: str) -> str:
    """With a period, unless it ends with a mark already."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def decimals(value: float, digits: int) -> str:
    """The number with its digits; one of a million or more, as of a model that diverged, in short."""
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
