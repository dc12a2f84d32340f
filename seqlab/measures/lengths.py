"""Translation quality by source length, and the alignment of one sentence."""

import warnings
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.errors import SeqlabWarning
from seqlab.measures.heatmaps import draw_alignment
from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.plotting import COLORS, light_grid, new_figure, write_figure
from seqlab.runs.run import Run
from seqlab.text_table import aligned_table

BINS = 6
WORDS = 8  # in the source sentence whose alignment is drawn


def by_length(run: Run, context: MeasureContext) -> Measurement:
    """The metric in bins of source words, with about equally many sentences in each bin."""
    task: Any
    task, scores = context.scores(run)
    sums_UK = task.unit_sums(scores).sums_UK
    words_U = np.array([len(example.source.split()) for example in task.splits[context.split].examples])
    bins = []
    for rows in np.array_split(np.argsort(words_U, kind="stable"), BINS):
        first, last = int(words_U[rows].min()), int(words_U[rows].max())
        bins.append([first, last, len(rows), float(task.metric.value(sums_UK[rows].sum(0)))])
    rows = [["source words", "sentences", task.metric.label]]
    rows += [[f"{first}-{last}", str(count), f"{value:.2f}"] for first, last, count, value in bins]
    picture = context.folder / "by-length.png"
    draw_by_length({"": [bins]}, task.metric.label, picture)
    return Measurement({"bins": bins, "metric": task.metric.label}, aligned_table(rows), [picture])


def alignment(run: Run, context: MeasureContext) -> Measurement:
    """The translation of the first sentence of medium length, with a picture of its attention weights, if any."""
    task: Any
    task, _ = context.scores(run)
    examples = task.splits[context.split].examples
    example = next((example for example in examples if len(example.source.split()) == WORDS), examples[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)  # results have what is unknown or cut
        prediction: Any = run.predict([example.source], weights=True)[0]
    text = f"{prediction.text}\n{prediction.translation}\n(reference: {example.target})"
    pictures = []
    if prediction.weights is not None:
        pictures.append(context.folder / "alignment.png")
        draw_alignment(prediction.weights, prediction.source_tokens, prediction.target_tokens, pictures[0])
    return Measurement({"translation": prediction.translation}, text, pictures)


def draw_by_length(models: dict[str, list[list[list[Any]]]], metric: str, path: Path) -> None:
    """One line per model through its bins: the mean over seeds, with every seed as a faint line."""
    figure = new_figure(5.6, 3.4)
    axes = figure.subplots()
    for color, (model, runs) in zip(cycle(COLORS), models.items(), strict=False):
        middles = [(first + last) / 2 for first, last, *_ in runs[0]]
        values_SN = np.array([[value for *_, value in bins] for bins in runs])
        for values_N in values_SN if len(runs) > 1 else ():
            axes.plot(middles, values_N, color=color, linewidth=0.8, alpha=0.35)
        axes.plot(middles, values_SN.mean(0), "o-", color=color, linewidth=1.5, label=model)
    axes.set(xlabel="source words", ylabel=metric, ylim=(0, None))
    if len(models) > 1:
        axes.legend(frameon=False, fontsize=8)
    light_grid(axes)
    write_figure(figure, path)
