"""`seqlab` and `python -m seqlab`: run a command, and turn errors into a message and an exit code."""

import io
import os
import sys
import time
import warnings
from pathlib import Path

from seqlab.distributed.world import launched
from seqlab.errors import SeqlabError, SeqlabWarning, StorageError

OWN_ERROR = 10.0  # seconds that another process waits for the first one to say an error: long enough if both are slow


def main() -> None:
    warnings.showwarning = _show_warning
    if sys.stdout is None:  # the caller has closed it
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if not launched().is_writer:  # of several processes one prints
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # file names need not be UTF-8
            stream.reconfigure(errors="backslashreplace")
    from seqlab.cli.app import app
    from seqlab.typed_command import typed_command

    try:
        with typed_command(sys.argv[1:]):
            app()
    except SeqlabError as error:
        stopped_by_signal = error.exit_code > 128
        _report(str(error) if stopped_by_signal else f"error: {error}", stopped_by_signal)
        sys.exit(error.exit_code)
    except OSError as error:  # a full disk, a missing permission
        _report(f"error: {error}")
        sys.exit(StorageError.exit_code)


def _report(message: str, said_by_one: bool = False) -> None:
    """Print why the command ends. All of several processes have most errors alike: the others leave the first one time
    to say it, and end with it when torchrun ends them; if they are still there, the error is their own."""
    if launched().is_writer:
        _to_stderr(message)
    elif not said_by_one:
        time.sleep(OWN_ERROR)
        _to_stderr(f"process {launched().rank}: {message}")


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if issubclass(category, SeqlabWarning) and launched().is_writer:
        _to_stderr(f"note: {message}")


def _to_stderr(text: str) -> None:
    from seqlab.printable import printable

    # a character that the terminal cannot show must not become a second error
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(printable(text).encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.write("\n")


if __name__ == "__main__":
    main()
