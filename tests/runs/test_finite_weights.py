"""A run whose weights are not finite is refused by everything that would use them, with the tensor's name."""

import json
import math
from pathlib import Path

import pytest
import torch
from small_runs import small_run

from seqlab import api
from seqlab.cli.show import without_nan
from seqlab.errors import DataError
from seqlab.runs import tensors
from seqlab.runs.checkpoint import weights_of
from seqlab.runs.directory import WEIGHTS

NAME = "backbone.cells.0.weight_hh"


@pytest.fixture(params=[math.nan, math.inf])
def damaged(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A finished run with one weight that is not finite, its hash as it should be."""
    run = small_run(tmp_path)
    weights = weights_of(run.model)
    with torch.no_grad():
        weights[NAME][0, 0] = request.param
    run.directory.write_file(WEIGHTS, tensors.to_bytes(weights))
    return run.path


def test_every_use_is_refused_with_the_name_of_the_tensor(damaged: Path) -> None:
    uses = [
        lambda: api.load(damaged),
        lambda: api.evaluate(damaged),
        lambda: api.quantize(damaged, damaged.parent / "int8"),
        lambda: api.export(damaged, damaged.parent / "exported"),
        lambda: api.train(damaged.parent / "my.txt", out=damaged.parent / "next", init=damaged, steps=1),
    ]
    for use in uses:
        with pytest.raises(DataError, match=f"1 of the 192 weights in '{NAME}' are not finite"):
            use()
    assert not (damaged.parent / "int8").exists() and not (damaged.parent / "exported").exists()


def test_json_has_null_where_a_number_is_not_finite(capsys: pytest.CaptureFixture[str]) -> None:
    from seqlab.cli.show import StrictConsole

    content = {"a": math.nan, "b": [1.5, -math.inf, (math.inf, "NaN")], "c": {"d": 2}}
    expected = {"a": None, "b": [1.5, None, [None, "NaN"]], "c": {"d": 2}}
    assert without_nan(content) == expected
    StrictConsole().print_json(data=content)
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == expected
