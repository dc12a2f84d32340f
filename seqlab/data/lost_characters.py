"""Characters that a conversion lost: it left U+FFFD in their place."""

from collections.abc import Mapping

REPLACEMENT = "\ufffd"
LEFT = "U+FFFD, left by a conversion that went wrong"


def lost_notes(counts: Mapping[str, int]) -> list[str]:
    """How often the character that replaces others occurs, if it does; from how often each character occurs."""
    if not counts.get(REPLACEMENT):
        return []
    return [f"{LEFT}: {counts[REPLACEMENT]:,}, read as they are. What they replaced is only in the original file"]
