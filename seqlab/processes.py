"""Further processes of Python that run a program of ours."""

import json
import sys

# what this process can import, but never a module of the working directory instead of an installed one
_IMPORTS = "import json, sys; sys.path += [path for path in json.loads(sys.argv.pop()) if path not in sys.path]\n"


def python_command(program: str, *arguments: str) -> list[str]:
    """The command that runs a program of ours in a process of its own."""
    return [sys.executable, "-P", "-c", _IMPORTS + program, *arguments, json.dumps(sys.path)]
