"""Why a plan may not answer its question, said before the first run and first thing in the report."""

from collections.abc import Iterator, Mapping, Sequence

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.plan import PlannedModel
from seqlab.config import RunSettings
from seqlab.data.examples.checks import FEWEST_EXAMPLES
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.tasks.text import most_units
from seqlab.wording import counted

FEWEST_PASSES = 3.0  # over the training data
FEWEST_STRETCHES = 8  # independent ones, of held-out text


def plan_warnings(models: Sequence[PlannedModel], data: ComparisonData) -> list[str]:
    warnings = [*_direction_warning(models)]
    passes = {model.name: _passes(model, data) for model in models}
    few = {name: count for name, count in passes.items() if count < FEWEST_PASSES}
    if few:
        listed = ", ".join(f"{name} {count:.2g}" for name, count in few.items())
        warnings.append(
            f"Fewer than {FEWEST_PASSES:g} passes over the training data ({listed}): this compares how fast the models "
            f"start to learn, not how well they can. Allow more --minutes or a larger --budget, or choose a smaller "
            f"--match."
        )
    return [*warnings, *_units_warning(data)]


def _units_warning(data: ComparisonData) -> Iterator[str]:
    """Too little held-out data for verdicts."""
    name, split = data.deciding_split, data.dataset.splits[data.deciding_split]
    if isinstance(split, ExampleSplit):
        if len(split) < FEWEST_EXAMPLES:
            yield (
                f"Verdicts are based on {counted(len(split), f'{name} example')}, fewer than {FEWEST_EXAMPLES}: a "
                f"single example is {100 / len(split):.1f}% of them, so only large differences can be shown."
            )
    elif (units := most_units(split)) < FEWEST_STRETCHES:
        yield (
            f"Verdicts are based on {split.stats.scored_characters:,} {name} characters, which count as "
            f"{counted(units, 'stretch', 'stretches')} at most, fewer than {FEWEST_STRETCHES}: intervals will be wide, "
            f"and only large differences can be shown. Give a longer text."
        )


def _direction_warning(models: Sequence[PlannedModel]) -> Iterator[str]:
    """A model that sees the whole text has an advantage over one that reads from left to right."""
    causal = {model.name: model.run_settings.backbone.settings.causal for model in models}
    if len(set(causal.values())) > 1:
        one_way, both_ways = (
            " and ".join(name for name, is_causal in causal.items() if is_causal == value) for value in (True, False)
        )
        yield (
            f"Unequal direction of reading: from left to right {one_way}, in both directions {both_ways}. A difference "
            f"between them may be one of direction and not of architecture: make it equal with backbone.bidirectional, "
            f"or leave out one of them."
        )


def dropout_note(requested: Mapping[str, RunSettings], models: Sequence[PlannedModel]) -> list[str]:
    """The rates that follow from the text, where nobody set one."""
    rates = [
        f"{model.name} {model.run_settings.model.output_dropout:g}"
        for model in models
        if requested[model.name].model.output_dropout is None and model.run_settings.model.output_dropout
    ]
    return [f"dropout by default: {', '.join(rates)}, because the text is short for the training"] if rates else []


def _passes(model: PlannedModel, data: ComparisonData) -> float:
    settings = model.run_settings
    return model.steps * settings.train.accumulate / data.task(settings).steps_per_epoch
