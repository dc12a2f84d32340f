"""Further processes of Python that run a program of ours."""

import json
import sys
from collections.abc import Sequence

# what this process can import, but never a module of the working directory instead of an installed one
_IMPORTS = "import json, sys; sys.path += [path for path in json.loads(sys.argv.pop()) if path not in sys.path]\n"


def python_command(program: str, *arguments: str, paths: Sequence[str] | None = None) -> list[str]:
    """The command that runs a program of ours in a process of its own; `paths` are those of this process if None."""
    searched = sys.path if paths is None else list(paths)
    return [sys.executable, "-P", "-c", _IMPORTS + program, *arguments, json.dumps(searched)]
