"""How much one call may ask for. Nothing here imports torch: the command line declares the same limits."""

from seqlab.errors import UsageError

MAX_SAMPLES = 10_000  # texts of one call
MAX_NEW_TOKENS = 1_000_000  # of one text
MAX_BEAM = 1_000  # hypotheses


def require_between(name: str, value: int, least: int, most: int) -> None:
    """UsageError unless the value is a whole number within these limits, both included."""
    if not isinstance(value, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{name} is {value!r}: give a whole number from {least:,} to {most:,}.")
    if not least <= value <= most:
        raise UsageError(f"{name} is {value:,}: give a number from {least:,} to {most:,}.")


LONGEST_TARGET = 65_536  # tokens
