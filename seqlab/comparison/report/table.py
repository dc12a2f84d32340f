"""The table of a comparison: a row for each entrant, best first, then the baselines.

The terminal, the report and table.md show the same cells."""

import math
import re
import statistics
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from seqlab.comparison.judgment.statistics import level_interval
from seqlab.comparison.report.amounts import decimals, short, whole
from seqlab.comparison.results import BaselineResult, Entrant, Results, RunResult
from seqlab.errors import DataError
from seqlab.metrics.metric import Metric
from seqlab.models.parameter_count import in_units
from seqlab.text_table import markdown_table

NO_TRAINING = "baseline"
INTERVAL = "95 % interval"
GENERATION = "generation"
LENGTHS = ("100", "1000", "10000")  # tokens of context
SPECIAL = re.compile(r"([\\`*_\[\]|~#!])")


@dataclass(frozen=True)
class Column:
    group: str  # the heading above columns that belong together
    head: str
    entrant: Callable[[Entrant, list[RunResult]], str]
    baseline: Callable[[BaselineResult], str] = lambda baseline: "–"
    brief: bool = False  # also in a narrow terminal
    alone: str = ""  # its head in a table without groups


@dataclass(frozen=True)
class Row:
    name: str
    cells: list[str]
    index: int | None  # among the entrants; None for a baseline


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    rows: list[Row]

    @property
    def heads(self) -> list[str]:
        return ["", *(column.alone or column.head for column in self.columns)]

    def lines(self) -> list[list[str]]:
        """All rows as text, names first; baselines are marked."""
        return [[row.name + (f" ({NO_TRAINING})" if row.index is None else ""), *row.cells] for row in self.rows]


def table(results: Results, brief: bool = False) -> Table:
    """With `brief`, the columns that fit a terminal."""
    columns = [column for column in _columns(results) if column.brief or not brief]
    order = {entrant.name: index for index, entrant in enumerate(results.entrants)}
    rows = [
        Row(one.name, [column.entrant(one, results.runs_of(one.name)) for column in columns], order[one.name])
        for one in ranked(results)
    ]
    sign = 1 if results.metric.lower_is_better else -1
    for baseline in sorted(results.baselines, key=lambda baseline: _last_if_nan(sign * baseline.value)):
        rows.append(Row(baseline.name, [column.baseline(baseline) for column in columns], None))
    filled = [at for at, one in enumerate(columns) if one.head == INTERVAL or any(row.cells[at] != "–" for row in rows)]
    rows = [replace(row, cells=[row.cells[at] for at in filled]) for row in rows]
    return Table([columns[at] for at in filled], rows)


def ranked(results: Results) -> list[Entrant]:
    """Best first by the mean over seeds; entrants without a finite value last."""
    sign = 1 if results.metric.lower_is_better else -1

    def place(entrant: Entrant) -> float:
        mean = _mean([run.value for run in results.runs_of(entrant.name)])
        return _last_if_nan(sign * mean if mean is not None else math.nan)

    return sorted(results.entrants, key=place)


def markdown(results: Results) -> str:
    """table.md: the recommendation, the table, and the meaning of its columns."""
    rows = markdown_rows(table(results))
    corpus, split = (_plain(str(value)) for value in (results.corpus.get("name"), results.protocol.get("scored_split")))
    headline = next((advice.sentence for advice in results.recommendation if advice.lens == "quality"), "")
    notes = "\n".join(f"- {_plain(term)}: {_plain(words)}" for term, words in terms(results).items())
    sections = [f"# Models compared on {corpus}", _plain(headline), f"On the {split} split:", rows, notes]
    return "\n\n".join(section for section in sections if section) + "\n"


def markdown_rows(made: Table) -> str:
    heads, *rows = [[_plain(cell) for cell in line] for line in (made.heads, *made.lines())]
    return markdown_table(heads, rows, right=True)


def terms(results: Results) -> dict[str, str]:
    """The meaning of the columns, for readers who see a comparison for the first time."""
    metric = results.metric
    direction = "lower" if metric.lower_is_better else "higher"
    meanings = {
        metric.label: f"{metric.meaning}; {direction} is better. Mean over seeds ± their standard deviation.",
        INTERVAL: "contains the mean for new seeds and new text in 95 of 100 cases; the difference of two models on "
        "the same text is more certain than that.",
        "seeds": "runs that differ only in their random initialization and the order of the data.",
        **{reported.label: f"{reported.meaning}." for reported in results.reported_metrics},
        "carried": "nats/token with the state carried through the whole text instead of reset at each window; "
        "only for models that have a state to carry.",
        "core parameters": "parameters of the architecture itself, without token embedding, output layer and "
        "position table.",
        "embedding parameters": "parameters of the token embedding.",
        "FLOPs/token": "arithmetic operations of one forward pass, output layer included.",
        "training seconds": "steps times the time of one step, measured before the first run with nothing beside it.",
        "peak memory": "the highest memory use of a training process.",
        GENERATION: "tokens generated per second, and bytes of state, at this context length.",
        NO_TRAINING: "needs no training: a model that does not beat it has learned little.",
    }
    columns = table(results).columns
    known = {name for column in columns for name in (column.alone or column.head, column.group)} | {NO_TRAINING}
    return {term: meaning for term, meaning in meanings.items() if term in known}


def _columns(results: Results) -> list[Column]:
    metric = results.metric
    quality = [
        Column(
            "quality",
            metric.label,
            _value(metric.digits),
            lambda baseline: decimals(baseline.value, metric.digits),
            brief=True,
        ),
        Column("quality", INTERVAL, lambda one, runs: _interval(runs, metric)),
        Column("quality", "seeds", lambda one, runs: str(len(runs)), brief=True),
        *map(_reported, results.reported_metrics),
        _averaged("carried", lambda run: run.carried, 4),
    ]
    cost = [
        Column("parameters", "core", _core, brief=True, alone="core parameters"),
        Column("parameters", "embedding", _embedding, alone="embedding parameters"),
        Column("training", "FLOPs/token", lambda one, runs: short(one.flops_per_token), brief=True),
        Column("training", "seconds", _seconds, brief=True, alone="training seconds"),
        Column("training", "tokens/s", _rate, brief=True, alone="training tokens/s"),
        Column("training", "peak memory", lambda one, runs: _peak(runs)),
    ]
    known = [length for length in LENGTHS if any(length in one.state_bytes for one in results.entrants)]
    return [*quality, *cost, *(_speed(length) for length in known), *(_state(length) for length in known)]


def _reported(metric: Metric) -> Column:
    key, digits = metric.key, metric.digits

    def baseline(one: BaselineResult) -> str:
        return decimals(one.metrics.get(key), digits)

    if key == "perplexity":
        return Column("quality", metric.label, _perplexity, baseline)
    return _averaged(metric.label, lambda run: run.metrics.get(key), digits, baseline)


def _averaged(
    head: str,
    get: Callable[[RunResult], float | None],
    places: int,
    baseline: Callable[[BaselineResult], str] = lambda baseline: "–",
) -> Column:
    return Column("quality", head, lambda one, runs: decimals(_mean([get(run) for run in runs]), places), baseline)


def _speed(length: str) -> Column:
    head = f"tokens/s at {int(length):,}"
    return Column(GENERATION, head, lambda one, runs: whole(one.generation.get(length)), alone=f"{GENERATION} {head}")


def _state(length: str) -> Column:
    head = f"state at {int(length):,}"
    return Column(GENERATION, head, lambda one, runs: _size(one.state_bytes.get(length)))


def _value(digits: int) -> Callable[[Entrant, list[RunResult]], str]:
    def cell(entrant: Entrant, runs: list[RunResult]) -> str:
        values = [run.value for run in runs]
        known = len(values) > 1 and all(map(math.isfinite, values))
        return decimals(_mean(values), digits) + (f" ± {statistics.stdev(values):.{digits}f}" if known else "")

    return cell


def _interval(runs: list[RunResult], metric: Metric) -> str:
    """For new seeds and new text; a dash if a single seed leaves it unknown."""
    interval = None
    with suppress(DataError, ValueError):  # a run that diverged has no interval
        interval = level_interval(np.array([run.sums for run in runs]), metric.value)
    if interval is None:
        return "–"
    return " to ".join(decimals(end, metric.digits) for end in metric.possible(interval))


def _perplexity(entrant: Entrant, runs: list[RunResult]) -> str:
    """From the mean loss: the worst seed would dominate a mean of perplexities."""
    mean = _mean([run.metrics.get("nats_per_token") for run in runs])
    if mean is None:
        return "–"
    return decimals(math.exp(mean) if mean < 700 else math.inf, 2)


def _core(entrant: Entrant, runs: list[RunResult]) -> str:
    return whole(entrant.core_parameters)


def _embedding(entrant: Entrant, runs: list[RunResult]) -> str:
    return whole(entrant.embedding_parameters)


def _seconds(entrant: Entrant, runs: list[RunResult]) -> str:
    return whole(_mean([run.seconds for run in runs]))


def _rate(entrant: Entrant, runs: list[RunResult]) -> str:
    return whole(entrant.tokens_per_step / entrant.step_seconds if entrant.step_seconds > 0 else None)


def _peak(runs: list[RunResult]) -> str:
    return _size(max((run.peak_memory for run in runs if run.peak_memory is not None), default=None))


def _size(size: int | None) -> str:
    return in_units(size) if size is not None else "–"


def _mean(values: list[float] | list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _plain(text: str) -> str:
    """The text on one line, with Markdown and HTML escaped."""
    one_line = " ".join(text.split())
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        one_line = one_line.replace(character, entity)
    return SPECIAL.sub(r"\\\1", one_line)
