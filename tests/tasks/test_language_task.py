import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from seqlab import build
from seqlab.backbones.recurrent import Lstm
from seqlab.backbones.recurrent_settings import LstmSettings
from seqlab.config import ModelSettings, resolve
from seqlab.contracts import TextBatch
from seqlab.data.text.tokens import SplitStats, TokenSplit
from seqlab.models.language_model import LanguageModel
from seqlab.tasks import language, text_scores
from seqlab.tasks.language import LanguageTask
from seqlab.tasks.text import fit_sizes
from seqlab.tasks.text_settings import LanguageSettings
from seqlab.tokenization.char import CharTokenizer
from seqlab.tokenization.vocabulary import Vocabulary

quick = settings(max_examples=60)
VOCABULARY, UNKNOWN = 11, 10
DIGITS = Vocabulary(CharTokenizer("0123456789"))
CONTEXTS = ["window", "carry"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(autouse=True)
def small_passes(monkeypatch):
    """So that even short texts take several forward passes."""
    monkeypatch.setattr(text_scores, "SCORED_AT_ONCE", 200)
    monkeypatch.setattr(language, "CARRIED_AT_ONCE", 8)


class FixedDistribution(nn.Module):
    """Gives every token a probability that depends on nothing."""

    vocab_size = VOCABULARY

    def __init__(self):
        super().__init__()
        odds_V = torch.arange(1.0, VOCABULARY + 1)
        self.log_p_V = nn.Parameter((odds_V / odds_V.sum()).log())
        self.backbone = build("rnn", vocab_size=VOCABULARY, hidden=1).backbone  # tells how far it sees, and no more
        self.start_limited = self.backbone.start_limited

    def forward(self, tokens_BT, state=None, mask_BT=None):
        return self.log_p_V.expand(*tokens_BT.shape, VOCABULARY), state

    def nats(self, tokens):
        return -self.log_p_V.detach().double().numpy()[np.asarray(tokens, dtype=int)]


def known_odds() -> Any:
    return FixedDistribution()


def tiny_model(dtype=torch.float64):
    torch.manual_seed(1)
    return LanguageModel(ModelSettings(embedding=4), Lstm(LstmSettings(hidden=6), 4), VOCABULARY).to(dtype).eval()


def ids_of(tokens, seed=0):
    return np.random.default_rng(seed).integers(0, VOCABULARY, tokens).astype(np.uint8)


def split_of(folder: Path, *lengths: int, characters: int = 0, by_lines: bool = True) -> TokenSplit:
    """A part with lines or segments of these lengths, or a stream if there is but one."""
    starts = np.cumsum([0, *lengths]).astype(np.int64)
    ids_of(starts[-1]).tofile(folder / "x.ids")
    starts.tofile(folder / "x.starts")
    sizes = 0, 0, characters, 2 * characters, 0, max(lengths)
    facts = SplitStats(int(starts[-1]), len(lengths), *sizes, by_lines=by_lines and len(lengths) > 1)
    return TokenSplit(folder, "x", np.dtype(np.uint8), facts)


def task_on(split, **values):
    settings = LanguageSettings(**{"batch_size": 2, "window": 5, **values})
    return LanguageTask(settings, {"train": split, "validation": split}, DIGITS)


def documents_of(split):
    ids = split.read(0, len(split))
    starts = split.document_starts()
    return [ids[a:b] for a, b in pairwise(starts)]


def nats_by_hand(model, tokens, window):
    """Of a text's tokens but the first, in passes of `window` inputs, each with a fresh state."""
    result = []
    for first in range(0, len(tokens) - 1, window):
        piece = torch.from_numpy(np.array(tokens[first : first + window + 1], dtype=np.int64))[None]
        with torch.no_grad():
            log_p_1TV = model(piece[:, :-1])[0].log_softmax(2)
        result.append([-float(log_p_1TV[0, t, piece[0, t + 1]]) for t in range(piece.shape[1] - 1)])
    return result


# --- the loss -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
def test_the_loss_is_the_cross_entropy(folder, masked):
    task, model = task_on(split_of(folder, 50)), tiny_model()
    inputs_BT, targets_BT = torch.randint(VOCABULARY, (3, 4)), torch.randint(VOCABULARY, (3, 4))
    mask_BT = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 0]]).bool() if masked else None
    kept_BT = torch.ones(3, 4).bool() if mask_BT is None else mask_BT
    batch = TextBatch(inputs_BT, targets_BT.masked_fill(~kept_BT, -100), mask_BT)
    loss = task.loss(model, batch, None, 0)
    p_BTV = np.exp(model(inputs_BT)[0].detach().numpy())
    p_BTV /= p_BTV.sum(2, keepdims=True)
    expected = sum(-np.log(p_BTV[b, t, targets_BT[b, t]]) for b in range(3) for t in range(4) if kept_BT[b, t])
    assert float(loss.total.detach()) == pytest.approx(expected, rel=1e-12)
    assert loss.count == int(kept_BT.sum())
    assert loss.carry is None


def test_padding_changes_neither_loss_nor_gradient(folder):
    split = split_of(folder, 3, 9, 5, 7)
    together = task_on(split, batch_size=4, window=20)
    alone = task_on(split, batch_size=1, window=20)

    def summed(task):
        model, count = tiny_model(), 0
        for index in range(task.steps_per_epoch):
            loss = task.loss(model, task.batch("train", 0, index), None, 0)
            loss.total.backward()
            count += loss.count
        return count, [parameter.grad for parameter in model.parameters()]

    (count, gradients), (count_alone, gradients_alone) = summed(together), summed(alone)
    assert count == count_alone == 24 - 4
    for one, other in zip(gradients, gradients_alone, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


def test_a_stream_carries_its_state_and_starts_afresh_with_each_epoch(folder):
    """Window by window with carried state is one pass over each row."""
    task, model = task_on(split_of(folder, 33), batching="stream", batch_size=2, window=5), tiny_model()
    carry, steps = None, int(task.steps_per_epoch)
    for epoch in range(2):
        totals = []
        for index in range(steps):
            loss = task.loss(model, task.batch("train", 0, epoch * steps + index), carry, index)
            carry = loss.carry
            assert carry is not None
            assert not any(leaf.requires_grad for leaf in carry.tensors())
            totals.append(float(loss.total.detach()))
        ids = task.splits["train"].read(0, 33)
        expected = sum(sum(nats_by_hand(model, ids[row * 16 : row * 16 + 17], 100)[0]) for row in range(2))
        assert sum(totals) == pytest.approx(expected, rel=1e-12)


# --- the scores -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("context", CONTEXTS)
@quick
@given(data=st.data(), window=st.integers(1, 12))
def test_every_token_is_scored_once(folder, context, data, window):
    lengths = data.draw(
        st.one_of(st.lists(st.integers(2, 30), min_size=2, max_size=9), st.integers(2, 60).map(lambda n: [n]))
    )
    split, model = split_of(folder, *lengths, characters=1234), known_odds()
    scores = task_on(split, window=window).score(model, "validation", context)
    targets = np.concatenate([document[1:] for document in documents_of(split)])
    assert scores.tokens == len(targets)
    assert scores.nats == pytest.approx(model.nats(targets).sum(), rel=1e-6)
    assert (scores.characters, scores.bytes, scores.mode) == (1234, 2468, context)
    assert scores.unknown_tokens == (targets == UNKNOWN).sum()
    assert scores.unknown_nats == pytest.approx(model.nats(targets[targets == UNKNOWN]).sum(), rel=1e-6)
    # the same sums, told by position
    assert scores.tokens_by_position_T.sum() == scores.tokens
    assert scores.nats_by_position_T.sum() == pytest.approx(scores.nats, rel=1e-12)
    # and unit by unit in the text's order
    length = window if context == "window" else language.CARRIED_AT_ONCE
    units = [
        document[at + 1 : at + 1 + length]
        for document in documents_of(split)
        for at in range(0, len(document) - 1, length)
    ]
    np.testing.assert_array_equal(scores.tokens_U, [len(unit) for unit in units])
    np.testing.assert_allclose(scores.nats_U, [model.nats(unit).sum() for unit in units], rtol=1e-6)


@pytest.mark.parametrize("lengths", [(38,), (7, 2, 19, 12, 3)])
def test_windows_are_fresh(folder, lengths):
    split, model = split_of(folder, *lengths), tiny_model()
    scores = task_on(split, window=5).score(model, "validation", "window")
    recount = [nats for document in documents_of(split) for nats in nats_by_hand(model, document, 5)]
    np.testing.assert_allclose(scores.nats_U, [sum(nats) for nats in recount], rtol=1e-12)
    np.testing.assert_array_equal(scores.tokens_U, [len(nats) for nats in recount])
    at_T = [[nats[t] for nats in recount if t < len(nats)] for t in range(5)]
    np.testing.assert_allclose(scores.nats_by_position_T, [sum(result) for result in at_T], rtol=1e-12)
    np.testing.assert_array_equal(scores.tokens_by_position_T, [len(result) for result in at_T])


@pytest.mark.parametrize("lengths", [(38,), (7, 2, 19, 12, 3)])
def test_carrying_is_one_pass_over_each_document(folder, lengths):
    split, model = split_of(folder, *lengths), tiny_model()
    scores = task_on(split, window=5).score(model, "validation", "carry")
    recount = [nats_by_hand(model, document, 1000)[0] for document in documents_of(split)]
    chunks = [nats[at : at + 8] for nats in recount for at in range(0, len(nats), 8)]
    np.testing.assert_allclose(scores.nats_U, [sum(chunk) for chunk in chunks], rtol=1e-12)
    assert scores.tokens == sum(lengths) - len(lengths)
    fresh = task_on(split, window=5).score(model, "validation", "window")
    assert scores.nats != pytest.approx(fresh.nats, rel=1e-6)


def test_the_last_window_may_be_shorter(folder):
    scores = task_on(split_of(folder, 14), window=5).score(known_odds(), "validation")
    assert scores.tokens_U.tolist() == [5, 5, 3]
    assert scores.tokens_by_position_T.tolist() == [3, 3, 3, 2, 2]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("limit", [1, 5, 6, 39, 40, 1000])
def test_a_limit_scores_the_beginning(folder, context, limit):
    """Windows that begin before it, whole; characters in proportion."""
    split = split_of(folder, 41, characters=4000)
    task, model = task_on(split, window=5), known_odds()
    whole, result = task.score(model, "validation", context), task.score(model, "validation", context, limit)
    units = min(-(-limit // (5 if context == "window" else 8)), len(whole.nats_U))
    np.testing.assert_array_equal(result.tokens_U, whole.tokens_U[:units])
    np.testing.assert_array_equal(result.nats_U, whole.nats_U[:units])
    assert result.characters == 100 * result.tokens
    assert result.bytes == 2 * result.characters


def test_scoring_leaves_no_trace(folder):
    task, model = task_on(split_of(folder, 40)), tiny_model()
    before = [parameter.clone() for parameter in model.parameters()]
    first, second = task.score(model, "validation"), task.score(model, "validation")
    np.testing.assert_array_equal(first.nats_U, second.nats_U)
    for parameter, old in zip(model.parameters(), before, strict=True):
        assert parameter.grad is None
        torch.testing.assert_close(parameter, old, rtol=0, atol=0)


# --- sizes ----------------------------------------------------------------------------------------------------------


@quick
@given(
    tokens=st.integers(2, 400),
    batch=st.integers(1, 40),
    window=st.integers(1, 140),
    batching=st.sampled_from(["windows", "stream"]),
)
def test_sizes_fit_any_text(folder, tokens, batch, window, batching):
    given_ = LanguageSettings(batch_size=batch, window=window, batching=batching)
    fits = fit_sizes(given_, split_of(folder, tokens))
    if tokens > batch * window:
        assert fits == given_
    assert 1 <= fits.window <= window
    assert 1 <= fits.batch_size <= batch
    assert fits.batch_size * fits.window < tokens
    assert fit_sizes(fits, split_of(folder, tokens)) == fits
    # what a run keeps in its settings must be accepted when it is read again
    assert LanguageSettings(**fits.model_dump()) == fits
    batches = LanguageTask(given_, {}, DIGITS).make_batches(split_of(folder, tokens))
    epoch = math.ceil(batches.batches_per_epoch)
    for index in (0, epoch - 1, epoch):
        rows = batches.rows(0, index)
        assert 1 <= rows.inputs_BT.shape[1] <= fits.window
        assert rows.inputs_BT.shape[0] == fits.batch_size


def test_a_window_fits_into_every_segment(folder):
    scattered = split_of(folder, 500, 90, 700, by_lines=False)
    fits = fit_sizes(LanguageSettings(batch_size=2, window=128), scattered)
    assert (fits.window, fits.batch_size) == (89, 2)
    assert fit_sizes(LanguageSettings(batch_size=2, window=128, batching="stream"), scattered).window == 128


def test_short_texts_get_several_windows(folder):
    fits = fit_sizes(LanguageSettings(), split_of(folder, 800))
    assert (fits.window, fits.batch_size) == (100, 7)
    smallest = resolve({"corpus": {"source": ["x"]}}).with_values(**{"task.window": 1})
    assert smallest.resolved()["task"]["window"] == 1


def test_an_epoch_is_one_pass(folder):
    assert task_on(split_of(folder, 1001), batch_size=10, window=10).steps_per_epoch == 1001 / 100
    assert task_on(split_of(folder, 1001), batch_size=10, window=10, batching="stream").steps_per_epoch == 10
    assert task_on(split_of(folder, *[4] * 25), batch_size=10, window=10).steps_per_epoch == 3


def test_opening_a_text_says_what_training_will_not_show(tmp_path):
    """Held-out text that the training split has too, and characters that nobody sees."""
    rows = [f"{number} times {number + 1} is {number * (number + 1)}.\n" for number in range(200)]
    said: dict[str, list[str]] = {"copied": [], "new": []}
    for name, content in {"copied": rows + rows[100:125], "new": ["\u200bzero\u200b\n", *rows]}.items():
        (tmp_path / f"{name}.txt").write_text("".join(content), encoding="utf-8")
        LanguageTask.open_dataset(resolve({"corpus": {"source": [str(tmp_path / f"{name}.txt")]}}), said[name].append)
    note, first = said["copied"]
    assert first.startswith("first tokens: ")
    assert note.startswith("validation: ") and note.endswith(
        "so many that memorizing pays off; new text will be harder"
    )
    assert said["new"][:-1] == ["invisible characters: 2, read as they are: U+200B zero width space (2)"]


def test_models_of_lines_say_that_lines_are_scored_by_themselves():
    tables = {"corpus": {"source": ("a",), "documents": "lines"}}
    assert resolve(tables).evaluation.startswith("each line by itself from a fresh state, a longer one in windows of")
    assert "laid end to end" in resolve({"corpus": {"source": ("a",)}}).evaluation
