"""What every architecture has to say to become a graph."""

from abc import ABC, abstractmethod
from typing import Any

from seqlab.errors import UsageError
from seqlab.exporters.onnx.graph import Graph, Value
from seqlab.registry import BACKBONES, ONNX_BACKBONES

States = dict[str, Value]


class Part(ABC):
    """A backbone in operations: one step with its state, and a whole sequence."""

    def state(self) -> dict[str, list[str | int]]:
        """Names and shapes of what is carried between steps, batch first; empty where it does not go step by step.

        Before the first token they are zeros, and an axis with a name of its own, such as S, is empty."""
        return {}

    def step(self, g: Graph, x_BD: Value, state: States) -> tuple[Value, States]:
        """One position, and the state after it."""
        raise AssertionError("it has no state to carry")

    @abstractmethod
    def sequence(self, g: Graph, x_BTD: Value, lengths_B: Value | None, start: States | None = None) -> Value:
        """All positions; `lengths_B` where rows are padded and read from both ends. `start` holds those states that
        do not begin with nothing."""


def part_of(backbone: Any) -> Part:
    """The operations of a backbone; UsageError where there are none for its architecture."""
    name = next(name for name in BACKBONES if BACKBONES.load(name) is type(backbone))
    if name not in ONNX_BACKBONES:
        raise UsageError(f"{name} cannot be exported to ONNX. What can: {', '.join(ONNX_BACKBONES)}.")
    return ONNX_BACKBONES.load(name)(backbone)
