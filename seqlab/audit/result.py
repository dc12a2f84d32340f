"""A check, and its result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec

P = ParamSpec("P")


@dataclass(frozen=True)
class CheckResult:
    """One line of an audit."""

    name: str
    passed: bool | None  # None: not applicable
    detail: str

    @property
    def failed(self) -> bool:
        return self.passed is False


class Check(Generic[P]):
    """A named function that returns whether the check passed (None: it does not apply), and the detail."""

    def __init__(self, name: str, run: Callable[P, tuple[bool | None, str]]):
        self.name, self.run = name, run
        self.__doc__ = run.__doc__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> CheckResult:
        try:
            passed, detail = self.run(*args, **kwargs)
        except Exception as error:  # a broken model must not keep the other checks from running
            return CheckResult(self.name, False, f"raised {type(error).__name__}: {error}")
        return self.skip(detail) if passed is None else CheckResult(self.name, bool(passed), detail)

    def skip(self, reason: str) -> CheckResult:
        return CheckResult(self.name, None, f"not applicable: {reason}")


def check(name: str) -> Callable[[Callable[P, tuple[bool | None, str]]], Check[P]]:
    """Make a function a check of this name."""
    return lambda run: Check(name, run)
