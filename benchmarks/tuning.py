"""How much is lost by choosing learning rates from short trials: `python -m benchmarks.tuning FOLDER`.

Five architectures on two texts, all of one size. A full-length run at every rate of a fine grid, two seeds each, says
which rate is the best; the regret of a choice is its mean loss above that of the best. Every loss is stored in
FOLDER/losses.jsonl as soon as it is known, and the same command goes on where an earlier one stopped.
"""

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from seqlab.comparison.plan.data import ComparisonData, prepare_data
from seqlab.comparison.plan.matching import match_size
from seqlab.comparison.plan.request import ComparisonSettings, build_request
from seqlab.comparison.plan.trials import SEED, first_trials, neighbor, run_rate, search, shortened, trial_share
from seqlab.config import RunSettings
from seqlab.text_table import markdown_table
from seqlab.threads import compute_threads
from seqlab.training.evaluations import EVALUATED_TOKENS
from seqlab.training.optimization import learning_rate
from seqlab.training.step import TrainingStep

ARCHS = ("rnn", "gru", "lstm", "lstm-attention", "transformer")
CORPORA = ("tiny-shakespeare", "python-docs")
SIZE = "params=40k"
SETTINGS = {"task.window": 48, "task.batch_size": 8, "model.embedding": 64, "train.threads": 1}
STEPS, WARMUP = 800, 80
START = 0.0056  # where the search for the best rate begins
SEEDS = (0, 1)  # of full runs


@dataclass(frozen=True)
class Training:
    """One run of the study."""

    corpus: str
    arch: str
    rate: float
    share: float  # of the full length
    seed: int


class Losses:
    """Validation losses, trained once and kept in a file."""

    def __init__(self, folder: Path, seconds: float = math.inf):
        self.path, self.seconds = folder / "losses.jsonl", seconds
        self.known: dict[Training, float] = {}
        if self.path.is_file():
            for line in self.path.read_text().splitlines():
                loss = json.loads(line)
                self.known[Training(**{key: loss[key] for key in Training.__dataclass_fields__})] = loss["loss"]

    def __getitem__(self, training: Training) -> float:
        if training not in self.known:
            if time.process_time() > self.seconds:
                raise SystemExit("the time is over: the same command goes on")
            began = time.perf_counter()
            loss = train(training)
            with self.path.open("a") as file:
                line = {**asdict(training), "loss": round(loss, 5), "seconds": round(time.perf_counter() - began, 1)}
                print(json.dumps(line), file=file)
            print(*asdict(training).values(), f"{loss:.4f}", flush=True)
            self.known[training] = loss
        return self.known[training]


@cache
def data(corpus: str) -> ComparisonData:
    request = build_request(corpus, None, SETTINGS, {"archs": ",".join(ARCHS), "match": SIZE})
    opened = prepare_data(request, Path(), lambda _: None)
    size, vocabulary = request.comparison.sizes, opened.dataset.vocabulary.sizes
    assert size is not None
    models = {name: match_size(settings, size, vocabulary).settings for name, settings in opened.models.items()}
    return ComparisonData(models, opened.dataset)


def settings_of(training: Training) -> RunSettings:
    """Trials are shortened as those of a comparison are, with the whole schedule in fewer steps."""
    full = {"train.steps": STEPS, "train.warmup": WARMUP, "train.lr": training.rate}
    settings = data(training.corpus).models[training.arch].with_values(**full)
    if training.share < 1:
        settings = shortened(settings, training.share)
    return settings.with_values(**{"train.seed": training.seed})


def train(training: Training) -> float:
    """The validation loss after the last step; infinite if training diverges."""
    settings, shared = settings_of(training), data(training.corpus)
    steps = settings.train.steps or 0
    with compute_threads(settings.train.threads):
        step = TrainingStep(shared.model(settings), shared.task(settings), settings.train)
        for number in range(steps):
            loss = step.gradients(number)
            if step.first_nonfinite(loss) is not None:
                return math.inf
            step.update(learning_rate(settings.train, number, steps))
        return step.task.validate(step.model.eval(), EVALUATED_TOKENS).criterion


def full_loss(losses: Losses, corpus: str, arch: str, rate: float, seeds: Sequence[int] = SEEDS) -> float:
    """The mean over seeds of full-length runs."""
    return sum(losses[Training(corpus, arch, rate, 1.0, seed)] for seed in seeds) / len(seeds)


def best_rate(losses: Losses, corpus: str, arch: str, seeds: Sequence[int] = SEEDS) -> float:
    """The best rate of full-length runs: downhill on the refined grid, until both neighbors are worse."""
    best = START
    while True:
        near = [neighbor(best, halves) for halves in (0, -1, 1)]
        lowest = min(near, key=lambda rate: full_loss(losses, corpus, arch, rate, seeds))
        if lowest == best:
            return best
        best = lowest


def chosen_rates(losses: Losses, corpus: str, share: float) -> dict[str, float]:
    """What a comparison would choose, with trials of this share of a run."""

    def trial_loss(arch: str, rate: float) -> float | None:
        loss = losses[Training(corpus, arch, rate, share, SEED)]
        return loss if math.isfinite(loss) else None

    results, _ = search(
        first_trials(ComparisonSettings(), SETTINGS["task.batch_size"]),
        ARCHS,
        True,
        lambda trials: {
            arch: [trial_loss(arch, trial["train.lr"]) for trial in tried] for arch, tried in trials.items()
        },
    )
    return {arch: run_rate([trial for trial in results if trial.name == arch], share) for arch in ARCHS}


def table(losses: Losses, share: float) -> str:
    """The regret of every choice, and their mean."""
    rows, regrets = [], []
    for corpus in CORPORA:
        chosen = chosen_rates(losses, corpus, share)
        for arch in ARCHS:
            best = best_rate(losses, corpus, arch)
            at_best, at_chosen = (full_loss(losses, corpus, arch, rate) for rate in (best, chosen[arch]))
            regrets.append(max(0.0, at_chosen - at_best))
            cells = [f"{best:g}", f"{at_best:.4f}", f"{chosen[arch]:g}", f"{at_chosen:.4f}", f"{regrets[-1]:.4f}"]
            rows.append([corpus, arch, *cells])
    heads = ["text", "architecture", "best rate", "its loss", "chosen rate", "its loss", "regret"]
    summary = (
        f"Trials of {share:.0%} of a run: mean regret {np.mean(regrets):.4f} nats/char, largest {max(regrets):.4f}."
    )
    return f"{markdown_table(heads, rows, right=True)}\n\n{summary}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=math.inf, help="compute so long; the same command goes on")
    parser.add_argument("--share", type=float, default=trial_share([STEPS]), help="length of a trial")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    losses = Losses(options.folder, 60 * options.minutes)
    for corpus, arch in product(CORPORA, ARCHS):  # one seed of everything first
        best_rate(losses, corpus, arch, SEEDS[:1])
    print(table(losses, options.share))


if __name__ == "__main__":
    main()
