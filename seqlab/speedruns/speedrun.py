"""One speedrun: a clock, one training run for each seed within it, and the record of all of them."""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING, Any

from scipy.stats import t

from seqlab.config.sections import MOST
from seqlab.data.files import STANDARD_INPUT
from seqlab.data.text.corpus import require_existing
from seqlab.errors import DataError, UsageError
from seqlab.recipes import recipe as read_recipe
from seqlab.registry import CORPORA
from seqlab.runs.directory import folder_name, refuse_occupied
from seqlab.runs.machine import git_revision, machine
from seqlab.runs.results import timestamp
from seqlab.runs.run import Run, load
from seqlab.storage import from_json, read_bytes, storage_errors, to_json, validated, write_atomic
from seqlab.tasks.text_settings import LanguageSettings
from seqlab.training.budget import PATIENCE
from seqlab.training.request import settings_from_request
from seqlab.training.session import train
from seqlab.wording import counted

if TYPE_CHECKING:
    from seqlab.training.progress import Reporter

RECIPES = {5: "speedrun/5-minutes", 20: "speedrun/20-minutes", 60: "speedrun/60-minutes"}
TEXT = "tiny-shakespeare"
RECORD = "speedrun.json"
SEEDS = 3  # of the text that everybody is measured on; of others, one
# what stands around training: reading, timing; counting, fitting, scoring with and without counts, baselines, curves
RESERVE, RESERVED_SHARE = 42.0, 0.05  # seconds, and a share of the time: a late attempt is none
MOST_SEEDS = 100
RECORD_RULES = {"train.evaluate_every": MOST}  # a single evaluation, at the end: no weights are chosen by it
# of another text, which may be short: the best of ten evaluations is kept, after however many passes
OWN_TEXT = {"train.patience": PATIENCE, "train.max_epochs": None}
NANOGPT = 1.4697  # nats per character of nanoGPT's recipe on an A100, validation in windows of 256


@dataclass(frozen=True)
class Attempt:
    """One seed: nats per character on validation, and the seconds from raw text to these numbers."""

    seed: int
    path: str
    steps: int
    seconds: float
    window: float  # in windows, from a fresh state
    carried: float  # with the state carried through the text
    network: float  # without counts, in windows
    fingerprint: str  # of the training text
    machine: str
    commit: str | None  # of seqlab, if it runs from its repository
    date: str
    tokens: int | None = None  # of a window: fewer than the recipe has where the text is short


@dataclass(frozen=True)
class Speedrun:
    """The attempts of all seeds under one recipe."""

    minutes: int
    text: str
    source: list[str]
    attempts: list[Attempt]
    recipe: dict[str, Any]

    @property
    def mean(self) -> float:
        return sum(attempt.window for attempt in self.attempts) / len(self.attempts)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the mean for fresh seeds on this text; None with one seed."""
        values = [attempt.window for attempt in self.attempts]
        if len(values) < 2:
            return None
        half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
        return self.mean - half, self.mean + half

    @property
    def sentences(self) -> list[str]:
        """The result in words, and what to know about it."""
        interval = self.interval
        around = "" if interval is None else f" (95% for fresh seeds {interval[0]:.4f} to {interval[1]:.4f})"
        sentences = [f"Mean {self.mean:.4f} nats/char{around}."]
        if self.text == TEXT:
            sentences.append(f"nanoGPT's recipe on an A100 has {NANOGPT} on the same split, in windows of 256.")
        if self.late:
            late = ", ".join(
                f"seed {attempt.seed} by {attempt.seconds - 60 * self.minutes:.0f} s" for attempt in self.late
            )
            sentences.append(
                f"Over the time of {self.minutes} minutes: {late}. A busy machine makes everything slower."
            )
        return sentences

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "mean": self.mean if self.attempts else None, "interval": self.interval}

    @property
    def late(self) -> list[Attempt]:
        """The attempts that took longer than their time."""
        return [attempt for attempt in self.attempts if attempt.seconds > 60 * self.minutes]


def speedrun(
    source: Sequence[str] | None,
    minutes: int,
    seeds: int | None,
    first_seed: int,
    out: Path | None,
    reporter: "Reporter",
) -> Speedrun:
    """Train one model for each seed, each within `minutes` from raw text to result, and write the record.

    Seeds that are finished stay: the same command continues, also with other seeds."""
    _refuse_values(minutes, seeds, first_seed)
    files = [TEXT] if source is None else list(source)
    name = files[0] if files[0] in CORPORA else Path(files[0]).stem
    folder = out or Path("runs") / f"speedrun-{folder_name(name)}-{minutes}"
    attempts = _finished_attempts(folder, files, minutes)
    _refuse_examples(files)
    seeds = seeds or (SEEDS if source is None else 1)
    if STANDARD_INPUT in files and (attempts or seeds > 1):
        raise UsageError("standard input can be read once, and every seed reads the text: save it to a file first.")
    for item in files:  # before the clock runs
        if item not in (*CORPORA, STANDARD_INPUT):
            require_existing(item)
    for attempt in attempts[:1]:
        _refuse_changed(folder, attempt)
    record = Speedrun(minutes, name, files, attempts, read_recipe(RECIPES[minutes]))
    _write_record(folder, record)  # before the first clock: the same command continues one that was interrupted
    for seed in range(first_seed, first_seed + seeds):
        if seed in [attempt.seed for attempt in attempts]:
            reporter.log(f"seed {seed} is finished: '{folder / f'seed-{seed}'}'")
            continue
        reporter.log(f"seed {seed}: the clock runs, {minutes} minutes from raw text to result")
        run, attempt = _attempt(files, minutes, seed, folder / f"seed-{seed}", reporter)
        if attempts and attempt.fingerprint != attempts[0].fingerprint:
            raise UsageError(f"the text has changed since seed {attempts[0].seed}: choose another --out for all seeds.")
        attempts = [*attempts, attempt]
        record = replace(record, text=run.config["corpus"]["name"], attempts=attempts)
        _write_record(folder, record)
    return record


def _refuse_values(minutes: int, seeds: int | None, first_seed: int) -> None:
    if minutes not in RECIPES:
        raise UsageError(
            f"there is no recipe for {counted(minutes, 'minute')}: expected {', '.join(map(str, RECIPES))}."
        )
    if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
        raise UsageError(f"the number of seeds is {seeds}: expected 1 to {MOST_SEEDS}.")
    if not 0 <= first_seed <= MOST:
        raise UsageError(f"the first seed is {first_seed}: expected 0 to {MOST:,}.")


def _finished_attempts(folder: Path, files: list[str], minutes: int) -> list[Attempt]:
    """Those of the same command, which was interrupted or asked for fewer seeds."""
    if not (folder / RECORD).exists():
        refuse_occupied(folder, overwrite=False)
        return []
    record = _read_record(folder)
    if (record.minutes, record.source, record.recipe) != (minutes, files, read_recipe(RECIPES[minutes])):
        raise UsageError(
            f"'{folder}' has a speedrun of {record.minutes} minutes on '{record.text}', with another text, time or "
            f"recipe than this one: choose another --out."
        )
    return record.attempts


def _refuse_changed(folder: Path, attempt: Attempt) -> None:
    """UsageError if the text is no longer the one of a finished seed, whose result would be shown for it."""
    try:
        load(folder / f"seed-{attempt.seed}").dataset()
    except DataError as error:
        changed = f"the text has changed since seed {attempt.seed}: choose another --out for all seeds."
        raise UsageError(f"{changed} {error}") from None


def _write_record(folder: Path, record: Speedrun) -> None:
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / RECORD, to_json(record.as_dict()))


def _read_record(folder: Path) -> Speedrun:
    path = folder / RECORD
    stored = from_json(read_bytes(path), path)
    return validated(Speedrun, {key: stored.get(key) for key in Speedrun.__dataclass_fields__}, path)


def _refuse_examples(files: list[str]) -> None:
    task = settings_from_request(files, {}, {}, {}).task
    if not isinstance(task.settings, LanguageSettings):
        raise UsageError(
            f"'{files[0]}' is for --task {task.name}, and a speedrun makes a language model: use seqlab train."
        )


def _attempt(files: list[str], minutes: int, seed: int, out: Path, reporter: "Reporter") -> tuple[Run, Attempt]:
    began = time.monotonic()
    short = {"seconds": 60 * minutes * (1 - RESERVED_SHARE) - RESERVE, "seed": seed}
    settings = settings_from_request(files, read_recipe(RECIPES[minutes]), {}, short, None, reporter.log)
    rules = {"train.sample_tokens": 0, "train.replan": True}  # replan: beside other programs, steps slow down
    settings = settings.with_values(**rules, **(RECORD_RULES if files == [TEXT] else OWN_TEXT))
    run = train(settings, out, out.exists(), reporter)  # an interrupted one begins anew: its clock ran on
    carried = run.evaluate(mode="carry").metrics
    results = run.results
    assert results is not None, "the run is finished"
    alone = next(one.metrics for one in results.baselines if one.name == "network alone")
    window, carried_nats, network = (
        metrics["bits_per_char"] * math.log(2) for metrics in (results.validation, carried, alone)
    )
    return run, Attempt(
        seed=seed,
        path=str(out),
        steps=results.steps,
        seconds=round(time.monotonic() - began, 1),
        window=window,
        carried=carried_nats,
        network=network,
        fingerprint=run.config["training_fingerprint"],
        machine=machine(),
        commit=git_revision(Path(__file__).parent),
        date=timestamp(),
        tokens=results.window,
    )
