"""seqlab demo: the main job on a text that every Python has."""

from pathlib import Path
from typing import Annotated

from typer import Option


def demo(
    out: Annotated[Path, Option(help="Where to put the comparison; one that was stopped goes on.")] = Path("runs/demo"),
) -> None:
    """Compare three architectures on a built-in text and use the best: a few minutes, offline."""
    from seqlab.cli.compare import finished_comparison, shown_sample
    from seqlab.cli.show import next_steps
    from seqlab.cli.show import out as console
    from seqlab.comparison.compare import compare
    from seqlab.recipes import find_recipe

    done = compare(recipe="demo", out=out, command=f"seqlab compare --recipe demo --out {out}")
    finished_comparison(done)
    baselines = {baseline.name for baseline in done.results.baselines}
    if any(pair.a in baselines for pair in done.results.baseline_pairs):
        for note in find_recipe("demo").notes:
            console.print(note, markup=False, soft_wrap=True)
    shown_sample(done)
    next_steps(
        f'seqlab generate {out} --prompt "A class " --temperature 0.8',
        f"seqlab train --from {out} --steps 3000",
        "seqlab doctor my.txt",
        "seqlab compare my.txt",
    )
