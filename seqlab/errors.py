"""The errors that a user can cause, each with its exit code.

A message says what was given, what was expected and what to do. The command line prints it without a traceback;
mistakes of our own stay ordinary exceptions.
"""


class SeqlabError(Exception):
    """Something that the user can put right."""

    exit_code = 1


class UsageError(SeqlabError):
    """A setting or argument is wrong, unknown or contradicts another."""

    exit_code = 2


class DataError(SeqlabError):
    """The input is there but cannot be used: empty, not UTF-8, damaged, too short."""

    exit_code = 65


class MissingInput(SeqlabError):
    """A file, run or corpus that was named does not exist."""

    exit_code = 66


class TrainingFailed(SeqlabError):
    """Training cannot go on: the numbers are no longer finite."""

    exit_code = 70


class StorageError(SeqlabError):
    """Reading or writing failed: disk full, no permission."""

    exit_code = 74


class SeqlabWarning(UserWarning):
    """Said once and aloud, while the work goes on."""
