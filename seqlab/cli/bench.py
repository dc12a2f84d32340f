"""seqlab bench: generation speed and memory of trained models."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

EXAMPLES = ("seqlab bench runs/my-gru-1", "seqlab bench runs/my-gru-1 runs/my-transformer-1 --threads 1 --json")


def bench(
    runs: Annotated[list[Path], Argument(help="Folders of language models.")],
    engine: Annotated[str | None, Option(help="plain or compiled; default compiled if available.")] = None,
    threads: Annotated[int | None, Option(help="CPU threads; default all cores.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure generation: tokens per second alone, in a batch and at long context; bytes of weights and state."""
    import json
    from dataclasses import asdict

    from seqlab import api
    from seqlab.cli.show import out, table
    from seqlab.errors import UsageError
    from seqlab.measures.cost import LENGTHS, TOGETHER, WRITTEN, cost
    from seqlab.measures.crossover import crossovers
    from seqlab.models.parameter_count import in_units
    from seqlab.threads import compute_threads

    loaded = {str(path): api.load(path) for path in runs}
    for path, run in loaded.items():
        if not run.generates:
            raise UsageError(f"'{path}' is not a language model: there is no generation to measure.")
    with compute_threads(threads):
        costs = [cost(run, path, engine) for path, run in loaded.items()]
    # what a smaller or faster model gives up, beside what it saves
    bits = {path: run.results and run.results.validation["bits_per_char"] for path, run in loaded.items()}
    if as_json:
        out.print_json(json.dumps([{**asdict(one), "bits_per_char": bits[one.name]} for one in costs]))
        return
    after = [f"after {length:,}" for length in LENGTHS]
    columns = ["tokens/s", "architecture", "engine", "alone", f"batch of {TOGETHER}", *after]
    rows = [
        [one.name, one.arch, one.engine, f"{1 / one.alone:,.0f}", f"{1 / one.together:,.0f}",
         *(f"{1 / one.late[length]:,.0f}" if length in one.late else "-" for length in LENGTHS)]
        for one in costs
    ]  # fmt: skip
    table(f"{WRITTEN} tokens per text", columns, rows, texts=3)
    memory = [
        [one.name, f"{bits[one.name]:.4f}" if bits[one.name] else "-",
         *map(in_units, (one.file_bytes, *one.state_bytes.values()))]
        for one in costs
    ]  # fmt: skip
    table("\nvalidation quality and memory", ["", "bits/char", "weights", *(f"state {w}" for w in after)], memory)
    for one in costs:
        if engine is None and one.engine == "plain":
            out.print(f"{one.arch} has no compiled engine: this is the plain one.")
    for sentence in crossovers({one.name: one.late for one in costs}):
        out.print(f"{sentence}.", markup=False)
