"""The errors that a user can cause, each with its exit code.

A message says what was given, what was expected and what to do. The command line prints it without a traceback;
bugs stay ordinary exceptions.
"""

from collections.abc import Mapping


class SeqlabError(Exception):
    """Base class: something that the user can fix."""

    exit_code = 1


class UsageError(SeqlabError):
    """A setting or argument is wrong, unknown or contradicts another."""

    exit_code = 2


def refuse_given(options: Mapping[str, object], where: str) -> None:
    """UsageError for options that were given, that is, not None or empty, and do nothing there."""
    given = [name for name, value in options.items() if value is not None and value != [] and value != ()]
    if given:
        do, them = ("do", "them") if len(given) > 1 else ("does", "it")
        raise UsageError(f"{' and '.join(given)} {do} nothing {where}: leave {them} out.")


class DataError(SeqlabError):
    """The input exists but cannot be used: empty, not UTF-8, damaged, too short."""

    exit_code = 65


class MissingInput(SeqlabError):
    """A file, run or corpus that was named does not exist."""

    exit_code = 66


class TrainingFailed(SeqlabError):
    """Training cannot continue: the loss or the weights are not finite."""

    exit_code = 70


class StorageError(SeqlabError):
    """Reading or writing failed: disk full, no permission."""

    exit_code = 74


class SeqlabWarning(UserWarning):
    """Something to know, while the work continues."""
