"""How a promise is stated and checked: a sentence, a function, and an error that names both subject and sentence."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Generic, TypeVar

Subject = TypeVar("Subject")
Check = Callable[[Subject], None]


@dataclass(frozen=True)
class Promises(Generic[Subject]):
    """The checks of one kind of thing, by name, in the order in which they are written."""

    checks: dict[str, Check[Subject]] = field(default_factory=dict)

    def __call__(self, sentence: str) -> Callable[[Check[Subject]], Check[Subject]]:
        """Register a check; whatever fails in it becomes an AssertionError that starts with the sentence."""

        def register(check: Check[Subject]) -> Check[Subject]:
            @wraps(check)
            def checked(subject: Subject) -> None:
                try:
                    check(subject)
                except Exception as error:
                    reason = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
                    raise AssertionError(f"{subject}: {sentence}. Found: {reason}") from error

            self.checks[check.__name__] = checked
            return checked

        return register


def require(holds: object, found: str) -> None:
    """AssertionError that says what was found instead."""
    if not holds:
        raise AssertionError(found)
