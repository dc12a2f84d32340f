"""Why scores are divided by √d: the softmax of raw dot products saturates as d grows, and its gradient vanishes."""

import math
from pathlib import Path

import torch
from torch import Tensor

from seqlab.attention import scaled_dot
from seqlab.measures.measurement import MeasureContext, Measurement
from seqlab.plotting import light_grid, new_figure, write_figure
from seqlab.text_table import aligned_table

SIZES = [4**power for power in range(1, 7)]  # 4 to 4,096
KEYS, TRIALS = 16, 200
RAW, SCALED = "#c2410c", "#1f4e9c"


def attention_scaling(context: MeasureContext) -> Measurement:
    """A worked example with four queries and keys, then entropy and gradient of the softmax by vector size."""
    table = [raw_and_scaled(size) for size in SIZES]
    path = context.folder / "attention-scaling.png"
    draw(table, path)
    rows = [["d", "entropy raw", "scaled", "largest gradient raw", "scaled"]]
    for size, raw, scaled in table:
        rows.append([f"{size:,}", f"{raw[0]:.3f}", f"{scaled[0]:.3f}", f"{raw[1]:.2e}", f"{scaled[1]:.2e}"])
    about = (
        f"means over {TRIALS} random queries with {KEYS} keys; the largest entropy is ln {KEYS} = {math.log(KEYS):.3f}"
    )
    example, worked = worked_example()
    data = {
        "example": example,
        "table": [{"d": d, "raw": raw, "scaled": scaled} for d, raw, scaled in table],
        "first": _summary(table[0]),
        "last": _summary(table[-1]),
        "keys": KEYS,
        "trials": TRIALS,
    }
    return Measurement(data, f"{worked}\n\n{about}\n{aligned_table(rows, 0)}", [path])


def _summary(row: tuple[int, list[float], list[float]]) -> dict[str, float]:
    _, raw, scaled = row
    return {"raw": raw[0], "scaled": scaled[0], "raw_gradient": raw[1], "scaled_gradient": scaled[1]}


def worked_example() -> tuple[dict[str, list], str]:
    """Four queries, keys and values of four features."""
    generator = torch.Generator().manual_seed(0)
    q_1TK, k_1SK, v_1SD = (torch.randn(1, 4, 4, generator=generator) for _ in range(3))
    attended = scaled_dot(q_1TK, k_1SK, v_1SD)
    raw_TS = (q_1TK @ k_1SK.transpose(-2, -1))[0]
    scaled_TS = attended.scores_BTS[0]
    named = {
        "raw scores of query 1": raw_TS[0],
        "scaled scores of query 1": scaled_TS[0],
        "softmax of the raw": raw_TS[0].softmax(-1),
        "softmax of the scaled": scaled_TS[0].softmax(-1),
    }
    lines = [f"{name:26}{numbers(row)}" for name, row in named.items()]
    for name, matrix in (("weights", attended.weights_BTS[0]), ("outputs", attended.output_BTD[0])):
        lines += [f"{name + f' of query {index}':26}{numbers(row)}" for index, row in enumerate(matrix, 1)]
        named[name] = matrix
    return {name: tensor.tolist() for name, tensor in named.items()}, "\n".join(lines)


def raw_and_scaled(size: int) -> tuple[int, list[float], list[float]]:
    """Entropy and gradient of the weights, from raw and from scaled scores."""
    generator = torch.Generator().manual_seed(size)
    q_NK = torch.randn(TRIALS, size, generator=generator)
    k_NSK = torch.randn(TRIALS, KEYS, size, generator=generator)
    scores_NS = (k_NSK @ q_NK[:, :, None])[:, :, 0]
    return size, entropy_and_gradient(scores_NS), entropy_and_gradient(scores_NS / math.sqrt(size))


def entropy_and_gradient(scores_NS: Tensor) -> list[float]:
    """The mean entropy of the softmax weights, and the mean of the largest ∂weight/∂score."""
    w_NS = scores_NS.double().softmax(-1)
    entropy = -(w_NS * w_NS.clamp(min=1e-300).log()).sum(-1).mean()
    # ∂w_i/∂s_j = w_i (δ_ij - w_j), largest on the diagonal
    gradient = (w_NS * (1 - w_NS)).amax(-1).mean()
    return [float(entropy), float(gradient)]


def numbers(row: Tensor) -> str:
    return "  ".join(f"{value:+.4f}" for value in row.tolist())


def draw(table: list[tuple[int, list[float], list[float]]], path: Path) -> None:
    figure = new_figure(9, 3.6)
    sizes = [size for size, _, _ in table]
    titles = ("entropy of the weights (nats)", "largest gradient of a weight")
    for index, (axes, title) in enumerate(zip(figure.subplots(1, 2), titles, strict=True)):
        axes.plot(sizes, [raw[index] for _, raw, _ in table], "o-", color=RAW, label="q·k")
        axes.plot(sizes, [scaled[index] for _, _, scaled in table], "o-", color=SCALED, label="q·k / √d")
        axes.set(title=title, xlabel="d, features of a query and a key")
        axes.set_xscale("log", base=4)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        light_grid(axes)
        axes.legend(frameon=False)
    write_figure(figure, path)
