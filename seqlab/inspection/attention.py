"""attention: where every head looks, token by token, and what each head does by habit.

Weights say where a head looks, not what the prediction depends on: the view `ablate` measures that.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Sheet, TextTable, TokenColumn, WeightMap, WeightMaps, one

LOOKED_AT = 10  # tokens that are shown for each
REPEATED = 20  # random tokens, read twice, on which induction is measured
CAUTION = "Weights show where a head looks, not what the prediction depends on; ablate measures that."


def attention(readings: Sequence[Reading], *, layer: int | None = None, head: int | None = None) -> Sheet:
    """All heads as a grid, each head's habits, and the attention of the chosen heads (their mean) for every token."""
    reading = one(readings, "attention")
    names = _names(reading, layer)
    weights_LNTS = [reading.trace[name][0].transpose(0, 1) for name in names]
    layers = _layers(names, weights_LNTS, head)
    heads = [each for layer in layers for each in layer]
    mean_TS = torch.stack([each.weights_TS for each in heads]).mean(0)
    repeated = [each for layer in _layers(names, _on_repeated(reading, names), head) for each in layer]
    typical = {each.name: habits(each, twice.weights_TS) for each, twice in zip(heads, repeated, strict=True)}
    rows = [["head", "previous token", "itself", "first token", "induction", "entropy (bits)"]]
    rows += [[name, *(f"{value:.3f}" for value in values.values())] for name, values in typical.items()]
    which = heads[0].name if len(heads) == 1 else f"the mean of {len(heads)} heads"
    summaries = [WeightMap(which, mean_TS)] if len(heads) > 1 else []
    if len(names) > 1:
        summaries.append(WeightMap("rollout through all layers", rollout([w_NTS.mean(0) for w_NTS in weights_LNTS])))
    received_S = mean_TS.mean(0) / mean_TS.mean(0).max()
    return Sheet(
        "attention",
        f"{reading.arch}, {which}, at {len(reading.ids):,} tokens. {CAUTION}",
        {"heads": typical, "looks_at": [_strongest(reading.tokens, weights_S) for weights_S in mean_TS]},
        "the stronger the color, the more a token is looked at",
        columns=[TokenColumn(t, level(float(share))) for t, share in zip(reading.tokens, received_S, strict=True)],
        blocks=[
            TextTable("the mean weight that each head gives; induction: on random tokens that are read twice", rows)
        ],
        maps=WeightMaps(reading.tokens, reading.tokens, layers, summaries),
    )


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """How much of every input reaches each position through all layers, if half of each passes by (Abnar and Zuidema
    2020): the product of (weights + identity) / 2."""
    reached_TS = torch.eye(len(layers[0]))
    for weights_TS in layers:
        reached_TS = (weights_TS + torch.eye(len(weights_TS))) / 2 @ reached_TS
    return reached_TS


def _names(reading: Reading, layer: int | None) -> list[str]:
    names = [name for name, recorded in reading.model.records.items() if recorded.kind == "attention"]
    if not names:
        raise UsageError(f"the architecture '{reading.arch}' records no attention: lstm-attention and transformers do.")
    if layer is None:
        return names
    if not 1 <= layer <= len(names):
        raise UsageError(f"there is no layer {layer} with attention: give a number from 1 to {len(names)}.")
    return names[layer - 1 : layer]


def _layers(names: Sequence[str], weights_LNTS: Sequence[Tensor], head: int | None) -> list[list[WeightMap]]:
    """Every head of each layer, or the one with this number."""
    found = []
    for name, weights_NTS in zip(names, weights_LNTS, strict=True):
        if head is not None and not 1 <= head <= len(weights_NTS):
            raise UsageError(f"there is no head {head}: give a number from 1 to {len(weights_NTS)}.")
        heads = [WeightMap(f"{name.removesuffix('.weights')} head {n}", w_TS) for n, w_TS in enumerate(weights_NTS, 1)]
        found.append(heads if head is None else heads[head - 1 : head])
    return found


def _strongest(tokens: Sequence[str], weights_S: Tensor) -> list[tuple[str, float]]:
    """The tokens that are looked at most, with their places, counted from 1, and their weights."""
    best = weights_S.topk(min(LOOKED_AT, len(weights_S)))
    places = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [(f"{tokens[s]} ({s + 1})", weight) for s, weight in places if weight > 0]


# --- habits ---------------------------------------------------------------------------------------------------------


def habits(head: WeightMap, repeated_TS: Tensor) -> dict[str, float]:
    """Mean weights on typical places, and the mean entropy of where it looks."""
    weights_TS = head.weights_TS
    safe_TS = weights_TS.clamp(min=1e-12)
    half = len(repeated_TS) // 2
    return {
        "previous": float(weights_TS.diagonal(-1).mean()) if len(weights_TS) > 1 else math.nan,
        "itself": float(weights_TS.diagonal().mean()),
        "first": float(weights_TS[:, 0].mean()),
        # from the second time a token is read, to the token that followed it the first time
        "induction": float(repeated_TS.diagonal(1 - half)[1:].mean()),
        "entropy": float(-(weights_TS * safe_TS.log2()).sum(1).mean()),
    }


def _on_repeated(reading: Reading, names: Sequence[str]) -> list[Tensor]:
    """The weights of all heads in each of these layers on random tokens that are read twice."""
    limit = reading.model.limit
    count = REPEATED if limit is None else max(2, min(REPEATED, limit // 2))
    draw = torch.Generator().manual_seed(0)
    ids_T = torch.randint(reading.run.tokenizer.ordinary_size, (count,), generator=draw).repeat(2)
    trace = Trace()
    reading.model(ids_T[None], trace=trace)
    return [trace[name][0].transpose(0, 1) for name in names]
