"""Kneser-Ney against a dictionary implementation of its formulas, and what it promises to cost."""

import json
import math
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.baselines import gram_counts, kneser_ney
from seqlab.baselines.kneser_ney import KneserNey, best_kneser_ney, best_with_parts, nats_by_order
from seqlab.baselines.unigram import Unigram

SYMBOLS = 4
documents = st.lists(st.lists(st.integers(0, SYMBOLS - 1), min_size=1, max_size=20), min_size=1, max_size=4)


def flat(docs):
    """Documents as one array of tokens and the starts of each."""
    return np.concatenate([np.array(doc) for doc in docs]), np.cumsum([0, *map(len, docs[:-1])])


class Naive:
    """The formulas, one gram at a time."""

    def __init__(self, docs, vocab_size, order):
        self.vocab_size, self.order = vocab_size, order
        self.levels = {k: self.level(docs, k) for k in range(1, order + 1)}
        self.discounts = {k: self.estimate(counts) for k, counts in self.levels.items()}

    def level(self, docs, k):
        occurrences, before = Counter(), defaultdict(set)
        for number, doc in enumerate(docs):
            for i in range(1 if k == 1 else 0, len(doc) - k + 1):
                gram = tuple(doc[i : i + k])
                occurrences[gram] += 1
                before[gram].add(doc[i - 1] if i else ("start of document", number))
        return occurrences if k == self.order else {gram: len(tokens) for gram, tokens in before.items()}

    def estimate(self, counts):
        n = Counter(counts.values())
        discounts = {0: 0.0}
        for r in (1, 2, 3):
            d = r / 2
            if n[r] and n[1] + 2 * n[2]:
                estimate = r - (r + 1) * (n[1] / (n[1] + 2 * n[2])) * n[r + 1] / n[r]
                d = estimate if 0 < estimate < r else d
            discounts[r] = d
        return discounts

    def p(self, context, token):
        context = context[len(context) - min(len(context), self.order - 1) :]
        lower = self.p(context[1:], token) if context else 1 / self.vocab_size
        level, discounts = self.levels[len(context) + 1], self.discounts[len(context) + 1]
        after = [count for gram, count in level.items() if gram[:-1] == context]
        if not after:
            return lower
        count = level.get((*context, token), 0)
        own = count - discounts[min(count, 3)]
        return (own + sum(discounts[min(c, 3)] for c in after) * lower) / sum(after)

    def nats(self, docs):
        return [-math.log(self.p(tuple(doc[:i]), doc[i])) for doc in docs for i in range(1, len(doc))]


@given(documents, documents, st.integers(1, 5), st.sampled_from([SYMBOLS, SYMBOLS + 3]))
def test_the_formulas(train, held_out, max_order, vocab_size):
    tokens_N, starts_D = flat(train)
    model = KneserNey.fit(tokens_N, vocab_size, max_order, starts_D)
    held_N, held_starts_D = flat(held_out)
    for order in range(1, model.order + 1):
        nats = model.nats(held_N, order, held_starts_D)
        np.testing.assert_allclose(nats, Naive(train, vocab_size, order).nats(held_out), rtol=0, atol=1e-9)


@given(documents, st.lists(st.integers(0, SYMBOLS), min_size=1, max_size=6), st.integers(1, 6))
def test_probabilities_sum_to_one(train, context, max_order):
    """In any context, seen or not; one symbol of the vocabulary was never seen at all."""
    vocab_size = SYMBOLS + 1
    tokens_N, starts_D = flat(train)
    model = KneserNey.fit(tokens_N, vocab_size, max_order, starts_D)
    continued_N, continued_starts_D = flat([[*context, token] for token in range(vocab_size)])
    for order in range(1, model.order + 1):
        nats = model.nats(continued_N, order, continued_starts_D).reshape(vocab_size, -1)[:, -1]
        assert np.isfinite(nats).all()
        assert np.exp(-nats).sum() == pytest.approx(1, abs=1e-9)


def test_worked_by_hand():
    """0 1 0 1 2: counts 01 twice, 10 and 12 once; every token follows one other, so single tokens are equal.

    Of pairs n1 = 2 and n2 = 1, so Y = 1/2 and D1 = 1/2; D2 cannot be estimated and is 1. In unseen contexts p = 1/3.
    """
    model = KneserNey.fit(np.array([0, 1, 0, 1, 2]), 3, 2)
    p = np.exp(-model.nats(np.array([0, 1, 0, 1, 2, 0, 1, 1])))
    p1_after_0, p0_after_1, p1_after_1 = 1 / 2 + 1 / 2 / 3, 1 / 4 + 1 / 2 / 3, 1 / 2 / 3
    expected = [p1_after_0, p0_after_1, p1_after_0, p0_after_1, 1 / 3, p1_after_0, p1_after_1]
    np.testing.assert_allclose(p, expected, atol=1e-12)


def test_a_vocabulary_too_large_to_sort_the_fast_way():
    """A key leaves no room for its place in the text."""
    train = list(np.random.default_rng(5).integers(0, 6, 200))
    model = KneserNey.fit(np.array(train), 2**54, 3)
    np.testing.assert_allclose(model.nats(np.array(train)), Naive([train], 2**54, 3).nats([train]), atol=1e-9)


def test_documents_are_independent():
    """Their order does not matter in training, and scores of several are those of each."""
    rng = np.random.default_rng(0)
    docs = [[0, *rng.integers(1, 5, rng.integers(0, 30))] for _ in range(40)]
    held_out = [[0, *rng.integers(1, 5, 10)] for _ in range(7)]
    tokens_N, starts_D = flat(docs)
    model = KneserNey.fit(tokens_N, 5, 4, starts_D)
    tokens_N, starts_D = flat(docs[::-1])
    backwards = KneserNey.fit(tokens_N, 5, 4, starts_D)

    held_N, held_starts_D = flat(held_out)
    nats = model.nats(held_N, starts_D=held_starts_D)
    assert len(nats) == len(held_N) - len(held_out)
    np.testing.assert_allclose(nats, backwards.nats(held_N, starts_D=held_starts_D), rtol=1e-12)
    np.testing.assert_allclose(nats, np.concatenate([model.nats(np.array(doc)) for doc in held_out]), rtol=1e-12)


def test_the_order_is_that_of_the_text():
    """Each token is mostly the sum of the two before it, so that three tokens are worth counting, and no more."""
    rng = np.random.default_rng(0)
    tokens = [0, 1]
    for noise in rng.random(20_000):
        tokens.append((tokens[-1] + tokens[-2]) % 7 if noise < 0.8 else int(noise * 1e6) % 7)
    train_N = np.array(tokens)
    best = best_kneser_ney(train_N, 7)
    assert best.order == 3
    held_N = train_N[:500]
    np.testing.assert_array_equal(best.nats(held_N), KneserNey.fit(train_N, 7, 3).nats(held_N))


@pytest.mark.parametrize("starts_D", [None, np.array([0, 100, 450, 470])])
def test_orders_are_tried_on_the_end_of_the_training_text(starts_D):
    train_N = np.random.default_rng(1).integers(0, 3, 500).cumsum() % 5
    last_D = None if starts_D is None else np.array([0, 20])
    first_D = None if starts_D is None else np.array([0, 100])
    model = KneserNey.fit(train_N[:450], 5, 6, first_D)
    tried = nats_by_order(train_N, 5, starts_D, max_order=6)
    assert len(tried) > 1
    for order, nats in enumerate(tried, start=1):
        assert nats == pytest.approx(model.nats(train_N[450:], order, last_D).sum(), rel=1e-12)


@given(documents, st.lists(st.integers(0, 40), min_size=2, max_size=6, unique=True), documents)
def test_a_part_counted_with_the_whole_is_the_part_counted_alone(train, bounds, held_out):
    tokens_N, starts_D = flat(train)
    bounds = sorted(min(bound, len(tokens_N)) for bound in bounds)
    ranges = [(first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=False) if first < last]
    if not ranges:
        return
    whole, part = best_with_parts(tokens_N, SYMBOLS, [ranges], starts_D)
    ends = [*starts_D[1:], len(tokens_N)]
    docs = [
        list(tokens_N[max(start, first) : min(end, last)])
        for first, last in ranges
        for start, end in zip(starts_D, ends, strict=True)
        if max(start, first) < min(end, last)
    ]
    alone_N, alone_D = flat(docs)
    held_N, held_D = flat(held_out)
    best = best_kneser_ney(tokens_N, SYMBOLS, starts_D)
    assert whole.order == best.order and part.fitted_tokens == len(alone_N)
    expected = KneserNey.fit(alone_N, SYMBOLS, whole.order, alone_D)
    np.testing.assert_array_equal(whole.nats(held_N, starts_D=held_D), best.nats(held_N, starts_D=held_D))
    np.testing.assert_array_equal(part.nats(held_N, starts_D=held_D), expected.nats(held_N, starts_D=held_D))


def test_a_long_text_is_counted_at_its_end(monkeypatch):
    monkeypatch.setattr(kneser_ney, "FIT_TOKENS", 100)
    train_N = np.random.default_rng(2).integers(0, 3, 500)
    starts_D = np.array([0, 30, 390, 420, 421])
    inside_D = np.array([0, 20, 21])
    model = KneserNey.fit(train_N, 3, 4, starts_D)
    assert model.fitted_tokens == 100
    assert best_kneser_ney(train_N, 3, starts_D).fitted_tokens == 100
    np.testing.assert_array_equal(model.nats(train_N), KneserNey.fit(train_N[400:], 3, 4, inside_D).nats(train_N))


def test_the_order_stays_within_memory(monkeypatch):
    train_N = np.random.default_rng(3).integers(0, 3, 500)
    monkeypatch.setattr(gram_counts, "MAX_GRAMS", 11)
    low = KneserNey.fit(train_N, 3, 12)
    assert low.order == 2  # 3 single tokens and 9 pairs are too many to go on
    monkeypatch.undo()
    full = KneserNey.fit(train_N, 3, 12)
    assert full.order == 12
    np.testing.assert_array_equal(low.nats(train_N), full.nats(train_N, low.order))


@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_tiny_texts(length):
    train_N = np.arange(length, dtype=np.uint8) % 3
    nats = best_kneser_ney(train_N, 4).nats(np.array([3, 3, 0], np.uint8))
    assert nats.shape == (2,) and np.isfinite(nats).all()
    assert KneserNey.fit(train_N, 4, 3).nats(train_N[:1]).shape == (0,)


def test_the_type_of_the_tokens_does_not_matter():
    train_N = np.random.default_rng(4).integers(0, 200, 3000)
    nats = KneserNey.fit(train_N, 256, 3).nats(train_N)
    for kind in (np.uint8, np.uint16, np.int32, np.uint64):
        np.testing.assert_array_equal(nats, KneserNey.fit(train_N.astype(kind), 256, 3).nats(train_N.astype(kind)))


# --- real text, and what it costs -----------------------------------------------------------------------------------


def test_clearly_below_plain_counting():
    """Trigrams with 0.1 added to each count are what a first attempt at a floor looks like."""
    tokens_N = np.array(list("".join(topics.values()).encode()[:300_000]))
    train_N, held_N = tokens_N[:270_000], tokens_N[270_000:]
    counts = np.zeros((2**16, 256)) + 0.1
    np.add.at(counts, (train_N[:-2] * 256 + train_N[1:-1], train_N[2:]), 1)
    rows = counts[held_N[:-2] * 256 + held_N[1:-1]]
    plain = -np.log(rows[np.arange(len(rows)), held_N[2:]] / rows.sum(1)).mean()

    best = best_kneser_ney(train_N, 256).nats(held_N).mean()
    assert best < plain - 0.2
    assert plain < Unigram.fit(train_N, 256).nats(held_N).mean()


MEASURE = """
import json, resource, sys
import numpy as np
from seqlab.baselines.kneser_ney import best_kneser_ney
before = resource.getrusage(resource.RUSAGE_SELF)
train, held_out = np.load(sys.argv[1]), np.load(sys.argv[2])
model = best_kneser_ney(train, 256)
nats = model.nats(held_out).mean()
after = resource.getrusage(resource.RUSAGE_SELF)
seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
megabytes = after.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
if sys.platform == "linux":  # where ru_maxrss counts the parent's memory from before the start, too
    megabytes = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 2**10
print(json.dumps({"order": model.order, "nats": nats, "seconds": seconds, "megabytes": megabytes}))
"""


def language(length):
    """Words drawn as unevenly as in a language, in phrases that repeat, so that long grams are worth counting."""
    rng = np.random.default_rng(0)
    letters = np.array(list("eeeetttaaaoooiinnsshhrrdlcumwfgypbvkxjqz"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(1, 12, 30_000)]
    phrases = [" ".join(words[i - 1] for i in row) for row in np.minimum(rng.zipf(1.3, (length // 50, 4)), 30_000)]
    text = ", ".join(phrases[int(i)] for i in len(phrases) * rng.random(length // 15) ** 2).encode()
    assert len(text) >= length
    return np.frombuffer(text, np.uint8)[:length]


def cost(tmp_path, train, held_out):
    """Choose the order, fit and score in a process of its own; processor seconds, so that company does not count."""
    tokens_N = language(train + held_out)
    paths = [tmp_path / "train.npy", tmp_path / "held-out.npy"]
    for path, tokens in zip(paths, (tokens_N[:train], tokens_N[train:]), strict=True):
        np.save(path, tokens)
    command = [sys.executable, "-c", MEASURE, *map(str, paths)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def test_what_a_megabyte_costs(tmp_path):
    measured = cost(tmp_path, 1_000_000, 100_000)
    assert measured["seconds"] < 5
    assert measured["megabytes"] < 300


@pytest.mark.slow
def test_what_ten_megabytes_cost(tmp_path):
    measured = cost(tmp_path, 10_000_000, 1_000_000)
    assert measured["order"] >= 8
    assert measured["seconds"] < 30
    assert measured["megabytes"] < 1000


# --- the protocol of the models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 3, 8, 100])
def test_with_a_window_the_context_begins_anew_where_a_window_does(window: int):
    """A window of inputs [first, first + window) is the same as a text of its own."""
    draw = np.random.default_rng(0)
    train_N, held_N = draw.integers(0, 5, 3000), draw.integers(0, 5, 90)
    starts_D = np.array([0, 37, 38, 60])
    model = KneserNey.fit(train_N, 5, 6)
    expected = [
        model.nats(held_N[first : min(first + window + 1, end)])
        for start, end in pairwise([*starts_D, 90])
        for first in range(start, end - 1, window)
    ]
    np.testing.assert_allclose(model.nats(held_N, starts_D=starts_D, window=window), np.concatenate(expected))


def test_the_figures_of_tiny_shakespeare(shared_data: Path):
    text = (shared_data / "tiny-shakespeare" / "input.txt").read_text()
    ids_N = np.unique(list(text), return_inverse=True)[1]
    train_N, test_N = ids_N[: len(text) * 8 // 10], ids_N[len(text) * 9 // 10 :]
    model = KneserNey.fit(train_N, 65, 6)
    result = [round(float(model.nats(test_N, window=window).mean()), 3) for window in (None, 128, 64, 32)]
    assert result == [1.692, 1.715, 1.740, 1.786]
