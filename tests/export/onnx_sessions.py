"""Graphs as onnxruntime runs them, for tests: on one thread and in silence."""

from typing import Any

import numpy as np
import onnxruntime


def session(graph: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(graph.SerializeToString(), options)


def run(runs: Any, inputs: dict[str, Any]) -> dict[str, np.ndarray]:
    """What comes out, by name."""
    return dict(zip([tensor.name for tensor in runs.get_outputs()], runs.run(None, inputs), strict=True))
