"""lens: what the model would predict after every layer, if the layers above were left out (the logit lens).

What a layer passes on is put in the place of what the last one does; everything behind it, such as a final norm, the
attention over states, and the projection, runs as always. So it works for recurrent stacks as well.
"""

import math
from collections.abc import Sequence
from typing import Any

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn, one
from seqlab.plotting import COLORS, light_grid


def lens(readings: Sequence[Reading]) -> Sheet:
    """The likeliest token after every layer in each place, and the mean bits of the text after every layer."""
    reading = one(readings, "lens")
    if not reading.predicts_tokens:
        raise UsageError(f"'{reading.run.path}' predicts no tokens, so there is none to show after every layer.")
    names = [name for name, recorded in reading.model.records.items() if recorded.kind == "layer"]
    if len(names) < 2:
        raise UsageError(
            f"the model '{reading.arch}' records {len(names)} of its layers: a lens shows what lies between two or "
            "more. Train a model with --layers 2."
        )
    trace = Trace()
    final_TV = reading.logprobs(trace)
    after_LTV = [reading.logprobs(Trace({names[-1]: trace[name]})) for name in names[:-1]] + [final_TV]
    first = 0 if not bool(final_TV[0].isnan().any()) else 1
    places = range(first, len(reading.ids))
    columns = [TokenColumn(reading.tokens[0], cells=[(0, "–")] * len(names), heading="not predicted")] * first
    found = []
    for t in places:
        rows = []
        for logprobs_TV in after_LTV:
            best, token = logprobs_TV[t].max(0)
            rows.append((reading.token(int(token)), math.exp(best), _bits(float(logprobs_TV[t, reading.ids[t]]))))
        found.append(rows)
        columns.append(_column(reading.tokens[t], names, rows))
    means = [sum(rows[at][2] for rows in found) / max(1, len(found)) for at in range(len(names))]
    right = [
        sum(rows[at][0] == reading.tokens[t] for t, rows in zip(places, found, strict=True)) for at in range(len(names))
    ]
    table = [["after", "bits per token", "likeliest is right"]]
    table += [[n, f"{m:.2f}", f"{r / max(1, len(found)):.1%}"] for n, m, r in zip(names, means, right, strict=True)]
    in_words = "; ".join(f"{name}: {mean:.2f}" for name, mean in zip(names, means, strict=True))
    return Sheet(
        "lens",
        f"The prediction of {reading.arch} after each of {len(names)} places: bits per token {in_words}.",
        {"tokens": reading.tokens[first:], "layers": names, "bits_per_token": means, "predictions": found},
        "under each token, what was predicted in its place; the stronger the color, the more certain",
        names,
        columns,
        [TextTable("bits per token after every layer", table)],
        [Chart(lambda axes: _draw(axes, names, means), f"Mean bits per token after every layer: {in_words}")],
    )


def _bits(logprob: float) -> float:
    return -logprob / math.log(2)


def _column(token: str, names: Sequence[str], rows: Sequence[tuple[str, float, float]]) -> TokenColumn:
    return TokenColumn(
        token,
        cells=[(level(share), best) for best, share, _ in rows],
        heading="predicted, with its probability; bits of the token that came",
        details=[
            Detail(f"{name}: {best}", share, f"{share:.1%}; {bits:.2f} bits")
            for name, (best, share, bits) in zip(names, rows, strict=True)
        ],
    )


def _draw(axes: Any, names: Sequence[str], means: Sequence[float]) -> None:
    axes.plot(means, "o-", color=COLORS[0], markersize=4)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(xlabel="after", ylabel="bits per token", ylim=(0, None))
    light_grid(axes)
