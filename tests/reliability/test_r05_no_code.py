"""R5: nothing in the package runs what it reads, and a hostile run directory makes nothing happen."""

import ast
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from reliability_runs import Answer, resume

from seqlab import api
from seqlab.errors import SeqlabError
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.directory import RunDirectory

PACKAGE = Path(__file__).parents[2] / "seqlab"
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
OWN_CODE = PACKAGE / "lessons" / "runner.py"  # it runs the lessons of the package, and nothing that a user gives
FILES = sorted(set(PACKAGE.rglob("*.py")) - {OWN_CODE})
CALLS = {"eval", "exec", "compile", "__import__"}
ATTRIBUTES = {"torch.load", "yaml.load", "yaml.unsafe_load", "numpy.load", "np.load", "builtins.eval", "builtins.exec"}


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _refuses_pickle(call: ast.Call) -> bool:
    """Whether it is np.load(..., allow_pickle=False), which reads numbers only."""
    said = [keyword for keyword in call.keywords if keyword.arg == "allow_pickle"]
    return ast.unparse(call.func) in ("np.load", "numpy.load") and bool(said) and _is_false(said[0].value)


def offences(source: str) -> list[str]:
    result: list[str] = []
    tree = ast.parse(source)
    harmless = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and _refuses_pickle(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            result += [alias.name for alias in node.names if alias.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom):
            result += [node.module or ""] if (node.module or "").split(".")[0] in MODULES else []
            result += [f"{node.module}.{a.name}" for a in node.names if f"{node.module}.{a.name}" in ATTRIBUTES]
        elif isinstance(node, ast.Name) and node.id in CALLS:
            result.append(node.id)
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ATTRIBUTES and id(node) not in harmless:
            result.append(ast.unparse(node))
        elif isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "shell") and not _is_false(node.value):
            result.append(node.arg)
        elif isinstance(node, ast.Constant) and node.value in MODULES:
            result.append(str(node.value))
    return result


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_reads_code(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "import torch\ntorch.load('x')",
        "from torch import load",
        "import numpy as np\nnp.load('x', allow_pickle=True)",
        "import numpy as np\nnp.load('x', allow_pickle=x)",
        "import numpy as np\nnp.load('x')",
        "eval('1')",
        "run = exec\nrun('1')",
        "import importlib\nimportlib.import_module('pickle')",
        "import subprocess\nsubprocess.run('ls', shell=True)",
    ],
)
def test_the_scan_sees(source: str) -> None:
    assert offences(source)


def test_the_scan_lets_modules_be_evaluated() -> None:
    assert offences("model.eval()\nre.compile('x')") == []


# --- a hostile run --------------------------------------------------------------------------------------------------


class Bomb:
    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.mark,))


def test_files_full_of_code_execute_nothing(tiny_run: Path, tmp_path: Path, command: Callable[..., Answer]) -> None:
    mark = tmp_path / "executed"
    bomb = pickle.dumps(Bomb(mark))
    pickle.loads(bomb)
    assert mark.exists(), "the bomb works"
    mark.unlink()
    code = f"import pathlib; pathlib.Path({str(mark)!r}).touch()"
    for name in ("seqlab.py", "sitecustomize.py", "conftest.py", "__init__.py", "tokenizer.py", "torch.py"):
        (tiny_run / name).write_text(code)
    for name in ("model.pt", "model.bin", "optimizer.pt", "tokenizer.pkl"):
        (tiny_run / name).write_bytes(bomb)
    for arguments in (
        ["generate", tiny_run, "-l", "3"],
        ["evaluate", tiny_run],
        ["resume", tiny_run],
        ["runs", tmp_path],
    ):
        assert command(*arguments).code == 0
    for path in (tiny_run / "model.safetensors", tiny_run / "tokenizer.json", tiny_run / "config.json"):
        copy = Path(shutil.copytree(tiny_run, tmp_path / "copy"))
        RunDirectory(copy).write_file(path.name, bomb)
        with pytest.raises(SeqlabError):
            api.load(copy)
        shutil.rmtree(copy)
    for checkpoint in checkpoints(tiny_run / "checkpoints"):
        (checkpoint / "weights.safetensors").write_bytes(bomb)
    with pytest.raises(SeqlabError):
        resume(tiny_run)
    assert not mark.exists()


def test_links_in_a_run_are_not_written_through(tiny_run: Path, tmp_path: Path) -> None:
    """Whoever gives us a run to continue must not thereby choose which of our files is overwritten."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    written = ["metrics.jsonl", "README.md", "results.json", "model.safetensors", "manifest.json", "config.json"]
    names = ["metrics.jsonl", "README.md", *(f".{name}.{os.getpid()}.tmp" for name in written)]
    for name in names:
        (tiny_run / name).unlink(missing_ok=True)
        (tiny_run / name).symlink_to(precious)
    resume(tiny_run, more=2)
    assert precious.read_text() == "mine"
