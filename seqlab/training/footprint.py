"""The memory that training needs, in closed form and without torch: it is known before anything starts.

Weights, gradients and moments are there all the time, or from the first backward pass on. The rest comes and goes, so
the peak is the largest of the phases of a step: the loss, the backward pass through the layers, the update, and the
copies that a checkpoint writes; or the comparison of precisions before the first step.
"""

from dataclasses import dataclass

from seqlab.config import BatchShape, RunSettings, VocabSizes
from seqlab.models.parameter_count import parameters

NUMBER = 4  # bytes: weights, gradients and moments are float32 in every precision
MOMENTS = {"adam": 2, "adamw": 2, "rmsprop": 1, "sgd": 1, "muon": 2}  # per parameter; muon: one for hidden matrices


@dataclass(frozen=True)
class Footprint:
    """Bytes."""

    weights: int
    gradients: int
    moments: int
    rounded: int  # copies of the weights in bfloat16
    activations: int  # that the backward pass needs of one batch, and the forward pass keeps
    recomputed: int  # the inside of one layer, if it is computed again
    untouched: int  # of these, what the layers first write to in their backward passes
    loss: int  # logits, probabilities and their gradients
    working: int  # gradients on their way through a layer
    layers: int
    accumulates: bool  # so that gradients are there before the first backward pass
    copies: int  # of model and optimizer beside the model, while precisions are compared

    @property
    def held(self) -> int:
        """What stays for the whole training, gradients included."""
        return self.weights + self.gradients + self.moments

    @property
    def phases(self) -> dict[str, dict[str, int]]:
        """What is there in each phase of a step at its largest moment, by parts."""
        before = {"weights": self.weights, "gradients": self.gradients * self.accumulates, "moments": self.moments}
        held = before | {"gradients": self.gradients}
        kept = self.activations + self.rounded
        through = self.activations + self.recomputed + self.working
        last = kept + self.recomputed + self.working - self.untouched * (self.layers - 1) // self.layers
        compared = {"weights": self.weights, "copies": self.copies * self.held, "activations": through}
        return {
            "at the loss": before | {"activations": kept - self.untouched, "loss": self.loss},
            "in the backward pass of the last layer": before | {"activations": last},
            "in the backward pass of the first layer": held | {"activations": self.rounded + through // self.layers},
            "in the update": held,
            "while precisions are compared": compared if self.copies else {},
            "while a checkpoint is written": held | {"copies": self.weights + 2 * self.moments},
        }

    @property
    def largest_phase(self) -> tuple[str, dict[str, int]]:
        return max(self.phases.items(), key=lambda phase: sum(phase[1].values()))

    @property
    def peak(self) -> int:
        return sum(self.largest_phase[1].values())


def recomputing(settings: RunSettings, active: bool) -> RunSettings:
    """The settings with train.recompute, not checked again: plans ask for thousands."""
    return settings.model_copy(update={"train": settings.train.model_copy(update={"recompute": active})})


def footprint(settings: RunSettings, sizes: VocabSizes | int, shape: BatchShape | None = None) -> Footprint:
    """For the largest batch of the settings, or for batches of the given shape."""
    sizes, train, task = VocabSizes.of(sizes), settings.train, settings.task.settings
    count = parameters(settings, sizes)
    shape = shape or task.batch_shape
    used = task.activations(settings, sizes, shape)
    whole = task.activations(recomputing(settings, False), sizes, shape)
    weights = NUMBER * count.total
    moments = weights * MOMENTS[train.optimizer]
    if train.optimizer == "muon":
        moments -= NUMBER * count.core
    if train.optimizer == "sgd" and not train.momentum:
        moments = 0
    backbone = settings.backbone.settings
    stacks = [backbone, *([] if settings.decoder is None else [settings.decoder.settings])]
    per_sequence = settings.model.embedding, shape.length, train.precision
    return Footprint(
        weights=weights,
        gradients=weights,
        moments=moments,
        rounded=2 * (count.core + count.output) if train.precision == "bf16" else 0,
        activations=used.core,
        recomputed=(whole.core - used.core) // min(stack.layers for stack in stacks),
        untouched=0 if train.recompute else shape.rows * backbone.untouched_bytes(*per_sequence),
        loss=used.loss,
        working=shape.rows * backbone.working_bytes(*per_sequence),
        layers=backbone.layers,
        accumulates=train.accumulate > 1,
        copies=2 if train.precision != "float32" and train.bf16_speed is None else 0,
    )
