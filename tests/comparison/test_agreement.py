"""The differences on validation stretches, beside those on the test split that the verdicts rest on."""

from benchmarks.agreement import agreement
from seqlab.comparison.compare import Comparison


def test_the_differences_on_the_test_split_are_those_of_the_verdicts(small: Comparison) -> None:
    pairs = [*small.results.pairs, *small.results.baseline_pairs]
    rows = agreement(small.directory)
    assert [row[0] for row in rows] == [f"{pair.a}, {pair.b}" for pair in pairs]
    assert [row[1] for row in rows] == [f"{pair.difference:.3f} ({pair.low:.3f} to {pair.high:.3f})" for pair in pairs]
    assert all(row[2] != row[1] for row in rows)
    assert {row[3] for row in rows} <= {"yes", "no"}
