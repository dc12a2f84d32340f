"""seqlab bench: generation speed and memory of trained models."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.cli import options

EXAMPLES = ("seqlab bench runs/my-gru-1", "seqlab bench runs/my-gru-1 runs/my-transformer-1 --threads 1 --json")


def bench(
    runs: Annotated[list[Path], Argument(help="Folders of language models.")],
    engine: Annotated[str | None, Option(help="plain or compiled; default compiled if available.")] = None,
    threads: Annotated[int | None, Option(help="CPU threads; default OMP_NUM_THREADS, or all cores.")] = None,
    as_json: options.Json = False,
) -> None:
    """Measure generation: tokens per second alone, in a batch and at long context; bytes of weights and state."""
    from dataclasses import asdict

    from seqlab import api
    from seqlab.cli.show import console, table
    from seqlab.errors import UsageError
    from seqlab.measures.cost import LENGTHS, TOGETHER, WRITTEN
    from seqlab.measures.cost import cost as measure_cost
    from seqlab.measures.crossover import crossovers
    from seqlab.models.parameter_count import in_units
    from seqlab.threads import compute_threads

    loaded = {str(path): api.load(path) for path in runs}
    for path, run in loaded.items():
        if not run.generates:
            raise UsageError(f"'{path}' is not a language model: there is no generation to measure.")
    with compute_threads(threads):
        costs = [measure_cost(run, path, engine) for path, run in loaded.items()]
    # the quality that a smaller or faster model gives up
    bits = {path: run.results and run.results.validation["bits_per_char"] for path, run in loaded.items()}
    if as_json:
        console.print_json(data=[{**asdict(cost), "bits_per_char": bits[cost.name]} for cost in costs])
        return
    after = [f"after {length:,}" for length in LENGTHS]
    columns = ["tokens/s", "architecture", "engine", "alone", f"batch of {TOGETHER}", *after]
    rows = [
        [cost.name, cost.arch, cost.engine, f"{1 / cost.alone:,.0f}", f"{1 / cost.together:,.0f}",
         *(f"{1 / cost.late[length]:,.0f}" if length in cost.late else "-" for length in LENGTHS)]
        for cost in costs
    ]  # fmt: skip
    table(f"{WRITTEN} tokens per text", columns, rows, texts=3)
    memory = [
        [cost.name, f"{bits[cost.name]:.4f}" if bits[cost.name] else "-",
         *map(in_units, (cost.file_bytes, *cost.state_bytes.values()))]
        for cost in costs
    ]  # fmt: skip
    table("\nvalidation quality and memory", ["", "bits/char", "weights", *(f"state {w}" for w in after)], memory)
    for cost in costs:
        if engine is None and cost.engine == "plain":
            console.print(f"{cost.arch} has no compiled engine: these are the speeds of the plain one.")
    for sentence in crossovers({cost.name: cost.late for cost in costs}):
        console.print(f"{sentence}.", markup=False)
