"""The request for a comparison. Nothing here imports torch: a wrong request is refused at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from seqlab.config import DataSource, RunSettings, Settings, checked, expand_short_names
from seqlab.errors import UsageError, refuse_given
from seqlab.models.parameter_count import refuse_unfit
from seqlab.recipes import Recipe, find_recipe
from seqlab.registry import BACKBONES, did_you_mean
from seqlab.tasks.text_settings import TextSettings
from seqlab.training.request import dotted_settings, settings_from_request

SPLIT = "80/10/10"
BATCH_SIZE = 16  # of running text; the best or near it in equal time, for every architecture that was measured
BUDGETS = ("steps", "tokens", "flops", "seconds")
SIZES = ("params", "total", "non-embedding", "flops")
# task settings that must agree: they determine what is read and how it is scored
SCORED_ALIKE = (
    *("name", "window", "batching", "mode", "max_length", "max_target_length"),
    *("max_target_ratio", "shared_vocabulary", "beam", "length_penalty", "metric", "bleu_tokenizer"),
)
TUNED = {"lr": "train.lr", "layers": "backbone.layers"}  # whatever they are set to; trials begin at the batch size
FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True)
class Amount:
    """A parsed 'params=500k'."""

    kind: str
    size: float

    def __str__(self) -> str:
        return f"{self.kind}={self.size:.10g}"


def parse_amount(text: str, kinds: tuple[str, ...], option: str) -> Amount:
    """KIND=NUMBER, with an optional suffix such as k; UsageError for anything else."""
    kind, _, number = text.partition("=")
    if kind not in kinds:
        choices = " or ".join(f"{known}=N" for known in kinds)
        raise UsageError(f"'{text}' is not a {option}{did_you_mean(kind, list(kinds))}: expected {choices}.")
    suffix = number[-1:] if number[-1:].isalpha() else ""
    try:
        size = float(number.removesuffix(suffix)) * FACTORS.get(suffix.lower(), 0)
    except ValueError:
        size = 0.0
    if not 0 < size < 1e24:
        raise UsageError(f"'{text}' is not a {option}: expected a number above 0 after '{kind}=', such as {kind}=500k.")
    return Amount(kind, size)


class ComparisonSettings(Settings):
    archs: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="architectures, such as lstm or lstm+counts, or models of the recipe"
    )
    seeds: int = Field(default=3, ge=1, le=1000, description="runs of each architecture")
    match: str | None = Field(
        default=None,
        description="params=N (core), total=, non-embedding= or flops=N, or none; by the text if unset",
    )
    budget: str | None = Field(default=None, description="steps=, tokens=, flops= or seconds=N; from minutes if unset")
    minutes: float = Field(default=15.0, gt=0, le=10**6, description="time for everything, without a budget")
    tune: int = Field(default=3, ge=0, le=1000, description="short trials of each; 0 for learning rates as set")
    tune_over: tuple[Literal["lr", "batch_size", "layers"], ...] = Field(default=("lr",), min_length=1)
    jobs: int | None = Field(default=None, ge=1, le=256, description="parallel runs; one per core if unset")
    launcher: Literal["local", "ray"] = Field(default="local", description="where runs are: this machine, or Ray")
    address: str | None = Field(default=None, description="HOST:PORT of a Ray cluster; unset for this machine alone")
    negligible: float | None = Field(
        default=None,
        ge=0,
        description="a difference that does not matter; 0.01 nats/char, 0.2% accuracy, 0.3 BLEU, ...",
    )

    @field_validator("archs", "tune_over", mode="before")
    @classmethod
    def _split_at_commas(cls, value: Any) -> Any:
        return tuple(word.strip() for word in value.split(",") if word.strip()) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_values(self) -> Self:
        try:
            _ = self.sizes, self.length
        except UsageError as error:
            raise ValueError(str(error)) from None
        if self.archs is not None and len(set(self.archs)) != len(self.archs):
            raise ValueError(_named_twice(self.archs))
        return self

    @property
    def sizes(self) -> Amount | None:
        """The size to match, if the request names one."""
        return parse_amount(self.match, SIZES, "size to match") if self.match not in (None, "none", *SIZES) else None

    @property
    def length(self) -> Amount | None:
        return parse_amount(self.budget, BUDGETS, "budget") if self.budget is not None else None


@dataclass(frozen=True)
class ComparisonRequest:
    """A comparison as requested, resolved as far as possible without reading the data."""

    comparison: ComparisonSettings
    models: dict[str, RunSettings]  # by entrant
    recipe: Recipe | None

    def as_dict(self) -> dict[str, Any]:
        # where runs are and how many at once changes no result
        comparison = self.comparison.model_dump(mode="json", exclude={"jobs", "launcher", "address"})
        models = {name: settings.resolved() for name, settings in self.models.items()}
        return {"comparison": comparison, "recipe": self.recipe and self.recipe.name, "models": models}

    def with_jobs(self, jobs: int) -> "ComparisonRequest":
        """The request with the number of runs at once, at most as many as there are runs."""
        runs = len(self.models) * self.comparison.seeds
        return replace(self, comparison=self.comparison.model_copy(update={"jobs": min(jobs, runs)}))


def build_request(
    source: DataSource | None,
    recipe: str | Recipe | None,
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
    log: Callable[[str], None] = lambda _: None,
) -> ComparisonRequest:
    """Resolve source, recipe, settings and options; options are those of a comparison and one-word run settings."""
    short = {name: value for name, value in options.items() if value is not None}
    chosen = {name: short.pop(name) for name in list(short) if name in ComparisonSettings.model_fields}
    recipe = find_recipe(recipe) if isinstance(recipe, str) else recipe
    # a recipe sets the sizes and learning rates of its models
    defaults = {"match": "none", "tune": 0, **recipe.comparison} if recipe else {}
    comparison = checked(ComparisonSettings, {**defaults, **chosen}, "comparison")
    for word in ("arch", "steps", "epochs", "seconds", "seed"):
        if word in short:
            instead = {"arch": "archs", "seed": "seeds"}.get(word, "budget")
            raise UsageError(f"'{word}' is for one run: a comparison has '{instead}'.")
    given = [key for key, _ in [*dotted_settings(settings), *expand_short_names(short)]]
    if recipe and not recipe.models:
        words = {"source": source, **dict.fromkeys([*chosen, *given], True)}
        refuse_given(words, f"for the recipe '{recipe.name}', which trains nothing")
    _refuse_overruled(comparison, chosen, given)
    models: dict[str, RunSettings] = {}
    for name in comparison.archs or (recipe.models if recipe else BACKBONES.compared()):
        if recipe and name not in recipe.models:
            near = did_you_mean(name, list(recipe.models))
            raise UsageError(f"the recipe '{recipe.name}' has no model '{name}'{near}.")
        base = recipe.models[name] if recipe else {}
        base = {**base, "corpus": {"split_ratios": SPLIT, **base.get("corpus", {})}}
        arch = entrant_settings(name) if recipe is None else {}
        # every model leads to the same messages
        model_log = (lambda _: None) if models else log
        resolved = settings_from_request(source, base, settings, {**arch, **short}, log=model_log)
        chosen_split = "split" in short or "corpus.split" in settings or "split" in settings.get("corpus", {})
        models[name] = resolved if recipe else _for_running_text(resolved, chosen_split, "task.batch_size" in given)
        refuse_unfit(models[name])
        models[name].task.settings.refuse_untrainable(models[name])
    if "minutes" in chosen and any(model.train.budget for model in models.values()):
        raise UsageError("minutes does nothing with the budget of the settings or the recipe: give 'budget' instead.")
    _refuse_unfair(models)
    return ComparisonRequest(comparison, models, recipe)


def _named_twice(archs: Sequence[str]) -> str:
    once = list(dict.fromkeys(archs))
    twice = [name for name in once if archs.count(name) > 1]
    are = "is" if len(twice) == 1 else "are"
    return (
        f"{' and '.join(twice)} {are} named more than once, and runs of one model differ only by their seeds. Name "
        f"each model once, --archs {','.join(once)}, and set the number of its runs by --seeds."
    )


def entrant_settings(name: str) -> dict[str, str]:
    """The one-word settings of an entrant: an architecture, or one mixed with counts, such as lstm+counts."""
    arch, plus, mixed_with = name.partition("+")
    if plus and mixed_with != "counts":
        raise UsageError(f"'{name}' is not a model: after '+' only counts can follow, as in {arch}+counts.")
    return {"arch": arch, **({"mix": mixed_with} if plus else {})}


def _refuse_overruled(comparison: ComparisonSettings, chosen: Mapping[str, Any], given: Sequence[str]) -> None:
    """UsageError for options and settings that do nothing under this plan."""

    def refuse(keys: Iterable[str], where: str) -> None:
        refuse_given({key: True for key in keys if key in (*chosen, *given)}, where)

    refuse(["train.seed"], "in a comparison, which has 'seeds'")
    refuse(["train.shard", "train.offload"], "in a comparison, which trains each run in one process")
    refuse(["train.replan"], "in a comparison, which plans all steps before the first run")
    if comparison.launcher == "ray":
        refuse(["jobs"], "with Ray, which runs as many as its nodes have CPUs for; train.threads is the CPUs of a run")
    else:
        refuse(["address"], "without launcher=ray, that is, --launcher ray")
    if comparison.budget is not None:
        refuse(["minutes", "train.steps", "train.epochs", "train.seconds"], f"with the budget {comparison.budget}")
    if comparison.tune:
        refuse(
            [key for name, key in TUNED.items() if name in comparison.tune_over], "while it is tuned; tune=0 keeps it"
        )
    else:
        refuse(["tune_over"], "without trials; 'tune' is their number")
    if comparison.match is None or comparison.sizes is not None:
        refuse(["backbone.hidden", "decoder.hidden"], "where sizes are matched; match=none keeps it")


def _for_running_text(settings: RunSettings, chosen_split: bool, chosen_batch: bool) -> RunSettings:
    """The settings with what suits a comparison on running text, unless it is set; lines are left alone.

    Held-out text comes from all over the text, not from given files. Batches are smaller than those of `seqlab train`:
    in equal time, and with rates that are tuned, more steps are better."""
    corpus = settings.corpus
    if corpus.documents == "lines" or not isinstance(settings.task.settings, TextSettings):
        return settings
    cut = corpus.validation or corpus.split_ratios == "90/5/5"
    split = {} if chosen_split or cut else {"corpus.split": "scattered"}
    return settings.with_values(**split, **({} if chosen_batch else {"task.batch_size": BATCH_SIZE}))


def _refuse_unfair(models: Mapping[str, RunSettings]) -> None:
    """UsageError unless all models are scored alike; only architecture and training may differ."""
    first = next(iter(models), "")
    for name in list(models)[1:]:
        for section, keys in (("corpus", None), ("tokenizer", None), ("task", SCORED_ALIKE)):
            a, b = models[first].resolved()[section], models[name].resolved()[section]
            for key in keys or a:
                if a.get(key) != b.get(key):
                    raise UsageError(
                        f"{first} and {name} cannot be compared: {section}.{key} is {a.get(key)!r} for one and "
                        f"{b.get(key)!r} for the other. Choose models that agree with --archs."
                    )
