"""`seqlab plan --from` with a real comparison: its runs are points of a law, and too few of them are refused."""

from small_comparisons import SMALL
from typer.testing import CliRunner

import seqlab
from seqlab.cli.app import app
from seqlab.comparison.compare import Comparison
from seqlab.errors import DataError, UsageError
from seqlab.scale.trained import trained_runs

WORDS = "plan --params 1e6 --tokens 1e7 --devices 1 --flops-per-device 1e14 --memory-per-device 24e9"


def refused(small: Comparison, arch: str) -> BaseException | None:
    return CliRunner().invoke(app, [*WORDS.split(), "--arch", arch, "--from", str(small.directory)]).exception


def test_runs_of_a_comparison_are_points(small: Comparison) -> None:
    trained = trained_runs([small.directory], "gru")
    points = trained.points
    assert trained.measured.vocab_size == small.results.protocol["vocab_size"]
    assert trained.measured.window == small.results.protocol["window"] == SMALL["window"]
    runs = [run for run in small.results.runs if run.arch == "gru"]
    assert len(points) == len(runs) == SMALL["seeds"]
    for point, run in zip(points, runs, strict=True):
        model = seqlab.load(small.directory / run.path).model
        assert point.parameters == sum(weight.numel() for weight in model.parameters())
        assert point.tokens == run.steps * SMALL["batch_size"] * SMALL["window"]
        assert point.loss == run.metrics["nats_per_token"]


def test_a_comparison_of_one_size_is_refused_in_words(small: Comparison) -> None:
    error = refused(small, "gru")
    assert isinstance(error, DataError) and error.exit_code == 65
    assert "needs at least 9 runs of one architecture" in str(error) and "here are 2" in str(error)


def test_an_architecture_that_was_not_compared_is_refused(small: Comparison) -> None:
    error = refused(small, "rnn")
    assert isinstance(error, UsageError) and "no finished run of --arch rnn" in str(error)
