"""All commands, in the groups that `seqlab --help` shows."""

import typer

from seqlab.cli.audit import audit
from seqlab.cli.bench import bench
from seqlab.cli.compare import compare
from seqlab.cli.demo import demo
from seqlab.cli.distill import distill
from seqlab.cli.doctor import doctor
from seqlab.cli.evaluate import evaluate
from seqlab.cli.export import export
from seqlab.cli.generate import generate
from seqlab.cli.listing import list_registered
from seqlab.cli.predict import predict
from seqlab.cli.quantize import quantize
from seqlab.cli.report import report
from seqlab.cli.results import results
from seqlab.cli.resume import resume
from seqlab.cli.runs import runs
from seqlab.cli.train import train
from seqlab.registry import allow_plugin

TRAIN, USE, COMPARE, LOOK = "Train", "Use", "Compare", "Look inside"

app = typer.Typer(
    name="seqlab",
    help="Train, compare and look inside sequence models, on your own text.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def options(
    version: bool = typer.Option(False, "--version", help="Print the version."),
    plugin: list[str] = typer.Option(
        [], metavar="MODULE:CLASS", help="Code of another package that a run may use; repeat for several."
    ),
) -> None:
    for name in plugin:
        allow_plugin(name)
    if version:
        from seqlab import __version__

        typer.echo(f"seqlab {__version__}")
        raise typer.Exit


app.command(rich_help_panel=TRAIN)(train)
app.command(rich_help_panel=TRAIN)(resume)
app.command(rich_help_panel=TRAIN)(demo)
app.command(rich_help_panel=USE)(generate)
app.command(rich_help_panel=USE)(predict)
app.command(rich_help_panel=USE)(evaluate)
app.command(rich_help_panel=USE)(quantize)
app.command(rich_help_panel=USE)(export)
app.command(rich_help_panel=COMPARE)(compare)
app.command(rich_help_panel=COMPARE)(distill)
app.command(rich_help_panel=COMPARE)(report)
app.command(rich_help_panel=COMPARE)(runs)
app.command(rich_help_panel=COMPARE)(results)
app.command(rich_help_panel=COMPARE)(bench)
app.command(rich_help_panel=LOOK)(doctor)
app.command(rich_help_panel=LOOK)(audit)
app.command(rich_help_panel=LOOK, name="list")(list_registered)
