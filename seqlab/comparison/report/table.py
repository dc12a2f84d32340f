"""The table of a comparison: a row for each entrant, best first, then the baselines.

The terminal, the report and table.md show the same cells."""

import math
import re
import statistics
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape

import numpy as np

from seqlab.comparison.judgment.statistics import level_interval
from seqlab.comparison.report.amounts import NO_VALUE, decimals, short
from seqlab.comparison.results import BaselineResult, Entrant, Results, RunResult
from seqlab.errors import DataError
from seqlab.metrics.metric import Metric
from seqlab.models.parameter_count import in_units
from seqlab.text_table import markdown_table

NO_TRAINING = "baseline"
INTERVAL = "95% interval"
GENERATION = "generation"
LENGTHS = ("100", "1000", "10000")  # tokens of context
SPECIAL = re.compile(r"([\\`*_\[\]|~#!])")


@dataclass(frozen=True)
class Column:
    group: str  # the heading above columns that belong together
    head: str
    entrant: Callable[[Entrant, list[RunResult]], str]
    baseline: Callable[[BaselineResult], str] = lambda baseline: NO_VALUE
    brief: bool = False  # also in a narrow terminal
    alone: str = ""  # its head in a table without groups


@dataclass(frozen=True)
class Row:
    name: str
    cells: list[str]
    is_baseline: bool


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    rows: list[Row]

    @property
    def headers(self) -> list[str]:
        return ["", *(column.alone or column.head for column in self.columns)]

    def lines(self) -> list[list[str]]:
        """All rows as text, names first; baselines are marked."""
        return [[row.name + (f" ({NO_TRAINING})" if row.is_baseline else ""), *row.cells] for row in self.rows]


def table(results: Results, brief: bool = False) -> Table:
    """With `brief`, the columns that fit a terminal."""
    columns = [column for column in _columns(results) if column.brief or not brief]
    rows = []
    for entrant in ranked(results):
        runs = results.runs_of(entrant.name)
        rows.append(Row(entrant.name, [column.entrant(entrant, runs) for column in columns], is_baseline=False))
    for baseline in sorted(results.baselines, key=lambda baseline: _place(baseline.value, results.metric)):
        rows.append(Row(baseline.name, [column.baseline(baseline) for column in columns], is_baseline=True))
    filled = [any(row.cells[at] != NO_VALUE for row in rows) for at in range(len(columns))]
    kept = [at for at, column in enumerate(columns) if filled[at] or column.head == INTERVAL]
    return Table([columns[at] for at in kept], [replace(row, cells=[row.cells[at] for at in kept]) for row in rows])


def ranked(results: Results) -> list[Entrant]:
    """Best first by the mean over seeds; entrants without a finite value last."""
    means = {entrant.name: _mean([run.value for run in results.runs_of(entrant.name)]) for entrant in results.entrants}
    return sorted(results.entrants, key=lambda entrant: _place(means[entrant.name], results.metric))


def _place(value: float | None, metric: Metric) -> float:
    """A key that sorts the best value first and missing values last."""
    if value is None or math.isnan(value):
        return math.inf
    return value if metric.lower_is_better else -value


def markdown(results: Results) -> str:
    """table.md: the recommendation, the table, and the meaning of its columns."""
    rows = markdown_rows(table(results))
    corpus, split = (_plain(str(value)) for value in (results.corpus.get("name"), results.protocol.get("scored_split")))
    headline = next((advice.sentence for advice in results.recommendation if advice.lens == "quality"), "")
    notes = "\n".join(f"- {_plain(term)}: {_plain(words)}" for term, words in terms(results).items())
    sections = [f"# Models compared on {corpus}", _plain(headline), f"On the {split} split:", rows, notes]
    return "\n\n".join(section for section in sections if section) + "\n"


def markdown_rows(shown: Table) -> str:
    headers, *rows = [[_plain(cell) for cell in line] for line in (shown.headers, *shown.lines())]
    return markdown_table(headers, rows, right=True)


def terms(results: Results) -> dict[str, str]:
    """The meaning of the columns, for readers who see a comparison for the first time."""
    metric = results.metric
    direction = "lower" if metric.lower_is_better else "higher"
    meanings = {
        metric.label: f"{metric.meaning}; {direction} is better. Mean over seeds ± their standard deviation.",
        INTERVAL: "contains the mean for new seeds and new data in 95 of 100 cases; the difference of two models on "
        "the same data is more certain than that.",
        "seeds": "runs that differ only in their random initialization and the order of the data.",
        **{reported.label: f"{reported.meaning}." for reported in results.reported_metrics},
        "carried": "nats/token with the state carried through the whole text instead of reset at each window; "
        "only for models that have a state to carry.",
        "total parameters": "all parameters, with a position table if there is one.",
        "core parameters": "parameters of the architecture itself, without token embedding, output layer and "
        "position table.",
        "embedding parameters": "parameters of the token embedding.",
        "output parameters": "parameters of the output layer, without those that it shares with the embedding.",
        "file": "what a run stores to predict: weights, and counts if it is mixed with them.",
        "FLOPs/token": "arithmetic operations of one forward pass, output layer included.",
        "training seconds": "steps times the time of one step, measured before the first run with nothing beside it; "
        "± is half the range of the middle half of the repeated timings.",
        "peak memory": "the highest memory use of a training process.",
        GENERATION: "tokens generated per second, and bytes of state, at this context length.",
        NO_TRAINING: "needs no training: a model that does not beat it has learned little.",
    }
    columns = table(results).columns
    known = {name for column in columns for name in (column.alone or column.head, column.group)} | {NO_TRAINING}
    return {term: meaning for term, meaning in meanings.items() if term in known}


def _columns(results: Results) -> list[Column]:
    metric = results.metric
    total = str(results.plan.get("match")).startswith("total")  # what was made equal is what a terminal shows
    lengths = [length for length in LENGTHS if any(length in entrant.state_bytes for entrant in results.entrants)]
    return [
        Column(
            "quality",
            metric.label,
            lambda _, runs: _value(runs, metric.digits),
            lambda baseline: decimals(baseline.value, metric.digits),
            brief=True,
        ),
        Column("quality", INTERVAL, lambda _, runs: _interval(runs, metric)),
        Column("quality", "seeds", lambda _, runs: str(len(runs)), brief=True),
        *map(_reported, results.reported_metrics),
        Column(
            "quality",
            "carried",
            lambda _, runs: decimals(_mean([run.carried for run in runs]), 4),
            lambda baseline: decimals(baseline.carried, 4),
        ),
        Column("parameters", "total", lambda e, _: f"{e.parameters:,}", brief=total, alone="total parameters"),
        Column("parameters", "core", lambda e, _: f"{e.core_parameters:,}", brief=not total, alone="core parameters"),
        Column("parameters", "embedding", lambda e, _: f"{e.embedding_parameters:,}", alone="embedding parameters"),
        Column("parameters", "output", lambda e, _: f"{e.output_parameters:,}", alone="output parameters"),
        Column("parameters", "file", lambda e, _: _size(e.file_bytes), alone="file"),
        Column("training", "FLOPs/token", lambda e, _: short(e.flops_per_token), brief=True),
        Column("training", "seconds", _seconds, brief=True, alone="training seconds"),
        Column("training", "tokens/s", _rate, brief=True, alone="training tokens/s"),
        Column("training", "peak memory", _peak),
        *map(_speed, lengths),
        *map(_state, lengths),
    ]


def _reported(metric: Metric) -> Column:
    key, digits = metric.key, metric.digits

    def entrant_cell(_: Entrant, runs: list[RunResult]) -> str:
        if key == "perplexity":  # from the mean loss: the worst seed would dominate a mean of perplexities
            mean = _mean([run.metrics.get("nats_per_token") for run in runs])
            return decimals(None if mean is None else math.exp(mean) if mean < 700 else math.inf, 2)
        return decimals(_mean([run.metrics.get(key) for run in runs]), digits)

    return Column("quality", metric.label, entrant_cell, lambda one: decimals(one.metrics.get(key), digits))


def _speed(length: str) -> Column:
    head = f"tokens/s at {int(length):,}"
    return Column(GENERATION, head, lambda e, _: decimals(e.generation.get(length), 0), alone=f"{GENERATION} {head}")


def _state(length: str) -> Column:
    return Column(GENERATION, f"state at {int(length):,}", lambda e, _: _size(e.state_bytes.get(length)))


def _value(runs: list[RunResult], digits: int) -> str:
    values = [run.value for run in runs]
    known = len(values) > 1 and all(map(math.isfinite, values))
    return decimals(_mean(values), digits) + (f" ± {statistics.stdev(values):.{digits}f}" if known else "")


def _interval(runs: list[RunResult], metric: Metric) -> str:
    """For new seeds and new data; a dash if a single seed leaves it unknown."""
    interval = None
    with suppress(DataError, ValueError):  # a run that diverged has no interval
        interval = level_interval(np.array([run.sums for run in runs]), metric.value, metric.unit_span)
    if interval is None:
        return NO_VALUE
    return " to ".join(decimals(end, metric.digits) for end in metric.possible(interval))


def _seconds(entrant: Entrant, runs: list[RunResult]) -> str:
    mean = _mean([run.seconds for run in runs])
    varies = mean is not None and round(entrant.step_spread * mean) >= 1
    return decimals(mean, 0) + (f" ± {entrant.step_spread * (mean or 0):.0f}" if varies else "")


def _rate(entrant: Entrant, runs: list[RunResult]) -> str:
    return decimals(entrant.tokens_per_step / entrant.step_seconds if entrant.step_seconds > 0 else None, 0)


def _peak(entrant: Entrant, runs: list[RunResult]) -> str:
    return _size(max((run.peak_memory for run in runs if run.peak_memory is not None), default=None))


def _size(size: int | None) -> str:
    return in_units(size) if size is not None else NO_VALUE


def _mean(values: list[float] | list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _plain(text: str) -> str:
    """The text on one line, with Markdown and HTML escaped."""
    return SPECIAL.sub(r"\\\1", escape(" ".join(text.split()), quote=False))
