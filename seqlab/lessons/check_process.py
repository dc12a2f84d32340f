"""The process that runs a learner's file and the checks of a lesson: python -m seqlab.lessons.check_process.

It writes a line of JSON when the file has been run and one for each exercise as soon as it is judged, so that a check
that never ends hides no earlier one, and everyone can see where it stopped.
"""

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from seqlab.data.file_names import shorten
from seqlab.printable import printable


def load_file(path: Path, name: str) -> ModuleType:
    """The module that a file makes, without putting it anywhere."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def check_functions(checks: ModuleType) -> list[Callable[[ModuleType], None]]:
    return [function for name, function in vars(checks).items() if name.startswith("check_")]


class Watched:
    """A learner's module that remembers what a check used last: a name, and its value or what it returned."""

    def __init__(self, module: ModuleType):
        self.module, self.used = module, ""

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.module, name)
        self.used = f"your {name} is {_shown(value)}"
        if isinstance(value, type) or not callable(value):
            return value

        @wraps(value)
        def call(*arguments: Any, **options: Any) -> Any:
            result = value(*arguments, **options)
            self.used = f"your {name} returned {_shown(result)}"
            return result

        return call


def _shown(value: object) -> str:
    return f"{shorten(repr(value))} ({type(value).__name__})"


def judge(check: Callable[[Any], None], answer: ModuleType) -> str:
    """What is wrong with an answer in words; empty if it is right."""
    path, watched = str(answer.__file__), Watched(answer)
    try:
        check(watched)
    except (Exception, SystemExit) as error:
        if isinstance(error, AssertionError) and str(error):
            return str(error)
        if isinstance(error, AttributeError) and error.obj is answer:
            return f"{Path(path).name} does not define '{error.name}'."
        if _own_frames(error, path) or not watched.used:
            return own_traceback(error, path)
        why = "".join(traceback.format_exception_only(error)).rstrip()
        because = f": the check ended with {why}" if str(error) else ""
        return f"{watched.used}, and the exercise asks for something else{because}."
    return ""


def _own_frames(error: BaseException, path: str) -> list[traceback.FrameSummary]:
    return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]


def own_traceback(error: BaseException, path: str) -> str:
    """The part of a traceback that is in the learner's file, and the error."""
    what = "".join(traceback.format_exception_only(error)).rstrip()
    return "".join(traceback.format_list(_own_frames(error, path))) + what


def main(checks: str, answer: str, results: str) -> None:
    path = Path(answer).resolve()
    sys.path.append(str(path.parent))  # the file may import its neighbors
    with Path(results).open("w", encoding="utf-8") as file:

        def report(exercise: str | None, wrong: str) -> None:
            file.write(json.dumps([exercise, printable(wrong)]) + "\n")
            file.flush()

        try:
            module = load_file(path, "answer")
        except (Exception, SystemExit) as error:
            report(None, own_traceback(error, str(path)))
            return
        report(None, "")
        for check in check_functions(load_file(Path(checks), "checks")):
            report(str(check.__doc__), judge(check, module))


if __name__ == "__main__":
    main(*sys.argv[1:])
