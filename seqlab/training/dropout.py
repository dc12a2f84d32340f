"""The dropout of a language model if none is set: it follows from the text, the model and the number of steps."""

import math
from collections.abc import Callable

from seqlab.config import RunSettings, VocabSizes
from seqlab.models.parameter_count import parameters

# An update can memorize more, the more parameters there are for each token of the text.
HARMLESS = 2000  # steps times parameters per training token: up to here a model learns more than it memorizes
RATE_PER_DOUBLING = 0.15  # dropout for each doubling beyond
MAX_RATE, ROUNDED_TO = 0.5, 0.05
MODEL_RATES = ("embedding_dropout", "output_dropout")


def default_dropout(steps: int, parameter_count: int, tokens: int, share: float = 1.0) -> float:
    """The rate for a model of so many parameters that is trained for `steps` steps on a text of `tokens` tokens.

    Architectures that drop in every sublayer need only a share of it."""
    doublings = math.log2(max(1.0, steps * parameter_count / tokens / HARMLESS))
    rate = share * min(MAX_RATE, RATE_PER_DOUBLING * doublings)
    return round(round(rate / ROUNDED_TO) * ROUNDED_TO, 2)


def with_default_dropout(
    settings: RunSettings, sizes: VocabSizes, tokens: int, log: Callable[[str], None] = lambda _: None
) -> RunSettings:
    """Settings of a run on text, whose budget is in steps, with every rate set. A user who sets one sets all."""
    if settings.task.settings.examples is not None:
        return settings  # tasks on examples declare their rates
    steps = settings.train.steps
    assert steps is not None, "budgets are turned into steps before"
    rates = {f"model.{key}": getattr(settings.model, key) for key in MODEL_RATES}
    if settings.backbone.settings.has("dropout"):
        rates["backbone.dropout"] = settings.backbone.settings.option("dropout", None)
    unset = [name for name, rate in rates.items() if rate is None]
    if not unset:
        return settings
    is_free = all(rate is None for rate in rates.values())
    count = parameters(settings, sizes).total
    rate = default_dropout(steps, count, tokens, settings.backbone.settings.dropout_share) if is_free else 0.0
    if rate:
        log(
            f"dropout {rate:g}: {steps:,} steps of {count:,} parameters would memorize {tokens:,} tokens (--dropout "
            f"sets another rate)"
        )
    acts = settings.backbone.settings.has_dropout
    return settings.with_values(**{name: 0.0 if name == "backbone.dropout" and not acts else rate for name in unset})
