"""The run directory: its files, how it is created, and how its files are replaced safely."""

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from torch import nn

from seqlab.data.file_names import first_names
from seqlab.errors import DataError, MissingInput, SeqlabError, UsageError
from seqlab.runs import manifest, tensors
from seqlab.runs.checkpoint import checkpoints, weights_of
from seqlab.runs.lock import LOCK, locked_run
from seqlab.storage import (
    JSON_LIMIT,
    from_json,
    read_bytes,
    sha256,
    storage_errors,
    to_json,
    validated,
    write_atomic,
)
from seqlab.tokenization.tokenizer import Tokenizer, tokenizer_bytes
from seqlab.tokenization.vocabulary import Vocabulary

FORMAT, VERSION = "seqlab-run", 1
CONFIG, TOKENIZER, WEIGHTS, LABELS = "config.json", "tokenizer.json", "model.safetensors", "labels.json"
NAME_LIMIT = 4096  # bytes of a run's name
CARD = "README.md"
LOOKS = "test-looks.jsonl"  # how often a test split was looked at; it stays when a run is replaced
# what a run writes besides the files of its manifest, or before they are in it; .DS_Store comes from a file manager
WRITTEN = {
    *(CONFIG, TOKENIZER, WEIGHTS, LABELS, LOOKS, LOCK, manifest.NAME, ".DS_Store"),
    *(CARD, "checkpoints", "corpus.txt", "curves.png", "metrics.jsonl", "results.json", "vocabulary.txt"),
    *("target.json", "characters.json", "counts.safetensors", "negatives.json", "scores.json"),
}
# in a comparison: a link to its best run, its plan, its results, and the folders of its runs
BEST, PLAN, COMPARISON_RESULTS, RUNS, TUNING = "best", "plan.json", "results.json", "runs", "tuning"


class CorpusFacts(BaseModel):
    name: str
    about: str
    characters: int
    fingerprint: str


class ParameterFacts(BaseModel):
    embedding: int
    core: int
    output: int
    total: int


class RunFacts(BaseModel):
    """The part of config.json that is read later, besides the settings."""

    settings: dict[str, Any]
    corpus: CorpusFacts
    parameters: ParameterFacts
    vocab_size: int
    threads: int
    versions: dict[str, str]
    created: str


@dataclass(frozen=True)
class RunDirectory:
    path: Path

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def stdin_copy(self) -> Path:
        """The text that came from standard input."""
        return self.path / "corpus.txt"

    def write_file(self, name: str, content: bytes) -> None:
        """Replace a file; while that happens, the manifest accepts both the old and the new content."""
        known = manifest.read_manifest(self.path)[0]
        new = [sha256(content)]
        self.write_manifest({**known, name: known.get(name, []) + new})
        write_atomic(self.path / name, content)
        self.write_manifest({**known, name: new})

    def write_manifest(self, files: dict[str, list[str]]) -> None:
        write_atomic(self.path / manifest.NAME, manifest.manifest(files, {"format": FORMAT}))

    def write_config(self, config: dict[str, Any]) -> None:
        content = to_json({"format": FORMAT, "version": VERSION, **config})
        if len(content) > JSON_LIMIT:
            raise UsageError(
                f"the settings take {len(content):,} bytes, more than the limit of {JSON_LIMIT:,}: give a folder "
                f"of texts instead of {len(config['settings']['corpus']['source']):,} files."
            )
        self.write_file(CONFIG, content)

    def write_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Write tokenizer.json and, if the task has them, target.json, characters.json and labels.json."""
        self.write_tokenizer(vocabulary.tokenizer)
        for name, tokenizer in vocabulary.extra_tokenizers().items():
            self.write_file(f"{name}.json", tokenizer_bytes(tokenizer))
        if vocabulary.labels:
            content = to_json({"labels": list(vocabulary.labels)})
            if len(content) > JSON_LIMIT:
                raise UsageError(f"{len(vocabulary.labels):,} different labels are more than a run can store.")
            self.write_file(LABELS, content)

    def write_tokenizer(self, tokenizer: Tokenizer) -> None:
        tokenizer.save(self.path)
        self.write_file(TOKENIZER, read_bytes(self.path / TOKENIZER))

    def write_weights(self, model: nn.Module) -> None:
        self.write_file(WEIGHTS, tensors.to_bytes(weights_of(model)))

    def config(self) -> dict[str, Any]:
        """The verified content of config.json; raises if this is not a run, or one of a newer version."""
        if not self.path.is_dir():
            raise MissingInput(f"there is no run '{self.path}'. 'seqlab runs' lists the runs here.")
        if not (self.path / CONFIG).is_file():
            raise MissingInput(f"'{self.path}' is not a run: it has no {CONFIG}.")
        config = from_json(manifest.read_verified(self.path, CONFIG, JSON_LIMIT), self.path / CONFIG)
        if config.get("format") != FORMAT or not isinstance(config.get("version"), int):
            raise DataError(f"'{self.path / CONFIG}' was not written by seqlab.")
        if config["version"] > VERSION:
            raise DataError(
                f"'{self.path}' was written by a newer seqlab (layout {config['version']}; this one knows {VERSION}). "
                f"Upgrade seqlab to use it."
            )
        validated(RunFacts, config, self.path / CONFIG, strict=True)
        return config

    def is_run(self) -> bool:
        """Whether seqlab created this folder, even if it is damaged; other programs write a config.json too."""
        with suppress(OSError):
            names = [item.name for item in self.path.iterdir() if item.name != LOCK]
            if all(re.fullmatch(rf"\.{manifest.NAME}\.\d+\.tmp", name) for name in names):
                return True  # stopped while writing the first manifest
        with suppress(SeqlabError):
            return manifest.read_manifest(self.path)[1].get("format") == FORMAT
        with suppress(SeqlabError):
            return from_json(read_bytes(self.path / CONFIG, JSON_LIMIT), self.path / CONFIG).get("format") == FORMAT
        return False

    def foreign_files(self) -> list[str]:
        """Names of what is in this folder of a run and was put there by somebody else."""
        known = set(WRITTEN)
        with suppress(SeqlabError):
            known |= manifest.read_manifest(self.path)[0].keys()
        with storage_errors(self.path, 0):
            names = sorted(item.name for item in self.path.iterdir())
        foreign = [name for name in names if name not in known and not re.fullmatch(r"\..+\.tmp", name)]
        return foreign + [CARD] * self.has_changed(CARD)

    def has_changed(self, name: str) -> bool:
        """Whether somebody has changed a file that a run has written."""
        with suppress(SeqlabError):
            written = manifest.read_manifest(self.path)[0].get(name)
            if written is not None and not (self.path / name).is_symlink():
                return sha256(read_bytes(self.path / name)) not in written
        return False


def best_run_path(path: Path) -> Path:
    """The path itself if it is a run; if it is a comparison, the path of its best run."""
    best = path / BEST
    if (path / CONFIG).exists():
        return path
    if best.is_symlink():
        return path / best.readlink()
    if best.is_file():
        return path / _run_name(read_bytes(best, NAME_LIMIT), best)
    if best.is_dir():  # the comparison was copied, and the link with what it leads to
        return best
    results = path / COMPARISON_RESULTS
    if not results.is_file():
        return path
    content = from_json(read_bytes(results), results).get("best")  # it was copied without its link
    name = content.get("path") if isinstance(content, dict) else None
    return path / _run_name(name.encode(), results) if isinstance(name, str) else path


def _run_name(content: bytes, path: Path) -> str:
    try:
        name = content.decode()
    except UnicodeDecodeError:
        name = ""
    if not name.isprintable() or not name:
        raise DataError(f"'{path}' is damaged: it does not name the best run. Repeat the comparison to write it anew.")
    return name


def comparison_of(path: Path) -> Path | None:
    """The comparison that a run is part of, or that the path leads to; None for a run of its own."""
    if best_run_path(path) != path:
        return path
    runs = path.resolve().parent
    plans = {RUNS: runs.parent / PLAN, TUNING: runs / PLAN}
    return runs.parent if runs.name in plans and plans[runs.name].is_file() else None


def link_best_run(directory: Path, run: Path) -> None:
    """Mark a run as the best of a comparison: by a link, or by a file where links are not possible."""
    best = directory / BEST
    if best.is_dir() and not best.is_symlink():  # a copy of the best run, where the comparison was copied
        copied, original = (read_bytes(folder / manifest.NAME) for folder in (best, directory / run))
        if copied != original:
            raise DataError(f"'{best}' is not a copy of the best run, '{directory / run}': move it somewhere else.")
        return
    with storage_errors(best, 0):
        best.unlink(missing_ok=True)
        try:
            best.symlink_to(run)
        except OSError:
            write_atomic(best, str(run).encode())


@contextmanager
def new_run(path: Path, overwrite: bool) -> Iterator[RunDirectory]:
    """An empty run directory that no other process writes to while this is entered."""
    refuse_occupied(path, overwrite)  # before anything is created
    with storage_errors(path, 0):
        path.mkdir(parents=True, exist_ok=True)
    with locked_run(path):
        yield begin_run(path, overwrite)


def begin_run(path: Path, overwrite: bool) -> RunDirectory:
    """Create an empty run directory; replace an existing run only if `overwrite` is set."""
    directory = RunDirectory(path)
    refuse_occupied(path, overwrite)
    with storage_errors(path, 0):
        path.mkdir(parents=True, exist_ok=True)
    directory.write_manifest({})  # before anything is removed, so a half-removed folder is still recognized as a run
    with storage_errors(path, 0):
        for item in path.iterdir():
            if item.name not in (manifest.NAME, LOCK, LOOKS):
                shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
    return directory


def refuse_occupied(path: Path, overwrite: bool) -> None:
    """UsageError unless a new run may begin here."""
    with storage_errors(path, 0):
        if not path.exists() or (path.is_dir() and all(item.name == LOCK for item in path.iterdir())):
            return
    directory = RunDirectory(path)
    is_run = directory.is_run()
    if not overwrite and is_run:
        command = f"seqlab resume {shlex.quote(str(path))}"
        can_resume = f"Continue it with '{command}', replace" if checkpoints(directory.checkpoints) else "Replace"
        raise UsageError(
            f"'{path}' already contains a run. {can_resume} it with --overwrite (overwrite=True in Python), "
            f"or choose another --out."
        )
    if not overwrite:
        raise UsageError(f"'{path}' is not empty and not a run. Please choose another --out.")
    if not is_run or path.is_symlink():
        content = "a link to a run" if is_run else "not a run"
        raise UsageError(f"'{path}' is {content}: --overwrite does not replace it. Choose another --out.")
    if foreign := directory.foreign_files():
        names = first_names([str(path / name) for name in foreign])
        raise UsageError(
            f"--overwrite would also remove what no run has written: {names}. Move it somewhere else, or choose "
            f"another --out."
        )


def folder_name(name: str) -> str:
    """A name that is valid on every file system."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:48] or "text"


def free_run_path(corpus: str, arch: str) -> Path:
    """runs/<corpus>-<arch>-<n> with the first free n."""
    paths = (Path("runs") / f"{folder_name(corpus)}-{arch}-{number}" for number in count(1))
    return next(path for path in paths if not path.exists())
