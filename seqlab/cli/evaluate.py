"""seqlab evaluate: how well a run predicts a text."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option


def evaluate(
    run: Annotated[Path, Argument(help="The run's folder.")],
    text: Annotated[list[str] | None, Argument(help="Another text; the run's own held-out part if not given.")] = None,
    split: Annotated[str, Option(help="train, validation or test.")] = "validation",
    mode: Annotated[
        str | None, Option(help="Of a text: window (fresh state for each) or carry (state carried through).")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="As JSON.")] = False,
) -> None:
    """How well a run predicts, labels, tags or translates held-out data, and what the figures mean."""
    import json

    from seqlab import api
    from seqlab.cli.show import metrics_table, out, scored_amount, table

    result = api.load(run).evaluate(text, split=split, mode=mode)
    content = result.as_dict()
    if as_json:
        out.print_json(json.dumps(content))
        return
    part = ", ".join(text) if text else split
    how = f", context: {result.mode} (windows of {result.window})" if result.window else ""
    title = f"{part}: {scored_amount(result.metrics)}{how}"
    metrics_table(title, [(run.name, result.metrics)], [result.headline_metric])
    out.print(str(result)[0].upper() + str(result)[1:] + ".")
    if result.signature:
        out.print(f"BLEU by sacrebleu: {result.signature}", markup=False)
    if content.get("unknown_share"):
        cost = content["unknown_nats_per_token"]
        out.print(f"{content['unknown_share']:.2%} of the tokens are unknown symbols, at {cost:.2f} nats each.")
    if result.mode == "window":
        chosen = [place for place in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if place <= len(result.by_position)]
        out.print("\nLoss by position in the window (nats):")
        table("", [str(place) for place in chosen], [[f"{result.by_position[place - 1]:.3f}" for place in chosen]])
