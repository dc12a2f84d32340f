"""Run directories made to hurt, each with hashes that fit. Prints what became of opening them.

hostile_runs.py FOLDER. Every case is opened in a process of its own, forked from one that has imported torch, so that
its time and the growth of its memory are its own.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reliability_runs import TEXT, resume, train

from seqlab import api
from seqlab.errors import SeqlabError
from seqlab.runs import manifest
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.layout import RunDirectory
from seqlab.runs.storage import sha256
from seqlab.training import finish

Spoil = Callable[[Path], Path]  # changes a run and returns the file that is to be refused
CASES: dict[str, tuple[Spoil, Callable[[Path], object]]] = {}
LONGEST = 20.0  # seconds until a case is given up


# --- how files are made ---------------------------------------------------------------------------------------------


def safetensors(header: Any, body: bytes = b"", length: int | None = None) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(raw) if length is None else length).to_bytes(8, "little") + raw + body


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def tensor(shape: Any, first: Any, last: Any, dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


def put(run: Path, name: str, content: bytes) -> Path:
    RunDirectory(run).put(name, content)
    return run / name


def put_in_checkpoint(run: Path, name: str, content: bytes) -> Path:
    newest = checkpoints(run / "checkpoints")[-1]
    files, facts = manifest.read_manifest(newest)
    (newest / name).write_bytes(content)
    (newest / manifest.NAME).write_bytes(manifest.manifest({**files, name: [sha256(content)]}, facts))
    return newest / name


def case(name: str, open_run: Callable[[Path], object] = api.load) -> Callable[[Spoil], None]:
    return lambda spoil: CASES.update({name: (spoil, open_run)})


# --- tensors --------------------------------------------------------------------------------------------------------

EMPTY = tensor([0], 0, 0)
WEIGHTS: dict[str, bytes] = {
    "a header of exabytes": safetensors({}, length=2**63),
    "a header longer than the file": safetensors({}, b"x" * 100, length=1000),
    "a header of no bytes": safetensors(b""),
    "no header": b"abc",
    "nothing": b"",
    "a header that is no object": safetensors([1, 2, 3]),
    "a header that is no JSON": safetensors(b"{'a': 1}"),
    "a header of bad UTF-8": safetensors(b'{"\xff": 1}'),
    "a header nested 100,000 deep": safetensors(b"[" * 100_000),
    "a header with a number of 5,000 digits": safetensors(b'{"a": {"dtype": "F32", "shape": [' + b"9" * 5000 + b"]}}"),
    "100,000 tensors": safetensors({f"t{i}": EMPTY for i in range(100_000)}),
    "10,000 tensors": safetensors({f"t{i}": EMPTY for i in range(10_000)}),
    "a shape of 10^12": safetensors({"a": tensor([10**12], 0, 4 * 10**12)}),
    "a shape of 10^12 in 4 bytes": safetensors({"a": tensor([10**12], 0, 4)}, b"abcd"),
    "a shape of 2^64 that wraps around to nothing": safetensors({"a": tensor([2**32, 2**32], 0, 0)}),
    "a negative shape": safetensors({"a": tensor([-1, -1], 0, 4)}, b"abcd"),
    "a shape of 300,000 dimensions": safetensors({"a": tensor([9] * 300_000, 0, 4)}, b"abcd"),
    "a shape of 300,000 dimensions, one of them none": safetensors({"a": tensor([9] * 300_000 + [0], 0, 0)}),
    "a shape of fractions": safetensors({"a": tensor([0.5, 2], 0, 4)}, b"abcd"),
    "a shape of words": safetensors({"a": tensor("four", 0, 4)}, b"abcd"),
    "an unknown type": safetensors({"a": tensor([1], 0, 4, "pickle")}, b"abcd"),
    "a type that is a list": safetensors({"a": tensor([1], 0, 4, ["F32"])}, b"abcd"),
    "places before the start": safetensors({"a": tensor([1], -4, 0)}, b"abcd"),
    "places beyond the end": safetensors({"a": tensor([1], 10**18, 10**18 + 4)}, b"abcd"),
    "places in reverse": safetensors({"a": tensor([1], 4, 0)}, b"abcd"),
    "three places": safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 2, 4]}}, b"abcd"),
    "overlapping tensors": safetensors({"a": tensor([1], 0, 4), "b": tensor([1], 0, 4)}, b"abcd"),
    "a hole between tensors": safetensors({"a": tensor([1], 0, 4), "b": tensor([1], 8, 12)}, b"abcd" * 3),
    "bytes after the last tensor": safetensors({"a": tensor([1], 0, 4)}, b"abcd" * 2),
    "64 MiB of something else": safetensors({"a": tensor([2**24], 0, 2**26)}, bytes(2**26)),
    "64 MiB that no tensor claims": safetensors({}, bytes(2**26)),
    "words as metadata": safetensors({"__metadata__": "words"}),
}
for _name, _content in WEIGHTS.items():
    case(f"weights: {_name}")(lambda run, content=_content: put(run, "model.safetensors", content))
    if len(_content) > 1 << 20:
        continue
    case(f"checkpoint: {_name}", resume)(
        lambda run, content=_content: put_in_checkpoint(run, "weights.safetensors", content)
    )
    case(f"optimiser: {_name}", resume)(
        lambda run, content=_content: put_in_checkpoint(run, "optimiser.safetensors", content)
    )


def changed(content: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The file with another header over the same bytes."""
    header, body = parts(content)
    return safetensors(change(header), body)


FITTING: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "a tensor under another name": lambda h: {("other" if n == "output.bias" else n): e for n, e in h.items()},
    "a tensor transposed": lambda h: {n: {**e, "shape": e["shape"][::-1]} for n, e in h.items()},
    "a tensor of another type": lambda h: {n: {**e, "dtype": "I32"} for n, e in h.items()},
    "a tensor more": lambda h: {**h, "other": EMPTY},
}
for _name, _change in FITTING.items():
    case(f"weights: {_name}")(
        lambda run, change=_change: put(
            run, "model.safetensors", changed((run / "model.safetensors").read_bytes(), change)
        )
    )


def moments(run: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    stored = (checkpoints(run / "checkpoints")[-1] / "optimiser.safetensors").read_bytes()
    return put_in_checkpoint(run, "optimiser.safetensors", changed(stored, change))


@case("optimiser: moments of one element", resume)
def short_moments(run: Path) -> Path:
    """Torch's kernel takes a moment to be as long as its parameter: whoever trusts these writes beyond them."""
    header, _ = parts((checkpoints(run / "checkpoints")[-1] / "optimiser.safetensors").read_bytes())
    short = {name: tensor([1], 4 * i, 4 * i + 4) for i, name in enumerate(header)}
    return put_in_checkpoint(run, "optimiser.safetensors", safetensors(short, bytes(4 * len(short))))


case("optimiser: half of the moments", resume)(
    lambda run: moments(run, lambda h: {n.replace("exp_avg_sq", "x"): e for n, e in h.items()})
)
case("optimiser: a name that only looks like a number", resume)(lambda run: moments(run, lambda h: {**h, "²": EMPTY}))
case("optimiser: a parameter that there is not", resume)(lambda run: moments(run, lambda h: {**h, "99.step": EMPTY}))

STATE = {"0": tensor([4], 0, 32, "I64"), "1": tensor([4, 16], 32, 288), "2": tensor([4, 16], 288, 544)}
CARRIED: dict[str, bytes] = {
    "one tensor less": safetensors({"0": STATE["0"], "1": STATE["1"]}, bytes(288)),
    "another batch": safetensors({"0": tensor([1], 0, 8, "I64")}, bytes(8)),
    "another width": safetensors({**STATE, "2": tensor([4, 8], 288, 416)}, bytes(416)),
    "another type": safetensors({**STATE, "0": tensor([4], 0, 32, "F64")}, bytes(544)),
}
for _name, _content in CARRIED.items():
    case(f"carry: {_name}", resume)(lambda run, content=_content: put_in_checkpoint(run, "carry.safetensors", content))

# --- JSON -----------------------------------------------------------------------------------------------------------

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
    "floors that are no list": {"floors": {"a": 1}},
    "steps in words": {"steps": "many"},
}
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
    newest = checkpoints(run / "checkpoints")[-1]
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


# --- opening them ---------------------------------------------------------------------------------------------------


def memory(key: str) -> int | None:
    """Bytes of VmRSS (now) or VmHWM (at most); None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(f"{key}:"))) * 1024


def opened(run: Path, open_run: Callable[[Path], object]) -> dict[str, Any]:
    if (before := memory("VmRSS")) is not None:
        Path("/proc/self/clear_refs").write_text("5")  # from here on VmHWM is of this case
    began = time.perf_counter()
    error, message = "none", ""
    try:
        open_run(run)
    except SeqlabError as caught:
        error, message = type(caught).__name__, str(caught)
    except BaseException as caught:
        error, message = f"not ours: {type(caught).__name__}", str(caught)
    seconds, peak = time.perf_counter() - began, memory("VmHWM")
    growth = None if before is None or peak is None else max(0, peak - before)
    return {"error": error, "message": message, "seconds": seconds, "growth": growth}


def in_a_process(run: Path, open_run: Callable[[Path], object]) -> dict[str, Any]:
    listening, telling = os.pipe()
    process = os.fork()
    if process == 0:
        os.write(telling, json.dumps(opened(run, open_run))[:60_000].encode())
        os._exit(0)
    os.close(telling)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(process, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    with os.fdopen(listening, "rb") as stream:
        told = stream.read()
    os.waitpid(process, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return json.loads(told) if told else {"error": "killed", "message": "", "seconds": LONGEST, "growth": None}


def main(folder: Path) -> dict[str, Any]:
    os.environ["SEQLAB_CACHE"] = str(folder / "cache")
    os.fsync = lambda _: None
    setattr(finish, "draw_curves", lambda *_: None)  # noqa: B010
    (folder / "small.txt").write_text(TEXT, encoding="utf-8")
    # an odd number of steps, so that the next batch does not begin the text anew and the state is read
    pristine = train(folder / "small.txt", folder / "pristine", batching="stream", steps=3, evaluate_every=3)
    resume(pristine)
    found: dict[str, Any] = {}
    for name, (spoil, open_run) in CASES.items():
        run = Path(shutil.copytree(pristine, folder / "run"))
        refused = spoil(run)
        size = refused.stat().st_size if refused.is_file() else 0
        found[name] = {**in_a_process(run, open_run), "file": str(refused), "size": size}
        shutil.rmtree(run)
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))  # noqa: T201
