"""Names for the files that printed commands write.

A shell empties such a file before the command reads anything, so it must be none that exists: neither the file that
the command reads nor what an earlier command wrote."""

import os
import shlex
from collections.abc import Collection
from itertools import count


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
