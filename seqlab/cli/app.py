"""All commands, in the groups that `seqlab --help` shows."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from seqlab.cli.audit import audit
from seqlab.cli.bench import bench
from seqlab.cli.compare import compare
from seqlab.cli.demo import demo
from seqlab.cli.distill import distill
from seqlab.cli.doctor import doctor
from seqlab.cli.embed import embed
from seqlab.cli.evaluate import evaluate
from seqlab.cli.export import export
from seqlab.cli.generate import generate
from seqlab.cli.index import index
from seqlab.cli.inspect import inspect
from seqlab.cli.learn import learn
from seqlab.cli.listing import list_registered
from seqlab.cli.map import map as draw_map
from seqlab.cli.plan import plan
from seqlab.cli.predict import predict
from seqlab.cli.quantize import quantize
from seqlab.cli.report import report
from seqlab.cli.results import results
from seqlab.cli.resume import resume
from seqlab.cli.runs import runs
from seqlab.cli.search import search
from seqlab.cli.speedrun import speedrun
from seqlab.cli.train import train
from seqlab.distributed.world import SHARED, launched, refuse_several
from seqlab.errors import UsageError
from seqlab.registry import allow_plugin


class LastHolds(TyperCommand):
    """A command that says of an option given twice which value holds: people append options to a printed command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        values, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for option, times in Counter(order).items():
            if times == 1 or not isinstance(option, TyperOption) or option.multiple:
                continue
            if option.secondary_opts or not option.is_flag:  # of a flag without an opposite, nothing is dropped
                held = values[option.name or ""]
                if not launched().is_writer:  # of several processes one prints
                    continue
                typer.echo(f"note: {option.opts[0]} was given {times} times: the last value holds, {held}", err=True)
        return super().parse_args(ctx, args)


class Commands(TyperGroup):
    """All commands; they end quietly if the reader of their output is gone: `seqlab list archs | head -1`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name not in SHARED:
            refuse_several(name)
        return name, command, rest

    def main(self, *args: Any, **options: Any) -> Any:
        """Of several processes one says what is wrong with the options, in a line as that of any other error."""
        if launched().size == 1:
            return super().main(*args, **options)
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except Exception as error:
            if (said := getattr(error, "format_message", None)) is None:
                raise
            raise UsageError(said()) from None
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(141)  # as if by the signal
        except Exception as error:
            dashed = [word for word in sys.argv[1:] if word.startswith("-") and Path(word).is_file()]
            if dashed and hasattr(error, "option_name"):  # an unknown option
                raise UsageError(f"'{dashed[0]}' begins with a dash, as options do: write ./{dashed[0]}") from None
            if ctx.invoked_subcommand == "search" and "extra argument" in str(error):  # it is the second word
                raise UsageError('put a query of several words in quotes: seqlab search INDEX "two words"') from None
            raise


app = typer.Typer(
    name="seqlab",
    cls=Commands,
    help="Train, compare and inspect sequence models on your own text.",
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


PANELS = {
    "Train": (train, resume, speedrun, demo, plan),
    "Use": (generate, predict, evaluate, quantize, export),
    "Search": (index, search, draw_map, embed),
    "Compare": (compare, distill, report, runs, results, bench),
    "Inspect": (doctor, audit, inspect, list_registered),
    "Learn": (learn,),
}


def _epilog(command: Callable[..., None]) -> str:
    """The examples at the end of a command's help: paragraphs, because typer joins the lines of one."""
    examples = sys.modules[command.__module__].EXAMPLES
    return "\n\n".join(["Examples:", *(f"  {example}" for example in examples)])


for panel, commands in PANELS.items():
    for command in commands:
        name = "list" if command is list_registered else None
        app.command(name, cls=LastHolds, rich_help_panel=panel, epilog=_epilog(command))(command)
