"""Checks of the exercises on bidirectional encoders."""

from random import Random
from types import ModuleType

from torch import nn

import seqlab
from seqlab.contracts import Backbone


def check_read_both_ways(answer: ModuleType) -> None:
    """Reading in both directions"""
    got = answer.read_both_ways(lambda h, x: h + x, ["a", "b", "c"], "")
    expected = [("a", "cba"), ("ab", "cb"), ("abc", "c")]
    assert list(map(tuple, got)) == expected, (
        f"with a state that collects what it read, 'a', 'b', 'c' give {got!r}; expected {expected}: the backward state "
        "at a position has read from the end down to that position."
    )
    assert list(answer.read_both_ways(lambda h, x: h + x, [], 0)) == [], "an empty input gives an empty list."


def check_mask_tokens(answer: ModuleType) -> None:
    """BERT's masking"""
    draw = Random(1)
    ids = [draw.randrange(1000) for _ in range(40_000)]
    before = list(ids)
    inputs, targets = answer.mask_tokens(ids, 1000, 1000, Random(2))
    assert ids == before, "mask_tokens changed the caller's ids: work on a copy."
    assert len(inputs) == len(targets) == len(ids), "inputs and targets must be as long as the ids."
    chosen = [at for at, target in enumerate(targets) if target is not None]
    assert all(targets[at] == ids[at] for at in chosen), "a target is the original token, not the replaced one."
    untouched = set(range(len(ids))) - set(chosen)
    assert all(inputs[at] == ids[at] for at in untouched), "a token without a target must stay as it is."
    shares = {
        "chosen tokens": (len(chosen) / len(ids), 0.15),
        "mask symbols among the chosen": (sum(inputs[at] == 1000 for at in chosen) / max(1, len(chosen)), 0.80),
        "unchanged among the chosen": (sum(inputs[at] == ids[at] for at in chosen) / max(1, len(chosen)), 0.10),
    }
    for name, (share, expected) in shares.items():
        assert abs(share - expected) < 0.02, f"the share of {name} is {share:.3f}; expected about {expected}."
    assert max(inputs) <= 1000, "random tokens must be below vocab_size."


def check_encoder_parameters(answer: ModuleType) -> None:
    """Counting an encoder's parameters"""
    for vocab_size, width, layers, feedforward, positions in ((50, 8, 1, 16, 10), (301, 24, 3, 40, 33)):
        model = seqlab.build(
            "transformer-encoder", task="masked", vocab_size=vocab_size - 1, embedding=width, hidden=width,
            layers=layers, heads=2, feedforward=feedforward, positions="learned", context=positions, segments=2,
            input_norm=True, pooler=True, norm_position="after", window=positions,
        )  # fmt: skip
        backbone, embedding = model.backbone, model.get_submodule("embedding")
        assert isinstance(backbone, Backbone) and isinstance(embedding, nn.Embedding)
        expected = sum(tensor.numel() for tensor in backbone.parameters()) + embedding.weight.numel()
        got = answer.encoder_parameters(vocab_size, width, layers, feedforward, positions)
        assert got == expected, (
            f"encoder_parameters({vocab_size}, {width}, {layers}, {feedforward}, {positions}) is {got!r}; a model of "
            f"these sizes has {expected:,}. Count biases, and two vectors for each normalization."
        )
