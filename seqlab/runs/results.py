"""results.json: what a finished run achieved, and the model card that is written from it."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from seqlab.config import RunSettings
from seqlab.metrics.likelihood import Likelihood, likelihood, sentence
from seqlab.registry import TASKS
from seqlab.runs.layout import RunDirectory
from seqlab.runs.manifest import verified
from seqlab.runs.storage import JSON_LIMIT, as_bytes, from_json, not_ours, to_json, write_whole

NAME = "results.json"


@dataclass(frozen=True)
class FloorResult:
    """A floor on the same held-out tokens."""

    name: str
    about: str
    likelihood: Likelihood


@dataclass(frozen=True)
class Results:
    """The best weights on the validation part, with the floors beside them."""

    validation: Likelihood
    context: str
    window: int
    steps: int
    best_step: int
    ended: str
    seconds: float
    unknown_share: float
    floors: list[FloorResult]
    date: str

    @property
    def counting(self) -> Likelihood | None:
        """The best floor that counts n-grams."""
        counted = [floor.likelihood for floor in self.floors if floor.name.startswith("kneser-ney")]
        return counted[0] if counted else None


def floor_result(name: str, about: str, nats: float, sums: tuple[int, int, int]) -> FloorResult:
    """From a floor's nats over the same tokens, characters and bytes as the model's."""
    return FloorResult(name, about, likelihood(nats, *sums))


def today() -> str:
    return time.strftime("%Y-%m-%d %H:%M")


def write_results(directory: RunDirectory, results: Results) -> None:
    directory.put(NAME, to_json(asdict(results)))


def read_results(directory: RunDirectory) -> Results | None:
    """What `write_results` wrote; None while the run is not finished."""
    path = directory.path / NAME
    if not path.exists():
        return None
    content = from_json(verified(directory.path, NAME, JSON_LIMIT), path)
    try:
        return TypeAdapter(Results).validate_python(content)
    except ValidationError as error:
        raise not_ours(path, error) from None


def write_card(directory: RunDirectory, settings: RunSettings, config: dict[str, Any], results: Results) -> None:
    """README.md of the run, from facts alone."""
    corpus, count, got = config["corpus"], config["parameters"], results.validation
    rows = [("this model", got), *((floor.name, floor.likelihood) for floor in results.floors)]
    table = "\n".join(
        f"| {name} | {r.nats_per_token:.4f} | {r.perplexity:.2f} | {r.bits_per_char:.4f} | {r.bits_per_byte:.4f} |"
        for name, r in rows
    )
    settings_list = "\n".join(
        f"- {section}: " + ", ".join(f"{key} = {value}" for key, value in values.items())
        for section, values in settings.resolved().items()
    )
    floors = "\n".join(f"- {floor.name}: {floor.about}." for floor in results.floors)
    where, about = directory.path, f" ({corpus['about']})" if corpus["about"] else ""
    task = TASKS.load(settings.task.name)
    writing = f'seqlab generate {where} --prompt "The "\n' if task.writes else ""
    written = 'run.generate("The ", temperature=0.8)' if task.writes else "run.evaluate()"
    card = f"""# {settings.backbone.name} on {corpus["name"]}

A {task.kind} with {count["total"]:,} parameters (embedding {count["embedding"]:,}, core {count["core"]:,},
output {count["output"]:,}), trained on {corpus["characters"]:,} characters of `{corpus["name"]}`{about}
for {results.steps:,} steps in {results.seconds:,.0f} s. The weights are those of step {results.best_step:,}, the best
on validation. Training ended because {results.ended}.

## Quality

On the validation part ({settings.corpus.split} split, {got.tokens:,} tokens, windows of {results.window}, fresh state):
{sentence(got, results.counting)}. Unknown symbols: {results.unknown_share:.2%} of the tokens.

| | nats per token | perplexity | bits per character | bits per byte |
|---|---|---|---|---|
{table}

{floors}

![curves](curves.png)

## Use

```
{writing}seqlab evaluate {where}
```

```python
import seqlab

run = seqlab.load({str(where)!r})
print({written})
```

## Settings

{settings_list}

Text: SHA-256 `{corpus["fingerprint"]}`. Versions: {", ".join(f"{k} {v}" for k, v in config["versions"].items())}.
Threads: {config["threads"]}. Written {results.date}.
"""
    write_whole(directory.card, as_bytes(card))
