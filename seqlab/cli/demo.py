"""seqlab demo: a whole comparison on a text that every Python installation has."""

import shlex
from pathlib import Path
from typing import Annotated

from typer import Option

EXAMPLES = ("seqlab demo", "seqlab demo --out runs/another-demo")


def demo(
    out: Annotated[
        Path, Option(help="Folder of the comparison; the same command continues one that was stopped.")
    ] = Path("runs/demo"),
) -> None:
    """Compare three architectures on a built-in text and use the best: a few minutes, offline."""
    from seqlab import api
    from seqlab.cli.show import console, next_steps, print_comparison, print_sample
    from seqlab.recipes import find_recipe

    comparison = api.compare(recipe="demo", out=out, command=f"seqlab compare --recipe demo --out {out}")
    print_comparison(comparison)
    baselines = {baseline.name for baseline in comparison.results.baselines}
    if any(pair.a in baselines for pair in comparison.results.baseline_pairs):
        for note in find_recipe("demo").findings.notes:
            console.print(note, markup=False, soft_wrap=True)
    print_sample(comparison)
    folder = shlex.quote(str(out))
    next_steps(
        f'seqlab generate {folder} --prompt "A class " --temperature 0.8',
        f"seqlab train --from {folder} --steps 3000",
        "seqlab doctor my.txt",
        "seqlab compare my.txt",
    )
