"""A run as files that onnxruntime reads, checked against the run before anybody relies on them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from seqlab.errors import DataError
from seqlab.exporters.onnx.export_plan import Arrays, ExportPlan, export_plan
from seqlab.exporters.tokenizer import to_json_text, to_tokenizers, verify_tokenizer
from seqlab.runs.load import LoadedRun
from seqlab.storage import to_json, write_atomic

TOLERANCE = 1e-4
CHECKED_LENGTHS = (1, 7, 40)  # tried before the graphs are written; none of them was known to the graphs
HERE = Path(__file__).parent


def write_onnx(run: LoadedRun, out: Path) -> list[Path]:
    """The graphs, tokenizers, model.json and a program that uses them."""
    plan = export_plan(run)
    verify(plan)
    kind = run.settings.task.name
    contents = {f"{name}.onnx": graph.SerializeToString() for name, graph in plan.graphs.items()}
    for name, tokenizer in {"tokenizer": run.tokenizer, **run.vocabulary.extra_tokenizers()}.items():
        library = to_tokenizers(tokenizer)
        verify_tokenizer(tokenizer, library)
        contents[f"{name}.json"] = to_json_text(library).encode()
    contents["model.json"] = to_json({"format": "seqlab-onnx", "task": kind, **plan.facts})
    contents["example.py"] = (HERE / f"{kind}.py.txt").read_bytes()
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomic(out / name, content)
    return [out / name for name in contents]


def verify(plan: ExportPlan) -> None:
    """DataError where onnxruntime gives other logits than the model itself."""
    sessions = {name: OnnxSession(graph.SerializeToString()) for name, graph in plan.graphs.items()}
    for length in CHECKED_LENGTHS:
        for name, off in plan.max_errors(dict(sessions), length).items():
            if not off <= TOLERANCE:
                raise DataError(f"{name}.onnx gives logits that are off by {off:.1e} at length {length}: not written.")


class OnnxSession:
    """A graph that runs. States that are not given are those before the first token: zeros, and no places yet."""

    def __init__(self, graph: bytes):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(graph, options)

    def __call__(self, given: Arrays) -> Arrays:
        rows = len(next(iter(given.values())))
        wanted = {one.name: given[one.name] if one.name in given else initial_state(one, rows) for one in self._inputs}
        names = [one.name for one in self._session.get_outputs()]
        return dict(zip(names, self._session.run(None, wanted), strict=True))

    @property
    def _inputs(self) -> list[Any]:
        return self._session.get_inputs()


def initial_state(one: Any, rows: int) -> np.ndarray:
    shape = [rows if axis == "B" else 0 if axis == "S" else int(axis) for axis in one.shape]
    return np.zeros(shape, np.int64 if "int64" in one.type else np.float32)
