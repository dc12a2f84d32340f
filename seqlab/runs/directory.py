"""The run directory: its files, how it is created, and how its files are replaced safely."""

import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from torch import nn

from seqlab.errors import DataError, MissingInput, SeqlabError, UsageError
from seqlab.runs import manifest, tensors
from seqlab.runs.checkpoint import weights_of
from seqlab.storage import (
    JSON_LIMIT,
    from_json,
    read_bytes,
    sha256,
    storage_errors,
    to_json,
    unreadable_file,
    write_atomic,
)
from seqlab.tokenization.tokenizer import Tokenizer, tokenizer_bytes
from seqlab.tokenization.vocabulary import Vocabulary

FORMAT, VERSION = "seqlab-run", 1
CONFIG, TOKENIZER, WEIGHTS, LABELS = "config.json", "tokenizer.json", "model.safetensors", "labels.json"
NAME_LIMIT = 4096  # bytes of a run's name
BEST = "best"  # in a comparison, a link to its best run


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
    def curves(self) -> Path:
        return self.path / "curves.png"

    @property
    def card(self) -> Path:
        return self.path / "README.md"

    @property
    def stdin_copy(self) -> Path:
        """The text that came from standard input."""
        return self.path / "corpus.txt"

    def begin(self) -> None:
        """Mark the folder as a run, even if training is stopped right away."""
        self._write_manifest({})

    def write_file(self, name: str, content: bytes) -> None:
        """Replace a file; while that happens, the manifest accepts both the old and the new content."""
        known = manifest.read_manifest(self.path)[0]
        new = [sha256(content)]
        self._write_manifest({**known, name: known.get(name, []) + new})
        write_atomic(self.path / name, content)
        self._write_manifest({**known, name: new})

    def _write_manifest(self, files: dict[str, list[str]]) -> None:
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
        try:
            RunFacts.model_validate(config, strict=True)
        except ValidationError as error:
            raise unreadable_file(self.path / CONFIG, error) from None
        return config

    def is_run(self) -> bool:
        """Whether seqlab created this folder, even if it is damaged; other programs write a config.json too."""
        with suppress(OSError):
            if all(re.fullmatch(rf"\.{manifest.NAME}\.\d+\.tmp", item.name) for item in self.path.iterdir()):
                return True  # stopped while writing the first manifest
        with suppress(SeqlabError):
            return manifest.read_manifest(self.path)[1].get("format") == FORMAT
        with suppress(SeqlabError):
            return from_json(read_bytes(self.path / CONFIG, JSON_LIMIT), self.path / CONFIG).get("format") == FORMAT
        return False


def best_run_path(path: Path) -> Path:
    """The path itself if it is a run; if it is a comparison, the path of its best run."""
    best = path / BEST
    if (path / CONFIG).exists() or not (best.is_symlink() or best.is_file()):
        return path
    return path / (best.readlink() if best.is_symlink() else Path(read_bytes(best, NAME_LIMIT).decode()))


def link_best_run(directory: Path, run: Path) -> None:
    """Mark a run as the best of a comparison: by a link, or by a file where links are not possible."""
    best = directory / BEST
    with storage_errors(best, 0):
        best.unlink(missing_ok=True)
        try:
            best.symlink_to(run)
        except OSError:
            write_atomic(best, str(run).encode())


def begin_run(path: Path, overwrite: bool) -> RunDirectory:
    """Create an empty run directory; replace an existing run only if `overwrite` is set."""
    directory = RunDirectory(path)
    with storage_errors(path, 0):
        if path.exists() and any(path.iterdir() if path.is_dir() else [path]):
            is_run = directory.is_run()
            if not overwrite:
                what = "already contains a run" if is_run else "is not empty and not a run"
                hint = f"Continue it with 'seqlab resume {path}', replace it with --overwrite, or " if is_run else ""
                raise UsageError(f"'{path}' {what}. {hint or 'Please '}choose another --out.")
            if not is_run or path.is_symlink():
                what = "a link to a run" if is_run else "not a run"
                raise UsageError(f"'{path}' is {what}: --overwrite does not replace it. Choose another --out.")
        path.mkdir(parents=True, exist_ok=True)
    directory.begin()  # before anything is removed, so a half-removed folder is still recognized as a run
    with storage_errors(path, 0):
        for item in path.iterdir():
            if item.name != manifest.NAME:
                shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
    return directory


def folder_name(name: str) -> str:
    """A name that is valid on every file system."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:48] or "text"


def free_run_path(corpus: str, arch: str, root: Path = Path("runs")) -> Path:
    """runs/<corpus>-<arch>-<n> with the first free n."""
    stem = folder_name(corpus)
    number = 1
    while (root / f"{stem}-{arch}-{number}").exists():
        number += 1
    return root / f"{stem}-{arch}-{number}"
