"""Write a run as ONNX files, after verifying that onnxruntime computes the same."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch

from seqlab.errors import DataError
from seqlab.exporters.files import write_files
from seqlab.exporters.onnx.export_plan import Arrays, ExportPlan, export_plan
from seqlab.exporters.tokenizer import tokenizer_json
from seqlab.runs.run import Run
from seqlab.storage import to_json

TOLERANCE = 1e-4
CHECKED_LENGTHS = (1, 7, 40)  # verified before the graphs are written; no graph depends on them
HERE = Path(__file__).parent


def write_onnx(run: Run, out: Path) -> list[Path]:
    """Write the graphs, the tokenizers, model.json and example.py; returns their paths."""
    plan = export_plan(run)
    verify(plan)
    task = run.settings.task.name
    contents = {f"{name}.onnx": graph.SerializeToString() for name, graph in plan.graphs.items()}
    for name, tokenizer in {"tokenizer": run.tokenizer, **run.vocabulary.extra_tokenizers()}.items():
        contents[f"{name}.json"] = tokenizer_json(tokenizer)
    contents["model.json"] = to_json({"format": "seqlab-onnx", "task": task, **plan.metadata})
    contents["example.py"] = (HERE / f"{task}.py.txt").read_bytes()
    return write_files(run, out, contents)


@torch.inference_mode()
def verify(plan: ExportPlan) -> None:
    """DataError if the logits of onnxruntime differ from those of the torch model."""
    sessions = {name: OnnxSession(graph.SerializeToString()) for name, graph in plan.graphs.items()}
    for length in CHECKED_LENGTHS:
        for name, error in plan.max_errors(dict(sessions), length).items():
            if not error <= TOLERANCE:
                raise DataError(
                    f"{name}.onnx has logits that are wrong by {error:.1e} at length {length}. Nothing was written."
                )


class OnnxSession:
    """A graph in onnxruntime. State tensors that are not given have their value before the first token."""

    def __init__(self, graph: bytes):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(graph, options)

    def __call__(self, given: Arrays) -> Arrays:
        rows = len(next(iter(given.values())))
        inputs = {
            tensor.name: given[tensor.name] if tensor.name in given else initial_state(tensor, rows)
            for tensor in self._session.get_inputs()
        }
        names = [tensor.name for tensor in self._session.get_outputs()]
        return dict(zip(names, self._session.run(None, inputs), strict=True))


def initial_state(tensor: Any, rows: int) -> np.ndarray:
    """Zeros; the cache axis S is empty."""
    shape = [rows if axis == "B" else 0 if axis == "S" else int(axis) for axis in tensor.shape]
    return np.zeros(shape, np.int64 if "int64" in tensor.type else np.float32)
