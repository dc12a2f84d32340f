"""Checks of the exercises on reading a comparison."""

from types import ModuleType

import torch
from scipy.stats import ttest_ind

import seqlab


def check_interval(answer: ModuleType) -> None:
    """The interval of a difference"""
    torch.manual_seed(6)
    for count in (3, 5):
        a, b = (1.7 + 0.01 * torch.randn(2, count, dtype=torch.float64)).tolist()
        expected = ttest_ind(a, b).confidence_interval(0.95)
        low, high = answer.interval(a, b)
        assert abs(low - expected.low) < 1e-6 and abs(high - expected.high) < 1e-6, (
            f"interval({a}, {b}) is ({low:.5f}, {high:.5f}); expected ({expected.low:.5f}, {expected.high:.5f}): "
            "Student's t with 2 (n - 1) degrees of freedom, and the sample variances (divided by n - 1)."
        )


def check_lstm_parameters(answer: ModuleType) -> None:
    """Counting an LSTM's parameters"""
    for vocab_size, embedding, hidden, layers in ((50, 8, 12, 1), (77, 16, 10, 3)):
        model = seqlab.build("lstm", vocab_size=vocab_size, embedding=embedding, hidden=hidden, layers=layers)
        expected = sum(tensor.numel() for tensor in model.parameters())
        got = answer.lstm_parameters(vocab_size, embedding, hidden, layers)
        assert got == expected, (
            f"lstm_parameters({vocab_size}, {embedding}, {hidden}, {layers}) is {got!r}; a model of these sizes has "
            f"{expected:,}. The first layer reads the embedding, the others the layer below."
        )


def check_ratios(answer: ModuleType) -> None:
    """Steps and FLOPs"""
    for epochs_a, flops_a, epochs_b, flops_b in ((10, 3e6, 50, 4e6), (4, 5e6, 2, 10e6), (1, 1, 7, 1)):
        got = tuple(answer.ratios(epochs_a, flops_a, epochs_b, flops_b))
        steps = epochs_b / epochs_a
        expected = (steps, steps * flops_b / flops_a)
        assert all(abs(x - y) < 1e-9 for x, y in zip(got, expected, strict=True)), (
            f"ratios({epochs_a}, {flops_a:g}, {epochs_b}, {flops_b:g}) is {got!r}; expected {expected}."
        )
