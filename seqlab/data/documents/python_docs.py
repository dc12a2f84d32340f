"""Collections from the documentation that comes with Python: nothing is downloaded, and nothing is in two splits.

Each document answers one query, its title or name, which is not part of it. The split follows from the hash of the
document, so equal and reordered documentation has equal splits. Texts vary with the version of Python.
"""

import ast
import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from seqlab.data.documents.collection import Collection
from seqlab.data.documents.document import Document, Query
from seqlab.errors import MissingInput, UsageError

SECTION = re.compile(r'^(\S[^\n]*)\n([=*\-~^"])\2{2,}\n', re.MULTILINE)  # a title and the line below it
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")  # of a name, also in camel case
SHORTEST = 40  # characters; less describes nothing
SHARES = {"train": 70, "validation": 10, "test": 20}  # percent
LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "turtledemo", "ensurepip", "distutils", "encodings", "pydoc_data"}
VERSION = f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"

Named = tuple[str, str]  # a title or name, and the text that belongs to it


def python_sections(difficulty: int | None = None) -> Collection:
    """The sections of the language reference, to be found by their titles."""
    from pydoc_data.topics import topics

    sections = (section for topic in sorted(topics) for section in _sections(topics[topic]))
    about = f"sections of the language reference of {VERSION}, to be found by their titles"
    return _collection("python-sections", sections, about, difficulty)


def python_api(difficulty: int | None = None) -> Collection:
    """The functions, classes and modules of the standard library, whose descriptions are to be found by their names."""
    library = Path(sysconfig.get_path("stdlib"))
    described = ((_spoken(name), text) for path in _modules(library) for name, text in _described(path, library))
    about = f"descriptions of the standard library of {VERSION}, to be found by names such as shutil copytree"
    return _collection("python-api", described, about, difficulty)


def _collection(name: str, texts: Iterable[Named], about: str, difficulty: int | None) -> Collection:
    if difficulty is not None:
        raise UsageError(f"'{name}' has no difficulty to set: leave out corpus.difficulty.")
    documents: dict[str, Document] = {}  # by their words: a text with two names would have two queries
    titles: dict[str, str] = {}  # by document
    for title, text in texts:
        words = " ".join(text.split())
        if len(words) >= SHORTEST and words not in documents:
            # the id says what it is about, since its title is the query; it is shown, and never searched
            documents[words] = Document(f"{len(documents) + 1:05} {' '.join(title.split())}", text)
            titles[documents[words].id] = title
    if not documents:
        raise MissingInput(f"'{name}' is not available: this Python comes without the source of its standard library.")
    queries: dict[str, list[Query]] = {split: [] for split in SHARES}
    for words, document in documents.items():
        queries[_split(words)].append(Query(f"q{document.id}", titles[document.id]))
    qrels = {split: {query.id: {query.id[1:]: 1} for query in asked} for split, asked in queries.items()}
    return Collection(name, [*documents.values()], queries, qrels, about)


def _split(words: str) -> str:
    place = int.from_bytes(hashlib.sha256(words.encode()).digest()[:8]) % 100
    ends = {"train": SHARES["train"], "validation": SHARES["train"] + SHARES["validation"], "test": 100}
    return next(split for split, end in ends.items() if place < end)


def _sections(topic: str) -> Iterator[Named]:
    """The titles of a topic and the text up to the next one."""
    headings = list(SECTION.finditer(topic))
    ends = [heading.start() for heading in headings[1:]] + [len(topic)]
    for heading, end in zip(headings, ends, strict=True):
        yield heading[1].strip(), topic[heading.end() : end].strip("\n")


def _modules(library: Path) -> list[Path]:
    """The source files of the public modules, sorted. Installed packages may be in the same folder."""
    public = (path for path in library.iterdir() if path.stem in sys.stdlib_module_names and not _is_private(path.stem))
    return sorted(file for path in public for file in ([path] if path.suffix == ".py" else path.rglob("*.py")))


def _described(path: Path, library: Path) -> Iterator[Named]:
    """The public names of a module that have a docstring. The source is parsed: importing a module may do anything."""
    *folders, name = path.relative_to(library).with_suffix("").parts
    parts = [*folders, name] if name != "__init__" else folders
    if any(_is_private(part) for part in parts):
        return
    try:
        module = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # files that test the parser
        return
    yield from _docstrings(module, ".".join(parts))


def _docstrings(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[Named]:
    if text := ast.get_docstring(node):
        yield name, text
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in node.body:
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name[0] != "_":
                yield from _docstrings(child, f"{name}.{child.name}")


def _spoken(name: str) -> str:
    """The words of a name: logging.StreamHandler.set_stream to "logging Stream Handler set stream"."""
    return " ".join(WORD.findall(name))


def _is_private(part: str) -> bool:
    return part in LEFT_OUT or part.startswith("_")
