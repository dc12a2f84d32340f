"""Counts in messages: '1 example', '2,000 examples'."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and the noun in its form; the plural of the last word ends in s unless it is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
