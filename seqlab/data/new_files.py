"""The files of printed commands: names for those that they write, and how they read a packed one.

A shell empties such a file before the command reads anything, so it must be none that exists: neither the file that
the command reads nor what an earlier command wrote."""

import os
import shlex
from collections.abc import Collection
from itertools import count
from pathlib import Path


def new_file(suffix: str) -> str:
    """The name of a new file in the current folder, as a shell takes it: new.txt, or new-2.txt if there is one."""
    return shlex.quote(free_name("new", suffix))


def free_name(stem: str, suffix: str, taken: Collection[str] = ()) -> str:
    """A name in the current folder that no file has, with a number after the stem where one is needed."""
    name = f"{stem}{suffix}"
    for number in count(2):
        if name not in taken and not os.path.lexists(name):
            break
        name = f"{stem}-{number}{suffix}"
    return name


def command_on(path: Path, command: str) -> str:
    """A command that reads the file, from a pipe if it is packed."""
    source = shlex.quote(str(path))
    return f"gzip -dc {source} | {command}" if path.suffix == ".gz" else f"{command} {source}"
