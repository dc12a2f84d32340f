"""seqlab demo: the main job on a text that every Python has."""

from pathlib import Path
from typing import Annotated

from typer import Option

TEMPERATURES = (0.7, 1.0, 1.2)


def demo(
    out: Annotated[Path, Option(help="Where to put the run; an earlier demo there is replaced.")] = Path("runs/demo"),
) -> None:
    """Train an LSTM on a built-in text, see how good it is and let it write: two minutes, offline."""
    from seqlab import api
    from seqlab.cli.show import finished_run, next_steps
    from seqlab.cli.show import out as console

    run = api.train(recipe="demo", out=out, overwrite=out.exists())
    finished_run(run)
    for temperature in TEMPERATURES:
        console.print(f"\n[bold]What it writes at temperature {temperature}[/]")
        written = run.generate("The ", 300, temperature=temperature)
        console.print("The " + str(written), markup=False, style="dim")
    next_steps(
        f'seqlab generate {out} --prompt "A class " --temperature 0.8',
        f"seqlab resume {out} --more 1000",
        "seqlab doctor my.txt",
        "seqlab train my.txt",
    )
