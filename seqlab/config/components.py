"""Base classes for the settings of an architecture, a task or a tokenizer: what the rest of the project reads.

These base classes are the whole interface: a member is abstract, or has a default that is documented here. The settings
of a registered class derive from one of them and import without torch.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, SerializeAsAny

from seqlab.config.sections import Settings

if TYPE_CHECKING:
    from seqlab.config.run_settings import RunSettings

AnySettings = TypeVar("AnySettings", bound=Settings, covariant=True)
Narrow = TypeVar("Narrow", bound=Settings)
Shape = tuple[int, ...]
ExampleKind = Literal["labeled", "tagged", "pairs", "documents"]


def number_bytes(precision: str) -> int:
    """Bytes of what a matrix product reads and writes in training."""
    return 2 if precision == "bf16" else 4


class Component(Settings, Generic[AnySettings]):
    """A registered name and the settings of what it names, read and written as one flat table."""

    name: str
    settings: SerializeAsAny[AnySettings]

    def flat(self) -> dict[str, Any]:
        return {"name": self.name, **self.settings.model_dump(mode="json")}

    def settings_as(self, cls: type[Narrow]) -> Narrow:
        """The settings, which the caller knows to be of this class."""
        assert isinstance(self.settings, cls), f"'{self.name}' has {type(self.settings).__name__}, not {cls.__name__}"
        return self.settings


@dataclass(frozen=True)
class VocabSizes:
    """The sizes of the vocabularies that a model reads and predicts; a task uses those that it has."""

    vocab_size: int
    target: int = 0  # vocabulary of the target side
    characters: int = 0  # vocabulary of a character encoder
    labels: int = 0
    unknown: int | None = None  # the id of unknown tokens, where there is one

    @classmethod
    def of(cls, sizes: "VocabSizes | int") -> "VocabSizes":
        """A plain number is the size of the input vocabulary."""
        return cls(sizes) if isinstance(sizes, int) else sizes


@dataclass(frozen=True)
class Parameters:
    """Parameter counts; `core` is everything but token embedding, output projection and position table."""

    embedding: int
    core: int
    output: int
    positions: int = 0

    @property
    def total(self) -> int:
        return self.embedding + self.core + self.output + self.positions


@dataclass(frozen=True)
class BatchShape:
    """The largest batch of one forward pass: sequences, and their longest length; `target` is of the other side."""

    rows: int
    length: int
    target: int = 0


@dataclass(frozen=True)
class Activations:
    """Bytes of one batch: what the backward pass needs of embeddings and backbones, and what output layer and loss take
    at their largest, with their gradients."""

    core: int
    loss: int


class BackboneSettings(Settings):
    """The settings of an architecture.

    Four fields have a meaning outside the architecture if it declares them: `dropout` (a rate), `bidirectional`
    (a bool, switched on for tasks that read the whole text), `context` (positions that attention sees: the task's
    sequence length if unset, unless its default is None) and `implementation` ("fused", or "plain": the equations,
    position by position)."""

    bidirectional_sibling: ClassVar[str | None] = None  # the name of the bidirectional version of this architecture
    causal_sibling: ClassVar[str | None] = None  # the name of the causal version of this architecture
    cross_attends: ClassVar[bool] = False  # the class takes `memory`, a source's width, and attends to it by itself
    state_query: ClassVar[bool] = False  # `Backbone.query` gives a vector of width `hidden`
    dropout_share: ClassVar[float] = 1.0  # of the default rate; less where dropout acts in every sublayer

    hidden: int = Field(default=256, ge=1, le=65_536, description="width of the hidden vectors")
    layers: int = Field(default=1, ge=1, le=256, description="how many layers are stacked")

    @property
    @abstractmethod
    def width(self) -> int:
        """Width of the output vectors."""

    @abstractmethod
    def core_parameters(self, inputs: int) -> int:
        """How many parameters the architecture has for input vectors of this width, without a position table."""

    @property
    def causal(self) -> bool:
        """Whether an output depends on nothing that comes after it."""
        return not self.option("bidirectional", False)

    @property
    def position_parameters(self) -> int:
        """Parameters of a learned position table; no part of `core_parameters`."""
        return 0

    def cross_parameters(self, memory: int) -> int:
        """Additional parameters for attending to a source with vectors of width `memory`, if `cross_attends`."""
        return 0

    def start_shapes(self, inputs: int) -> tuple[Shape, ...]:
        """Shapes, without the batch, of the floating-point tensors of the start state, in the order of
        `State.tensors()`; empty ones are left out. A decoder computes them from the encoder's summary.

        The default, no shapes, says that the start state is fixed: a decoder then needs attention."""
        return ()

    def sequential_steps(self, length: int) -> int:
        """Steps of the forward pass over a sequence of `length` positions, each of which waits for the one before. By
        default it goes through all positions in every layer, as a recurrence does."""
        return self.layers * length

    @property
    def keeps_output(self) -> bool:
        """Whether the output itself is among the tensors that the backward pass of the architecture needs."""
        return False

    def activation_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """Bytes that the backward pass needs of one sequence, of all layers, without copies of weights: the input
        counts, the output only if `keeps_output`.

        The default, for an architecture that does not say, is twelve vectors of each layer and position in float32."""
        return 4 * length * (inputs + 12 * self.layers * max(self.hidden, self.width))

    def recomputed_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """Of `activation_bytes`, what `train.recompute` does not keep: the inside of all layers. By default nothing,
        since nothing is computed again unless layers are called by `seqlab.recomputation.call_layer`."""
        return 0

    def untouched_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """Of `activation_bytes`, what a layer reserves and first writes to in its own backward pass: a CPU has no
        memory for it before."""
        return 0

    def working_bytes(self, inputs: int, length: int, precision: str = "float32") -> int:
        """Gradients on their way through the layers, for one sequence, at the largest moment: beside
        `activation_bytes`, so it is below 0 where part of those is gone. By default a quarter of a layer's."""
        return self.activation_bytes(inputs, length, precision) // (4 * self.layers)

    def cross_activation_bytes(self, length: int, source: int, memory: int, precision: str = "float32") -> int:
        """Bytes that attending to a source of `source` vectors of width `memory` adds, if `cross_attends`."""
        return 0

    def cross_recomputed_bytes(self, length: int, source: int, precision: str = "float32") -> int:
        """Of `cross_activation_bytes`, what `train.recompute` does not keep."""
        return 0

    @property
    def has_dropout(self) -> bool:
        """Whether `dropout` acts anywhere: between layers, it needs more than one."""
        return self.has("dropout")

    @property
    def dropout_rate(self) -> float:
        return (self.option("dropout", 0.0) or 0.0) if self.has_dropout else 0.0

    @property
    def plain(self) -> bool:
        """Whether the equations are computed position by position instead of by fused kernels."""
        return self.option("implementation", "fused") == "plain"


class TaskSettings(Settings):
    """The settings of a task."""

    reads: ClassVar[Literal["before", "both sides", "everything"]]  # what a prediction may depend on
    decodes: ClassVar[bool] = False  # whether there is a decoder beside the backbone
    examples: ClassVar[ExampleKind | None] = None  # the kind of example files that it reads; None for running text

    batch_size: int = Field(default=32, ge=1, le=65_536, description="sequences per step")

    @property
    @abstractmethod
    def sequence_length(self) -> int:
        """Tokens of the longest sequence that is trained on: the context that attention needs."""

    @abstractmethod
    def parameters(self, settings: "RunSettings", sizes: VocabSizes) -> Parameters:
        """Parameters of the model that a run with these settings trains, in closed form."""

    @property
    def batch_shape(self) -> BatchShape:
        """The largest batch that the settings allow; the data may have none that is so large."""
        return self.shape_within(self.sequence_length, self.sequence_length)

    def shape_within(self, longest: int, target: int) -> BatchShape:
        """The largest batch of sequences, and of targets, up to these lengths."""
        tokens = self.option("batch_tokens", None)
        rows = self.batch_size if tokens is None else max(1, tokens // max(longest, target))
        return BatchShape(rows, longest, target)

    def activations(self, settings: "RunSettings", sizes: VocabSizes, shape: BatchShape) -> Activations:
        """Bytes that a batch takes beside the weights. By default those of the backbone and its output."""
        return Activations(shape.rows * self.backbone_bytes(settings, settings.model.embedding, shape.length), 0)

    def backbone_bytes(self, settings: "RunSettings", inputs: int, length: int) -> int:
        """For one sequence: the backbone, its output as the next layer reads it, and the ids."""
        backbone, precision = settings.backbone.settings, settings.train.precision
        dropped = bool(settings.model.output_dropout) or precision == "bf16"
        output = 0 if backbone.keeps_output and not dropped else number_bytes(precision) * backbone.width
        again = backbone.recomputed_bytes(inputs, length, precision) if settings.train.recompute else 0
        return backbone.activation_bytes(inputs, length, precision) - again + length * (output + 8)

    @property
    @abstractmethod
    def evaluation(self) -> str:
        """How a split is scored, in words."""

    @property
    def evaluation_by_lines(self) -> str:
        """The same, where every line of a text is a document."""
        return self.evaluation

    @property
    def batch_tokens_or_size(self) -> int:
        """What bounds a batch: a number of tokens if that is set, else a number of sequences."""
        return self.option("batch_tokens", None) or self.batch_size

    @property
    def shares_vocabulary(self) -> bool:
        """Whether the target side uses the tokenizer of the source side."""
        return False

    def vocabulary_files(self, tokenizer: str) -> tuple[str, ...]:
        """Which vocabularies a run stores besides its tokenizer: "labels", "characters", "target"."""
        return ()

    @property
    def mining_run(self) -> str | None:
        """The run that hard negatives are mined by, if there is one."""
        return None

    def refuse_unfit(self, settings: "RunSettings") -> None:
        """UsageError where the architecture cannot do the task for a reason that only the task knows."""

    def refuse_untrainable(self, settings: "RunSettings") -> None:
        """UsageError where the model can be built, but not be trained with these settings."""


class TokenizerSettings(Settings):
    """The settings of a tokenizer."""

    @property
    def expected_vocab_size(self) -> int:
        """An estimate before there is any text, for refusing models that do not fit this machine."""
        return self.option("vocab_size", 256)
