"""Graphs as onnxruntime runs them, for tests: on one thread and in silence."""

from typing import Any

import numpy as np
import onnxruntime


def session(graph: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


def run(runs: Any, given: dict[str, Any]) -> dict[str, np.ndarray]:
    """What comes out, by name."""
    return dict(zip([one.name for one in runs.get_outputs()], runs.run(None, given), strict=True))


def initial_state(one: Any, rows: int) -> np.ndarray:
    """A state before the first token: zeros, and no places yet."""
    shape = [rows if axis == "B" else 0 if axis == "S" else int(axis) for axis in one.shape]
    return np.zeros(shape, np.int64 if "int64" in one.type else np.float32)
