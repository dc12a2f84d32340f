"""step: one time step written out with its real numbers beside the equations, as a teacher draws it on the board."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from seqlab.backbones.attention_decoder import AttentionDecoder, AttentionDecoderState
from seqlab.backbones.lstm_attention import LstmAttention, LstmAttentionState
from seqlab.backbones.recurrent import Recurrent, RecurrentState
from seqlab.cells.cell import RecurrentCell
from seqlab.cells.gru import GruCell
from seqlab.cells.lstm import LstmCell
from seqlab.cells.rnn import RnnCell
from seqlab.contracts import Backbone
from seqlab.errors import UsageError
from seqlab.inspection.attention_step import attention_blocks
from seqlab.inspection.reading import Reading
from seqlab.inspection.shades import LEVELS
from seqlab.inspection.sheet import Sheet, TextTable, TokenColumn, number, one

COMPONENTS = 8  # of a vector that are written out


class WrittenLine(NamedTuple):
    """An equation, the same with the numbers of one unit, and what comes out."""

    equation: str
    numbers: str
    result: float


def step(
    readings: Sequence[Reading],
    *,
    position: int | None = None,
    layer: int | None = None,
    unit: int | None = None,
    head: int | None = None,
) -> Sheet:
    """The equations of one layer at one token (the last one if not given), for one unit, or for one attention head."""
    reading = one(readings, "step")
    t = _within("token", position, len(reading.ids), default=len(reading.ids))
    recurrent = _recurrence(reading.backbone)
    blocks: list[TextTable] = []
    if recurrent is not None:
        at_layer = _within("layer", layer, recurrent.settings.layers, default=1)
        u = _within("unit", unit, recurrent.settings.hidden, default=1)
        blocks += _recurrent_blocks(reading, recurrent, t, at_layer, u)
    attended = attention_blocks(reading, t, layer, head, unit)
    if head is not None and not attended:
        raise UsageError(f"--head does nothing for '{reading.arch}', whose step has no heads: leave it out.")
    blocks += attended
    if not blocks:
        raise UsageError(
            f"a step of '{reading.arch}' cannot be written out: expected an rnn, gru or lstm, or an architecture that "
            "records its attention."
        )
    whose = f" of the {reading.side.name}" if len(reading.sides) > 1 else ""
    onward = ", from which it predicts what comes next" if reading.answer == "token" and reading.backbone.causal else ""
    columns = [TokenColumn(token, LEVELS // 2 if at == t else 0) for at, token in enumerate(reading.tokens)]
    return Sheet(
        "step",
        f"{reading.arch} reads token {t + 1}{whose}, “{reading.tokens[t]}”{onward}.",
        {"token": t + 1, "blocks": {block.title: block.rows for block in blocks}},
        "the token of the step is marked",
        columns=columns,
        blocks=blocks,
    )


def _recurrence(backbone: Backbone) -> Recurrent | None:
    """The recurrent stack, also within attention over its states or over a source."""
    inner = backbone.inner if isinstance(backbone, AttentionDecoder) else backbone
    inner = inner.recurrent if isinstance(inner, LstmAttention) else inner
    return inner if isinstance(inner, Recurrent) else None


def _within(what: str, given: int | None, most: int, default: int) -> int:
    """The index of what is counted from 1; UsageError if there is no such one."""
    chosen = default if given is None else given
    if not 1 <= chosen <= most:
        raise UsageError(f"there is no {what} {chosen}: give a number from 1 to {most:,}.")
    return chosen - 1


# --- RNN, GRU and LSTM ----------------------------------------------------------------------------------------------


def _recurrent_blocks(reading: Reading, recurrent: Recurrent, t: int, layer: int, u: int) -> list[TextTable]:
    trace, scope = reading.trace, f"layer{layer + 1}"
    below_TD = trace["embedding" if layer == 0 else f"layer{layer}"][0]
    if layer == 0 and isinstance(reading.backbone, AttentionDecoder) and reading.backbone.reading.reads_first:
        below_TD = torch.cat([below_TD, trace["source.context"][0]], dim=1)
    if recurrent.settings.directions == 2:
        scope += ".forward"
    index = layer * recurrent.settings.directions
    cell, start = recurrent.cells[index], _start(reading, recurrent).cells[index]
    inputs = {"x": below_TD[t], "h": _before(trace[f"{scope}.hidden"][0], t, start.h_BH)}
    if isinstance(cell, LstmCell):
        inputs["c"] = _before(trace[f"{scope}.cell"][0], t, start.c_BH)
    lines = written_out(cell, inputs, u)
    rows = [["equation", f"unit {u + 1} of {recurrent.settings.hidden}", "result"]]
    rows += [[line.equation, line.numbers, number(line.result)] for line in lines]
    assert isinstance(cell, RecurrentCell)
    after = {name: trace[f"{scope}.{name}"][0, t] for name in cell.records}
    before = {{"x": "x, what is read", "h": "h, hidden before", "c": "c, cell before"}[n]: v for n, v in inputs.items()}
    return [
        TextTable(f"{scope} at token {t + 1}: one unit", rows, texts=2),
        TextTable(f"{scope} at token {t + 1}: what goes in", _vectors(before), texts=1),
        TextTable(f"{scope} at token {t + 1}: what comes out", _vectors(after), texts=1),
    ]


def written_out(cell: Any, inputs: dict[str, Tensor], u: int) -> list[WrittenLine]:
    """The equations of a cell for unit `u`, computed from its weights, one by one."""
    from_x, from_h = cell.from_input(inputs["x"][None])[0], cell.from_state(inputs["h"][None])[0]

    def terms(block: int) -> tuple[float, float]:
        at = block * cell.hidden + u
        return float(from_x[at]), float(from_h[at])

    if isinstance(cell, LstmCell):
        return _lstm(terms, float(inputs["c"][u]))
    if isinstance(cell, GruCell):
        return _gru(terms, float(inputs["h"][u]), _reset_past(cell, inputs["h"], from_x, from_h, u))
    assert isinstance(cell, RnnCell)
    x, h = terms(0)
    g, f = cell.activation, {"tanh": math.tanh, "relu": lambda a: max(a, 0.0), "sigmoid": _sigmoid}[cell.activation]
    return [WrittenLine(f"h' = {g}(W x + b + U h + d)", f"{g}({number(x)} + {number(h)})", f(x + h))]


def _lstm(terms: Any, c: float) -> list[WrittenLine]:
    lines, value = [], {}
    for block, (letter, name) in enumerate((("i", "σ"), ("f", "σ"), ("g", "tanh"), ("o", "σ"))):
        x, h = terms(block)
        value[letter] = _sigmoid(x + h) if name == "σ" else math.tanh(x + h)
        lines.append(_gate_line(letter, name, x, h, value[letter]))
    i, f, g, o = (value[letter] for letter in "ifgo")
    new = f * c + i * g
    written = f"{number(f)} × {number(c)} + {number(i)} × {number(g)}"
    lines.append(WrittenLine("c' = f ⊙ c + i ⊙ g", written, new))
    lines.append(WrittenLine("h' = o ⊙ tanh(c')", f"{number(o)} × tanh({number(new)})", o * math.tanh(new)))
    return lines


def _reset_past(cell: GruCell, h_H: Tensor, from_x: Tensor, from_h: Tensor, u: int) -> float | None:
    """U_n (r ⊙ h) + d_n of the unit, if the reset comes before the product: it needs the gates of all units."""
    if cell.reset == "after":
        return None
    r_H = torch.sigmoid(from_x[: cell.hidden] + from_h[: cell.hidden])
    at = 2 * cell.hidden + u
    return float(cell.weight_hh[at] @ (r_H * h_H) + cell.bias_hh[at])


def _gru(terms: Any, h: float, past: float | None) -> list[WrittenLine]:
    (x_r, h_r), (x_z, h_z), (x_n, h_n) = (terms(block) for block in range(3))
    r, z = _sigmoid(x_r + h_r), _sigmoid(x_z + h_z)
    if past is None:
        n = math.tanh(x_n + r * h_n)
        equation, numbers = "n = tanh(W_n x + b_n + r ⊙ (U_n h + d_n))", f"{number(r)} × {number(h_n)}"
    else:
        n = math.tanh(x_n + past)
        equation, numbers = "n = tanh(W_n x + b_n + U_n (r ⊙ h) + d_n)", number(past)
    return [
        _gate_line("r", "σ", x_r, h_r, r),
        _gate_line("z", "σ", x_z, h_z, z),
        WrittenLine(equation, f"tanh({number(x_n)} + {numbers})", n),
        WrittenLine(
            "h' = (1 - z) ⊙ n + z ⊙ h",
            f"(1 - {number(z)}) × {number(n)} + {number(z)} × {number(h)}",
            (1 - z) * n + z * h,
        ),
    ]


def _gate_line(letter: str, name: str, x: float, h: float, result: float) -> WrittenLine:
    equation = f"{letter} = {name}(W_{letter} x + b_{letter} + U_{letter} h + d_{letter})"
    return WrittenLine(equation, f"{name}({number(x)} + {number(h)})", result)


def _sigmoid(a: float) -> float:
    return 1 / (1 + math.exp(-a)) if a >= 0 else math.exp(a) / (1 + math.exp(a))


def _start(reading: Reading, recurrent: Recurrent) -> RecurrentState:
    """The state before the first step: zeros, or what a decoder makes of the source."""
    start = reading.start()
    start = start.inner if isinstance(start, AttentionDecoderState) else start
    start = start.recurrent if isinstance(start, LstmAttentionState) else start
    return start if isinstance(start, RecurrentState) else recurrent.start(1)


def _before(state_TH: Tensor, t: int, start_1H: Tensor) -> Tensor:
    """The state before step t."""
    return state_TH[t - 1] if t else start_1H[0]


def _vectors(values: dict[str, Tensor]) -> list[list[str]]:
    """Each vector in a row: the first components, and how many there are."""
    shown = max(min(COMPONENTS, len(vector)) for vector in values.values())
    rows = [["", *(str(at + 1) for at in range(shown)), "of"]]
    for name, vector in values.items():
        numbers = [number(float(value)) for value in vector[:shown]]
        rows.append([name, *numbers, *[""] * (shown - len(numbers)), str(len(vector))])
    return rows
