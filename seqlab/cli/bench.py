"""seqlab bench: what runs cost when they are used."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def bench(
    runs: Annotated[list[Path], Argument(help="Folders of runs that write.")],
    engine: Annotated[str | None, Option(help="plain or compiled; if not given, compiled where there is one.")] = None,
    threads: Annotated[int | None, Option(help="All cores if not given.")] = None,
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
) -> None:
    """Measure writing: tokens a second alone, of 32 texts and late in a long one; the bytes of weights and state."""
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
            raise UsageError(f"'{path}' does not write text, so that there is nothing to measure.")
    with compute_threads(threads):
        found = [cost(run, path, engine) for path, run in loaded.items()]
    # on validation, so that what a smaller or faster run gives up stands beside what it saves
    quality = {path: run.results and run.results.validation["bits_per_char"] for path, run in loaded.items()}
    if as_json:
        out.print_json(json.dumps([{**asdict(one), "bits_per_char": quality[one.name]} for one in found]))
        return
    after = [f"after {length:,}" for length in LENGTHS]
    columns = ["tokens/s", "architecture", "engine", "alone", f"of {TOGETHER}", *after]
    rows = [
        [one.name, one.arch, one.engine, f"{1 / one.alone:,.0f}", f"{1 / one.together:,.0f}",
         *(f"{1 / one.late[length]:,.0f}" if length in one.late else "-" for length in LENGTHS)]
        for one in found
    ]  # fmt: skip
    table(f"{WRITTEN} tokens a text", columns, rows, texts=3)
    kept = [
        [one.name, f"{quality[one.name]:.4f}" if quality[one.name] else "-",
         *map(in_units, (one.file_bytes, *one.state_bytes.values()))]
        for one in found
    ]  # fmt: skip
    table("\nquality on validation, and bytes", ["", "bits/char", "weights", *(f"state {w}" for w in after)], kept)
    for one in found:
        if engine is None and one.engine == "plain":
            out.print(f"{one.arch} has no compiled loop: it is written plainly.")
    for sentence in crossovers({one.name: one.late for one in found}):
        out.print(f"{sentence}.", markup=False)
