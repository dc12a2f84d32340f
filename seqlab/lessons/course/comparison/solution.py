"""Model answers to the exercises on reading a comparison."""

import math
from statistics import fmean, variance

from scipy.stats import t


def interval(a, b):
    n = len(a)
    half = float(t.ppf(0.975, 2 * (n - 1))) * math.sqrt((variance(a) + variance(b)) / n)
    difference = fmean(a) - fmean(b)
    return difference - half, difference + half


def lstm_parameters(vocab_size, embedding, hidden, layers):
    below = [embedding] + [hidden] * (layers - 1)
    core = sum(4 * hidden * (width + hidden + 2) for width in below)
    return vocab_size * embedding + core + (hidden + 1) * vocab_size


def ratios(epochs_a, flops_a, epochs_b, flops_b):
    steps = epochs_b / epochs_a
    return steps, steps * flops_b / flops_a
