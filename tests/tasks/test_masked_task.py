"""What is hidden, what is shown instead, and that scoring hides every token exactly once."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqlab.config import resolve
from seqlab.contracts import Batch
from seqlab.data.text.batches import NOT_SCORED, TokenRows
from seqlab.data.text.corpus import corpus_from_text
from seqlab.data.text.split import split_text
from seqlab.errors import UsageError
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.runs.load import build_model
from seqlab.runs.reopen import make_task
from seqlab.tasks.dataset import text_dataset
from seqlab.tasks.masked import PASSES, mask_every, mask_tokens
from seqlab.tasks.text_settings import MaskedSettings

TEXT = "the quick brown fox jumps over the lazy dog and runs away\n" * 40
MASK = 50


def settings_with(documents: str = "stream", **task):
    return resolve(
        {
            "corpus": {"source": ["none"], "documents": documents},
            "backbone": {"name": "transformer-encoder", "hidden": 8, "heads": 2, "layers": 1},
            "model": {"embedding": 8},
            "task": {"name": "masked", "batch_size": 4, "window": 16, **task},
        }
    )


def task_and_model(documents: str = "stream", **task):
    settings = settings_with(documents, **task)
    text = TEXT if documents == "stream" else "".join(f"{TEXT[: 5 + n % 30]}\n" for n in range(300))
    split = split_text(corpus_from_text(text, "text"), settings.corpus)
    dataset = text_dataset(split, settings)
    model = build_model(settings, dataset.vocabulary.sizes).eval()
    return make_task(settings, dataset), model


def rows_of(ids_BT: np.ndarray) -> TokenRows:
    return TokenRows(ids_BT, ids_BT)


def test_the_shares():
    ids_BT = np.random.default_rng(0).integers(0, MASK, (400, 500))
    shown = mask_tokens(rows_of(ids_BT), MaskedSettings(), MASK, np.random.default_rng(1))
    chosen_BT = shown.targets_BT != NOT_SCORED
    assert chosen_BT.mean() == pytest.approx(0.15, abs=0.003)
    fates_N, before_N = shown.inputs_BT[chosen_BT], ids_BT[chosen_BT]
    assert (fates_N == MASK).mean() == pytest.approx(0.8, abs=0.006)
    # a random token is the same one by chance as often as there are tokens
    assert (fates_N == before_N).mean() == pytest.approx(0.1 + 0.1 / MASK, abs=0.006)
    assert (shown.targets_BT[chosen_BT] == before_N).all()
    assert (shown.inputs_BT[~chosen_BT] == ids_BT[~chosen_BT]).all()


def test_the_shares_can_be_set():
    ids_BT = np.random.default_rng(0).integers(0, MASK, (100, 100))
    settings = MaskedSettings(predicted_share=0.5, masked_share=1.0, random_share=0.0)
    shown = mask_tokens(rows_of(ids_BT), settings, MASK, np.random.default_rng(1))
    assert ((shown.inputs_BT == MASK) == (shown.targets_BT != NOT_SCORED)).all()
    with pytest.raises(UsageError, match="must add up to at most 1"):
        settings_with(masked_share=0.8, random_share=0.3)


def test_the_smallest_batch_has_something_to_predict():
    for seed in range(30):
        shown = mask_tokens(rows_of(np.array([[3, 4]])), MaskedSettings(), MASK, np.random.default_rng(seed))
        assert (shown.targets_BT != NOT_SCORED).any()


@given(st.integers(1, 40), st.integers(1, 3))
def test_every_token_is_hidden_exactly_once(length: int, rows: int):
    ids_BT = np.arange(rows * length).reshape(rows, length) % MASK
    turns = [mask_every(rows_of(ids_BT), PASSES, turn, MASK) for turn in range(PASSES)]
    hidden = np.stack([turn.targets_BT != NOT_SCORED for turn in turns])
    assert (hidden.sum(0) == 1).all()
    for turn in turns:
        chosen_BT = turn.targets_BT != NOT_SCORED
        assert (turn.inputs_BT[chosen_BT] == MASK).all()
        assert (turn.targets_BT[chosen_BT] == ids_BT[chosen_BT]).all()
        assert (turn.inputs_BT[~chosen_BT] == ids_BT[~chosen_BT]).all()


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_a_batch_is_a_pure_function(documents: str):
    task, _ = task_and_model(documents)
    first, again, other = task.batch("train", 3, 7), task.batch("train", 3, 7), task.batch("train", 3, 8)
    assert torch.equal(first.inputs_BT, again.inputs_BT) and torch.equal(first.targets_BT, again.targets_BT)
    assert first.inputs_BT.shape != other.inputs_BT.shape or not torch.equal(first.inputs_BT, other.inputs_BT)


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_scores_are_the_loss_of_each_hidden_token(documents: str):
    task, model = task_and_model(documents)
    scores = task.score(model, "validation")
    part = task.splits["validation"]
    assert scores.tokens == len(part) - part.stats.documents
    assert scores.characters == part.stats.scored_characters
    assert scores.nats == pytest.approx(recount(task, model), rel=1e-5)


def recount(task, model) -> float:
    """One window, one token after another."""
    part, window, total = task.splits["validation"], task.settings.window, 0.0
    ids = part.read(0, len(part))
    bounds = part.document_starts()
    for first, last in pairwise(bounds):
        for at in range(first + 1, last, window):
            tokens_T = torch.as_tensor(ids[at : min(at + window, last)])
            for place in range(len(tokens_T)):
                shown_T = tokens_T.clone()
                shown_T[place % PASSES :: PASSES] = model.mask
                with torch.inference_mode():
                    logits_TV = model(shown_T[None])[0][0]
                total -= float(logits_TV[place].log_softmax(-1)[tokens_T[place]])
    return total


def test_the_loss_counts_what_is_predicted():
    task, model = task_and_model()
    batch = task.batch("train", 0, 0)
    with torch.no_grad():
        loss = task.loss(model, batch, None, 0)
    chosen_BT = batch.targets_BT != NOT_SCORED
    logits_BTV = model(batch.inputs_BT)[0].detach().log_softmax(-1)
    expected = -sum(logits_BTV[b, t, batch.targets_BT[b, t]] for b, t in chosen_BT.nonzero())
    assert loss.count == int(chosen_BT.sum())
    assert float(loss.total) == pytest.approx(float(expected), rel=1e-5)


def test_the_mask_symbol_is_never_predicted():
    for tie_embeddings in (False, True):
        settings = settings_with().with_values(**{"model.tie_embeddings": tie_embeddings})
        model = build_model(settings, 9)
        assert isinstance(model, MaskedLanguageModel)
        assert model(torch.tensor([[0, 8, model.mask]]))[0].shape == (1, 3, 9)


def test_it_learns():
    task, model = task_and_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    before = task.score(model, "validation").nats
    for step in range(300):
        batch: Batch = task.batch("train", 0, step)
        loss = task.loss(model, batch, None, step)
        optimizer.zero_grad()
        (loss.total / loss.count).backward()
        optimizer.step()
    assert task.score(model, "validation").nats < 0.7 * before


@pytest.mark.parametrize("documents", ["stream", "lines"])
def test_how_it_is_scored_says_that_tokens_are_predicted_from_both_sides(documents):
    assert settings_with(documents).evaluation.endswith(", every token masked once and predicted from both sides")
