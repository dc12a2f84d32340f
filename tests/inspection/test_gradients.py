"""Gradients by distance against finite differences, products of Jacobians against autograd's, slopes against theory."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from inspected_runs import LEARNED, TEXT, untrained

import seqlab
from seqlab.errors import UsageError
from seqlab.inspection.backward import backward, fitted_slope, gradient_norms, token_losses
from seqlab.inspection.distances import Curve, draw_curves, exact
from seqlab.inspection.inspection import inspect
from seqlab.inspection.jacobians import jacobian, recurrence_in, state_products
from seqlab.inspection.reading import read_text
from seqlab.plotting import new_figure

RECURRENT = {
    "tanh": ("rnn", {"activation": "tanh", "layers": 1}),
    "relu": ("rnn", {"activation": "relu", "layers": 1}),
    "sigmoid": ("rnn", {"activation": "sigmoid", "layers": 1}),
    "gru": ("gru", {"layers": 2}),
    "lstm": ("lstm", {"layers": 2}),
    "attention": ("lstm-attention", {"layers": 1}),
}


def exact_run(arch: str, text: str, **short: Any) -> tuple[Any, torch.Tensor]:
    """A model in float64, and the ids of the text."""
    run = untrained(arch, **short)
    return exact(run.model), torch.tensor(read_text(run, text).ids)


@pytest.mark.parametrize("arch", ["rnn", "lstm", "lstm-attention", "transformer"])
def test_gradients_are_finite_differences(arch: str) -> None:
    model, ids_T = exact_run(arch, "The cat ")
    x_1TD = model.embed(ids_T[None, :-1])
    half, step = len(ids_T) // 2, 1e-6

    def loss(t: int, s: int, d: int, by: float) -> float:
        moved = x_1TD.clone()
        moved[0, s, d] += by
        with torch.no_grad():
            return float(token_losses(model, moved, ids_T[1:])[t])

    def norm(t: int, s: int) -> float:
        width = x_1TD.shape[2]
        slopes = [(loss(t, s, d, step) - loss(t, s, d, -step)) / (2 * step) for d in range(width)]
        return math.sqrt(sum(slope**2 for slope in slopes))

    targets = range(half - 1, len(ids_T) - 1)
    expected = [np.mean([norm(t, t - k) for t in targets]) for k in range(half)]
    assert gradient_norms(model, ids_T) == pytest.approx(np.array(expected), rel=1e-6)


@pytest.mark.parametrize("case", RECURRENT)
def test_the_product_of_jacobians_is_the_jacobian_of_the_whole_way(case: str) -> None:
    """The state is everything that goes from one token to the next: of all layers, for an LSTM h and c."""
    arch, short = RECURRENT[case]
    model, ids_T = exact_run(arch, "The cat sat", hidden=4, **short)
    recurrence = recurrence_in(model.backbone)
    assert recurrence is not None
    x_1TD, t, k = model.embed(ids_T[None]), 9, 4
    state: Any = recurrence.start(1)
    for s in range(t - k + 1):
        state = recurrence.step(x_1TD[:, s], state)[1]
    cells = state.cells
    numbers = [leaf for cell in cells for leaf in cell.tensors()]

    def later(*leaves: torch.Tensor) -> torch.Tensor:
        pieces = iter(leaves)
        now: Any = type(state)(state.lengths_B, tuple(cell.map(lambda _: next(pieces)) for cell in cells))
        for s in range(t - k + 1, t + 1):
            now = recurrence.step(x_1TD[:, s], now)[1]
        return torch.cat([leaf for cell in now.cells for leaf in cell.tensors()], dim=1)[0]

    whole = torch.autograd.functional.jacobian(later, tuple(numbers))
    whole_HH = torch.cat([part.flatten(1) for part in whole], dim=1)
    product_HH, before = torch.eye(len(whole_HH), dtype=torch.float64), state
    for s in range(t - k + 1, t + 1):
        product_HH = jacobian(recurrence, x_1TD[:, s], before) @ product_HH
        before = recurrence.step(x_1TD[:, s], before)[1]
    torch.testing.assert_close(product_HH, whole_HH, rtol=1e-10, atol=1e-14)
    found = state_products(recurrence, x_1TD[:, : t + 1], t)  # the only position with t tokens before it is t
    assert found.targets == 1 and found.width == len(whole_HH) and found.distances == list(range(1, t + 1))
    largest = torch.linalg.matrix_norm(whole_HH, 2)
    assert found.log_largest_K[k - 1] == pytest.approx(float(largest.log()), abs=1e-8)


def test_only_a_state_of_fixed_size_has_jacobians() -> None:
    for arch in ("transformer", "feedforward", "transformer-encoder"):
        assert recurrence_in(untrained(arch).model.backbone) is None
    attention = untrained("lstm-attention").model.backbone
    assert recurrence_in(attention) is attention.recurrent


def test_work_is_bounded_by_shorter_products(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids_T = exact_run("lstm", LEARNED[:80], layers=1)
    x_1TD, whole = model.embed(ids_T[None]), state_products(model.backbone, model.embed(ids_T[None]), 40)
    assert (whole.targets, whole.distances[-1], len(whole.distances)) == (8, 40, 32)
    monkeypatch.setattr("seqlab.inspection.jacobians.WORK", 1e6)
    short = state_products(model.backbone, x_1TD, 40)
    assert short.targets == 1 and 1 < short.distances[-1] < 40
    assert backward(model, ids_T.tolist()).distances == short.distances  # both slopes are fitted there


@pytest.mark.parametrize("size", [0.02, 1.0])
def test_a_linear_recurrence_falls_by_its_singular_value(size: float) -> None:
    """With an orthogonal matrix and units that stay in the linear part of tanh, every Jacobian is the matrix."""
    run = untrained("rnn", layers=1)
    cell = run.model.backbone.cells[0]
    torch.nn.init.orthogonal_(cell.weight_hh, gain=size)
    for parameter in (cell.weight_ih, cell.bias_ih, cell.bias_hh):
        parameter.data *= 1e-6
    ids = read_text(run, (LEARNED * 4)[:500]).ids
    found = backward(run.model, ids)
    assert found.products is not None
    assert found.product_slope == pytest.approx(math.log(size), abs=1e-4)
    assert found.slope == pytest.approx(math.log(size), abs=0.02)
    if size < 1:  # down to 1e-420, which is below every float64 but has a logarithm
        assert -1000 < found.products.log_largest_K[-1] < -900
        assert found.norms_K[found.norms_K > 0].min() < 1e-250 and found.norms_K[-1] == 0


def test_a_recurrence_forgets_as_fast_as_its_jacobians() -> None:
    for arch in ("rnn", "gru", "lstm"):
        run = untrained(arch, layers=1)
        found = backward(run.model, read_text(run, LEARNED[:120]).ids)
        assert found.product_slope is not None and found.slope < -0.05
        assert found.slope == pytest.approx(found.product_slope, rel=0.15)


@settings(max_examples=30)
@given(
    slope=st.floats(-5, 1),
    start=st.floats(-50, 50),
    holes=st.sets(st.integers(0, 19), max_size=17),
)
def test_the_slope_is_that_of_the_line_whatever_is_zero(slope: float, start: float, holes: set[int]) -> None:
    distances = list(range(1, 21))
    logarithms_K = start + slope * np.array(distances)
    logarithms_K[list(holes)] = -np.inf
    assert fitted_slope(distances, logarithms_K) == pytest.approx(slope, abs=1e-9)
    assert math.isnan(fitted_slope(distances, np.where(np.arange(20) == 3, 0.0, -np.inf)))


def test_zero_is_drawn_at_the_bottom_and_said() -> None:
    run = untrained("feedforward", span=3)
    sheet = inspect([run], TEXT, "gradients", {}).sheets[0]
    (norms,) = [block.rows for block in sheet.blocks if block.title.startswith("norm")]
    assert norms[1][1:4] != ["0"] * 3 and norms[1][4:] == ["0"] * (len(norms[1]) - 4)
    axes = new_figure(4, 3).subplots()
    draw_curves(axes, [Curve("window", range(6), np.array([1.0, 0.5, 0.2, 0.0, 0.0, 0.0]), 0)], "norm")
    drawn, zeros, key = axes.get_lines()
    assert drawn.get_xdata().tolist() == [0, 1, 2] and zeros.get_xdata().tolist() == [3, 4, 5]
    assert zeros.get_transform() != axes.transData and key.get_label() == "zero"


def test_several_runs_are_curves_in_one_chart() -> None:
    runs = [untrained("rnn"), untrained("gru"), untrained("transformer")]
    sheet = inspect(runs, TEXT, "gradients", {}).sheets[0]
    assert [row[0] for row in sheet.blocks[0].rows[1:]] == ["rnn", "gru", "transformer"]
    assert [row[2] == "–" for row in sheet.blocks[0].rows[1:]] == [False, False, True]
    assert len(sheet.charts) == 2 and set(sheet.data["jacobians"]) == {"rnn", "gru"}
    with pytest.raises(UsageError, match="at most 12 runs together: 13 were given"):
        inspect([runs[0]] * 13, TEXT, "gradients", {})
    with pytest.raises(UsageError, match="fills gaps from both sides: gradients looks back"):
        inspect([untrained("transformer-encoder")], TEXT, "gradients", {})


def test_the_matrices_on_the_state_are_shown_by_their_singular_values() -> None:
    weak, strong = untrained("rnn", layers=1), untrained("rnn", layers=1)
    for run, size in ((weak, 0.1), (strong, 1.0)):
        torch.nn.init.orthogonal_(run.model.backbone.cells[0].weight_hh, gain=size)
    shown = inspect([weak, strong], LEARNED[:40], "gradients", {}).sheets[0]
    rows = next(block.rows for block in shown.blocks if block.title.startswith("singular values"))
    assert [row[1] for row in rows[1:]] == ["0.100", "1.000"] and [row[3] for row in rows[1:]] == ["0.100", "1.000"]


# --- before training --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two runs: one whose steps are too small to change a weight by much, and one that began with its weights."""
    folder = tmp_path_factory.mktemp("before")
    file: Path = folder / "text.txt"
    file.write_text(LEARNED * 20)
    short = {"arch": "gru", "hidden": 6, "embedding": 4, "steps": 2, "threads": 1}
    first = seqlab.train(file, out=folder / "first", seed=7, lr=1e-9, **short)
    return first, seqlab.train(file, out=folder / "second", init=folder / "first", **short)


def test_the_untrained_model_is_the_one_that_training_began_with(start: Any) -> None:
    first, _ = start
    weights = first.untrained().state_dict()
    for name, trained in first.model.state_dict().items():
        torch.testing.assert_close(weights[name], trained, rtol=0, atol=1e-7)


def test_before_training_is_a_dashed_line(start: Any) -> None:
    first, second = start
    alone = first.inspect(TEXT, "gradients").sheets[0]
    assert list(alone.data["norms"]) == ["gru", "gru, before training"]
    assert alone.data["norms"]["gru, before training"] == pytest.approx(alone.data["norms"]["gru"], rel=1e-4)
    assert alone.blocks[-1].rows[0][-1] == "largest before training"
    axes = new_figure(4, 3).subplots()
    alone.charts[0].draw(axes)
    assert [line.get_linestyle() for line in axes.get_lines()] == ["-", "--"]
    assert list(first.inspect(TEXT, "gradients", before=False).sheets[0].data["norms"]) == ["gru"]
    with pytest.raises(UsageError, match=r"second' began with the weights of '.*first': look at that run instead"):
        second.inspect(TEXT, "gradients", before=True)
    assert list(second.inspect(TEXT, "gradients").sheets[0].data["norms"]) == ["gru"]
