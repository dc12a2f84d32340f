"""attention: where every head looks, token by token, and what each head does by habit.

Weights say where a head looks, not what the prediction depends on: the view `ablate` measures that.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
HABITS = {
    "previous": "previous token",
    "itself": "itself",
    "first": "first token",
    "induction": "induction",
    "entropy": "entropy (bits)",
}


@dataclass(frozen=True)
class Looking:
    """All layers (N, T, S) whose heads look from the same tokens at the same tokens."""

    where: str  # within the source, say
    rows: list[str]
    columns: list[str]
    layers: dict[str, Tensor]  # by name
    itself: bool  # whether rows and columns are one text

    def maps(self, layer: int | None, head: int | None) -> list[list[WeightMap]]:
        """Every head of each layer, or those with these numbers; none if there are no such ones."""
        numbered = [
            [WeightMap(f"{name} head {n}", weights_TS) for n, weights_TS in enumerate(weights_NTS, 1)]
            for name, weights_NTS in self.layers.items()
        ]
        some = numbered if layer is None else numbered[layer - 1 : layer]
        return [heads for heads in (each if head is None else each[head - 1 : head] for each in some) if heads]


def attention(readings: Sequence[Reading], *, layer: int | None = None, head: int | None = None) -> list[Sheet]:
    """All heads as a grid, each head's habits, and the attention of the chosen heads (their mean) for every token. A
    translator has several sheets: where the target looks in the source, and what looks at its own text."""
    reading = one(readings, "attention")
    found = list(_looking(reading, reading.trace))
    if not found:
        raise UsageError(
            f"the architecture '{reading.arch}' records no attention: lstm-attention and transformers do, and so do "
            "translators with attention."
        )
    _require_number("layer", layer, max(len(looking.layers) for looking in found))
    _require_number("head", head, max(len(heads) for looking in found for heads in looking.layers.values()))
    shown = [(looking, maps) for looking in found if (maps := looking.maps(layer, head))]
    twice = _on_repeated(reading)
    return [_sheet(reading, at, looking, maps, twice) for at, (looking, maps) in enumerate(shown)]


def _require_number(what: str, given: int | None, most: int) -> None:
    if given is not None and not 1 <= given <= most:
        raise UsageError(f"there is no {what} {given} with attention: give a number from 1 to {most}.")


def _looking(reading: Reading, trace: Trace) -> Iterator[Looking]:
    """From one text to another first."""
    records = reading.model.records

    def of(kind: str, scope: str | None = None) -> dict[str, Tensor]:
        names = [name for name, recorded in records.items() if recorded.kind == kind]
        names = [name for name in names if scope is None or reading.side_of(name).scope == scope]
        return {name.removesuffix(".weights"): trace[name][0] for name in names}

    if weights := of("source attention"):
        layers = {name: weights_TNS.transpose(0, 1) for name, weights_TNS in weights.items()}
        yield Looking("from the target to the source", list(reading.places), reading.sides[0].tokens, layers, False)
    if weights := of("pooling"):
        layers = {name: weights_T[None, None] for name, weights_T in weights.items()}
        yield Looking(
            "from the label to the text", [reading.answer_name(reading.answers[0])], reading.tokens, layers, False
        )
    for side in reversed(reading.sides):
        if weights := of("attention", side.scope):
            layers = {name: weights_TNS.transpose(0, 1) for name, weights_TNS in weights.items()}
            yield Looking(f"within the {side.name}", side.tokens, side.tokens, layers, True)


def _sheet(
    reading: Reading, at: int, looking: Looking, layers: list[list[WeightMap]], twice: dict[str, Tensor]
) -> Sheet:
    heads = [each for layer in layers for each in layer]
    mean_TS = torch.stack([each.weights_TS for each in heads]).mean(0)
    typical = {each.name: habits(each, looking.itself, twice.get(each.name)) for each in heads}
    which = heads[0].name if len(heads) == 1 else f"the mean of {len(heads)} heads"
    summaries = [WeightMap(which, mean_TS)] if len(heads) > 1 else []
    if looking.itself and len(layers) > 1:
        means = [torch.stack([each.weights_TS for each in layer]).mean(0) for layer in layers]
        summaries.append(WeightMap("rollout through all layers", rollout(means)))
    where = "" if looking.itself and len(reading.sides) == 1 else f" {looking.where}"
    return Sheet(
        "attention" if at == 0 else f"attention-{looking.where.replace(' ', '-')}",
        f"{reading.arch}{where}, {which}, at {len(looking.rows):,} tokens. {CAUTION}",
        {
            "where": looking.where,
            "heads": typical,
            "looks_at": [_strongest(looking.columns, weights_S) for weights_S in mean_TS],
        },
        "the stronger the color, the more a token is looked at"
        if looking.itself
        else "under each token, the one that it looks at most; the stronger the color, the larger the weight",
        [] if looking.itself else ["looks at most"],
        _columns(looking, mean_TS),
        [_habit_table(typical)],
        maps=WeightMaps(looking.rows, looking.columns, layers, summaries),
    )


def _columns(looking: Looking, mean_TS: Tensor) -> list[TokenColumn]:
    if looking.itself:
        received_S = mean_TS.mean(0) / mean_TS.mean(0).max()
        return [TokenColumn(t, level(float(share))) for t, share in zip(looking.rows, received_S, strict=True)]
    best_T = mean_TS.max(1)
    most = zip(looking.rows, best_T.values.tolist(), best_T.indices.tolist(), strict=True)
    return [TokenColumn(token, cells=[(level(weight), looking.columns[s])]) for token, weight, s in most]


def rollout(layers: Sequence[Tensor]) -> Tensor:
    """How much of every input reaches each position through all layers, if half of each passes by (Abnar and Zuidema
    2020): the product of (weights + identity) / 2."""
    reached_TS = torch.eye(len(layers[0]))
    for weights_TS in layers:
        reached_TS = (weights_TS + torch.eye(len(weights_TS))) / 2 @ reached_TS
    return reached_TS


def _strongest(tokens: Sequence[str], weights_S: Tensor) -> list[tuple[str, float]]:
    """The tokens that are looked at most, with their places, counted from 1, and their weights."""
    best = weights_S.topk(min(LOOKED_AT, len(weights_S)))
    places = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [(f"{tokens[s]} ({s + 1})", weight) for s, weight in places if weight > 0]


# --- habits ---------------------------------------------------------------------------------------------------------


def habits(head: WeightMap, itself: bool = True, repeated_TS: Tensor | None = None) -> dict[str, float]:
    """Mean weights on typical places, and the mean entropy of where it looks; where that is another text, only what
    has a meaning there."""
    weights_TS = head.weights_TS
    safe_TS = weights_TS.clamp(min=1e-12)
    found = {}
    if itself:
        found["previous"] = float(weights_TS.diagonal(-1).mean()) if len(weights_TS) > 1 else math.nan
        found["itself"] = float(weights_TS.diagonal().mean())
    found["first"] = float(weights_TS[:, 0].mean())
    if repeated_TS is not None:
        # from the second time a token is read, to the token that followed it the first time
        found["induction"] = float(repeated_TS.diagonal(1 - len(repeated_TS) // 2)[1:].mean())
    found["entropy"] = float(-(weights_TS * safe_TS.log2()).sum(1).mean())
    return found


def _habit_table(typical: dict[str, dict[str, float]]) -> TextTable:
    known = next(iter(typical.values()))
    rows = [["head", *(HABITS[name] for name in known)]]
    rows += [
        [name, *("–" if math.isnan(v) else f"{v:.3f}" for v in values.values())] for name, values in typical.items()
    ]
    induction = "; induction: on random tokens that are read twice" if "induction" in known else ""
    return TextTable(f"the mean weight that each head gives{induction}", rows)


def _on_repeated(reading: Reading) -> dict[str, Tensor]:
    """The weights of all heads that look at their own text, on random tokens that are read twice, by name."""
    limit = reading.model.limit
    count = REPEATED if limit is None else max(2, min(REPEATED, limit // 2))
    draw = torch.Generator().manual_seed(0)
    ids_T = torch.randint(reading.run.tokenizer.ordinary_size, (count,), generator=draw).repeat(2)
    trace = reading.trace_of(ids_T)
    every = [] if trace is None else [looking for looking in _looking(reading, trace) if looking.itself]
    return {each.name: each.weights_TS for looking in every for layer in looking.maps(None, None) for each in layer}
