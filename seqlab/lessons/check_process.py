"""The process that runs a learner's file and the checks of a lesson: python -m seqlab.lessons.check_process.

It writes a line of JSON when the file has been run and one for each exercise as soon as it is judged, so that a check
that never ends hides no earlier one, and everyone can see where it stopped.
"""

import importlib.util
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from seqlab.terminal import printable


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


def judge(check: Callable[[ModuleType], None], answer: ModuleType) -> str:
    """What is wrong with an answer in words; empty if it is right."""
    try:
        check(answer)
    except AssertionError as error:
        return str(error)
    except AttributeError as error:
        if error.obj is answer:
            return f"{Path(str(answer.__file__)).name} does not define '{error.name}'."
        return own_traceback(error, str(answer.__file__))
    except (Exception, SystemExit) as error:
        return own_traceback(error, str(answer.__file__))
    return ""


def own_traceback(error: BaseException, path: str) -> str:
    """The part of a traceback that is in the learner's file, and the error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    what = "".join(traceback.format_exception_only(error)).rstrip()
    return "".join(traceback.format_list(frames)) + what


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
