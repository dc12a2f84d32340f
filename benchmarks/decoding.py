"""Writing text: our compiled engine against loops over torch, in one run.

Run `python -m benchmarks.decoding`. A ratio is the other's time over ours, so more is faster. Each round lets every
competitor write the same number of tokens, and the fastest round of each counts. All of them draw from the softmax.
Texts are twice as long as the context, so that what is seen is full half of the time.
The bandwidth limit is the time in which the weights could be read once, at the speed of reading as many bytes in a row.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from benchmarks.training import Step, fastest
from seqlab.config import build_settings
from seqlab.decode.engines.selection import EngineSelector
from seqlab.decode.generate import generate
from seqlab.decode.sampling import SamplingSettings
from seqlab.exporters.onnx.language import step_graph
from seqlab.runs.load import build_model

VOCABULARY, EMBEDDING, HIDDEN = 65, 128, 256
WIDTH, LAYERS, HEADS, CONTEXT = 128, 4, 4, 128
TOKENS, BATCH, ROUNDS = 256, 32, 5


def our_model(arch: str, precision: str = "float32", **backbone: Any) -> Any:
    embedding = backbone.pop("embedding", EMBEDDING)
    changes = [("backbone.name", arch), ("model.embedding", embedding), ("model.precision", precision)]
    changes += [(f"backbone.{key}", value) for key, value in backbone.items()]
    return build_model(build_settings({"corpus": {"source": ["none"]}}, changes), VOCABULARY).eval()


def ours(model: Any, rows: int, how: str = "compiled", tokens: int = TOKENS) -> Step:
    generator = EngineSelector(model).select(rows, tokens, how)
    return lambda: generate(generator, [[0]] * rows, tokens, SamplingSettings())


def drawn(logits_BV: Tensor) -> Tensor:
    return torch.multinomial(torch.softmax(logits_BV, -1), 1)


class DirectLstm(nn.Module):
    """One token at a time through nn.LSTM, as most small projects write it."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, EMBEDDING)
        self.recurrent = nn.LSTM(EMBEDDING, HIDDEN, batch_first=True)
        self.output = nn.Linear(HIDDEN, VOCABULARY)

    @torch.inference_mode()
    def write(self, rows: int) -> None:
        token_B1, state = torch.zeros(rows, 1, dtype=torch.long), None
        for _ in range(TOKENS):
            y_B1H, state = self.recurrent(self.embedding(token_B1), state)
            token_B1 = drawn(self.output(y_B1H[:, -1]))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x_BTD: Tensor, held: list[Tensor] | None) -> Tensor:
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.into(self.norm1(x_BTD)).chunk(3, -1))
        if held is not None:
            if held:
                k, v = torch.cat([held[0], k], 2), torch.cat([held[1], v], 2)
            k, v = k[:, :, -CONTEXT:], v[:, :, -CONTEXT:]
            held[:] = [k, v]
        y_BNTK = scaled_dot_product_attention(q, k, v, is_causal=held is None)
        x_BTD = x_BTD + self.out(y_BNTK.transpose(1, 2).flatten(2))
        return x_BTD + self.down(gelu(self.up(self.norm2(x_BTD))))


class DirectTransformer(nn.Module):
    """Without a cache the whole context is computed again for every token; with one, keys and values are kept."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.output = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids_BT: Tensor, first: int = 0, held: list[list[Tensor]] | None = None) -> Tensor:
        x_BTD = self.embedding(ids_BT) + self.positions.weight[first : first + ids_BT.shape[1]]
        for layer, block in enumerate(self.blocks):
            x_BTD = block(x_BTD, held and held[layer])
        return self.output(self.norm(x_BTD[:, -1]))

    @torch.inference_mode()
    def write_uncached(self, rows: int) -> None:
        ids_BT = torch.zeros(rows, 1, dtype=torch.long)
        for _ in range(TOKENS):
            ids_BT = torch.cat([ids_BT, drawn(self(ids_BT[:, -CONTEXT:]))], 1)

    @torch.inference_mode()
    def write_cached(self, rows: int) -> None:
        token_B1: Tensor = torch.zeros(rows, 1, dtype=torch.long)
        held: list[list[Tensor]] = [[] for _ in range(LAYERS)]
        for first in range(TOKENS):
            token_B1 = drawn(self(token_B1, min(first, CONTEXT - 1), held))


class OnnxSteps:
    """Our own model's step graph in onnxruntime, called once a token."""

    def __init__(self, model: Any):
        self.session = onnxruntime.InferenceSession(step_graph(model).SerializeToString())
        self.draw = np.random.default_rng(0)

    def write(self, rows: int) -> None:
        sizes: dict[Any, Any] = {"B": rows, "S": 0}
        inputs: dict[str, Any] = {}
        for one in self.session.get_inputs():
            kind = np.float32 if one.type == "tensor(float)" else np.int64
            inputs[one.name] = np.zeros([sizes.get(axis, axis) for axis in one.shape], kind)
        names = list(inputs)
        for _ in range(TOKENS):
            result: Any = self.session.run(None, inputs)
            logits_BV, *after = result
            weights_BV = np.exp(logits_BV - logits_BV.max(1, keepdims=True)).cumsum(1)
            drawn_B1 = self.draw.random((rows, 1), np.float32) * weights_BV[:, -1:]
            inputs = dict(zip(names, [(weights_BV < drawn_B1).sum(1), *after], strict=True))


@dataclass(frozen=True)
class Comparison:
    name: str
    ours: str
    others: tuple[str, ...]  # of which the fastest counts
    target: float | None


def competitors() -> dict[str, Callable[[], Step]]:
    lstm, transformer = DirectLstm().eval(), DirectTransformer().eval()
    our_lstm = our_model("lstm", hidden=HIDDEN)
    sizes: dict[str, Any] = {"hidden": WIDTH, "layers": LAYERS, "heads": HEADS, "context": CONTEXT, "embedding": WIDTH}
    our_transformer = our_model("transformer", **sizes)
    result: dict[str, Callable[[], Step]] = {}
    onnx_lstm, onnx_transformer = OnnxSteps(our_lstm), OnnxSteps(our_transformer)
    for rows in (1, BATCH):
        result |= {
            f"onnx lstm {rows}": lambda rows=rows: lambda: onnx_lstm.write(rows),
            f"onnx transformer {rows}": lambda rows=rows: lambda: onnx_transformer.write(rows),
            f"lstm {rows}": lambda rows=rows: ours(our_lstm, rows),
            f"lstm plain {rows}": lambda rows=rows: ours(our_lstm, rows, "plain"),
            f"nn.LSTM {rows}": lambda rows=rows: lambda: lstm.write(rows),
            f"transformer {rows}": lambda rows=rows: ours(our_transformer, rows),
            f"transformer plain {rows}": lambda rows=rows: ours(our_transformer, rows, "plain"),
            f"uncached {rows}": lambda rows=rows: lambda: transformer.write_uncached(rows),
            f"cached {rows}": lambda rows=rows: lambda: transformer.write_cached(rows),
        }
    return result


COMPARISONS = [
    Comparison("lstm alone, against nn.LSTM step by step", "lstm 1", ("nn.LSTM 1",), 8),
    Comparison("transformer alone, against one without a cache", "transformer 1", ("uncached 1",), 10),
    Comparison("transformer alone, against one with a cache", "transformer 1", ("cached 1",), 3),
    Comparison(
        f"lstm, {BATCH} texts, against torch's best", f"lstm {BATCH}", (f"nn.LSTM {BATCH}", f"lstm plain {BATCH}"), 1
    ),
    Comparison(
        f"transformer, {BATCH} texts, against torch's best",
        f"transformer {BATCH}",
        (f"cached {BATCH}", f"uncached {BATCH}", f"transformer plain {BATCH}"),
        1,
    ),
    *(
        Comparison(f"{arch}, {rows} text(s), against onnxruntime", f"{arch} {rows}", (f"onnx {arch} {rows}",), None)
        for arch in ("lstm", "transformer")
        for rows in (1, BATCH)
    ),
]


def main(rounds: int = ROUNDS) -> None:
    torch.set_num_threads(os.cpu_count() or 1)
    print(f"{TOKENS} tokens a text, vocabulary {VOCABULARY}; lstm {HIDDEN} wide; transformer {LAYERS} layers, "
          f"{WIDTH} wide, context {CONTEXT}; {torch.get_num_threads()} threads")  # fmt: skip
    best = fastest({name: make() for name, make in competitors().items()}, rounds)
    for one in COMPARISONS:
        name = min(one.others, key=best.__getitem__)
        target = f"target {one.target:4.1f}" if one.target else " " * 11
        print(f"{one.name:48} {best[name] / best[one.ours]:6.2f}  {target}  "
              f"{best[one.ours] / TOKENS * 1e6:8.1f} us a step, {name} {best[name] / TOKENS * 1e6:8.1f}")  # fmt: skip
    weights = {"lstm 1": 4 * HIDDEN**2 + HIDDEN * VOCABULARY, "transformer 1": 12 * LAYERS * WIDTH**2}
    for name, numbers in weights.items():
        read = reading(numbers, rounds)
        print(f"{name}: {4 * numbers / 1e6:.1f} MB of weights a token, which are read in {read * 1e6:.1f} us at best: "
              f"{read * TOKENS / best[name]:.0%} of the bandwidth limit")  # fmt: skip


def reading(numbers: int, rounds: int) -> float:
    """Seconds in which so many float32 are read and added up, of an array that was just read."""
    array = np.ones(numbers, np.float32)
    tensor = torch.from_numpy(array)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seconds = fastest({"sum": lambda: [tensor.sum() for _ in range(20)]}, 5 * rounds)["sum"] / 20
    torch.set_num_threads(threads)
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    main(parser.parse_args().rounds)
