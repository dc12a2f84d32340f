"""The fields for the templates of a recipe: {lstm.loss:.4f}, {lead.gru.lstm:+.3f}, {other_recipe.lstm.loss}."""

import math
from collections.abc import Mapping
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from seqlab.comparison.results import Entrant, Results
from seqlab.errors import UsageError
from seqlab.recipes import Recipe


def template_fields(name: str, records: Mapping[str, Results], recipes: Mapping[str, Recipe]) -> dict[str, Any]:
    """The fields of one record, and those of all others by their names."""
    others = {
        _word(other): SimpleNamespace(**_own_fields(results, recipes.get(other)))
        for other, results in records.items()
        if other != name
    }
    return others | _own_fields(records[name], recipes.get(name))


def fill(template: str, fields: Mapping[str, Any], recipe: str) -> str:
    """UsageError if the records do not have a field of the template."""
    try:
        return template.format(**fields)
    except (KeyError, AttributeError, ValueError, TypeError, IndexError) as error:
        raise UsageError(
            f"a text of the recipe '{recipe}' cannot be filled from the records: {error}: {template}"
        ) from None


def _own_fields(results: Results, recipe: Recipe | None) -> dict[str, Any]:
    reference = recipe.reference if recipe else {}
    baselines = {
        baseline.name.partition(" (")[0]: {**baseline.metrics, "value": baseline.value}
        for baseline in results.baselines
    }
    return {
        **{_word(model.name): _model(results, model, reference.get(model.name, {})) for model in results.entrants},
        "lead": _namespace(_leads(results)),
        "baselines": _namespace(baselines),
        "shows": _namespace({name: show.data for name, show in results.shows.items()}),
    }


def _model(results: Results, entrant: Entrant, reference: Mapping[str, Any]) -> SimpleNamespace:
    """Metrics are means over the seeds, measures and curves those of the first. `off` is the distance to the study."""
    runs = results.runs_of(entrant.name)
    metrics = {name: fmean(run.metrics[name] for run in runs) for name in runs[0].metrics}
    fields: dict[str, Any] = {name: measure.data for name, measure in runs[0].measures.items()}
    fields |= {
        "value": fmean(run.value for run in runs),
        "metrics": metrics,
        "loss": metrics.get("nats_per_token"),
        "carried": runs[0].carried,
        "core": entrant.core_parameters,
        "total": entrant.parameters,
        "steps": runs[0].steps,
        "best_step": runs[0].best_step,
        "losses": {f"at_{point['step']:.0f}": point["validation_loss"] for point in runs[0].curve},
    }
    if "bits_per_char" in metrics:
        fields["characters_per_token"] = metrics["nats_per_token"] / math.log(2) / metrics["bits_per_char"]
    if "validation" in reference:
        fields["off"] = metrics["nats_per_token"] - reference["validation"][-1]
    return _namespace(fields)


def _leads(results: Results) -> dict[str, dict[str, float]]:
    """How far each entrant is ahead of each other one, in the metric; negative if it is behind."""
    sign = -1 if results.metric.lower_is_better else 1
    values = {model.name: fmean(run.value for run in results.runs_of(model.name)) for model in results.entrants}
    return {a: {b: sign * (values[a] - values[b]) for b in values if b != a} for a in values}


def _namespace(data: Any) -> Any:
    """Nested tables as attributes."""
    if not isinstance(data, dict):
        return data
    return SimpleNamespace(**{_word(str(key)): _namespace(value) for key, value in data.items()})


def _word(key: str) -> str:
    return "".join(character if character.isalnum() else "_" for character in key)
