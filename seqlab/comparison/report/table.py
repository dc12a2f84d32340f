"""The table of a comparison: a row for each entrant, best first, then what needs no training.

The same cells stand in the terminal, on the page and in table.md."""

import math
import re
import statistics
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from seqlab.comparison.judgment.statistics import level_interval
from seqlab.comparison.report.amounts import decimals, short, whole
from seqlab.comparison.results import BaselineResult, Entrant, Metric, Results, RunResult
from seqlab.errors import DataError
from seqlab.metrics.named import METRICS
from seqlab.metrics.wording import HEADS, digits_of
from seqlab.models.parameter_count import in_units

NO_TRAINING = "no training"
INTERVAL = "95 % of it"
# beside the metric, where a run has them
FIGURES = ("bits_per_char", "perplexity", "macro_f1", "precision", "recall", "chrf", "exact")
LENGTHS = ("100", "1000", "10000")  # tokens that stand there already
SPECIAL = re.compile(r"([\\`*_\[\]|~#!])")


@dataclass(frozen=True)
class Column:
    group: str  # of columns that belong together
    head: str
    entrant: Callable[[Entrant, list[RunResult]], str]
    baseline: Callable[[BaselineResult], str] = lambda baseline: "–"
    brief: bool = False  # shown where there is little room
    alone: str = ""  # its head where the group does not stand above it


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
        """All as text, names first; baselines say that they are."""
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
    told = [at for at, one in enumerate(columns) if one.head == INTERVAL or any(row.cells[at] != "–" for row in rows)]
    return Table([columns[at] for at in told], [replace(row, cells=[row.cells[at] for at in told]) for row in rows])


def ranked(results: Results) -> list[Entrant]:
    """Best first by the mean over seeds; what has no run, or no number, last."""
    sign = 1 if results.metric.lower_is_better else -1

    def place(entrant: Entrant) -> float:
        mean = _mean([run.value for run in results.runs_of(entrant.name)])
        return _last_if_nan(sign * mean if mean is not None else math.nan)

    return sorted(results.entrants, key=place)


def markdown(results: Results) -> str:
    """table.md: the table between what it is of and what its words mean."""
    rows = markdown_rows(table(results))
    corpus, part = (_plain(str(value)) for value in (results.corpus.get("name"), results.protocol.get("part")))
    headline = next((advice.sentence for advice in results.recommendation if advice.lens == "quality"), "")
    notes = "\n".join(f"- {_plain(term)}: {_plain(words)}" for term, words in terms(results).items())
    parts = [f"# Models compared on {corpus}", _plain(headline), f"On the {part} part of the text:", rows, notes]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_rows(made: Table) -> str:
    lines = [[_plain(cell) for cell in line] for line in (made.heads, *made.lines())]
    rule = ["---"] + ["---:"] * len(made.columns)
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def terms(results: Results) -> dict[str, str]:
    """What the columns mean, for somebody who has never read a comparison."""
    direction = "lower" if results.metric.lower_is_better else "higher"
    metric = {
        "nats/char": "how surprised the model is by each character of held-out text, on average, in natural-log units",
        "nats/token": "how surprised the model is by each token of held-out text, on average, in natural-log units",
        "accuracy, %": "how many of a hundred held-out answers are right",
        "entity F1, %": "the harmonic mean of precision and recall of the marked spans",
        "exact, %": "how many of a hundred held-out texts are written exactly as the reference",
        "BLEU": "how many of the words, and of the groups of up to four, stand in the reference translation too",
    }.get(results.metric.name, "the number by which models are compared")
    said = {
        results.metric.name: "",  # it comes first
        INTERVAL: "where that mean would lie for fresh seeds and fresh text, in 95 of 100 cases; a difference "
        "of two models on the same text is surer than that.",
        "seeds": "runs that differ only in their random start and the order of the text.",
        "bits/char": "the same surprise in bits: the size to which the model could compress a character.",
        "perplexity": "among how many equally likely tokens a choice would leave one as unsure.",
        "macro F1, %": "F1 of each label, averaged: rare labels count as much as frequent ones.",
        "precision, %": "how many of the spans that the model marks are right.",
        "recall, %": "how many of the spans that are there the model marks.",
        "chrF": "the same comparison by groups of characters, kinder to other word forms.",
        "exact, %": "how many of a hundred translations are the reference itself.",
        "carried": "nats/token when the state is carried through the text, not cleared at each window; "
        "only for models whose state can be.",
        "core parameters": "trained numbers of the architecture itself, without token embedding, output layer and "
        "position table.",
        "embedding parameters": "trained numbers of the table that turns tokens into vectors.",
        "FLOPs/token": "arithmetic operations of one forward pass, output layer included.",
        "training seconds": "steps times the time of one step, measured alone before the first run.",
        "peak memory": "the most that a training process held.",
        "writing": "tokens generated per second, and the bytes that the model must keep, when so many tokens stand "
        "there already.",
        NO_TRAINING: "counts or compression: a model that does not beat it has learned little.",
    }
    said[results.metric.name] = f"{metric}; {direction} is better. Mean over seeds ± standard deviation between them."
    shown = table(results).columns
    known = {name for column in shown for name in (column.alone or column.head, column.group)} | {NO_TRAINING}
    return {term: words for term, words in said.items() if term in known}


def _columns(results: Results) -> list[Column]:
    digits = digits_of(results.metric.name)
    quality = [
        Column(
            "quality",
            results.metric.name,
            _value(digits),
            lambda baseline: decimals(baseline.value, digits),
            brief=True,
        ),
        Column("quality", INTERVAL, lambda one, runs: _interval(runs, results.metric)),
        Column("quality", "seeds", lambda one, runs: str(len(runs)), brief=True),
        *(_figure(name) for name in FIGURES if any(name in run.metrics for run in results.runs)),
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


def _figure(name: str) -> Column:
    head = HEADS[name]
    if name == "perplexity":
        return Column("quality", head, _perplexity, lambda baseline: decimals(baseline.metrics.get(name), 2))
    places = 3 if name == "bits_per_char" else 2
    return _averaged(
        head, lambda run: run.metrics.get(name), places, lambda baseline: decimals(baseline.metrics.get(name), places)
    )


def _averaged(
    head: str,
    get: Callable[[RunResult], float | None],
    places: int,
    baseline: Callable[[BaselineResult], str] = lambda baseline: "–",
) -> Column:
    return Column("quality", head, lambda one, runs: decimals(_mean([get(run) for run in runs]), places), baseline)


def _speed(length: str) -> Column:
    head = f"tokens/s at {int(length):,}"
    return Column("writing", head, lambda one, runs: whole(one.generation.get(length)), alone=f"writing {head}")


def _state(length: str) -> Column:
    head = f"state at {int(length):,}"
    return Column("writing", head, lambda one, runs: _size(one.state_bytes.get(length)))


def _value(digits: int) -> Callable[[Entrant, list[RunResult]], str]:
    def told(entrant: Entrant, runs: list[RunResult]) -> str:
        values = [run.value for run in runs]
        known = len(values) > 1 and all(map(math.isfinite, values))
        return decimals(_mean(values), digits) + (f" ± {statistics.stdev(values):.{digits}f}" if known else "")

    return told


def _interval(runs: list[RunResult], metric: Metric) -> str:
    """For fresh seeds and fresh text; a dash where one seed leaves it unknown."""
    judged, found = METRICS.get(metric.name), None
    with suppress(DataError, ValueError):  # a run that diverged has no number to be sure of
        found = level_interval(np.array([run.sums for run in runs]), judged.value) if judged else None
    digits = digits_of(metric.name)
    if judged is None or found is None:
        return "–"
    return " to ".join(decimals(end, digits) for end in judged.possible(found))


def _perplexity(entrant: Entrant, runs: list[RunResult]) -> str:
    """Of the mean loss: a mean of perplexities would be led by the worst seed."""
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
    """Nothing in it is markdown or HTML, and it stays on its line."""
    one_line = " ".join(text.split())
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        one_line = one_line.replace(character, entity)
    return SPECIAL.sub(r"\\\1", one_line)
