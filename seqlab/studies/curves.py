"""The curves of several runs in one picture."""

import math
from collections.abc import Sequence
from pathlib import Path

from seqlab.runs.figure import new_figure, quiet, write_figure
from seqlab.studies.record import Record

COLOURS = ["#1f4e9c", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#a16207", "#be185d", "#4b5563"]
STYLES = ["-", ":", "-."]  # when the colours are used up


def draw_together(records: Sequence[Record], title: str, path: Path) -> None:
    """Training (dashed) and validation loss on the left, validation perplexity on the right."""
    figure = new_figure(10, 4, dpi=120)
    left, right = figure.subplots(1, 2)
    for at, record in enumerate(records):
        colour, style = COLOURS[at % len(COLOURS)], STYLES[at // len(COLOURS) % len(STYLES)]
        steps = [one["step"] for one in record.evaluations]
        validation = [one["validation_loss"] for one in record.evaluations]
        if len(records) <= len(COLOURS):  # more would hide each other
            left.plot(steps, [one["train_loss"] for one in record.evaluations], "--", color=colour, linewidth=1)
        left.plot(steps, validation, style, color=colour, linewidth=1.6, label=record.model)
        right.plot(steps, [math.exp(loss) for loss in validation], style, color=colour, linewidth=1.6)
    dashed = " (training dashed)" if len(records) <= len(COLOURS) else " (validation)"
    left.set(title=f"{title}: loss{dashed}", xlabel="step", ylabel="nats per token")
    right.set(title="validation perplexity", xlabel="step")
    for axes in (left, right):
        quiet(axes)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    write_figure(figure, path)
