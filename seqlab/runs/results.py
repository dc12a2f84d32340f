"""results.json: what a finished run achieved, and the model card that is written from it."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab.config import RunSettings
from seqlab.metrics.wording import HEADLINES, HEADS, figure, in_words
from seqlab.registry import TASKS
from seqlab.runs.directory import RunDirectory
from seqlab.runs.manifest import read_verified
from seqlab.storage import JSON_LIMIT, as_bytes, from_json, to_json, unreadable_file, write_atomic

NAME = "results.json"
LOWER = {"bits_per_char"}  # headlines of which less is better


@dataclass(frozen=True)
class BaselineResult:
    """A floor on the same held-out tokens."""

    name: str
    about: str
    metrics: dict[str, float]


@dataclass(frozen=True)
class Results:
    """The best weights on the validation part, with the floors beside them; figures are by name."""

    validation: dict[str, float]
    headline: str  # the figure that the run is listed by
    criterion: float  # by which the weights were chosen, the lower the better
    mode: str
    window: int | None
    steps: int
    best_step: int
    ended: str
    seconds: float
    unknown_share: float
    baselines: list[BaselineResult]
    date: str

    def __post_init__(self) -> None:
        everyone = [self.validation, *(baseline.metrics for baseline in self.baselines)]
        if not all(self.headline in metrics for metrics in everyone) or self.headline not in HEADLINES:
            raise ValueError(f"'{self.headline}' is not what this run and its floors are listed by")

    @property
    def counting(self) -> BaselineResult | None:
        """The strongest floor that counts: of a task's floors the last, but compression is none."""
        counted = [baseline for baseline in self.baselines if baseline.name != "xz" and baseline.name != "unigram"]
        return counted[-1] if counted else None

    @property
    def direction(self) -> int:
        """1 where more of the headline is better, -1 where less is."""
        return -1 if self.headline in LOWER else 1

    @property
    def sentence(self) -> str:
        """The result in plain words, beside counting where that is known."""
        return in_words(self.validation, self.counting and (self.counting.name, self.counting.metrics))


def timestamp() -> str:
    return time.strftime("%Y-%m-%d %H:%M")


def write_results(directory: RunDirectory, results: Results) -> None:
    directory.write_file(NAME, to_json(asdict(results)))


def read_results(directory: RunDirectory) -> Results | None:
    """What `write_results` wrote; None while the run is not finished."""
    path = directory.path / NAME
    if not path.exists():
        return None
    content = from_json(read_verified(directory.path, NAME, JSON_LIMIT), path)
    try:
        return TypeAdapter(Results).validate_python(content)
    except ValidationError as error:
        raise unreadable_file(path, error) from None


def write_card(directory: RunDirectory, settings: RunSettings, config: dict[str, Any], results: Results) -> None:
    """README.md of the run, from facts alone."""
    corpus, count = config["corpus"], config["parameters"]
    where, about = directory.path, f" ({corpus['about']})" if corpus["about"] else ""
    task = TASKS.load(settings.task.name)
    settings_list = "\n".join(
        f"- {section}: " + ", ".join(f"{key} = {value}" for key, value in values.items())
        for section, values in settings.resolved().items()
    )
    baselines = "\n".join(f"- {baseline.name}: {baseline.about}." for baseline in results.baselines)
    command, call = task.use(str(where))
    unknown = f" Unknown symbols: {results.unknown_share:.2%} of the tokens."
    card = f"""# {settings.backbone.name} on {corpus["name"]}

A {task.kind} with {count["total"]:,} parameters (embedding {count["embedding"]:,}, core {count["core"]:,},
output {count["output"]:,}), trained on {_amount(corpus)} of `{corpus["name"]}`{about}
for {results.steps:,} steps in {results.seconds:,.0f} s. The weights are those of step {results.best_step:,}, the best
on validation. Training ended because {results.ended}.

## Quality

On the validation part ({_protocol(settings, corpus, results)}):
{results.sentence}.{unknown if results.window else ""}

{quality(results)}

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

Data: SHA-256 `{corpus["fingerprint"]}`. Versions: {", ".join(f"{k} {v}" for k, v in config["versions"].items())}.
Threads: {config["threads"]}. Written {results.date}.
"""
    write_atomic(directory.card, as_bytes(card))


def quality(results: Results) -> str:
    """The table of the card: figures across, the model and the floors down."""
    names = list(results.validation)
    rows = [("this model", results.validation), *((baseline.name, baseline.metrics) for baseline in results.baselines)]
    lines = [" | ".join(["", *(HEADS.get(name, name) for name in names)]), "---|" * (len(names) + 1)]
    lines += [" | ".join([name, *(figure(one, got.get(one)) for one in names)]) for name, got in rows]
    return "\n".join(f"| {line} |" if "---" not in line else f"|{line}" for line in lines)


def _amount(corpus: dict[str, Any]) -> str:
    if "examples" in corpus:
        return f"{corpus['examples']['train']:,} examples"
    return f"{corpus['characters']:,} characters"


def _protocol(settings: RunSettings, corpus: dict[str, Any], results: Results) -> str:
    if results.window is None:
        return f"{corpus['examples']['validation']:,} examples; {corpus['rule']}"
    tokens = int(results.validation["tokens"])
    return f"{settings.corpus.split_ratios} split, {tokens:,} tokens, windows of {results.window}, fresh state"
