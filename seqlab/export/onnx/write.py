"""A run as files that onnxruntime reads, checked against the run before anybody relies on them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch

from seqlab.errors import DataError, UsageError
from seqlab.export.onnx.language import sequence_graph, step_graph
from seqlab.export.tokenizer import as_text, check, library_of
from seqlab.models.language import LanguageModel
from seqlab.runs.load import Loaded
from seqlab.runs.storage import to_json, write_whole

NEAR = 1e-4
LENGTHS = (1, 7, 40)  # tried before the graphs are written; none of them was known to the graphs
EXAMPLE = Path(__file__).with_name("example.py.txt")


def write_language_model(run: Loaded, out: Path) -> list[Path]:
    """step.onnx, sequence.onnx, tokenizer.json, model.json and a program that uses them."""
    model = run.model
    if not isinstance(model, LanguageModel):
        raise UsageError(f"'{run.directory.path}' is no language model: what is exported to ONNX so far is one.")
    graphs = {"step.onnx": step_graph(model), "sequence.onnx": sequence_graph(model)}
    tried(model, graphs)
    library = library_of(run.tokenizer)
    check(run.tokenizer, library)
    facts = {
        "format": "seqlab-onnx",
        "vocabulary": model.vocabulary,
        "begin": [] if run.tokenizer.begin is None else [run.tokenizer.begin],
        "end": run.tokenizer.end,
        "never_written": list(run.tokenizer.never_sampled),
        "limit": model.limit,
    }
    contents = {name: graph.SerializeToString() for name, graph in graphs.items()}
    contents |= {"tokenizer.json": as_text(library).encode(), "model.json": to_json(facts)}
    contents |= {"example.py": EXAMPLE.read_bytes()}
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_whole(out / name, content)
    return [out / name for name in contents]


def tried(model: Any, graphs: dict[str, onnx.ModelProto]) -> None:
    """DataError where onnxruntime gives other logits than the model itself."""
    sessions = {name: session(graph.SerializeToString()) for name, graph in graphs.items()}
    longest = model.limit or max(LENGTHS)
    for T in sorted({min(length, longest) for length in LENGTHS}):
        tokens_BT = torch.randint(0, model.vocabulary, (2, T), generator=torch.Generator().manual_seed(T))
        with torch.inference_mode():
            expected_BTV = model(tokens_BT)[0].numpy()
        (whole_BTV,) = sessions["sequence.onnx"].run(None, {"tokens": tokens_BT.numpy()})
        stepped_BTV = stepped(sessions["step.onnx"], tokens_BT.numpy())
        for name, found in (("sequence.onnx", whole_BTV), ("step.onnx", stepped_BTV)):
            off = float(np.abs(found - expected_BTV).max())
            if not off <= NEAR:
                raise DataError(f"{name} gives logits that are off by {off:.1e} at length {T}: it was not written.")


def session(graph: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options)


def stepped(runs: Any, tokens_BT: np.ndarray) -> np.ndarray:
    """The logits of a text that is read token by token."""
    state = {one.name: nothing(one, len(tokens_BT)) for one in runs.get_inputs() if one.name != "token"}
    names = [one.name for one in runs.get_outputs()]
    logits = []
    for token_B in tokens_BT.T:
        found = dict(zip(names, runs.run(None, {"token": token_B, **state}), strict=True))
        state = {name: found[f"{name}_next"] for name in state}
        logits.append(found["logits"])
    return np.stack(logits, 1)


def nothing(one: Any, rows: int) -> np.ndarray:
    """The state before the first token: zeros, and no places yet."""
    shape = [rows if axis == "B" else 0 if axis == "S" else int(axis) for axis in one.shape]
    return np.zeros(shape, np.int64 if "int64" in one.type else np.float32)
