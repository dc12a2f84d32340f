"""How well a translator does by the length of its source, and what it looks at while it writes."""

from pathlib import Path
from typing import Any

import numpy as np

from seqlab.measures.heatmaps import draw_alignment
from seqlab.measures.measurement import Measurement
from seqlab.measures.scores import scored
from seqlab.plotting import COLORS, new_figure, quiet, write_figure
from seqlab.recipes import Writing
from seqlab.runs.run import Run
from seqlab.text_table import aligned_table

BINS = 6  # of about equally many sentences
WORDS = 8  # of the source whose alignment is drawn, about


def by_length(run: Run, folder: Path, writing: Writing) -> Measurement:
    """The metric in bins of source words, each with about as many sentences."""
    task: Any
    _, task, part, scores = scored(run)
    sums_UK = task.unit_sums(scores).sums_UK
    words_U = np.array([len(example.source.split()) for example in task.splits[part].examples])
    bins = []
    for rows in np.array_split(np.argsort(words_U, kind="stable"), BINS):
        first, last = int(words_U[rows].min()), int(words_U[rows].max())
        bins.append([first, last, len(rows), float(task.metric.value(sums_UK[rows].sum(0)))])
    rows = [["source words", "sentences", task.metric.label]]
    rows += [[f"{first}-{last}", str(count), f"{value:.2f}"] for first, last, count, value in bins]
    picture = folder / "by-length.png"
    draw_by_length({"": [bins]}, task.metric.label, picture)
    return Measurement({"bins": bins, "metric": task.metric.label}, aligned_table(rows), [picture])


def alignment(run: Run, folder: Path, writing: Writing) -> Measurement:
    """The first sentence of middling length, translated, with its weights as a picture where there are any."""
    task: Any
    _, task, part, _ = scored(run)
    examples = task.splits[part].examples
    example = next((one for one in examples if len(one.source.split()) == WORDS), examples[0])
    found: Any = run.predict([example.source], weights=True)[0]
    text = f"{found.text}\n{found.translation}\n(reference: {example.target})"
    if found.weights is None:
        return Measurement({"translation": found.translation}, text)
    picture = folder / "alignment.png"
    draw_alignment(found.weights, found.source_tokens, found.target_tokens, picture)
    return Measurement({"translation": found.translation}, text, [picture])


def draw_by_length(models: dict[str, list[list[list[Any]]]], metric: str, path: Path) -> None:
    """A line for each model through the bins of its runs; of several seeds the mean, and each of them faintly."""
    figure = new_figure(5.6, 3.4)
    axes = figure.subplots()
    for color, (model, runs) in zip(COLORS, models.items(), strict=False):
        middles = [(first + last) / 2 for first, last, *_ in runs[0]]
        values_SN = np.array([[value for *_, value in bins] for bins in runs])
        for values_N in values_SN if len(runs) > 1 else ():
            axes.plot(middles, values_N, color=color, linewidth=0.8, alpha=0.35)
        axes.plot(middles, values_SN.mean(0), "o-", color=color, linewidth=1.5, label=model)
    axes.set(xlabel="words of the source", ylabel=metric, ylim=(0, None))
    if len(models) > 1:
        axes.legend(frameon=False, fontsize=8)
    quiet(axes)
    write_figure(figure, path)
