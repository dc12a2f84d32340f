"""What a folder has to read: its visible files, without backups, files of the desktop, and what seqlab wrote there."""

import hashlib
import json
import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from seqlab.data.file_names import first_names
from seqlab.data.files import HIDDEN, LINKED, InputFixes, read_bytes
from seqlab.errors import StorageError
from seqlab.wording import counted

LOCK, BUILDING = ".lock", ".building"  # of an index that is being built
BACKUP, BACKUP_ENDS = "an editor's backup", ("~", ".bak", ".orig")
COPIED = "its content is that of another file"
GZIP_SIZE = 4  # bytes at the end of a packed file
DESKTOP, DESKTOP_FILES = "a file of the desktop", ("thumbs.db", "ehthumbs.db", "desktop.ini")


def files_below(folder: Path, fixes: InputFixes | None = None) -> list[Path]:
    """The visible files of a folder and those below it, without what seqlab wrote there; `fixes` notes the others."""
    files: list[Path] = []
    fixes = fixes or InputFixes()

    def fail(error: OSError) -> None:
        raise error

    try:
        for place, folders, names in os.walk(folder, onerror=fail):
            hidden = [name for name in (*folders, *names) if name.startswith(".")]
            fixes.left_out |= {str(Path(place, name)): HIDDEN for name in hidden}
            visible = [Path(place, name) for name in folders if name not in hidden]
            links = [path for path in visible if path.is_symlink()]  # they may lead in circles
            fixes.left_out |= {str(path): LINKED for path in links}
            visible = [path for path in visible if path not in links]
            results = [path for path in visible if is_result(path) or is_export(path)]
            fixes.run_folders += map(str, results)
            folders[:] = [path.name for path in visible if path not in results]
            for path in (Path(place, name) for name in names if name not in hidden):
                if path.name.endswith(BACKUP_ENDS):
                    fixes.left_out[str(path)] = BACKUP
                elif path.name.casefold() in DESKTOP_FILES:
                    fixes.left_out[str(path)] = DESKTOP
                elif path.is_file():
                    files.append(path)
                else:
                    fixes.left_out[str(path)] = "a broken link" if path.is_symlink() else "a pipe or a device"
    except OSError as error:
        raise StorageError(f"'{error.filename or folder}' cannot be read: {error.strerror}.") from None
    return sorted(files)


def note_links(files: Sequence[Path], fixes: InputFixes) -> None:
    """Say which of the files that are read from a folder are links: what they lead to may be elsewhere."""
    if links := [str(path) for path in files if path.is_symlink()]:
        number = counted(len(links), "link to a file", "links to files")
        fixes.remarks.append(f"read {number}: {first_names(links)}")


def is_result(folder: Path) -> bool:
    """Whether seqlab wrote the folder: a run, an index, vectors, or a comparison, finished or not."""
    marks = {"manifest.json": (b'"seqlab-run"', b'"seqlab-index"', b'"seqlab-vectors"')}
    for name, kinds in {**marks, "results.json": (b'"seqlab-comparison"',)}.items():
        path = folder / name
        content = path.read_bytes() if path.is_file() else b""
        if any(kind in content for kind in kinds) and _has_files(folder, content):
            return True
    if (folder / LOCK).is_file() and ((folder / BUILDING).is_dir() or len(list(folder.iterdir())) == 1):
        return True  # an index that is being built
    return any((folder / plan).is_file() for plan in ("tuning/plan.json", "plan.json")) and (folder / "locks").is_dir()


def is_export(folder: Path) -> bool:
    """Whether a run was exported into the folder, for ONNX or transformers: its code and its tokenizer are no text."""
    marks = {"model.json": (b'"seqlab-onnx"', "*.onnx"), "config.json": (b'"model_type"', "*.safetensors")}
    return any(
        (folder / name).is_file() and mark in (folder / name).read_bytes() and any(folder.glob(weights))
        for name, (mark, weights) in marks.items()
    )


def _has_files(folder: Path, content: bytes) -> bool:
    """Whether a file that a manifest lists is beside it, as not where the manifest alone was copied."""
    try:
        files = json.loads(content).get("files")
    except (ValueError, AttributeError, RecursionError):
        return True  # damaged
    return not isinstance(files, dict) or not files or any((folder / str(name)).exists() for name in files)


def copies_among(paths: Sequence[Path]) -> dict[Path, Path]:
    """The files with the content of an earlier one, and that one; links too, and what gzip packed."""
    same_size: dict[int, list[Path]] = {}
    for path in paths:
        same_size.setdefault(_unpacked_size(path), []).append(path)
    first: dict[bytes, Path] = {}
    copies: dict[Path, Path] = {}
    for path in chain.from_iterable(some for size, some in same_size.items() if size and len(some) > 1):
        digest = hashlib.sha256()
        for block in read_bytes(path):
            digest.update(block)
        original = first.setdefault(digest.digest(), path)
        if original != path:
            copies[path] = original
    return copies


def _unpacked_size(path: Path) -> int:
    """The size of a file, or the one that gzip notes at the end of what it packed (modulo 2^32)."""
    size = path.stat().st_size
    if path.suffix != ".gz" or size < GZIP_SIZE:
        return size
    with path.open("rb") as stream:
        stream.seek(-GZIP_SIZE, os.SEEK_END)
        return int.from_bytes(stream.read(GZIP_SIZE), "little")
