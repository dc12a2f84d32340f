"""A plan in words: the sheet of one, the row of a table, and what is assumed."""

from typing import TYPE_CHECKING

from seqlab.models.parameter_count import in_units
from seqlab.scale.cluster import ASSUMPTIONS, Cluster
from seqlab.wording import counted

if TYPE_CHECKING:
    from seqlab.scale.interface import PlannedTraining
    from seqlab.scale.layout import Layout
    from seqlab.scale.plan import ScalePlan
    from seqlab.scale.trained import LossPerToken

COLUMNS = (
    *("architecture", "layout", "bound by", "half speed up to", "devices"),
    *("time", "efficiency", "memory", "sent per step", "MWh"),
)
NO_NUMBER = "none at half speed"  # of devices


def in_time(seconds: float) -> str:
    """90,000 to '25.0 hours'."""
    for unit, size in (("years", 365 * 86_400), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} seconds"


def in_energy(kilowatt_hours: float) -> str:
    return f"{kilowatt_hours / 1000:,.1f} MWh" if kilowatt_hours >= 1000 else f"{kilowatt_hours:,.1f} kWh"


def plan_lines(planned: "PlannedTraining") -> list[str]:
    one, layout = planned.plan, planned.plan.layout
    model, backbone = one.model, one.model.settings.backbone.settings
    recompute = ", activations computed twice" if layout.recompute else ""
    tensor = "\n            seqlab does not split matrices between devices: this needs another engine"
    sharded = "\n            seqlab shards in float32 only, which needs more memory and time than this"
    idle, rounded = layout.cluster.devices - layout.used, layout.batch != planned.asked_batch
    lines = [
        f"model       {model.arch}, {model.parameters:,} parameters: {counted(backbone.layers, 'layer')}, "
        f"{backbone.hidden} wide, vocabulary {model.vocab_size:,}, sequences of {model.length:,}",
        f"compute     {one.flops:.3g} FLOPs: {one.trained_tokens:.3g} tokens at {model.flops_per_token():.3g}",
        f"layout      {layout.name}{tensor if layout.tensor > 1 else sharded if layout.sharded else ''}",
        f"batch       {layout.batch * model.length:,} tokens: {_sequences(layout)}{recompute}"
        + (f"; {planned.asked_batch:,} sequences, rounded to equal parts" if rounded else "")
        + (f"; {idle:,} devices have nothing to do" if idle else ""),
        f"tokens      {one.trained_tokens:,} in {counted(one.steps, 'whole step')}; {one.tokens:,.0f} were asked for",
        f"memory      {in_units(layout.memory)} of {in_units(layout.cluster.memory)} per device",
        f"a step      {layout.step_seconds:.3g} s: computing {layout.compute_seconds:.3g}, beside it sending "
        f"{in_units(layout.gradient_bytes)} {layout.gradient_seconds:.3g}, waiting {layout.waiting_seconds:.3g}",
        f"time        {in_time(one.seconds)} for {one.steps:,} steps, {one.device_hours:,.0f} device hours, bound by "
        f"{layout.bound}",
        f"energy      {in_energy(one.kilowatt_hours)}",
        f"scaling     {_scaling(planned)}",
    ]
    if planned.expected is not None:
        expected, law = planned.expected, planned.expected.law
        lines.append(
            f"loss        {expected.loss:.3f} nats/token, 95% from {expected.low:.3f} to {expected.high:.3f}: "
            f"{law.E:.3g} + {law.A:.3g}/N^{law.a:.2f} + {law.B:.3g}/D^{law.b:.2f}, fitted to {len(law.points)} runs"
        )
        lines.append(f"            {_measured(expected.measured, model.length)}")
    return [*lines, *_settings_lines(one), *assumption_lines(layout.cluster)]


def _sequences(layout: "Layout") -> str:
    """How a batch is divided into parts and among devices."""
    parts = f"{layout.parts} parts of " if layout.parts > 1 else ""
    shared = "" if layout.tensor == 1 else f" {layout.tensor} of"
    most = "" if layout.at_once % layout.replicas == 0 else "up to "
    each = f", {most}{layout.rows} on each{shared} of {layout.used:,} devices" if layout.used > 1 else ""
    return f"{parts}{counted(layout.at_once, 'sequence')}{each}"


def _measured(measured: "LossPerToken", length: int) -> str:
    """What the model has from the runs, and where it differs from them."""
    vocabulary = f"tokenizer {measured.tokenizer['name']} and vocabulary of {measured.vocab_size:,}"
    if length == measured.window:
        return f"{vocabulary}, sequences of {length:,}: those of the runs"
    return f"{vocabulary}: those of the runs; they were scored in sequences of {measured.window:,}, and so is this loss"


def _settings_lines(one: "ScalePlan") -> list[str]:
    lines, nodes = [f"settings    {one.command}"], one.processes_per_node
    if len(nodes) > 1:
        uneven = f"; PROCESSES is {nodes[0]} on {counted(len(nodes) - 1, 'node')} and {nodes[-1]} on the last"
        rest = uneven if nodes[0] != nodes[-1] else ""
        lines.append(
            f"            on each of {len(nodes):,} nodes, with the name of the first and a shared folder{rest}"
        )
    return lines


def _scaling(planned: "PlannedTraining") -> str:
    if not planned.most_devices:
        return f"no number of devices is used at half its speed: the time goes into {planned.limited_by}"
    return (
        f"up to {planned.most_devices:,} devices are used at half their speed or better; beyond that, it is bound by "
        f"{planned.limited_by}"
    )


def assumption_lines(cluster: Cluster) -> list[str]:
    """Every assumption, with its option."""
    lines = [
        f"            --{name.replace('_', '-')} {getattr(cluster, name):g}: {about}"
        for name, about in ASSUMPTIONS.items()
    ]
    return ["assumed     weights, gradients and moments in float32, products in bfloat16; AdamW", *lines]


def table_row(planned: "PlannedTraining") -> list[str]:
    one, layout = planned.plan, planned.plan.layout
    sent = in_units(layout.gradient_bytes + layout.tensor_bytes)
    return [
        one.model.arch,
        layout.name + (", recomputing" if layout.recompute else ""),
        layout.bound,
        f"{planned.most_devices:,}" if planned.most_devices else NO_NUMBER,
        f"{layout.cluster.devices:,}",
        in_time(one.seconds),
        f"{layout.efficiency:.0%}",
        in_units(layout.memory),
        sent,
        f"{one.kilowatt_hours / 1000:,.2f}",
    ]
