"""One query of attention written out: its score with every key, the weights, and what it finds."""

import math

from torch import Tensor

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.sheet import TextTable, number

KEYS = 10  # the ones with the largest weights


def attention_blocks(
    reading: Reading, t: int, layer: int | None, head: int | None, unit: int | None
) -> list[TextTable]:
    """The equations at token `t` of one layer and one head (the first if not given), for one component."""
    names = [name for name, recorded in reading.model.records.items() if recorded.kind == "attention"]
    if not names:
        raise UsageError(
            f"a step of '{reading.arch}' cannot be written out: expected an rnn, gru or lstm, or an architecture that "
            "records its attention."
        )
    multi = len(names) > 1 or names[0].startswith("layer")
    at_layer = (layer or 1) if multi else 1
    if not 1 <= at_layer <= len(names):
        raise UsageError(f"there is no layer {at_layer} with attention: give a number from 1 to {len(names)}.")
    scope = names[at_layer - 1].removesuffix(".weights")
    weights_NS = reading.trace[f"{scope}.weights"][0, t]
    n = (head or 1) - 1
    if not 0 <= n < len(weights_NS):
        raise UsageError(f"there is no head {n + 1}: give a number from 1 to {len(weights_NS)}.")
    where = f"{scope}, head {n + 1} of {len(weights_NS)}" if len(weights_NS) > 1 else scope
    blocks = [_keys(reading, t, weights_NS[n], reading.trace[f"{scope}.scores"][0, t, n], where)]
    if f"{scope}.queries" in reading.trace:
        blocks.insert(0, _equations(reading, t, n, scope, where, (unit or 1) - 1))
    return blocks


def _keys(reading: Reading, t: int, weights_S: Tensor, scores_S: Tensor, where: str) -> TextTable:
    seen = int((weights_S > 0).sum())
    order = weights_S.argsort(descending=True)[: min(KEYS, seen)].tolist()
    rows = [["token that is looked at", "its place", "score", "weight = softmax(score)"]]
    rows += [[reading.tokens[s], str(s + 1), number(float(scores_S[s])), number(float(weights_S[s]))] for s in order]
    left_out = f"; the {KEYS} largest of {seen:,} weights" if seen > KEYS else ""
    return TextTable(f"{where}: token {t + 1} looks at{left_out}", rows)


def _equations(reading: Reading, t: int, n: int, scope: str, where: str, u: int) -> TextTable:
    """For the key with the largest weight, and component `u` of what the head finds."""
    trace = reading.trace
    q_K, k_SK, v_SK = (
        trace[f"{scope}.queries"][0, t, n],
        *(trace[f"{scope}.{part}"][0, :, n] for part in ("keys", "values")),
    )
    weights_S, found_K = trace[f"{scope}.weights"][0, t, n], trace[f"{scope}.heads"][0, t, n]
    if not 0 <= u < len(found_K):
        raise UsageError(f"a head has no component {u + 1}: give a number from 1 to {len(found_K)}.")
    s = int(weights_S.argmax())
    product, width = float(q_K @ k_SK[s]), len(q_K)
    score = product / math.sqrt(width)
    total = float(trace[f"{scope}.scores"][0, t, n][weights_S > 0].exp().sum())
    parts = weights_S[:, None] * v_SK
    largest = parts[:, u].abs().argsort(descending=True)[:3].tolist()
    written = " + ".join(f"{number(float(weights_S[at]))} × {number(float(v_SK[at, u]))}" for at in largest)
    more = " + ..." if int((weights_S > 0).sum()) > len(largest) else ""
    rows = [
        ["equation", f"with token {s + 1}, “{reading.tokens[s]}”; component {u + 1}", "result"],
        ["score = q · k / √K", f"{number(product)} / √{width}", number(score)],
        [
            "weight = exp(score) / Σ exp(score)",
            f"exp({number(score)}) / {number(total)}",
            number(math.exp(score) / total),
        ],
        ["found = Σ weight × v", written + more, number(float(found_K[u]))],
    ]
    return TextTable(f"{where} at token {t + 1}: one component", rows, texts=2)
