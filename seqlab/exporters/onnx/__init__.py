"""Models as ONNX graphs, written operation by operation from their equations.

Why by hand and not with torch.onnx.export: it can freeze the time axis of a recurrent network at the length of the
example input (bidirectional LSTM and GRU: pytorch issue 191855). These graphs have free batch and time axes and take
their state as inputs and outputs. write.py verifies each of them with onnxruntime before it writes anything.
"""
