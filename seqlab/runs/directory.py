"""Where things lie in a run, how one is begun, and how its best weights are replaced."""

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
BEST = "best"  # in a comparison, a link to the run that it recommends


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
    """What is read of config.json besides the settings themselves."""

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
        """What came from standard input."""
        return self.path / "corpus.txt"

    def begin(self) -> None:
        """From here on this is a run, however soon it is stopped."""
        self._write_manifest({})

    def write_file(self, name: str, content: bytes) -> None:
        """Replace a file that the manifest vouches for; in between, it vouches for both the old and the new content."""
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
                f"the settings take {len(content):,} bytes to keep, more than the {JSON_LIMIT:,} that can be read "
                f"again: name a folder of texts instead of {len(config['settings']['corpus']['source']):,} files."
            )
        self.write_file(CONFIG, content)

    def write_vocabulary(self, vocabulary: Vocabulary) -> None:
        """tokenizer.json, and what else the task has: target.json, characters.json, labels.json."""
        self.write_tokenizer(vocabulary.tokenizer)
        for name, tokenizer in vocabulary.extra_tokenizers().items():
            self.write_file(f"{name}.json", tokenizer_bytes(tokenizer))
        if vocabulary.labels:
            content = to_json({"labels": list(vocabulary.labels)})
            if len(content) > JSON_LIMIT:
                raise UsageError(f"{len(vocabulary.labels):,} different labels are more than a run can keep.")
            self.write_file(LABELS, content)

    def write_tokenizer(self, tokenizer: Tokenizer) -> None:
        tokenizer.save(self.path)
        self.write_file(TOKENIZER, read_bytes(self.path / TOKENIZER))

    def write_weights(self, model: nn.Module) -> None:
        self.write_file(WEIGHTS, tensors.to_bytes(weights_of(model)))

    def config(self) -> dict[str, Any]:
        """What `put_config` wrote, verified; says what is wrong where this is no run, or one from a newer seqlab."""
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
        """Whether seqlab made this directory, be it damaged or hardly begun. Other folders have a config.json too."""
        with suppress(OSError):
            if all(re.fullmatch(rf"\.{manifest.NAME}\.\d+\.tmp", item.name) for item in self.path.iterdir()):
                return True  # stopped while the first manifest was being written
        with suppress(SeqlabError):
            return manifest.read_manifest(self.path)[1].get("format") == FORMAT
        with suppress(SeqlabError):
            return from_json(read_bytes(self.path / CONFIG, JSON_LIMIT), self.path / CONFIG).get("format") == FORMAT
        return False


def best_run_path(path: Path) -> Path:
    """The run itself, or of a comparison the one that it recommends."""
    best = path / BEST
    if (path / CONFIG).exists() or not (best.is_symlink() or best.is_file()):
        return path
    return path / (best.readlink() if best.is_symlink() else Path(read_bytes(best, NAME_LIMIT).decode()))


def link_best_run(directory: Path, run: Path) -> None:
    """Make a run the best of a comparison: by a link, or by its name in a file where there can be none."""
    best = directory / BEST
    with storage_errors(best, 0):
        best.unlink(missing_ok=True)
        try:
            best.symlink_to(run)
        except OSError:
            write_atomic(best, str(run).encode())


def begin_run(path: Path, overwrite: bool) -> RunDirectory:
    """An empty run directory; an existing run is replaced only when that was asked for."""
    directory = RunDirectory(path)
    with storage_errors(path, 0):
        if path.exists() and any(path.iterdir() if path.is_dir() else [path]):
            is_run = directory.is_run()
            if not overwrite:
                what = "a run" if is_run else "something that is not a run"
                hint = f"Continue it with 'seqlab resume {path}', replace it with --overwrite, or " if is_run else ""
                raise UsageError(f"'{path}' holds {what} already. {hint or 'Please '}choose another --out.")
            if not is_run or path.is_symlink():
                what = "only a link to a run" if is_run else "not a run"
                raise UsageError(f"'{path}' is {what}, so --overwrite does not touch it. Choose another --out.")
        path.mkdir(parents=True, exist_ok=True)
    directory.begin()  # before anything is removed, so that stopped half-way it is still known as a run
    with storage_errors(path, 0):
        for item in path.iterdir():
            if item.name != manifest.NAME:
                shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()
    return directory


def folder_name(name: str) -> str:
    """A name that any file system takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:48] or "text"


def free_run_path(corpus: str, arch: str, root: Path = Path("runs")) -> Path:
    """runs/<corpus>-<arch>-<n>, with the first n that is free."""
    stem = folder_name(corpus)
    number = 1
    while (root / f"{stem}-{arch}-{number}").exists():
        number += 1
    return root / f"{stem}-{arch}-{number}"
