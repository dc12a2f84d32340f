"""A check, and its result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec

P = ParamSpec("P")


@dataclass(frozen=True)
class CheckResult:
    """One line of an audit."""

    name: str
    passed: bool
    detail: str


class Check(Generic[P]):
    """A named function that returns whether the check passed, and the detail."""

    def __init__(self, name: str, run: Callable[P, tuple[bool, str]]):
        self.name, self.run = name, run
        self.__doc__ = run.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> CheckResult:
        try:
            return CheckResult(self.name, *self.run(*args, **kwargs))
        except Exception as error:  # a broken model must not keep the other checks from running
            return CheckResult(self.name, False, f"raised {type(error).__name__}: {error}")

    def skip(self, reason: str) -> CheckResult:
        return CheckResult(self.name, True, f"skipped: {reason}")


def check(name: str) -> Callable[[Callable[P, tuple[bool, str]]], Check[P]]:
    """Make a function a check of this name."""
    return lambda run: Check(name, run)
