"""Models as ONNX graphs, written operation by operation from their equations."""
