"""The LSTM with attention over its own states, against torch's LSTM and the equations of attention, row by row."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from parity_cases import DTYPES, HIDDEN, INPUTS, Case, assert_parity, everything, make_case, named, spread
from torch import Tensor, nn

from seqlab.backbones.lstm_attention import LstmAttention
from seqlab.backbones.lstm_attention_settings import LstmAttentionSettings

LENGTH, LAYERS = 7, 2


def score(ours: LstmAttention, q_H: Tensor, k_H: Tensor) -> Tensor:
    match ours.settings.score:
        case "additive":
            weights: Any = ours.score
            W_1, W_2, b = weights.from_query.weight, weights.from_key.weight, weights.from_key.bias
            return weights.v_H @ torch.tanh(W_1 @ q_H + W_2 @ k_H + b)
        case "dot":
            return q_H @ k_H
        case "scaled":
            return q_H @ k_H / len(q_H) ** 0.5


def expected_outputs(ours: LstmAttention, lstm: Callable[[Tensor], Any], case: Case) -> Tensor:
    """One row after another, without any padding, and one position after another."""
    rows = []
    for x_TD, length in zip(case.x_BTD, case.lengths, strict=True):
        h_TH, _ = lstm(x_TD[:length])
        y_TH = []
        for t in range(length):
            seen_SH = h_TH if ours.settings.bidirectional else h_TH[: t + 1]
            a_S = torch.stack([score(ours, h_TH[t], h_H) for h_H in seen_SH]).softmax(0)
            c_H = a_S @ seen_SH
            y_TH.append({"concat": torch.cat([h_TH[t], c_H]), "context": c_H, "add": h_TH[t] + c_H}[
                ours.settings.combine
            ])  # fmt: skip
        padding_TH = x_TD.new_zeros(case.x_BTD.shape[1] - length, ours.width)
        rows.append(torch.cat([torch.stack(y_TH), padding_TH]))
    return torch.stack(rows)


@pytest.mark.parametrize("implementation", ["fused", "plain"])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("score_name", "combine"), [("additive", "concat"), ("dot", "add"), ("scaled", "context")])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_outputs_and_gradients(
    bidirectional: bool, score_name: Any, combine: Any, dtype: torch.dtype, ragged: bool, implementation: Any
) -> None:
    settings = LstmAttentionSettings(
        hidden=HIDDEN, layers=LAYERS, score=score_name, combine=combine, bidirectional=bidirectional,
        implementation=implementation,
    )  # fmt: skip
    ours = LstmAttention(settings, INPUTS).to(dtype)
    spread(ours)
    lstm = nn.LSTM(INPUTS, HIDDEN, LAYERS, batch_first=True, bidirectional=bidirectional, dtype=dtype)
    # the same order: layer by layer, forward before backward
    theirs: dict[str, Tensor] = dict(zip(lstm.state_dict(), ours.recurrent.parameters(), strict=True))
    case = make_case(LENGTH, ragged, dtype)
    leaves = {"input": case.x_BTD, **named(ours.parameters(), "weight")}
    y_BTH, _ = ours(case.x_BTD, None, case.mask_BT)
    expected_BTH = expected_outputs(ours, lambda x_TD: torch.func.functional_call(lstm, theirs, (x_TD,)), case)
    assert_parity(everything(y_BTH, case, {}, leaves), everything(expected_BTH, case, {}, leaves))


def test_the_summary_is_taken_where_each_direction_ends() -> None:
    ours = LstmAttention(LstmAttentionSettings(hidden=HIDDEN, bidirectional=True), INPUTS)
    case = make_case(LENGTH, ragged=True, dtype=torch.float32, empty=True)
    assert case.mask_BT is not None
    y_BTH, _ = ours(case.x_BTD, None, case.mask_BT)
    for y_TH, summary_H, length in zip(y_BTH, ours.summarize(y_BTH, case.mask_BT), case.lengths, strict=True):
        ends = [y_TH[length - 1], y_TH[0]] * 2  # forward and backward state, forward and backward context
        parts = [end[at * HIDDEN : (at + 1) * HIDDEN] for at, end in enumerate(ends)]
        assert torch.equal(summary_H, torch.cat(parts) if length else torch.zeros(4 * HIDDEN))


def test_a_window_looks_back_only() -> None:
    with pytest.raises(ValueError, match=r"context=5 counts states before a position.*bidirectional=false"):
        LstmAttentionSettings(context=5, bidirectional=True)
