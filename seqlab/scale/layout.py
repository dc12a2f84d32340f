"""How a model is laid out on devices, and how long a step then takes.

compute  = tokens · FLOPs per token / (devices · peak · utilization)
gradients, ring all-reduce = 2 (d - 1)/d · 4 N bytes over d devices, once per step
sharded  = (d - 1)/d · (2 · 2 N · parts + 4 N) bytes: weights gathered in bfloat16 for the forward and the backward pass
           of every part of a batch, gradients scattered once
tensor parallel = 4 all-reduces of the residual stream per layer, within a node; each waits
recurrence = 3 · steps · max(latency, weights of a step / memory bandwidth): steps wait, whatever the number of devices

Communication of gradients and weights runs beside computing, so the longer one counts; what waits is added.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from seqlab.config import BatchShape
from seqlab.scale.cluster import Cluster
from seqlab.scale.model import FORWARD_AND_BACKWARD, RECOMPUTED, SizedModel
from seqlab.training.footprint import Footprint, footprint, recomputing

ROUNDED, FULL = 2, 4  # bytes of a number in bfloat16 and in float32
TENSOR_REDUCES = 4  # in each layer: after attention and after the feedforward layer, forward and backward
WAITS, SENDING = "steps that wait for each other", "sending gradients and weights"
TENSOR = "tensor parallelism"


@dataclass(frozen=True)
class Layout:
    """`tensor` devices share every matrix; `sharded`: the others share weights, gradients and moments; `at_once`
    sequences on all devices in each of `parts` parts of a batch; `recompute`: activations are computed again."""

    model: SizedModel
    cluster: Cluster
    at_once: int
    parts: int
    tensor: int
    sharded: bool
    recompute: bool

    @property
    def batch(self) -> int:
        """Sequences of the global batch."""
        return self.at_once * self.parts

    @property
    def replicas(self) -> int:
        """Groups of devices with rows of their own; more than there are sequences have nothing to do."""
        return max(1, min(self.cluster.devices // self.tensor, self.at_once))

    @property
    def rows(self) -> int:
        """Sequences of a device in each part; some may have one less."""
        return math.ceil(self.at_once / self.replicas)

    @property
    def used(self) -> int:
        return self.replicas * self.tensor

    @property
    def name(self) -> str:
        names = ["sharded data parallel" if self.sharded else "data parallel"] if self.replicas > 1 else []
        names += [f"tensor parallel over {self.tensor}"] if self.tensor > 1 else []
        return " and ".join(names) or "one device"

    @cached_property
    def memory(self) -> int:
        """Bytes on a device at the peak."""
        held = self._footprint
        shards = self.replicas if self.sharded else 1
        gathered = 2 * held.rounded // held.layers if self.sharded else held.rounded
        kept = held.activations + held.recomputed
        per_tensor = (held.held // shards + gathered + held.loss + kept) // self.tensor
        return per_tensor + (held.working // self.tensor if held.working > 0 else 0)

    @cached_property
    def _footprint(self) -> Footprint:
        settings = recomputing(self.model.settings, self.recompute)
        return footprint(settings, self.model.vocab_size, BatchShape(self.rows, self.model.length))

    @property
    def compute_seconds(self) -> float:
        tokens = self.parts * self.rows * self.model.length
        work = tokens * self.model.flops_per_token(self.recompute) / self.tensor
        return work / (self.cluster.flops * self.cluster.utilization)

    @property
    def gradient_bytes(self) -> float:
        """What a device sends in a step for data parallelism."""
        others = (self.replicas - 1) / self.replicas
        weights = self.model.parameters / self.tensor
        if self.sharded:
            return others * weights * (2 * ROUNDED * self.parts + FULL)
        return 2 * others * FULL * weights

    @property
    def gradient_seconds(self) -> float:
        return self.gradient_bytes / self.cluster.between(self.used)

    @property
    def tensor_bytes(self) -> float:
        """What a device sends in a step because others have parts of the same matrices."""
        if self.tensor == 1:
            return 0.0
        backbone = self.model.settings.backbone.settings
        vectors = self.parts * self.rows * self.model.length * backbone.width * ROUNDED
        return 2 * (self.tensor - 1) / self.tensor * TENSOR_REDUCES * backbone.layers * vectors

    @property
    def recurrence_seconds(self) -> float:
        """All steps that wait for each other, in all parts of a batch, with their products."""
        cluster, steps = self.cluster, self.model.sequential_steps
        backbone = self.model.settings.backbone.settings
        if steps <= backbone.layers:
            return 0.0
        weights = ROUNDED * backbone.core_parameters(self.model.settings.model.embedding) / backbone.layers
        step = max(cluster.latency, weights / self.tensor / cluster.memory_bandwidth)
        return FORWARD_AND_BACKWARD * self.parts * steps * step

    @property
    def tensor_seconds(self) -> float:
        """Tensor parallelism, whose messages wait, in all parts of a batch."""
        layers = self.model.settings.backbone.settings.layers
        messages = TENSOR_REDUCES * layers * self.parts * self.cluster.latency if self.tensor > 1 else 0.0
        return messages + self.tensor_bytes / self.cluster.between(self.tensor)

    @property
    def waiting_seconds(self) -> float:
        """What is added to computing; the products of steps that wait are part of it."""
        return max(0.0, self.recurrence_seconds - self.compute_seconds) + self.tensor_seconds

    @property
    def step_seconds(self) -> float:
        return max(self.compute_seconds, self.gradient_seconds) + self.waiting_seconds

    @property
    def bound(self) -> str:
        """What the time of a step depends on."""
        times = {
            "computing": self.compute_seconds,
            SENDING: self.gradient_seconds,
            WAITS: self.recurrence_seconds,
            TENSOR: self.tensor_seconds,
        }
        return max(times, key=lambda name: times[name])

    @property
    def loses_most_by(self) -> str:
        """What takes most of the time in which devices compute nothing new."""
        if self.used < self.cluster.devices:
            return "a batch that has no more sequences"
        again = 1 - FORWARD_AND_BACKWARD / RECOMPUTED if self.recompute else 0.0
        lost = {
            WAITS if self.tensor == 1 else TENSOR: self.waiting_seconds,
            SENDING: self.gradient_seconds - self.compute_seconds,
            "activations that are computed twice": again * self.compute_seconds,
        }
        return max(lost, key=lambda name: lost[name])

    @property
    def efficiency(self) -> float:
        """The useful share of what all devices could compute at their utilization."""
        useful = self.batch * self.model.length * self.model.flops_per_token()
        cluster = self.cluster
        return useful / (self.step_seconds * cluster.devices * cluster.flops * cluster.utilization)


def layouts(model: SizedModel, cluster: Cluster, batch: int) -> Iterator[Layout]:
    """Every layout that fits into the memory of a device."""
    limit = cluster.memory * cluster.usable_memory
    tensor = 1  # devices that share matrices, a power of two
    while tensor <= min(cluster.devices, cluster.devices_per_node):
        for sharded in (False, True):
            for recompute in (False, True):
                best = _most_rows(model, cluster, batch, tensor, sharded, recompute, limit)
                if best is not None:
                    yield best
        tensor *= 2


def _most_rows(
    model: SizedModel, cluster: Cluster, batch: int, tensor: int, sharded: bool, recompute: bool, limit: float
) -> Layout | None:
    """The layout with the fewest parts of a batch that fits. Parts are equal, so the batch is only about as large."""
    replicas = max(1, min(cluster.devices // tensor, batch))
    rows = math.ceil(batch / replicas)
    while rows:
        parts = math.ceil(batch / replicas / rows)
        at_once = round(batch / parts)
        parts = round(batch / at_once)
        layout = Layout(model, cluster, at_once, parts, tensor, sharded and min(replicas, at_once) > 1, recompute)
        if layout.memory <= limit:
            return layout
        rows //= 2
    return None


def best_layout(model: SizedModel, cluster: Cluster, batch: int) -> Layout | None:
    """The fastest of those that split as few matrices as memory allows; of equally fast ones the simplest. None if none
    fits."""
    fitting = layouts(model, cluster, batch)
    return min(
        fitting,
        key=lambda one: (one.tensor, round(one.step_seconds / one.batch, 12), one.sharded, one.recompute),
        default=None,
    )


def least_memory(model: SizedModel, cluster: Cluster, batch: int) -> int:
    """Bytes on a device in the layout that needs the least."""
    tensor = min(cluster.devices, cluster.devices_per_node)
    replicas = max(1, min(cluster.devices // tensor, batch))
    return Layout(model, cluster, replicas, 1, tensor, cluster.devices > tensor, True).memory
