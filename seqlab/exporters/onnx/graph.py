"""A builder for ONNX graphs: one operation at a time, with the operators of tensors."""

from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

OPSET, IR_VERSION = 20, 9  # older than current runtimes need, for compatibility
Number = Union["Value", float, int]
Shape = list[str | int]  # a string names an axis of any length


@dataclass(frozen=True)
class Value:
    """An output of an operation."""

    graph: "Graph"
    name: str

    def __add__(self, other: Number) -> "Value":
        return self.graph("Add", self, other)

    def __sub__(self, other: Number) -> "Value":
        return self.graph("Sub", self, other)

    def __mul__(self, other: Number) -> "Value":
        return self.graph("Mul", self, other)

    def __truediv__(self, other: Number) -> "Value":
        return self.graph("Div", self, other)

    def __matmul__(self, other: "Value") -> "Value":
        return self.graph("MatMul", self, other)

    def __and__(self, other: "Value") -> "Value":
        return self.graph("And", self, other)

    def __lt__(self, other: "Value") -> "Value":
        return self.graph("Less", self, other)

    def __le__(self, other: "Value") -> "Value":
        return self.graph("LessOrEqual", self, other)

    def sigmoid(self) -> "Value":
        return self.graph("Sigmoid", self)

    def tanh(self) -> "Value":
        return self.graph("Tanh", self)

    def softmax(self) -> "Value":
        """Over the last axis."""
        return self.graph("Softmax", self, axis=-1)

    def transpose(self, *axes: int) -> "Value":
        return self.graph("Transpose", self, perm=list(axes))

    def reshape(self, *shape: int) -> "Value":
        """0 keeps an axis, -1 is inferred."""
        return self.graph("Reshape", self, self.graph.integers(shape))

    def unsqueeze(self, *axes: int) -> "Value":
        return self.graph("Unsqueeze", self, self.graph.integers(axes))

    def squeeze(self, *axes: int) -> "Value":
        return self.graph("Squeeze", self, self.graph.integers(axes))

    def slice(self, first: int, last: int, axis: int) -> "Value":
        """From `first` up to `last`; negative numbers count from the end."""
        g = self.graph
        return g("Slice", self, g.integers([first]), g.integers([last]), g.integers([axis]))

    def split(self, parts: int, axis: int = -1) -> "list[Value]":
        return self.graph.multi_output("Split", parts, self, axis=axis, num_outputs=parts)

    def size(self, axis: int) -> "Value":
        """The length of an axis, as a scalar."""
        return self.graph("Shape", self, start=axis, end=axis + 1).squeeze(0)

    def mean(self) -> "Value":
        return self.graph("ReduceMean", self, self.graph.integers([-1]), keepdims=1)


class Graph:
    """`graph("Op", a, b)` adds an operation; numbers and arrays among its inputs become constants."""

    def __init__(self, name: str):
        self.name = name
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def __call__(self, op: str, *inputs: Any, **attributes: Any) -> Value:
        return self.multi_output(op, 1, *inputs, **attributes)[0]

    def multi_output(self, op: str, count: int, *inputs: Any, **attributes: Any) -> list[Value]:
        """An operation with several outputs."""
        outputs = [Value(self, f"{op.lower()}_{len(self._nodes)}_{index}") for index in range(count)]
        names = [output.name for output in outputs]
        self._nodes.append(helper.make_node(op, [self._name_of(value) for value in inputs], names, **attributes))
        return outputs

    def constant(self, array: np.ndarray | Tensor) -> Value:
        values = array.detach().cpu().numpy() if isinstance(array, Tensor) else array
        name = f"constant_{len(self._constants)}"
        self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return Value(self, name)

    def integers(self, numbers: Any) -> Value:
        return self.constant(np.array(numbers, np.int64))

    def arange(self, count: Value) -> Value:
        """0, 1, ..., count - 1"""
        return self("Range", self.integers(0), count, self.integers(1))

    def linear(self, x: Value, module: nn.Linear) -> Value:
        return self.affine(x, module.weight, module.bias)

    def affine(self, x: Value, weight_GK: Tensor, bias_G: Tensor | None) -> Value:
        """W x + b"""
        product = x @ self.constant(weight_GK.T)
        return product if bias_G is None else product + self.constant(bias_G)

    def join(self, values: list[Value], axis: int) -> Value:
        return self("Concat", *values, axis=axis)

    def input(self, name: str, shape: Shape, integer: bool = False) -> Value:
        self._inputs.append(_tensor_info(name, shape, integer))
        return Value(self, name)

    def output(self, name: str, value: Value, shape: Shape, integer: bool = False) -> None:
        self._nodes.append(helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(_tensor_info(name, shape, integer))

    def build(self) -> onnx.ModelProto:
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, list(self._constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="seqlab")
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model, full_check=True)
        return model

    def _name_of(self, value: Any) -> str:
        if value is None:
            return ""  # an optional input that is omitted
        if isinstance(value, Value):
            return value.name
        return self.constant(np.array(value, np.int64 if isinstance(value, int) else np.float32)).name


def _tensor_info(name: str, shape: Shape, integer: bool) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.INT64 if integer else TensorProto.FLOAT, shape)
