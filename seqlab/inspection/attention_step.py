"""One query of attention written out: its score with every key, the weights, and what it finds."""

import math
from collections.abc import Sequence

from torch import Tensor

from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, Side
from seqlab.inspection.sheet import TextTable, number

KEYS = 10  # the ones with the largest weights


def attention_blocks(
    reading: Reading, t: int, layer: int | None, head: int | None, unit: int | None
) -> list[TextTable]:
    """The equations at token `t` of one layer and one head (the first if not given), for one component: of attention
    to the text itself, and of attention to a source."""
    blocks = []
    for kind, keys in (("attention", reading.side), ("source attention", reading.sides[0])):
        names = [
            name
            for name, recorded in reading.model.records.items()
            if recorded.kind == kind and reading.side_of(name) == reading.side
        ]
        if names:
            blocks += _blocks(reading, t, _scope(names, layer), keys, (head or 1) - 1, (unit or 1) - 1)
    return blocks


def _scope(names: Sequence[str], layer: int | None) -> str:
    """Of the layer, if there are several: attention over the states of a stack belongs to none of its layers."""
    at_layer = (layer or 1) if len(names) > 1 or names[0].startswith("layer") else 1
    if not 1 <= at_layer <= len(names):
        raise UsageError(f"there is no layer {at_layer} with attention: give a number from 1 to {len(names)}.")
    return names[at_layer - 1].removesuffix(".weights")


def _blocks(reading: Reading, t: int, scope: str, keys: Side, n: int, u: int) -> list[TextTable]:
    trace = reading.trace
    weights_NS = trace[f"{scope}.weights"][0, t]
    if not 0 <= n < len(weights_NS):
        raise UsageError(f"there is no head {n + 1}: give a number from 1 to {len(weights_NS)}.")
    where = f"{scope}, head {n + 1} of {len(weights_NS)}" if len(weights_NS) > 1 else scope
    table = _keys(keys, t, weights_NS[n], trace[f"{scope}.scores"][0, t, n], where)
    written_out = f"{scope}.queries" in trace and f"{scope}.keys" in trace
    return [_equations(reading, t, n, scope, where, u), table] if written_out else [table]


def _keys(keys: Side, t: int, weights_S: Tensor, scores_S: Tensor, where: str) -> TextTable:
    seen = int((weights_S > 0).sum())
    order = weights_S.argsort(descending=True)[: min(KEYS, seen)].tolist()
    rows = [["token that is looked at", "its place", "score", "weight = softmax(score)"]]
    rows += [[keys.tokens[s], str(s + 1), number(float(scores_S[s])), number(float(weights_S[s]))] for s in order]
    left_out = f"; the {KEYS} largest of {seen:,} weights" if seen > KEYS else ""
    whose = f" in the {keys.name}" if keys.scope else ""
    return TextTable(f"{where}: token {t + 1} looks at{whose}{left_out}", rows)


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
