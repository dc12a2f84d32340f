"""seqlab inspect: what happens inside a model."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from seqlab.cli import options

if TYPE_CHECKING:
    from seqlab.runs.run import Run

EXAMPLES = ("seqlab inspect runs/my-gru-1 --list", "seqlab inspect runs/my-gru-1 --list --json")


def inspect(
    run: options.RunFolder,
    listed: Annotated[bool, Option("--list", help="List what the model records.")] = False,
    as_json: options.Json = False,
) -> None:
    """Look inside a trained model: what its gates, states and attention do."""
    from seqlab import api
    from seqlab.errors import UsageError

    if not listed:
        raise UsageError("expected --list.")
    _list(api.load(run), as_json)


def _list(run: "Run", as_json: bool) -> None:
    from dataclasses import asdict

    from seqlab.cli.show import console, table

    arch, records = run.settings.backbone.name, run.model.records
    if as_json:
        console.print_json(data={name: asdict(about) for name, about in records.items()})
        return
    table("", ["name", "kind", ""], [[name, about.kind, about.about] for name, about in records.items()], texts=3)
    if not run.model.backbone.records:
        console.print(
            f"The architecture '{arch}' declares nothing that it records: views that need only what goes in and what "
            "comes out remain.",
            markup=False,
        )
