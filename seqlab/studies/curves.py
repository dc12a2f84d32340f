"""The curves of several runs in one picture."""

import math
from collections.abc import Sequence
from pathlib import Path

from seqlab.metrics.descriptions import describe
from seqlab.plotting import COLORS, new_figure, quiet, write_figure
from seqlab.studies.record import Record

STYLES = ["-", ":", "-."]  # when the colours are used up


def draw_together(records: Sequence[Record], title: str, path: Path) -> None:
    """Training (dashed) and validation loss on the left; on the right what decides, else validation perplexity."""
    figure = new_figure(10, 4, dpi=120)
    left, right = figure.subplots(1, 2)
    models = list(dict.fromkeys(record.model for record in records))
    decides = records[0].results.get("headline", "bits_per_char")
    told = all(f"validation_{decides}" in one for record in records for one in record.evaluations)
    for record in records:
        at = models.index(record.model)
        look = {"color": COLORS[at % len(COLORS)], "linestyle": STYLES[at // len(COLORS) % len(STYLES)]}
        steps = [one["step"] for one in record.evaluations]
        validation = [one["validation_loss"] for one in record.evaluations]
        if len(records) <= len(COLORS):  # more would hide each other
            left.plot(steps, [one["train_loss"] for one in record.evaluations], "--", color=look["color"], linewidth=1)
        left.plot(steps, validation, **look, linewidth=1.6, label=record.model)
        decided = [one.get(f"validation_{decides}") for one in record.evaluations]
        right.plot(steps, decided if told else [math.exp(loss) for loss in validation], **look, linewidth=1.6)
    dashed = " (training dashed)" if len(records) <= len(COLORS) else " (validation)"
    left.set(
        title=f"{title}: loss{dashed}",
        xlabel="step",
        ylabel="nats" if decides in ("accuracy", "entity_f1") else "nats per token",
    )
    right.set(title=f"validation {describe(decides).label if told else 'perplexity'}", xlabel="step")
    for axes in (left, right):
        quiet(axes)
    handles, labels = left.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))  # several seeds of a model have one line in the legend
    figure.legend(named.values(), named.keys(), loc="outside right center", frameon=False, fontsize=8)
    write_figure(figure, path)
