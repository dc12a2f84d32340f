"""docs/results.md: tables and curves made from the records of finished runs, nothing by hand."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from seqlab.errors import MissingInput, UsageError
from seqlab.measures.lengths import draw_by_length
from seqlab.metrics.descriptions import describe
from seqlab.recipes import Recipe, find_recipe
from seqlab.storage import write_atomic
from seqlab.studies.comparisons import comparison_part, read_comparisons
from seqlab.studies.curves import draw_together
from seqlab.studies.record import Record, read_records, spread
from seqlab.studies.seeds import DIFFERENCES, LEVELS, by_model, differences, levels

HEAD = """# Results

Made by `seqlab results` from the records in [{folder}]({folder}), one for each finished run, and from
the comparisons in its folder `comparisons`. A recipe is run, and its
missing records are made, by `seqlab train --recipe NAME`; a record is never measured twice, so remove one to have it
made anew. Losses are in nats per token on the validation part, in windows of the training length with a fresh state.
Seconds of training are those of the run, on a machine that may have had other work; the time of a step is the fastest
of a dozen.
"""

# a row of the table of a recipe: its name, and the value of a record
ROWS: dict[str, Callable[[Record], Any]] = {
    "architecture": lambda r: r.arch,
    "parameters": lambda r: f"{r.parameters['total']:,}",
    "of them embedding": lambda r: f"{r.parameters['embedding']:,}",
    "core": lambda r: f"{r.parameters['core']:,}",
    "output": lambda r: f"{r.parameters['output']:,}",
    "position table": lambda r: f"{r.parameters['positions']:,}" if r.parameters["positions"] else "-",
    "window x batch": lambda r: f"{r.settings['task']['window']} x {r.settings['task']['batch_size']}",
    "text": lambda r: r.corpus["name"],
    "steps": lambda r: f"{r.results['steps']:,}",
    "best at step": lambda r: f"{r.results['best_step']:,}",
    "validation": lambda r: _figures({r.results["headline"]: r.results["validation"][r.results["headline"]]}),
    "test": lambda r: _figures(r.measures["test"]["data"]["figures"]),
    "loss": lambda r: f"{r.results['validation']['nats_per_token']:.4f}",
    "loss, state carried": lambda r: _measure(r, "carried", "nats_per_token", "{:.4f}"),
    "perplexity": lambda r: f"{r.results['validation']['perplexity']:.2f}",
    "bits per character": lambda r: f"{r.results['validation']['bits_per_char']:.3f}",
    "training, s": lambda r: f"{r.results['seconds']:,.0f} on {r.settings['train']['threads']} thread(s)",
    "training step, ms": lambda r: _measure(r, "speed", "step_ms", "{:.1f}"),
    "a token alone, ms": lambda r: _measure(r, "speed", "alone_ms", "{:.2f}"),
    "a token of 32 at once, ms": lambda r: _measure(r, "speed", "batched_ms", "{:.3f}"),
    "a token after 10 others, ms": lambda r: f"{r.measures['speed']['data']['profile_ms']['10']:.2f}",
    "a token after 1,000 others, ms": lambda r: f"{r.measures['speed']['data']['profile_ms']['1000']:.2f}",
    "state after 1,024 tokens, kB": lambda r: f"{r.measures['memory']['data']['state']['1024'] / 1e3:,.0f}",
    "a process that writes, MB": lambda r: _measure(r, "memory", "process", "{:.0f}", 1e-6),
}


def write_page(folder: Path, out: Path) -> Path:
    """The page, and a picture of the curves of each recipe beside the records."""
    records = read_records(folder) if folder.is_dir() else []
    if not records:
        raise MissingInput(f"there are no records in '{folder}'. Make some: seqlab train --recipe toy-gru.")
    parts = [HEAD.format(folder=_link(folder, out))]
    for name in dict.fromkeys(record.recipe for record in records):
        parts.append(recipe_part(find_recipe(name), [one for one in records if one.recipe == name], folder, out))
    parts += [comparison_part(name, results) for name, results in read_comparisons(folder).items()]
    write_atomic(out, ("\n".join(parts).rstrip() + "\n").encode())
    return out


def recipe_part(recipe: Recipe, records: list[Record], folder: Path, out: Path) -> str:
    order = [*recipe.models, *recipe.shows]
    records = sorted(
        records, key=lambda record: (order.index(record.model) if record.model in order else 99, record.seed)
    )
    trained = [record for record in records if record.results]
    parts = [
        f"## {recipe.name}\n\n{recipe.about[0].upper()}{recipe.about[1:]}: `seqlab train --recipe {recipe.name}`.\n"
    ]
    if trained:
        parts += [_summary(recipe, trained), _over_seeds(trained), _beside(recipe, trained), _by_step(trained)]
        if len(trained[0].evaluations) > 1:
            picture = folder / f"{recipe.name}.png"
            draw_together(trained, recipe.name, picture)
            parts.append(f"![curves of {recipe.name}]({_link(picture, out)})\n")
        parts.append(_lengths(recipe, trained, folder, out))
    parts += [_notes(recipe, records), *(_measures(record, folder, out) for record in records), _origin(records)]
    return "\n".join(part for part in parts if part)


def _summary(recipe: Recipe, records: list[Record]) -> str:
    """Aspects down, models across; what a study says of an aspect in brackets; floors at the end."""
    said = {record.model: recipe.reference.get(record.model, {}).get("said", {}) for record in records}
    rows = [
        [name, *(_or_dash(value, record) + _in_brackets(said[record.model].get(name)) for record in records)]
        for name, value in ROWS.items()
    ]
    rows = [row for row in rows if set(row[1:]) != {"-"}]
    baselines = {baseline["name"]: baseline for record in records for baseline in record.results["baselines"]}
    for name in baselines:
        cells = [
            next(
                (_reached(f["figures"], r.results["headline"]) for f in r.results["baselines"] if f["name"] == name),
                "-",
            )
            for r in records
        ]
        rows.append([f"{'loss of ' if 'nats_per_token' in baselines[name]['figures'] else ''}{name}", *cells])
    return table(["", *(_title(record) for record in records)], rows)


def _over_seeds(records: list[Record]) -> str:
    """What the test part says of models that were trained with several seeds."""
    models = by_model(records)
    if not models:
        return ""
    scored = next(record.measures["test"]["data"] for record in records if "test" in record.measures)
    metric = scored["metric"]
    parts = [f"On the {scored['part']} part, {metric}:\n", table(LEVELS, levels(metric, models, scored["baselines"]))]
    if pairs := differences(metric, models):
        parts.append(table(DIFFERENCES, pairs))
    return "\n".join(parts)


def _reached(figures: dict[str, float], headline: str) -> str:
    """Of a text the loss, of other tasks the figure that they are listed by."""
    return (
        f"{figures['nats_per_token']:.4f}"
        if headline == "bits_per_char"
        else describe(headline).format(figures[headline])
    )


def _lengths(recipe: Recipe, records: list[Record], folder: Path, out: Path) -> str:
    """Models that were scored by length, together in one picture."""
    found: dict[str, list[Any]] = {}
    for record in (one for one in records if "by-length" in one.measures):
        found.setdefault(record.model, []).append(record.measures["by-length"]["data"])
    if len(found) < 2:
        return ""
    picture = folder / f"{recipe.name}-by-length.png"
    bins = {model: [one["bins"] for one in runs] for model, runs in found.items()}
    draw_by_length(bins, next(iter(found.values()))[0]["metric"], picture)
    return f"![{recipe.name} by length]({_link(picture, out)})\n"


def _beside(recipe: Recipe, records: list[Record]) -> str:
    """The published figures of a model beside ours, evaluation by evaluation."""
    parts = []
    for record in records:
        theirs = recipe.reference.get(record.model, {})
        if len(theirs.get("validation", ())) != len(record.evaluations):
            continue
        rows = []
        for at, ours in enumerate(record.evaluations):
            validation = ours["validation_loss"]
            rows.append([
                str(at + 1), f"{ours['train_loss']:.4f}", f"{theirs['train'][at]:.4f}", f"{validation:.4f}",
                f"{theirs['validation'][at]:.4f}", f"{math.exp(validation):.2f}",
                f"{theirs['perplexity'][at]:.2f}",
            ])  # fmt: skip
        heads = ["epoch", "training loss", "study", "validation loss", "study", "perplexity", "study"]
        parts.append(f"{_title(record)}, epoch by epoch, beside the study's own figures:\n\n{table(heads, rows)}")
    return "\n".join(parts)


def _by_step(records: list[Record]) -> str:
    """Validation losses at the steps that several models share, at most a dozen."""
    losses = [{one["step"]: one["validation_loss"] for one in record.evaluations} for record in records]
    shared = sorted(step for step in {s for one in losses for s in one} if sum(step in one for one in losses) > 1)
    if len(records) < 2 or not shared:
        return ""
    rows = [
        [f"{step:,}", *(f"{one[step]:.4f}" if step in one else "-" for one in losses)] for step in spread(shared, 12)
    ]
    heads = ["step", *(_title(record) for record in records)]
    return f"Validation loss at equal steps:\n\n{table(heads, rows)}"


def _notes(recipe: Recipe, records: list[Record]) -> str:
    """What the results say; fields in braces are of records by model. A note without its record is left out."""
    fields = {
        record.model.replace("-", "_"): _namespace(record, recipe.reference.get(record.model, {})) for record in records
    }
    notes = []
    for note in recipe.notes:
        try:
            notes.append(f"- {note.format(**fields)}")
        except (KeyError, AttributeError):
            continue
        except (ValueError, TypeError, IndexError) as error:
            raise UsageError(f"the recipe '{recipe.name}' has a note that cannot be filled: {error}: {note}") from None
    return "\n".join(notes) + "\n" if notes else ""


def _namespace(record: Record, reference: dict[str, Any]) -> SimpleNamespace:
    """What a note can name of a record. `off` is how far its loss is from the study's."""
    fields = {name.replace("-", "_"): _as_names(kept["data"]) for name, kept in record.measures.items()}
    fields |= {**record.parameters, "best_step": record.results.get("best_step")}
    fields["losses"] = SimpleNamespace(**{f"at_{one['step']}": one["validation_loss"] for one in record.evaluations})
    if record.results:
        fields["result"] = result = _as_names(record.results["validation"])
        if hasattr(result, "bits_per_char"):
            fields["characters_per_token"] = result.nats_per_token / math.log(2) / result.bits_per_char
        if "validation" in reference:
            fields["off"] = result.nats_per_token - reference["validation"][-1]
    return SimpleNamespace(**fields)


def _as_names(data: Any) -> Any:
    """Nested tables with attributes: {a.b}. Keys become words."""
    if not isinstance(data, dict):
        return data
    return SimpleNamespace(**{"".join(c if c.isalnum() else "_" for c in key): _as_names(v) for key, v in data.items()})


def _measures(record: Record, folder: Path, out: Path) -> str:
    """Of a run folded up, for there are many; what is shown without one stands open."""
    parts = []
    for name, kept in record.measures.items():
        pictures = "".join(f"![{figure}]({_link(folder / figure, out)})\n\n" for figure in kept["figures"])
        content = f"~~~text\n{kept['text']}\n~~~\n\n{pictures}"
        parts.append(_folded(f"{_title(record)}: {name}", content) if record.results else content)
    if record.samples:
        texts = "\n\n".join(f"--- step {one['step']} ---\n{one['text']}" for one in record.samples)
        parts.append(_folded(f"{_title(record)}: written while it was trained", f"~~~text\n{texts}\n~~~\n\n"))
    return "\n".join(parts)


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{content}</details>\n"


def _origin(records: list[Record]) -> str:
    seeds = sorted({record.seed for record in records})
    machines = sorted({record.machine for record in records})
    versions = sorted({", ".join(f"{k} {v}" for k, v in record.versions.items()) for record in records})
    dates = sorted(record.date[:10] for record in records)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    named = f"Seed{'s' * (len(seeds) > 1)}: {', '.join(map(str, seeds))}. "
    return f"{named}Machine: {'; '.join(machines)}. Versions: {'; '.join(versions)}. {when}.\n"


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def _title(record: Record) -> str:
    return record.model if record.seed == 0 else f"{record.model}, seed {record.seed}"


def _in_brackets(said: str | None) -> str:
    return f" (study: {said})" if said else ""


def _or_dash(value: Callable[[Record], Any], record: Record) -> str:
    try:
        return str(value(record))
    except KeyError:
        return "-"


def _figures(figures: dict[str, float]) -> str:
    """Of tasks on examples; what a text is judged by has rows of its own."""
    if "bits_per_char" in figures:
        raise KeyError("bits_per_char")
    return ", ".join(
        f"{describe(key).label} {describe(key).format(value)}"
        for key, value in figures.items()
        if not describe(key).is_count
    )


def _measure(record: Record, measure: str, key: str, form: str, factor: float = 1.0) -> str:
    return form.format(record.measures[measure]["data"][key] * factor)


def _link(path: Path, page: Path) -> str:
    return Path(os.path.relpath(path, page.parent)).as_posix()
