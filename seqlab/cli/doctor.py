"""seqlab doctor: what a text is like before anything is trained on it."""


def doctor() -> None:
    """Examine a text."""
