"""What a trace keeps and replaces, and that the outputs change as the equations say."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from seqlab.attention.multihead import MultiHead
from seqlab.backbones.lstm_attention import LstmAttention
from seqlab.backbones.lstm_attention_settings import LstmAttentionSettings
from seqlab.backbones.recurrent import Lstm
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.cells.cell import unroll
from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.contracts import Trace, record
from seqlab.errors import UsageError


def vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_names_have_the_scope_in_which_they_are_recorded() -> None:
    trace = Trace()
    record(trace.within("a").within("b"), "x", torch.ones(1, 2))
    record(trace, "y", torch.zeros(1, 2))
    assert trace.names == ["a.b.x", "y"] and "y" in trace and "x" not in trace


def test_without_a_trace_a_value_is_itself() -> None:
    value = torch.ones(1)
    assert record(None, "x", value) is value


def test_steps_come_in_the_order_of_their_positions() -> None:
    trace = Trace()
    for position in (2, 0, 1):
        record(trace.step(position), "x", torch.full((1, 4), float(position)))
    assert trace["x"].shape == (1, 3, 4)
    assert trace["x"][0, :, 0].tolist() == [0, 1, 2]


def test_steps_that_see_more_keys_each_time_are_padded() -> None:
    trace = Trace()
    for position in range(3):
        record(trace.at(position), "weights", torch.ones(1, 1, 1, position + 1))
    assert trace["weights"][0, :, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_a_trace_belongs_to_one_pass() -> None:
    trace, lstm = Trace(), Lstm(LstmSettings(hidden=3), 2)
    lstm(vectors(1, 4, 2), trace=trace)
    with pytest.raises(AssertionError, match=r"'layer1.input' was recorded before"):
        lstm(vectors(1, 4, 2), trace=trace)


def test_what_was_not_recorded_is_named_with_what_was() -> None:
    trace = Trace()
    record(trace, "hidden", torch.ones(1, 1))
    with pytest.raises(UsageError, match="nothing was recorded as 'hiden': there is hidden"):
        trace["hiden"]


def test_a_replacement_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'hidden' has the shape \(1, 1, 5\): expected \(2, 4, 3\)"):
        record(Trace({"hidden": torch.zeros(1, 1, 5)}), "hidden", torch.zeros(2, 4, 3))


def test_an_lstm_that_forgets_everything_has_only_the_last_candidate() -> None:
    cell, x_BTD = LstmCell(2, 3), vectors(2, 6, 2)
    trace = Trace({"forget": torch.zeros(1, 1, 1)})
    y_BTH, state = unroll(cell, x_BTD, cell.start(2), trace=trace)
    torch.testing.assert_close(trace["cell"], trace["input"] * trace["candidate"])
    torch.testing.assert_close(y_BTH, trace["output"] * torch.tanh(trace["input"] * trace["candidate"]))
    torch.testing.assert_close(state.c_BH, trace["cell"][:, -1])
    assert not trace["forget"].any()


@pytest.mark.parametrize("reset", ["before", "after"])
def test_a_gru_whose_update_gate_is_one_keeps_its_state(reset: str) -> None:
    cell = GruCell(2, 3, reset)
    state = cell.start(2).map(lambda leaf: vectors(*leaf.shape))
    y_BTH, _ = unroll(cell, vectors(2, 6, 2), state, trace=Trace({"update": torch.ones(1, 1, 1)}))
    torch.testing.assert_close(y_BTH, state.tensors()[0][:, None].expand_as(y_BTH))


def test_a_value_is_replaced_at_its_own_position() -> None:
    """With another text's state at position 2, the text goes on as if it had begun with the other one."""
    lstm = Lstm(LstmSettings(hidden=3), 2)
    mine_BTD, other_BTD, other = vectors(1, 6, 2), vectors(1, 6, 2, seed=1), Trace()
    lstm(other_BTD, trace=other)
    state = {name: other[name] for name in ("layer1.cell", "layer1.hidden")}
    y_BTH, _ = lstm(mine_BTD, trace=Trace(state, positions=[2]))
    torch.testing.assert_close(y_BTH[:, :2], lstm(mine_BTD)[0][:, :2])
    expected_BTH, _ = lstm(torch.cat([other_BTD[:, :3], mine_BTD[:, 3:]], dim=1))
    torch.testing.assert_close(y_BTH[:, 3:], expected_BTH[:, 3:])


def run_heads(attention: MultiHead, x_BTD: Tensor, trace: Trace | None) -> Tensor:
    return attention(x_BTD, lambda x: x, None, None, None, trace)[0]


@pytest.mark.parametrize("name", ["weights", "values", "heads"])
def test_without_a_head_the_output_lacks_its_columns(name: str) -> None:
    attention, x_BTD = MultiHead(6, 3, 0.0).eval(), vectors(2, 4, 6)
    without: Callable[[Tensor], Tensor] = lambda value: value.index_fill(2, torch.tensor([1]), 0.0)  # noqa: E731
    y_BTD = run_heads(attention, x_BTD, Trace({name: without}))
    with torch.no_grad():
        attention.out.weight[:, 2:4] = 0
    torch.testing.assert_close(y_BTD, run_heads(attention, x_BTD, None))


def test_weights_that_look_at_one_state_give_that_state_as_context() -> None:
    backbone = LstmAttention(LstmAttentionSettings(hidden=3, combine="context"), 2)
    first = torch.zeros(1, 1, 1, 5)
    first[..., 0] = 1
    trace = Trace({"attention.weights": first})
    y_BTH, _ = backbone(vectors(2, 5, 2), trace=trace)
    torch.testing.assert_close(y_BTH, trace["layer1"][:, :1].expand_as(y_BTH))


def test_both_directions_are_recorded_in_the_order_of_the_text() -> None:
    lstm, trace, x_BTD = Lstm(LstmSettings(hidden=3, bidirectional=True), 2), Trace(), vectors(1, 5, 2)
    y_BTH, _ = lstm(x_BTD, trace=trace)
    torch.testing.assert_close(torch.cat([trace["layer1.forward.hidden"], trace["layer1.backward.hidden"]], 2), y_BTH)
    torch.testing.assert_close(lstm(x_BTD)[0], y_BTH)


def test_gradients_flow_into_what_was_recorded() -> None:
    """dc_3/dc_2 by autograd is what moving c_2 a little shows; h_2 moves with it, as the equations say."""
    lstm, x_BTD = Lstm(LstmSettings(hidden=3), 2).double(), vectors(1, 4, 2).double()
    trace = Trace()
    lstm(x_BTD, trace=trace)
    pieces = trace.pieces("layer1.cell")
    (slope,) = torch.autograd.grad(pieces[3][0, 0, 1], pieces[2])

    def moved(by: float) -> float:
        step_111 = by * torch.tensor([[[1.0, 0.0, 0.0]]])
        changed = Trace({"layer1.cell": lambda value: value + step_111}, positions=[2])
        with torch.no_grad():
            lstm(x_BTD, trace=changed)
        return float(changed["layer1.cell"][0, 3, 1])

    assert float(slope[0, 0, 0]) == pytest.approx((moved(1e-5) - moved(-1e-5)) / 2e-5, rel=1e-5)
