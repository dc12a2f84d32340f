"""The shape of the project: imports go one way, files and functions stay small, the README's tree is true."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "seqlab").rglob("*.py"))
COURSE = ROOT / "seqlab" / "lessons" / "course"
LESSONS = sorted(COURSE.glob("*/lesson.py"))  # notebooks: tests/lessons says what they have to be

# each package may import from itself, from the packages before it on its line, and from what those may import
ORDER = {
    "wording": set(),
    "typed_command": set(),
    "processes": set(),
    "allocator": set(),
    "errors": {"wording"},
    "registry": {"errors"},
    "config": {"registry"},
    "cache": {"storage"},
    "distributed": {"storage"},
    "threads": {"config", "distributed"},
    "recomputation": {"distributed"},
    "precision": set(),
    "linear": {"precision"},
    "text_table": set(),
    "printable": set(),
    "terminal": {"printable"},
    "tracing": {"errors"},
    "contracts": {"config", "tracing"},
    "tokenization": {"config"},
    "metrics": {"contracts"},
    "data": {"tokenization", "metrics", "cache", "typed_command", "processes"},
    "baselines": {"data"},
    "kernels": {"cache"},
    "dropout": {"kernels", "distributed"},
    "cells": {"contracts", "precision"},
    "attention": {"contracts", "dropout", "linear"},
    "backbones": {"cells", "attention", "recomputation"},
    "mixing": {"baselines", "contracts", "kernels"},
    "models": {"backbones", "mixing"},
    "decode": {"models", "tokenization"},
    "tasks": {"decode", "baselines", "distributed", "threads"},
    "runs": {"tasks", "threads", "plotting", "text_table", "inspection"},
    "storage": {"errors"},
    "plotting": {"storage"},
    "pages": {"plotting"},
    "training": {"runs", "terminal", "allocator"},
    "retrieval": {"comparison", "pages"},
    "analysis": {"training"},
    "exporters": {"training"},
    "recipes": {"config"},
    "audit": {"analysis"},
    "inspection": {"tasks", "threads", "pages", "terminal", "text_table"},
    "measures": {"audit", "recipes"},
    "comparison": {"measures", "pages"},
    "speedruns": {"training", "recipes"},
    "scale": {"comparison"},
    "api": {"comparison", "exporters", "retrieval", "speedruns", "scale"},
    "testing": {"api"},
    "lessons": {"api", "pages"},
    "cli": {"lessons"},
    "__main__": {"cli"},
    "__init__": {"api"},
}


def package(path: Path) -> str:
    return path.relative_to(ROOT / "seqlab").parts[0].removesuffix(".py")


def allowed(name: str) -> set[str]:
    reached = {name}
    for below in ORDER[name]:
        reached |= allowed(below)
    return reached


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "seqlab" else [node.module]
            )
        yield from (name.split(".")[1] for name in names if name.startswith("seqlab."))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    wrong = {name for name in imported(path) if name in ORDER} - allowed(package(path))
    assert not wrong, f"{path.name} in {package(path)} imports from {wrong}"


def test_every_package_has_its_place() -> None:
    assert {package(path) for path in FILES} == set(ORDER)


def test_registry_lines_name_what_exists() -> None:
    from seqlab import registry

    for entries in (registry.BACKBONES, registry.TOKENIZERS, registry.CORPORA, registry.TASKS):
        for name in entries:
            assert entries.load(name) is not None
            assert entries.settings(name)() is not None
            assert entries.about(name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= 300
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            # a command declares one parameter per option, a kernel one per array
            declared = node.args.args + node.args.kwonlyargs
            if package(path) != "cli":
                assert length <= 60, f"{node.name} has {length} lines"
                most = 13 if package(path) == "kernels" else 9
                assert len(declared) <= most, f"{node.name} has {len(declared)} parameters"


@pytest.mark.parametrize("path", sorted({*FILES} - {*LESSONS}), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring and len(docstring.splitlines()) <= 10


def test_readme_tree_is_true() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tree = text[text.index("## The tree") :]
    named = set(re.findall(r"^  ([a-z_]+(?:/|\.py)) ", tree, flags=re.MULTILINE))
    folders = {f"{path.parent.name}/" for path in (ROOT / "seqlab").glob("*/__init__.py")}
    assert folders <= named
    assert all((ROOT / "seqlab" / name).exists() for name in named)


def test_nothing_is_left_undone() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
    assert not [path for path in FILES if words.search(path.read_text(encoding="utf-8"))]


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        if COURSE in path.parents:  # a lesson writes out what the package has
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_the_architecture_page_names_what_exists() -> None:
    """Every package is on it, and every file that it names is there."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_]+(?:/[a-z_]+)*)/` \|.*\| (?:`([a-z_]+\.py)`)? \|$", page, flags=re.MULTILINE)
    assert {package(path) for path in FILES if path.parent != ROOT / "seqlab"} <= {
        name.split("/")[0] for name, _ in rows
    }
    named = [f"{folder}/{file}" for folder, file in rows if file]
    prefixes = {"plan", "execution", "judgment", "report"}  # the parts of comparison/, in its own section
    for name in {*named, *re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", page)} - {file for _, file in rows}:
        where = f"comparison/{name}" if name.split("/")[0] in prefixes else name
        assert (ROOT / "seqlab" / where).exists() or (ROOT / where).exists(), f"docs/architecture.md names {name}"
