"""Whether the differences of a comparison hold on other text: `python -m benchmarks.agreement FOLDER`.

The intervals of a comparison come from the stretches of its test split. The same runs on the stretches of the
validation split give the same differences again, on other text.
"""

import argparse
from pathlib import Path

import numpy as np

import seqlab
from benchmarks.text_calibration import held_out_sums
from seqlab.comparison.judgment.statistics import estimate
from seqlab.comparison.results import read_comparison
from seqlab.text_table import markdown_table


def agreement(folder: Path) -> list[list[str]]:
    """A row for each pair: the difference on test with its interval, and on validation with its own."""
    results = read_comparison(folder)
    baseline = next(entry.name for entry in results.baselines if entry.role == "main")
    sums: dict[str, np.ndarray] = {}  # (S, U, 2), or (U, 2) for the baseline
    for entrant in results.entrants:
        scored = [held_out_sums(seqlab.load(folder / run.path)) for run in results.runs_of(entrant.name)]
        sums[entrant.name], sums[baseline] = np.stack([of_run for of_run, _ in scored]), scored[0][1]
    rows = []
    for pair in (*results.pairs, *results.baseline_pairs):
        a, b = sums[pair.a], sums[pair.b]
        # validation and test take turns, validation first
        validation, test = (estimate(a[..., first::2, :], b[..., first::2, :]) for first in (0, 1))
        shown = [f"{one.difference:.3f} ({one.low:.3f} to {one.high:.3f})" for one in (test, validation)]
        assert test.low is not None and test.high is not None
        inside = test.low <= validation.difference <= test.high
        rows.append([f"{pair.a}, {pair.b}", *shown, "yes" if inside else "no"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a finished comparison of a running text, with a scattered split")
    heads = ["ahead, behind", "test (95% interval)", "validation (95% interval)", "validation within that of test"]
    print(markdown_table(heads, agreement(parser.parse_args().folder), right=True))


if __name__ == "__main__":
    main()
