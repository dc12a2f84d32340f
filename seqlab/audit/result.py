"""What a check found, and what makes a function a check."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec

P = ParamSpec("P")


@dataclass(frozen=True)
class CheckResult:
    """One line of an audit."""

    name: str
    passed: bool
    found: str  # the number, in words


class Check(Generic[P]):
    """A named question. `look` says whether all is well, and the number in words."""

    def __init__(self, name: str, look: Callable[P, tuple[bool, str]]):
        self.name, self.look = name, look
        self.__doc__ = look.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> CheckResult:
        try:
            return CheckResult(self.name, *self.look(*args, **kwargs))
        except Exception as error:  # whatever is broken must not keep the other checks from being made
            return CheckResult(self.name, False, f"broke off with {type(error).__name__}: {error}")

    def left_out(self, why: str) -> CheckResult:
        return CheckResult(self.name, True, f"not asked {why}")


def check(name: str) -> Callable[[Callable[P, tuple[bool, str]]], Check[P]]:
    """Make a function a check of this name."""
    return lambda look: Check(name, look)
