"""Texts in folders that are named after their labels, pos/1.txt and neg/7.txt: each file is one example.

Folders of splits above those of the labels, as IMDb has them, are found before (seqlab/data/split_files.py).
"""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from seqlab.data.examples.example import LabeledText
from seqlab.data.examples.lines import COLUMNS, CONLLU, TABLES, LocatedExample, Location, quote_list, suffix
from seqlab.data.file_names import MAX_NAMED, first_names
from seqlab.data.files import InputFixes, read_file
from seqlab.data.folders import files_below, is_result, note_links
from seqlab.data.readable_files import readable_codec
from seqlab.data.split_files import split_named
from seqlab.data.text.corpus import note_forms
from seqlab.errors import DataError
from seqlab.wording import counted

UNLABELED = ("unsup", "unlabeled", "unlabelled")  # names of folders whose texts have no label
TEXTS = ("", ".txt")  # suffixes of texts
FEWEST_TEXTS, FEWEST_IN_ALL = 2, 10  # of each label, where nobody says that folders are labels
OTHER_FILES = 0.1  # the share of files beside the folders, of other files in them, and of deeper ones, at most, there
DATA = (*TABLES, *COLUMNS, CONLLU)  # suffixes of files that have many examples


def labels_of_folders(folder: Path) -> list[str]:
    """The names of folders that may be labels of the texts in them; none if they are folders of something else."""
    places = [] if is_result(folder) else [path.relative_to(folder).parts for path in files_below(folder)]
    inner = [parts for parts in places if len(parts) > 1]
    others = [parts for parts in inner if suffix(Path(parts[-1])) not in TEXTS]
    counts = Counter(parts[0] for parts in inner)
    counts.subtract(parts[0] for parts in others)
    deeper = [parts for parts in inner if len(parts) > 2]
    flat = len(deeper) <= OTHER_FILES * len(inner) and not any(suffix(Path(parts[-1])) in DATA for parts in others)
    many = counts.total() >= FEWEST_IN_ALL and min(counts.values()) >= FEWEST_TEXTS
    few_others = len(others) <= OTHER_FILES * len(inner) and len(places) - len(inner) <= OTHER_FILES * len(places)
    if not flat or not many or not few_others:
        return []
    labels = sorted(name for name in counts if name.casefold() not in UNLABELED)
    return labels if len(labels) > 1 and not all(map(split_named, labels)) else []


def read_class_folders(folder: Path, fixes: InputFixes) -> list[LocatedExample]:
    """An example for each file below the folder, labeled by the outermost folder that it is in; notes on the others."""
    files = _labeled_files(folder, fixes)
    read = [(label, path, "".join(read_file(path, fixes)).strip("\n")) for label, path in _readable(files, fixes)]
    for _, path, text in read:
        if not text.strip():
            fixes.left_out[str(path)] = "empty"
    examples = [
        LocatedExample(LabeledText(text, label), Location(path, 1)) for label, path, text in read if text.strip()
    ]
    _refuse_unread(folder, [str(path) for _, path in files], fixes)
    counts = Counter(located.example.label for located in examples)
    named = quote_list(sorted(counts), counts=counts)
    deeper = [str(path.relative_to(folder)) for _, path in files if len(path.relative_to(folder).parts) > 2]
    which = "name of its folder" if not deeper else f"name of its outermost folder in {folder.name}"
    fixes.remarks.append(f"each file in {folder.name} is an example, and the {which} the label: {named}")
    if deeper:
        fixes.remarks.append(
            f"{counted(len(deeper), 'file')} in folders within those of labels: {', '.join(deeper[:MAX_NAMED])}"
        )
    if empty := [name for name in _folders_of(folder) if name not in counts]:
        fixes.remarks.append(f"no text is in {quote_list(empty)}: {'they are' if len(empty) > 1 else 'it is'} no label")
    note_links([path for _, path in files], fixes)
    note_forms([path for _, path in files], fixes)
    return examples


def _folders_of(folder: Path) -> list[str]:
    """The visible folders that might be named after labels."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    return [name for name in names if not name.startswith(".") and name.casefold() not in UNLABELED]


def _labeled_files(folder: Path, fixes: InputFixes) -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    for path in [] if is_result(folder) else files_below(folder, fixes):
        label, *inner = path.relative_to(folder).parts
        if not inner:
            fixes.left_out[str(path)] = "beside the folders of labels"
        elif label.casefold() in UNLABELED:
            fixes.left_out[str(path)] = f"no label, in '{label}'"
        else:
            found.append((label, path))
    labels = sorted({label for label, _ in found})
    if len(labels) < 2:
        only = f" It has only '{labels[0]}'." if labels else ""
        raise DataError(
            f"'{folder}' is a folder. Name the file of examples in it, or give a folder that has a folder of texts for "
            f"each label, such as pos and neg.{only}"
        )
    if all(map(split_named, labels)):
        raise DataError(
            f"the folders {quote_list(labels)} of '{folder}' are named after splits, not after labels. Leave out "
            f"--split-ratios, or name the folders of the splits: one to train on, others for --validation and --test."
        )
    if data := [str(path) for _, path in found if suffix(path) in DATA]:
        raise DataError(
            f"'{folder}' has {counted(len(data), 'table')} below it, {first_names(data)}, where each file would be one "
            f"text. Name the tables to read."
        )
    return found


def _readable(files: list[tuple[str, Path]], fixes: InputFixes) -> Iterator[tuple[str, Path]]:
    for label, path in files:
        codec, why = readable_codec(path)
        if codec is None:
            fixes.left_out[str(path)] = why
        else:
            yield label, path


def _refuse_unread(folder: Path, files: list[str], fixes: InputFixes) -> None:
    """DataError if more files cannot be read than may be skipped."""
    unread = [file for file in files if file in fixes.left_out]
    allowed = math.ceil(fixes.skip_limit * len(files)) if fixes.skip_limit else 0
    if len(unread) > allowed:
        named = ", ".join(f"{Path(file).relative_to(folder)} ({fixes.left_out[file]})" for file in unread[:3])
        enough = math.ceil(100 * len(unread) / len(files)) / 100
        skip = f", or skip them: --set corpus.skip_limit={enough:g}" if fixes.trains and enough < 1 else ""
        raise DataError(
            f"{len(unread):,} of the {counted(len(files), 'file')} of '{folder}' cannot be used, and at most "
            f"{allowed:,} may be skipped. The first of them: {named}. Correct or remove them{skip}"
        )
