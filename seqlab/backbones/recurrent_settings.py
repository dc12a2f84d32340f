"""Settings and closed-form sizes of the recurrent architectures, importable without torch."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from seqlab.config import BackboneSettings, number_bytes

# bytes of each hidden unit and position, measured: gradients on their way, and what a kernel reserves for them
RNN_WORKING, GRU_WORKING, LSTM_WORKING, LSTM_UNTOUCHED = 10, 19, 10, 32
RNN_ROUNDED = 7  # beside it in bf16: inputs and outputs in both precisions


class RecurrentSettings(BackboneSettings):
    state_query: ClassVar[bool] = True
    gates: ClassVar[int]
    state_vectors: ClassVar[int] = 1  # in the state of one cell
    kept_vectors: ClassVar[int]  # of one step of the equations, for the backward pass
    working: ClassVar[int]  # bytes of gradients for each hidden unit

    dropout: float | None = Field(
        default=None, ge=0, lt=1, description="between layers; if unset, from the size of a text"
    )
    residual: bool = Field(default=False, description="each layer after the first adds to its input")
    bidirectional: bool = Field(default=False, description="read in both directions; such a model cannot generate")
    implementation: Literal["fused", "plain"] = Field(
        default="fused", description="torch's kernels, or the equations step by step"
    )

    @property
    def idle(self) -> Mapping[str, str]:
        one_layer = "it adds layers to their inputs after the first, and there is one"
        return {"residual": one_layer} if self.layers == 1 else {}

    @property
    def has_dropout(self) -> bool:
        return self.layers > 1

    @property
    def directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def width(self) -> int:
        return self.hidden * self.directions

    def start_shapes(self, inputs: int) -> tuple[tuple[int, ...], ...]:
        return ((self.hidden,),) * (self.layers * self.directions * self.state_vectors)

    def core_parameters(self, inputs: int) -> int:
        """Weights of input and state and two bias vectors, per gate, direction and layer."""
        below = [inputs] + [self.width] * (self.layers - 1)
        return sum(self.directions * self.gates * self.hidden * (width + self.hidden + 2) for width in below)

    def activation_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """What the cells of every layer read, and what they keep of each step."""
        below = [inputs] + [self.width] * (self.layers - 1)
        return length * sum(self._layer_bytes(layer, width, length, precision) for layer, width in enumerate(below))

    def recomputed_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """All but the inputs of the layers."""
        entering = inputs + self.width * (self.layers - 1)
        return self.activation_bytes(inputs, length, precision) - 4 * length * entering

    def _layer_bytes(self, layer: int, inputs: int, length: int, precision: str) -> int:
        """Per position. The equations read the input where it is; a kernel takes a copy for each direction."""
        n = number_bytes(precision)
        if self.steps_plainly:
            copies = 1 if n == 4 else self.directions
            return copies * inputs * n + self.directions * self.hidden * self.plain_step_bytes(precision)
        step = self.kernel_step_bytes(inputs, length, precision)
        return self.directions * ((0 if self._shares_input(layer, precision) else inputs * n) + step)

    def working_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The gradients of one layer's outputs and gates."""
        return length * self.directions * self.hidden * self.working

    def _shares_input(self, layer: int, precision: str) -> bool:
        """Whether the kernel of a layer reads what the layer below keeps anyway."""
        return False

    @property
    def steps_plainly(self) -> bool:
        """Whether the equations compute, because that is asked for or there is no kernel."""
        return self.plain

    def plain_step_bytes(self, precision: str) -> int:
        """For each hidden unit, in one step of the equations."""
        return 4 * self.kept_vectors + (0 if precision == "float32" else 2)

    @abstractmethod
    def kernel_step_bytes(self, inputs: int, length: int, precision: str) -> int:
        """What torch's kernel keeps of one position, in sequences of `length`, beside the input."""


class RnnSettings(RecurrentSettings):
    gates = 1
    kept_vectors = 1  # h
    working = RNN_WORKING
    activation: Literal["tanh", "relu", "sigmoid"] = Field(default="tanh", description="of the state")

    def working_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        rounded = 0 if precision == "float32" else length * self.directions * self.hidden * RNN_ROUNDED
        return super().working_bytes(inputs, length, precision) + rounded

    def kernel_step_bytes(self, inputs: int, length: int, precision: str) -> int:
        """h"""
        return self.hidden * number_bytes(precision)


class GruSettings(RecurrentSettings):
    gates = 3
    kept_vectors = 8  # r, z, 1 - z, n, h, and all of U h + d for the reset gate
    working = GRU_WORKING
    reset: Literal["after", "before"] = Field(default="after", description="reset gate: after or before the product")

    @property
    def steps_plainly(self) -> bool:
        return self.plain or self.reset == "before"

    def plain_step_bytes(self, precision: str) -> int:
        return super().plain_step_bytes(precision) - (8 if self.reset == "before" else 0)

    def kernel_step_bytes(self, inputs: int, length: int, precision: str) -> int:
        """r, z, n, h and U h + d"""
        return self.hidden * (28 if precision == "float32" else 16)


class LstmSettings(RecurrentSettings):
    gates = 4
    state_vectors = 2
    kept_vectors = 7  # i, f, g, o, c, tanh(c), h
    working = LSTM_WORKING
    forget_bias: float = Field(default=1.0, ge=-100, le=100, description="initial bias of the forget gate")

    def plain_step_bytes(self, precision: str) -> int:
        return super().plain_step_bytes(precision) - (4 if precision == "bf16" else 0)  # h is kept rounded only

    def _shares_input(self, layer: int, precision: str) -> bool:
        changed = self.bidirectional or self.residual or self.dropout_rate or precision != "float32"
        return layer > 0 and not changed

    def kernel_step_bytes(self, inputs: int, length: int, precision: str) -> int:
        """h, and oneDNN's workspace: four gates, and states and their gradients, one more of them than positions, some
        as wide as the wider of input and state. Rows are padded to 64 bytes. The numbers are counted: nothing documents
        them."""
        gates, narrow, wide = (16, 20, 24) if precision == "float32" else (8, 14, 20)
        hidden, widest = (-(-width // 16) * 16 for width in (self.hidden, max(inputs, self.hidden)))
        states = (narrow * hidden + wide * widest) * (length + 1) // length
        return self.hidden * number_bytes(precision) + gates * hidden + states

    def untouched_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """The gradients of states in oneDNN's workspace."""
        return 0 if self.plain else length * self.layers * self.directions * self.hidden * LSTM_UNTOUCHED
