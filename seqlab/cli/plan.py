"""seqlab plan: a training on many devices, on paper."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from seqlab.cli import options
from seqlab.registry import BACKBONES
from seqlab.scale.cluster import A100_BYTES, A100_FLOPS, ASSUMPTIONS, VOCAB_SIZE, WINDOW, Cluster

if TYPE_CHECKING:
    from seqlab.scale.interface import PlannedTraining

EXAMPLES = (
    "seqlab plan --arch transformer --params 1e9 --tokens 2e10 --devices 64",
    "seqlab plan --arch all --params 1e9 --tokens 2e10 --devices 8,64,512",
    "seqlab plan --arch lstm --params 1e7 --tokens 1e9 --devices 1 --from small",
)


def _number(option: str, text: str | float) -> float:
    """As people write large numbers; the error shows what was given."""
    from seqlab.errors import UsageError

    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{option} is '{text}': expected a number, such as 1e9 or 2.5e10.") from None


def _bytes(text: str | float) -> float:
    from seqlab.training.memory_limit import parse_size

    try:
        return float(text)
    except ValueError:
        return parse_size(str(text))


Assumed = partial(Option, rich_help_panel="Assumptions")


def plan(
    arch: Annotated[
        str, Option(help=f"{', '.join(BACKBONES)}; several with commas, or all.", autocompletion=lambda: [*BACKBONES])
    ],
    params: Annotated[float, Option(help="Parameters of the model, such as 1e9.", parser=partial(_number, "--params"))],
    tokens: Annotated[float, Option(help="Tokens to train on, such as 2e10.", parser=partial(_number, "--tokens"))],
    devices: Annotated[str, Option(help="Number of devices; several with commas.")],
    flops_per_device: Annotated[
        float, Option(help="Peak FLOPs per second of a device, in the training precision; default that of an A100.")
    ] = A100_FLOPS,
    memory_per_device: Annotated[
        float, Option(help="Memory of a device, in bytes or as 80GB; default that of an A100.", parser=_bytes)
    ] = A100_BYTES,
    runs: Annotated[
        list[Path] | None, Option("--from", help="Comparison or run to extrapolate the loss from; repeat for several.")
    ] = None,
    window: Annotated[
        int | None, Option(help=f"Tokens of a sequence; default that of --from, else {WINDOW:,}.")
    ] = None,
    vocab_size: Annotated[
        int | None, Option(help=f"Size of the vocabulary; default that of --from, else {VOCAB_SIZE:,}.")
    ] = None,
    layers: Annotated[int | None, Option(help="Layers; default by the size.")] = None,
    hidden: Annotated[int | None, Option(help="Width; default by the size.")] = None,
    batch_tokens: Annotated[int | None, Option(help="Tokens of a global batch; default by the size.")] = None,
    utilization: Annotated[float, Assumed(help=f"{ASSUMPTIONS['utilization']}.")] = Cluster.utilization,
    bandwidth: Annotated[float, Assumed(help=f"{ASSUMPTIONS['bandwidth']}.")] = Cluster.bandwidth,
    node_bandwidth: Annotated[float, Assumed(help=f"{ASSUMPTIONS['node_bandwidth']}.")] = Cluster.node_bandwidth,
    devices_per_node: Annotated[int, Assumed(help=f"{ASSUMPTIONS['devices_per_node']}.")] = Cluster.devices_per_node,
    memory_bandwidth: Annotated[float, Assumed(help=f"{ASSUMPTIONS['memory_bandwidth']}.")] = Cluster.memory_bandwidth,
    latency: Annotated[float, Assumed(help=f"{ASSUMPTIONS['latency']}.")] = Cluster.latency,
    watts: Annotated[float, Assumed(help=f"{ASSUMPTIONS['watts']}.")] = Cluster.watts,
    overhead: Annotated[float, Assumed(help=f"{ASSUMPTIONS['overhead']}.")] = Cluster.overhead,
    usable_memory: Annotated[float, Assumed(help=f"{ASSUMPTIONS['usable_memory']}.")] = Cluster.usable_memory,
    as_json: options.Json = False,
) -> None:
    """Plan the training of a large model: time, energy, memory, layout, and where more devices stop helping."""
    assumed = {name: value for name, value in locals().items() if name in ASSUMPTIONS}
    from seqlab import api
    from seqlab.cli.show import console

    planned = api.plan(
        arch.split(","),
        params=params,
        tokens=tokens,
        devices=_counts(devices),
        flops_per_device=flops_per_device,
        memory_per_device=memory_per_device,
        runs=runs or (),
        window=window,
        vocab_size=vocab_size,
        layers=layers,
        hidden=hidden,
        batch_tokens=batch_tokens,
        **assumed,
    )
    if as_json:
        console.print_json(data=[one.as_dict() for one in planned])
    elif len(planned) == 1:
        _print_plan(planned[0])
    else:
        _print_table(planned)


def _counts(devices: str) -> list[int]:
    from seqlab.errors import UsageError

    try:
        counts = [float(count) for count in devices.split(",")]
        if all(map(float.is_integer, counts)):
            return [int(count) for count in counts]
    except ValueError:
        pass
    raise UsageError(f"--devices is '{devices}': expected a whole number, or several with commas.")


def _print_plan(planned: "PlannedTraining") -> None:
    from seqlab.cli.show import console
    from seqlab.scale.wording import plan_lines

    for line in plan_lines(planned):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _print_table(planned: "list[PlannedTraining]") -> None:
    from seqlab.cli.show import console, table
    from seqlab.scale.wording import COLUMNS, assumption_lines, table_row

    first = planned[0].plan
    table(f"{first.tokens:g} tokens", list(COLUMNS), [table_row(one) for one in planned], texts=4)
    for line in assumption_lines(first.layout.cluster):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
