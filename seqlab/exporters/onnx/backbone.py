"""What an architecture must provide to be exported to ONNX.

An architecture declares its class as `onnx_backbone = "module:Class"`; everything else (embeddings, heads, tokenizers,
verification) is shared.
"""

from abc import ABC, abstractmethod
from pkgutil import resolve_name
from typing import Any

from seqlab.contracts import Backbone
from seqlab.errors import UsageError
from seqlab.exporters.onnx.graph import Graph, Shape, Value

States = dict[str, Value]
Shapes = dict[str, Shape]


class OnnxBackbone(ABC):
    """A backbone as ONNX operations: one step with its state, and a whole sequence."""

    def __init__(self, backbone: Any):
        self.backbone, self.settings = backbone, backbone.settings

    def state(self) -> Shapes:
        """Names and shapes of the state tensors, batch first; empty if there is no state.

        All are zero before the first token. A named axis such as S has length 0 then."""
        return {}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        """One position, and the state after it."""
        raise UsageError(f"{type(self.backbone).__name__} has no step to export to ONNX.")

    @abstractmethod
    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        """All positions. `lengths_B` is given for padded rows, `start` for states that do not start at zero."""

    def summary(self, g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
        """One vector for each row, as the encoder's memory has it: the mean over its positions."""
        zeroed_BTH = g("Where", padding_mask(g, y_BTH, lengths_B).unsqueeze(2), y_BTH, 0.0)
        count_B1 = g("Cast", lengths_B, to=1).unsqueeze(1)
        return g("ReduceSum", zeroed_BTH, g.integers([1]), keepdims=0) / count_B1


def onnx_backbone_of(backbone: Backbone) -> Any:
    """The ONNX operations of a backbone; UsageError if its architecture declares none."""
    target = type(backbone).declares("onnx_backbone")
    if target is None:
        raise UsageError(
            f"the architecture {type(backbone).__name__} cannot be exported to ONNX: it declares no onnx_backbone. "
            'Derive a class from seqlab.exporters.onnx.backbone.OnnxBackbone and name it there as "module:Class".'
        )
    return resolve_name(target)(backbone)


def padding_mask(g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
    """mask_BT: true where a position is not padding."""
    return g.arange(y_BTH.size(1)).unsqueeze(0) < lengths_B.unsqueeze(1)


def last_position(g: Graph, y_BTH: Value, lengths_B: Value) -> Value:
    """The output at each row's last position."""
    return g("GatherND", y_BTH, (lengths_B - 1).unsqueeze(1), batch_dims=1)
