"""Crafted JSON, and things that are no files: in the place of every file that a run is read from."""

import json
import os
from pathlib import Path
from typing import Any

from hostile_making import case, put
from reliability_runs import only_checkpoint, resume

from seqlab import api
from seqlab.runs import manifest
from seqlab.runs.checkpoint import checkpoints

BOMBS: dict[str, bytes] = {
    "nested 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
    "nested 900 deep": b'{"facts":' * 900 + b"{}" + b"}" * 900,
    "a number of 5,000 digits": b'{"version": ' + b"1" * 5000 + b"}",
    "a million lists": b'{"settings": [' + b"[]," * 330_000 + b"[]]}",
    "a hundred thousand objects": b'{"settings": [' + b'{"":0},' * 140_000 + b"[]]}",
    "40 MB of lists": b"[" + b"[]," * 13_000_000 + b"[]]",
    "a list": b"[]",
    "nothing": b"",
    "bad UTF-8": b'{"\xff": 1}',
    "UTF-16": '{"format": "seqlab-run"}'.encode("utf-16"),
}


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


for _name, _content in BOMBS.items():
    case(f"config: {_name}")(lambda run, content=_content: put(run, "config.json", content))
    case(f"manifest: {_name}")(lambda run, content=_content: write(run / "manifest.json", content))
    case(f"results: {_name}", lambda run: api.load(run).results)(
        lambda run, content=_content: put(run, "results.json", content)
    )
    case(f"labels: {_name}")(lambda run, content=_content: labels(run, content))
    if len(_content) < 1 << 20:  # a tokenizer may be large
        case(f"tokenizer: {_name}")(lambda run, content=_content: put(run, "tokenizer.json", content))


def config(run: Path, section: str, **values: Any) -> Path:
    """The run's own config with some values changed, the section 'settings.x' or one of the facts."""
    content = json.loads((run / "config.json").read_text())
    table = content
    for key in filter(None, section.split(".")):
        table = table[key]
    table.update(values)
    return put(run, "config.json", json.dumps(content).encode())


def labels(run: Path, content: bytes) -> Path:
    """The labels of a run that says of itself that it is a classifier."""
    config(run, "settings", task={"name": "classify"})
    return put(run, "labels.json", content)


CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "10^13 parameters": ("settings.backbone", {"hidden": 65_536, "layers": 256}),
    "parameters for most of the memory": ("settings.backbone", {"hidden": 12_000}),
    "an embedding for most of the memory": ("settings.model", {"embedding": 65_536}),
    "an architecture that is a list": ("settings.backbone", {"name": ["lstm"]}),
    "an architecture that is a number": ("settings.backbone", {"name": 1}),
    "an unknown setting": ("settings.train", {"execute": "rm -rf"}),
    "settings that are a list": ("", {"settings": []}),
    "a section that is a list": ("settings", {"train": []}),
    "no parameters": ("", {"parameters": {}}),
    "parameters in words": ("parameters", {"total": "many"}),
    "a corpus in words": ("", {"corpus": "words"}),
    "versions that are numbers": ("", {"versions": {"torch": 2}}),
    "a version that is true": ("", {"version": "1"}),
    "a version from the future": ("", {"version": 10**9}),
    "another format": ("", {"format": "other"}),
}
for _name, (_section, _values) in CONFIGS.items():
    case(f"config: {_name}")(lambda run, section=_section, values=_values: config(run, section, **values))

RESULTS: dict[str, dict[str, Any]] = {
    "a likelihood in words": {"validation": "good"},
    "a loss in words": {"validation": {"nats_per_token": "low"}},
    "figures that are not there": {"validation": {}},
    "figures of another task": {"validation": {"nats_per_token": 1.0, "accuracy": 50.0}},
    "a headline that is no figure": {"headline_metric": {"key": "execute", "label": "", "meaning": ""}},
    "a baseline without metrics": {
        "baselines": [{"name": "kneser-ney (order 3)", "about": "counting", "role": "main", "metrics": {}}]
    },
    "floors that are no list": {"baselines": {"a": 1}},
    "steps in words": {"steps": "many"},
}
LABELS: dict[str, Any] = {
    "one word": "positive",
    "numbers": [1, 2],
    "one of them a list": ["positive", ["negative"]],
    "one of them twice": ["positive", "positive"],
}
for _name, _labels in LABELS.items():
    case(f"labels: {_name}")(lambda run, given=_labels: labels(run, json.dumps({"labels": given}).encode()))

for _name, _values in RESULTS.items():
    case(f"results: {_name}", lambda run: api.load(run).results)(
        lambda run, values=_values: put(
            run, "results.json", json.dumps({**json.loads((run / "results.json").read_text()), **values}).encode()
        )
    )

MANIFESTS: dict[str, tuple[Any, Any]] = {
    "files that are a list": (["config.json"], {}),
    "hashes that are numbers": ({"config.json": 1}, {}),
    "hashes that are lists of numbers": ({"config.json": [1]}, {}),
    "half of a surrogate pair": ({"config.json": ["\ud800"]}, {}),
}
for _name, (_files, _facts) in MANIFESTS.items():
    case(f"manifest: {_name}")(
        lambda run, files=_files, facts=_facts: write(run / "manifest.json", manifest.manifest(files, facts))
    )

PROGRESS: dict[str, dict[str, Any]] = {
    "a step in words": {"step": "ten"},
    "a step before the first": {"step": -1},
    "a step beyond the last": {"step": 10**30},
    "a loss that is a list": {"best_loss": []},
}


def progress(run: Path, values: dict[str, Any]) -> Path:
    newest = checkpoints(run / "checkpoints")[-1]
    files, facts = manifest.read_manifest(newest)
    (newest / manifest.NAME).write_bytes(manifest.manifest(files, {**facts, **values}))
    return newest


for _name, _values in PROGRESS.items():
    case(f"progress: {_name}", resume)(lambda run, values=_values: progress(run, values))


def foreign_files(run: Path) -> Path:
    """Names that lead out of the run are not read, whatever the manifest says of them."""
    newest = only_checkpoint(run)
    files, facts = manifest.read_manifest(newest)
    files = {**files, "/dev/zero": ["0"], "../../../../../../dev/zero": ["0"], "weights.safetensors": ["0"]}
    (newest / manifest.NAME).write_bytes(manifest.manifest(files, facts))
    return newest / "weights.safetensors"


case("manifest: names that lead out of the run", resume)(foreign_files)

# --- things that are no files ---------------------------------------------------------------------------------------


def endless(path: Path) -> Path:
    path.unlink()
    path.symlink_to("/dev/zero")
    return path


def pipe(path: Path) -> Path:
    path.unlink()
    os.mkfifo(path)
    return path


for _name in ("config.json", "manifest.json", "tokenizer.json", "model.safetensors"):
    case(f"endless: {_name}")(lambda run, name=_name: endless(run / name))
    case(f"pipe: {_name}")(lambda run, name=_name: pipe(run / name))
