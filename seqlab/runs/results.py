"""results.json: the results of a finished run, and the model card that is written from them."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any

from seqlab.baselines.role import BaselineRole
from seqlab.config import RunSettings
from seqlab.errors import SeqlabWarning
from seqlab.metrics.descriptions import describe
from seqlab.metrics.metric import Metric
from seqlab.registry import TASKS
from seqlab.runs.directory import CARD, RunDirectory
from seqlab.runs.manifest import read_verified
from seqlab.storage import JSON_LIMIT, as_bytes, from_json, to_json, validated
from seqlab.text_table import markdown_table
from seqlab.wording import counted

NAME = "results.json"


@dataclass(frozen=True)
class ValidationBaseline:
    """A predictor without training, on the same held-out data."""

    name: str
    about: str
    role: BaselineRole
    metrics: dict[str, float]
    carried: dict[str, float] | None = None  # metrics if it reads on through the text

    def in_mode(self, mode: str, measured: str) -> "ValidationBaseline | None":
        """The baseline in the mode in which a model is scored; None if only others were measured."""
        if mode == measured:
            return self
        return replace(self, metrics=self.carried) if mode == "carry" and self.carried is not None else None


@dataclass(frozen=True)
class RunResults:
    """The best weights on the validation split, with the baselines beside them; metrics are by key."""

    validation: dict[str, float]
    headline_metric: Metric  # the run is listed by it
    sentence: str  # the result in words
    criterion: float  # what the weights were chosen by, the lower the better
    mode: str
    window: int | None
    steps: int
    best_step: int
    stop_reason: str
    seconds: float
    unknown_share: float
    baselines: list[ValidationBaseline]
    date: str
    caution: str = ""  # what to know before relying on the run

    def __post_init__(self) -> None:
        everyone = [self.validation, *(baseline.metrics for baseline in self.baselines)]
        if not all(self.headline_metric.key in metrics for metrics in everyone):
            raise ValueError(f"the run or a baseline lacks the metric '{self.headline_metric.key}'")

    @property
    def headline(self) -> float:
        return self.validation[self.headline_metric.key]

    @property
    def main_baseline(self) -> ValidationBaseline | None:
        return main_baseline(self.baselines)

    @property
    def strongest_baseline(self) -> ValidationBaseline | None:
        return strongest_baseline(self.baselines, self.headline_metric, self.window is not None)


def main_baseline(baselines: Sequence[ValidationBaseline]) -> ValidationBaseline | None:
    """The baseline that the run is judged against."""
    return next((baseline for baseline in baselines if baseline.role == "main"), None)


def strongest_baseline(
    baselines: Sequence[ValidationBaseline], metric: Metric, is_text: bool
) -> ValidationBaseline | None:
    """The main baseline, or the best of those that are better; of running text, the others read it in other ways."""
    strongest = main_baseline(baselines)
    for other in () if is_text else baselines:
        if strongest and metric.is_better(other.metrics[metric.key], strongest.metrics[metric.key]):
            strongest = other
    return strongest


def timestamp() -> str:
    return time.strftime("%Y-%m-%d %H:%M")


def write_results(directory: RunDirectory, results: RunResults) -> None:
    directory.write_file(NAME, to_json(asdict(results)))


def read_results(directory: RunDirectory) -> RunResults | None:
    """The stored results; None while the run is not finished."""
    path = directory.path / NAME
    if not path.exists():
        return None
    return validated(RunResults, from_json(read_verified(directory.path, NAME, JSON_LIMIT), path), path)


def write_card(directory: RunDirectory, settings: RunSettings, config: dict[str, Any], results: RunResults) -> None:
    """Write README.md of the run; one that somebody has changed is kept beside it."""
    corpus, sizes = config["corpus"], config["parameters"]
    where, about = directory.path, f" ({corpus['about']})" if corpus["about"] else ""
    task = TASKS.load(settings.task.name)
    settings_list = "\n".join(
        f"- {section}: " + ", ".join(f"{key} = {value}" for key, value in values.items())
        for section, values in settings.resolved().items()
    )
    baselines = "\n".join(f"- {baseline.name}: {baseline.about}." for baseline in results.baselines)
    command, call = task.usage_on(str(where), settings.corpus), task.usage(str(where))[1]
    unknown = f" Unknown tokens: {results.unknown_share:.2%}."
    caution = f"\n\n{results.caution}" if results.caution else ""
    card = f"""# {settings.model_name} on {corpus["name"]}

A {task.model_kind} with {sizes["total"]:,} parameters (embedding {sizes["embedding"]:,}, core {sizes["core"]:,},
output {sizes["output"]:,}), trained on {_amount(corpus, settings)}`{corpus["name"]}`{about}
for {counted(results.steps, "step")} in {results.seconds:,.0f} s. The weights are those of step {results.best_step:,},
the best on validation. Training ended because {results.stop_reason}.{_started_from(config)}

## Quality

On the validation split ({_protocol(settings, corpus, results)}):
{results.sentence}.{unknown if results.window or results.unknown_share else ""}{_fitted(settings)}{caution}

{metrics_markdown(results)}

{baselines}

![curves](curves.png)

## Use

```
{command}seqlab evaluate {where}
```

```python
import seqlab

run = seqlab.load({str(where)!r})
print({call})
```

## Settings

{settings_list}

{_said(corpus)}
Data: SHA-256 `{corpus["fingerprint"]}`. Versions: {", ".join(f"{k} {v}" for k, v in config["versions"].items())}.
Threads: {config["threads"]}. Written {results.date}.
"""
    if directory.has_changed(CARD):
        kept = next(path for number in count(1) if not (path := directory.path / f"README-{number}.md").exists())
        (directory.path / CARD).rename(kept)
        warnings.warn(
            f"{CARD} of {directory.path} had been changed: it is now {kept.name}", SeqlabWarning, stacklevel=2
        )
    directory.write_file(CARD, as_bytes(card))


def metrics_markdown(results: RunResults) -> str:
    """The table of the card: metrics across, the model and the baselines down."""
    metrics = [describe(key, [results.headline_metric]) for key in results.validation]
    rows = [("this model", results.validation), *((baseline.name, baseline.metrics) for baseline in results.baselines)]
    cells = [[name, *(metric.format(values.get(metric.key)) for metric in metrics)] for name, values in rows]
    return markdown_table(["", *(metric.label for metric in metrics)], cells)


def _amount(corpus: dict[str, Any], settings: RunSettings) -> str:
    if "examples" in corpus:
        given, out = corpus["examples"]["train"], corpus.get("left_out", 0)  # runs of earlier versions do not say it
        limit = f"more than {settings.task.settings.sequence_length:,} tokens"
        why = f" ({out:,} more have {limit} and were left out, by task.max_length)" if out else ""
        return f"{counted(given - out, 'example')}{why} of "
    characters = corpus.get("training_characters")  # likewise
    return "" if characters is None else f"{characters:,} characters of "


def _fitted(settings: RunSettings) -> str:
    """What the exponents of a mixture were fitted on (tasks/mixing.py)."""
    if settings.task.settings.option("mix", "none") != "counts":
        return ""
    on_validation = "this split, so its score is a little too good; the test split is new to it"
    where = on_validation if settings.mixture_sees_validation else "training text that was kept from the network"
    return f"\nHow far the counts are trusted was fitted on {where}."


def _started_from(config: dict[str, Any]) -> str:
    """The nearest run of each role; their own origins stand in config.json. Runs of earlier versions have none."""
    nearest: dict[str, str] = {}
    for origin in config.get("origins", []):
        nearest.setdefault(origin["role"], origin["path"])
    words = {"init": "It started from the weights of", "teacher": "It learned from a teacher,"}
    words["miner"] = "Its negatives were chosen by"
    return "".join(f"\n{words[role]} `{path}`." for role, path in nearest.items())


def _said(corpus: dict[str, Any]) -> str:
    """What was said of the data before training; runs of earlier versions have less of it."""
    notes = corpus.get("notes")
    return "Said of the data before training:\n\n" + "\n".join(f"- {note}" for note in notes) + "\n" if notes else ""


def _protocol(settings: RunSettings, corpus: dict[str, Any], results: RunResults) -> str:
    if results.window is None:
        return f"{counted(corpus['examples']['validation'], 'example')}; {corpus['rule']}"
    tokens = int(results.validation["tokens"])
    rule = corpus.get("rule", settings.corpus.split_ratios)
    return f"split: {rule}; {tokens:,} tokens, {settings.evaluation}"
