"""A training on paper: the model, its layout, time, energy, and where more devices stop helping."""

import math
from dataclasses import dataclass, replace
from typing import Any

from seqlab.config import TokenizerSettings
from seqlab.errors import UsageError
from seqlab.models.parameter_count import in_units
from seqlab.scale.cluster import ASSUMPTIONS, Cluster
from seqlab.scale.layout import Layout, best_layout, least_memory
from seqlab.scale.model import SizedModel

BATCH_TOKENS, BATCH_SIZE = 2**19, 1e9  # tokens of a global batch, for a model of this size
BATCH_EXPONENT = 1 / 3  # GPT-3's models: 0.5 million tokens for 125 million parameters, 3.2 million for 175 billion
USEFUL = 0.5  # efficiency below which more devices do not help
MOST_DEVICES = 2**20
LEAST_TOKENS, MOST_TOKENS = 1e3, 1e16


@dataclass(frozen=True)
class ScalePlan:
    """A model, trained on `tokens` tokens in a layout."""

    layout: Layout
    tokens: float

    @property
    def model(self) -> SizedModel:
        return self.layout.model

    @property
    def steps(self) -> int:
        return max(1, math.ceil(self.tokens / (self.layout.batch * self.model.length)))

    @property
    def trained_tokens(self) -> int:
        """Those of whole steps: less than one step more than were asked for."""
        return self.steps * self.layout.batch * self.model.length

    @property
    def flops(self) -> float:
        """Of the whole training, without what is computed twice."""
        return self.trained_tokens * self.model.flops_per_token()

    @property
    def seconds(self) -> float:
        return self.steps * self.layout.step_seconds

    @property
    def device_hours(self) -> float:
        return self.layout.cluster.devices * self.seconds / 3600

    @property
    def kilowatt_hours(self) -> float:
        cluster = self.layout.cluster
        return self.device_hours * cluster.watts * cluster.overhead / 1000

    @property
    def command(self) -> str:
        """How seqlab trains the model, with its settings."""
        settings, layout = self.model.settings, self.layout
        backbone = settings.backbone.settings
        options = {
            "--arch": settings.backbone.name,
            **({} if settings.task.name == "language" else {"--task": settings.task.name}),
            "--hidden": backbone.hidden,
            "--layers": backbone.layers,
            "--embedding": settings.model.embedding,
            "--tokenizer": settings.tokenizer.name,
            **({"--vocab-size": kept} if (kept := settings.tokenizer.settings.option("vocab_size", None)) else {}),
            "--window": self.model.length,
            "--batch-size": layout.at_once,
            "--steps": self.steps,
            **({} if layout.sharded else {"--precision": "bf16"}),  # seqlab shards in float32 only
        }
        words = [f"{name} {value}" for name, value in options.items()]
        extra = {"train.accumulate": layout.parts, "backbone.heads": backbone.option("heads", 1)}
        words += [f"--set {key}={value}" for key, value in extra.items() if value != 1]
        words += [f"--set tokenizer.{key}={str(value).lower()}" for key, value in _further(settings.tokenizer.settings)]
        words += ["--set train.shard=true"] * layout.sharded + ["--set train.recompute=true"] * layout.recompute
        return " ".join([self._launcher, "train TEXT", *words, "--set train.device=cuda --out RUN"])

    @property
    def processes_per_node(self) -> list[int]:
        """One process for each device that has something to do; the last node may have fewer."""
        full, rest = divmod(self.layout.used, self.layout.cluster.devices_per_node)
        return [self.layout.cluster.devices_per_node] * full + [rest] * (rest > 0)

    @property
    def _launcher(self) -> str:
        """What starts the processes; on several nodes, it is started on each of them."""
        nodes = self.processes_per_node
        if nodes == [1]:
            return "seqlab"
        if len(nodes) == 1:
            return f"torchrun --nproc-per-node {nodes[0]} -m seqlab"
        each = nodes[0] if nodes[0] == nodes[-1] else "PROCESSES"
        meeting = "--rdzv-backend c10d --rdzv-endpoint FIRST-NODE:29500 --rdzv-id RUN"
        return f"torchrun --nnodes {len(nodes)} --nproc-per-node {each} {meeting} -m seqlab"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        layout, cluster = self.layout, self.layout.cluster
        return {
            "arch": self.model.arch,
            "parameters": self.model.parameters,
            "hidden": self.model.settings.backbone.settings.hidden,
            "layers": self.model.settings.backbone.settings.layers,
            "tokenizer": self.model.settings.tokenizer.name,
            "vocab_size": self.model.vocab_size,
            "window": self.model.length,
            "tokens": self.tokens,
            "trained_tokens": self.trained_tokens,
            "devices": cluster.devices,
            "devices_used": layout.used,
            "processes_per_node": self.processes_per_node,
            "layout": layout.name,
            "sharded": layout.sharded,
            "tensor_parallel": layout.tensor,
            "recompute": layout.recompute,
            "batch_sequences": layout.batch,
            "batch_size": layout.at_once,
            "rows_per_device": layout.rows,
            "accumulate": layout.parts,
            "steps": self.steps,
            "flops": self.flops,
            "flops_per_token": self.model.flops_per_token(),
            "step_seconds": layout.step_seconds,
            "compute_seconds": layout.compute_seconds,
            "communication_seconds": layout.gradient_seconds,
            "waiting_seconds": layout.waiting_seconds,
            "bytes_sent_per_step": layout.gradient_bytes + layout.tensor_bytes,
            "bound": layout.bound,
            "efficiency": layout.efficiency,
            "seconds": self.seconds,
            "device_hours": self.device_hours,
            "kilowatt_hours": self.kilowatt_hours,
            "memory_per_device": layout.memory,
            "command": self.command,
            "assumptions": {name: getattr(cluster, name) for name in ASSUMPTIONS},
        }


def _further(tokenizer: TokenizerSettings) -> list[tuple[str, Any]]:
    """What is not as by default, beside the size of the vocabulary."""
    changed = tokenizer.model_dump(mode="json", exclude_defaults=True)
    return [(key, value) for key, value in changed.items() if key != "vocab_size"]


def default_batch_tokens(parameters: float) -> int:
    """Tokens of a global batch for a model of this size."""
    return round(BATCH_TOKENS * (parameters / BATCH_SIZE) ** BATCH_EXPONENT)


def make_plan(model: SizedModel, cluster: Cluster, tokens: float, batch: int) -> ScalePlan:
    """The fastest layout with about `batch` sequences in a step; UsageError where the model fits in none."""
    if not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise UsageError(f"--tokens is {tokens:g}: expected {LEAST_TOKENS:g} to {MOST_TOKENS:g}.")
    layout = best_layout(model, cluster, batch)
    if layout is None:
        least = least_memory(model, cluster, batch)
        raise UsageError(
            f"a {model.arch} of {model.parameters:,} parameters does not fit: shared by all {cluster.devices:,} "
            f"devices, with one sequence of {model.length:,} tokens and activations computed twice, a device needs "
            f"{in_units(least)} and may use {in_units(cluster.memory * cluster.usable_memory)}. Use more devices or "
            f"devices with more memory, a smaller model, or a shorter --window."
        )
    return ScalePlan(layout, tokens)


def sequences_of(model: SizedModel, batch_tokens: int | None) -> int:
    """Sequences of a global batch; UsageError for less than one."""
    tokens = default_batch_tokens(model.parameters) if batch_tokens is None else batch_tokens
    if batch_tokens is not None and batch_tokens < model.length:
        raise UsageError(f"--batch-tokens is {batch_tokens:,}, less than one sequence of {model.length:,} tokens.")
    return max(1, round(tokens / model.length))


def most_devices(model: SizedModel, cluster: Cluster, batch: int) -> tuple[int, str]:
    """The largest power of two of devices that are used at half their speed or better, and what limits more; 0 where
    even the fewest are not, and why."""
    best, reason, devices = 0, "memory", 1
    while devices <= MOST_DEVICES:
        layout = best_layout(model, replace(cluster, devices=devices), batch)
        if layout is not None and layout.efficiency >= USEFUL:
            best = devices
        elif layout is not None and (best or reason == "memory"):
            reason = layout.loses_most_by
            if best:
                break
        devices *= 2
    return best, reason
