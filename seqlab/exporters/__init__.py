"""Exporters: a finished run as int8, as ONNX graphs, or as files of the transformers library."""
