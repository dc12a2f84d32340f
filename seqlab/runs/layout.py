"""Where things lie in a run, how one is begun, and how its best weights are replaced."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from seqlab.errors import DataError, MissingInput, StorageError, UsageError
from seqlab.runs import manifest, tensors
from seqlab.runs.checkpoint import weights_of
from seqlab.runs.storage import read_bytes, sha256, to_json, write_whole
from seqlab.text.tokenizer import Tokenizer

FORMAT, VERSION = "seqlab-run", 1
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"


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
    def kept_input(self) -> Path:
        """What came from standard input."""
        return self.path / "corpus.txt"

    def put(self, name: str, content: bytes) -> None:
        """Replace a file that the manifest vouches for; in between, it vouches for both the old and the new content."""
        known = manifest.read_manifest(self.path)[0] if (self.path / manifest.NAME).is_file() else {}
        new = [sha256(content)]
        write_whole(self.path / manifest.NAME, manifest.manifest({**known, name: known.get(name, []) + new}))
        write_whole(self.path / name, content)
        write_whole(self.path / manifest.NAME, manifest.manifest({**known, name: new}))

    def put_config(self, config: dict[str, Any]) -> None:
        self.put(CONFIG, to_json({"format": FORMAT, "version": VERSION, **config}))

    def put_tokenizer(self, tokenizer: Tokenizer) -> None:
        tokenizer.save(self.path)
        self.put(TOKENIZER, read_bytes(self.path / TOKENIZER))

    def put_weights(self, model: nn.Module) -> None:
        self.put(WEIGHTS, tensors.to_bytes(weights_of(model)))

    def config(self) -> dict[str, Any]:
        """What `put_config` wrote, verified; says what is wrong where this is no run, or one from a newer seqlab."""
        if not self.path.is_dir():
            raise MissingInput(f"there is no run '{self.path}'. 'seqlab runs' lists the runs here.")
        if not (self.path / CONFIG).is_file():
            raise MissingInput(f"'{self.path}' is not a run: it has no {CONFIG}.")
        config = _parsed(manifest.verified(self.path, CONFIG), self.path / CONFIG)
        if config.get("format") != FORMAT or not isinstance(config.get("version"), int):
            raise DataError(f"'{self.path / CONFIG}' was not written by seqlab.")
        if config["version"] > VERSION:
            raise DataError(
                f"'{self.path}' was written by a newer seqlab (layout {config['version']}; this one knows {VERSION}). "
                f"Upgrade seqlab to use it."
            )
        return config


def _parsed(content: bytes, path: Path) -> dict[str, Any]:
    try:
        config = json.loads(content)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise DataError(f"'{path}' is damaged: it does not hold a JSON object.")
    return config


def begin_run(path: Path, overwrite: bool) -> RunDirectory:
    """An empty run directory; an existing run is replaced only when that was asked for."""
    if path.exists() and any(path.iterdir() if path.is_dir() else [path]):
        is_run = (path / CONFIG).is_file() or (path / "checkpoints").is_dir()
        if not overwrite:
            what = "a run" if is_run else "something that is not a run"
            hint = f"Continue it with 'seqlab resume {path}', replace it with --overwrite, or " if is_run else ""
            raise UsageError(f"'{path}' holds {what} already. {hint or 'Please '}choose another --out.")
        if not is_run:
            raise UsageError(f"'{path}' is not a run, so --overwrite does not touch it. Choose another --out.")
        shutil.rmtree(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"the run directory '{path}' cannot be made: {error.strerror}.") from None
    return RunDirectory(path)


def next_name(corpus: str, arch: str, root: Path = Path("runs")) -> Path:
    """runs/<corpus>-<arch>-<n>, with the first n that is free."""
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", corpus).strip("-.")[:48] or "text"
    number = 1
    while (root / f"{stem}-{arch}-{number}").exists():
        number += 1
    return root / f"{stem}-{arch}-{number}"
