"""lens: what the model would predict after every layer, if the layers above were left out (the logit lens).

What a layer passes on is put in the place of what the last one does; everything behind it, such as a final norm, the
attention over states, and the projection, runs as always. So it works for recurrent stacks as well.
"""

import math
from collections.abc import Sequence
from typing import Any

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading, require_predictions
from seqlab.inspection.shades import level
from seqlab.inspection.sheet import Chart, Detail, Sheet, TextTable, TokenColumn, one
from seqlab.plotting import COLORS, from_zero, light_grid


def lens(readings: Sequence[Reading]) -> Sheet:
    """The likeliest token after every layer in each place, and the mean bits of the text after every layer."""
    reading = one(readings, "lens")
    names = [
        name
        for name, recorded in reading.model.records.items()
        if recorded.kind == "layer" and reading.side_of(name) == reading.side
    ]
    if len(names) < 2:
        raise UsageError(
            f"the model '{reading.arch}' records {len(names)} of its layers: a lens shows what lies between two or "
            "more. Train a model with --layers 2."
        )
    require_predictions(reading)
    trace = Trace()
    final_PV = reading.logprobs(trace)
    after_LPV = [reading.logprobs(Trace({names[-1]: trace[name]})) for name in names[:-1]] + [final_PV]
    columns, found, right = [], [], [0] * len(names)
    for p, (place, answer) in enumerate(zip(reading.places, reading.answers, strict=True)):
        if bool(final_PV[p].isnan().any()):
            columns.append(TokenColumn(place, cells=[(0, "–")] * len(names), heading="not predicted"))
            continue
        rows = []
        for at, logprobs_PV in enumerate(after_LPV):
            best, likeliest = logprobs_PV[p].max(0)
            right[at] += int(likeliest) == answer
            rows.append((reading.answer_name(int(likeliest)), math.exp(best), _bits(float(logprobs_PV[p, answer]))))
        found.append(rows)
        columns.append(_column(place, reading.answer, names, rows))
    means = [sum(rows[at][2] for rows in found) / max(1, len(found)) for at in range(len(names))]
    unit = f"bits per {reading.answer}"
    table = [["after", unit, "likeliest is its final choice" if reading.own_answers else "likeliest is right"]]
    table += [[n, f"{m:.2f}", f"{r / max(1, len(found)):.1%}"] for n, m, r in zip(names, means, right, strict=True)]
    in_words = "; ".join(f"{name}: {mean:.2f}" for name, mean in zip(names, means, strict=True))
    return Sheet(
        "lens",
        f"The prediction of {reading.arch} after each of {len(names)} places: {unit} {in_words}{reading.whose}.",
        {
            "places": [column.token for column in columns if column.details],
            "layers": names,
            f"bits_per_{reading.answer}": means,
            "predictions": found,
        },
        "under each token, what was predicted in its place; the stronger the color, the more certain",
        names,
        columns,
        [TextTable(f"{unit} after every layer", table)],
        [Chart(lambda axes: _draw(axes, names, means, unit), f"Mean {unit} after every layer: {in_words}")],
    )


def _bits(logprob: float) -> float:
    return -logprob / math.log(2)


def _column(token: str, answer: str, names: Sequence[str], rows: Sequence[tuple[str, float, float]]) -> TokenColumn:
    return TokenColumn(
        token,
        cells=[(level(share), best) for best, share, _ in rows],
        heading=f"predicted, with its probability; bits of the {answer} that is scored",
        details=[
            Detail(f"{name}: {best}", share, f"{share:.1%}; {bits:.2f} bits")
            for name, (best, share, bits) in zip(names, rows, strict=True)
        ],
    )


def _draw(axes: Any, names: Sequence[str], means: Sequence[float], unit: str) -> None:
    axes.plot(means, "o-", color=COLORS[0], markersize=4)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(xlabel="after", ylabel=unit)
    from_zero(axes)
    light_grid(axes)
