"""How often 95% intervals cover on real text: `python -m benchmarks.text_calibration runs/calibration`.

Three architectures are trained with six seeds each on three texts, with the scattered split of a comparison. A draw
takes half of the held-out stretches, as many as a comparison is judged on, and computes the interval of a comparison.
The other half gives a second difference, which is as noisy as the first: the interval is widened by √2 and should
cover it in 95 of 100 draws. For two architectures, three seeds give the interval and the other three the difference:
fresh seeds and fresh text. For two runs, both are those of the same two models: fresh text alone.

SEQLAB_DATA is a folder with tiny-shakespeare/input.txt and ud-ewt/*.conllu. The command resumes where it stopped.
"""

import argparse
import itertools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

import seqlab
from seqlab.comparison.judgment.statistics import estimate, level
from seqlab.errors import MissingInput
from seqlab.runs.run import Run
from seqlab.text_table import markdown_table

DRAWS = 2000
SEEDS = 6  # three for the interval, three for the difference that it should cover
STEPS = 500
# small models, of 42,000 to 57,000 core parameters: a run takes less than half a minute on one core
MODELS = {
    "gru": {"backbone.name": "gru", "backbone.hidden": 96},
    "lstm": {"backbone.name": "lstm", "backbone.hidden": 80},
    "transformer": {"backbone.name": "transformer", "backbone.hidden": 48, "backbone.layers": 2},
}
SHARED = {
    "corpus.split": "scattered",
    "corpus.split_ratios": "80/10/10",
    "model.embedding": 48,
    "task.batch_size": 16,
    "train.steps": STEPS,
    "train.evaluate_every": STEPS // 2,
    "train.sample_tokens": 0,
    "train.threads": 1,
}
WEB_TEXT = tuple(f"en_ewt-ud-{part}.conllu" for part in ("train", "dev", "test"))
BASELINE = "kneser-ney"
Halves = Literal["random", "alternate", "neighboring"]
HALVES: dict[Halves, str] = {
    "random": "random halves",
    "alternate": "every other stretch",
    "neighboring": "one half of the text, the other half",
}


@dataclass(frozen=True)
class Covered:
    share: float  # of the draws
    width: float  # of the interval itself, mean, in nats per character


def sources(out: Path) -> dict[str, str]:
    """The texts by name: one author, one manual, and many authors."""
    return {
        "tiny-shakespeare": "tiny-shakespeare",
        "python-docs": "python-docs",
        "english-web": str(web_text(out / "english-web.txt")),
    }


def web_text(path: Path) -> Path:
    """The English Web Treebank as running text: weblogs, e-mail, newsgroups, answers and reviews."""
    files = [Path(os.environ.get("SEQLAB_DATA") or "nowhere") / "ud-ewt" / name for name in WEB_TEXT]
    if not all(file.is_file() for file in files):
        raise MissingInput(f"set SEQLAB_DATA to a folder in which ud-ewt/ has {', '.join(WEB_TEXT)}.")
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    sentences = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    return path


def train(source: str, model: str, seed: int, folder: Path) -> Run:
    """The finished run in this folder: trained now, resumed, or there already."""
    if folder.is_dir():
        return seqlab.resume(folder)
    return seqlab.train(source, out=folder, settings={**SHARED, **MODELS[model], "train.seed": seed})


def held_out_sums(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Sums of the run, and of Kneser-Ney, on every stretch of validation and test, in the order of the text (U, 2)."""
    task, dataset = run.task(), run.dataset()
    of_run, of_baseline = [], []
    for split in ("validation", "test"):
        units = task.unit_sums(task.score(run.model, split))
        of_run.append(units.sums_UK)
        baselines = task.score_baselines(dataset, split, units)
        of_baseline += [one.sums_UK for one in baselines if one.role == "main" and one.sums_UK is not None]
    # the stretches of validation and test take turns
    return np.stack(of_run, 1).reshape(-1, 2), np.stack(of_baseline, 1).reshape(-1, 2)


def stored_sums(text: str, source: str, model: str, seed: int, out: Path) -> tuple[np.ndarray, np.ndarray]:
    """What `held_out_sums` gives, computed once."""
    name = f"{text}-{model}-{seed}"
    stored = out / f"{name}.npz"
    if not stored.is_file():
        of_run, of_baseline = held_out_sums(train(source, model, seed, out / name))
        np.savez(stored, run=of_run, baseline=of_baseline)
    with np.load(stored) as arrays:
        return arrays["run"], arrays["baseline"]


def collect(text: str, source: str, out: Path) -> dict[str, np.ndarray]:
    """The sums of all runs of each model (S, U, 2), and of the baseline (U, 2)."""
    sums: dict[str, np.ndarray] = {}
    for model in MODELS:
        of_seeds = [stored_sums(text, source, model, seed, out) for seed in range(SEEDS)]
        sums[model], sums[BASELINE] = np.stack([of_run for of_run, _ in of_seeds]), of_seeds[0][1]
    return sums


def halve(units: int, halves: Halves, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of the stretches, each in the order of the text."""
    match halves:
        case "random":
            order_U = draw.permutation(units)
        case "alternate":
            order_U = np.argsort((np.arange(units) + draw.integers(2)) % 2, kind="stable")
        case "neighboring":
            order_U = np.roll(np.arange(units), draw.integers(units))
    return np.sort(order_U[: units // 2]), np.sort(order_U[units // 2 :])


def coverage(
    sums: Mapping[str, np.ndarray], pairs: list[tuple[str, str]], halves: Halves, draws: int, seeded: bool = True
) -> Covered:
    """Of pairs of architectures or, unless `seeded`, of single runs."""
    draw, covered, width = np.random.default_rng(0), 0, 0.0
    for number in range(draws):
        here_U, there_U = halve(sums[BASELINE].shape[0], halves, draw)
        here, there = [], []
        for name in pairs[number % len(pairs)]:
            one = other = sums[name]
            if one.ndim == 3:
                order_S = draw.permutation(len(one))
                half = len(one) // 2
                one, other = (one[order_S[:half]], one[order_S[half:]]) if seeded else (one[order_S[0]],) * 2
            here.append(one[..., here_U, :])
            there.append(other[..., there_U, :])
        result = estimate(here[0], here[1])
        assert result.low is not None and result.high is not None
        gap = level(there[1]) - level(there[0]) - result.difference
        covered += abs(gap) <= math.sqrt(2) * (result.high - result.low) / 2
        width += result.high - result.low
    return Covered(covered / draws, width / draws)


def table(by_text: Mapping[str, Mapping[str, np.ndarray]], draws: int = DRAWS) -> str:
    models = list(itertools.combinations(MODELS, 2))
    against = [(model, BASELINE) for model in MODELS]
    rows = []
    for text, sums in by_text.items():
        for halves, words in HALVES.items():
            kinds = ((models, True), (models, False), (against, True))
            results = [coverage(sums, pairs, halves, draws, seeded) for pairs, seeded in kinds]
            shown = [f"{100 * result.share:.1f} / {result.width:.3f}" for result in results]
            rows.append([text, words, str(sums[BASELINE].shape[0] // 2), *shown])
    heads = ["text", "halves", "stretches in each", "two architectures", "two runs", "an architecture and Kneser-Ney"]
    return markdown_table(heads, rows, right=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder of the runs")
    out = parser.parse_args().out
    by_text = {text: collect(text, source, out) for text, source in sources(out).items()}
    print(f"Coverage in % of {DRAWS:,} draws / mean width of the interval in nats per character\n")
    print(table(by_text))


if __name__ == "__main__":
    main()
