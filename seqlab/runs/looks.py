"""test-looks.jsonl: how often a test split was looked at, one line for each comparison and evaluation.

Whoever looks at test scores and then chooses has tuned on the test split. The file lies in the folder of the
comparison, or of a run that belongs to none; the folders beside it are read too. Every line has a hash of its own.
"""

import json
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seqlab.data.examples.example import Examples
from seqlab.data.files import STANDARD_INPUT
from seqlab.data.text.split import SplitText
from seqlab.errors import DataError, SeqlabWarning, StorageError
from seqlab.runs.directory import LOOKS, comparison_of
from seqlab.runs.origins import split_fingerprint
from seqlab.runs.results import timestamp
from seqlab.storage import JSON_LIMIT, as_bytes, from_json, read_bytes, sha256, storage_errors, validated
from seqlab.wording import counted

COMPARISON, EVALUATION = "comparison", "evaluation"
WHOLE = "whole"  # the split of other data


@dataclass(frozen=True)
class Look:
    kind: str  # COMPARISON or EVALUATION
    of: str  # the folder of the comparison or run
    part: str  # SHA-256 of the test split
    date: str

    @property
    def checksum(self) -> str:
        return sha256(as_bytes(json.dumps(asdict(self), sort_keys=True)))


def record_comparison(directory: Path, data: SplitText | Examples) -> list[Look]:
    """Record that a comparison looked at the test split of its data, once; all looks at it, here and beside."""
    part = split_fingerprint(data, "test")
    if not any(look.kind == COMPARISON for look in read_looks(directory)):  # else it is resumed
        _append(directory, directory, COMPARISON, part)
    return looks_at(directory, part)


def tested_part(
    config: Mapping[str, Any], data: SplitText | Examples, split: str, sources: Sequence[str] = ()
) -> str | None:
    """SHA-256 of the test split of a run if that is what is scored: as a split of its own data, or as other data from
    these sources that has a file of the test split, or the same content."""
    if split == "test":
        return split_fingerprint(data, split)
    part = config.get("test_fingerprint")  # a run of an older version has none
    if split != WHOLE or part is None or STANDARD_INPUT in sources:  # whose copy is gone by now
        return None
    files = {(config["folder"] / Path(item)).resolve() for item in config["settings"]["corpus"]["test"]}
    has_file = not files.isdisjoint(Path(item).resolve() for item in sources)
    return part if has_file or split_fingerprint(data, split) == part else None


def record_evaluation(run: Path, part: str) -> None:
    """Record that a run was scored on its test split; a warning where its folder cannot be written to."""
    if not run.is_dir():  # it is only in memory
        return
    try:
        _append(comparison_of(run) or run, run, EVALUATION, part)
    except StorageError as error:
        warnings.warn(f"this look at the test split is not counted: {error}", SeqlabWarning, stacklevel=3)


def _append(folder: Path, path: Path, kind: str, part: str) -> None:
    look = Look(kind, path.resolve().name, part, timestamp())
    line = as_bytes(json.dumps({**asdict(look), "sha256": look.checksum}) + "\n")
    with storage_errors(folder / LOOKS, len(line)), (folder / LOOKS).open("ab") as stream:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())


def looks_at(path: Path, part: str) -> list[Look]:
    """All looks at a test split, recorded in the folder of a comparison or run and in those beside it."""
    folder = (comparison_of(path) or path).absolute()
    beside = sorted(file.parent for file in folder.parent.glob(f"*/{LOOKS}"))
    return [look for one in beside for look in read_looks(one) if look.part == part]


def read_looks(folder: Path) -> list[Look]:
    """The looks that are recorded in one folder; DataError if a line is not what was written."""
    path = folder / LOOKS
    if not path.is_file():
        return []
    looks: list[Look] = []
    for number, line in enumerate(read_bytes(path, JSON_LIMIT).splitlines(), 1):
        content = from_json(line, path)
        checksum = content.pop("sha256", None)
        look = validated(Look, content, path)
        if look.checksum != checksum:
            raise DataError(f"'{path}', line {number} was changed after it was written: looks cannot be counted.")
        looks.append(look)
    return looks


def describe_looks(looks: Sequence[Look]) -> str:
    """Such as '2 comparisons (c, d) and 1 evaluation (gru-s0)'."""
    parts: list[str] = []
    for kind in (COMPARISON, EVALUATION):
        of = Counter(look.of for look in looks if look.kind == kind)
        if of:
            names = ", ".join(name if count == 1 else f"{name} {count} times" for name, count in of.items())
            parts.append(f"{counted(of.total(), kind)} ({names})")
    return " and ".join(parts) or "nothing"
