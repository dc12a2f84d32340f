"""The eight leaks and mistakes that the audit is there for, each planted in the real thing and each caught."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from audit_cases import learnt_from_everything, new_text, red, untrained, with_backbone, with_model
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

from seqlab.attention.masks import Ranges, causal, everything
from seqlab.audit.data import vocabulary
from seqlab.audit.model import causality, chunks, generation, padding, steps
from seqlab.audit.scoring import counted_once, recount, scored_twice
from seqlab.audit.training import carried_state
from seqlab.backbones.recurrent import Gru, Lstm, RecurrentState
from seqlab.backbones.transformer import Transformer, TransformerState
from seqlab.contracts import Loss, State, TextBatch, Trace
from seqlab.data.text.batches import TokenRows, cut_windows
from seqlab.data.text.tokens import TokenSplit
from seqlab.models.language_model import LanguageModel
from seqlab.models.token_model import TokenModel
from seqlab.tasks.language import LanguageTask
from seqlab.tasks.masked import mask_every
from seqlab.tasks.text_scores import score_rows

FUTURE, STEPS, CHUNKS, GENERATION, PADDING = (check.name for check in (causality, steps, chunks, generation, padding))
CARRIED, VOCABULARY, TWICE, ONCE, BY_HAND = (
    check.name for check in (carried_state, vocabulary, scored_twice, counted_once, recount)
)

# --- 1: a convolution that is not causal ----------------------------------------------------------------------------


class Centred(Lstm):
    """A convolution under the LSTM, centred on each position instead of ending there."""

    def __init__(self, settings: Any, inputs: int):
        super().__init__(settings, inputs)
        self.convolution = nn.Conv1d(inputs, inputs, 3, padding=1)

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, RecurrentState]:
        seen_BTD = self.convolution(x_BTD.transpose(1, 2)).transpose(1, 2)
        return super().forward(seen_BTD, state, mask_BT, trace)


def test_a_convolution_that_is_not_causal(text: Path) -> None:
    result = red(with_backbone(untrained(text), Centred))
    assert result == {FUTURE, STEPS, CHUNKS, GENERATION, PADDING, BY_HAND}


# --- 2: a mask that is off by one -----------------------------------------------------------------------------------


def test_a_mask_that_is_off_by_one(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_more(before_B: Tensor, steps: int, window: int | None = None) -> Ranges:
        right = causal(before_B, steps, window)
        return replace(right, last_BT=(right.last_BT + 1).clamp(max=before_B[:, None] + steps))

    run = untrained(text, arch="lstm-attention")
    monkeypatch.setattr("seqlab.backbones.lstm_attention.causal", one_more)
    assert red(run) >= {FUTURE, STEPS, GENERATION}


def test_a_mask_that_is_off_by_one_in_the_fast_kernel_only(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That which computes a whole context from its start, and nothing else."""

    def one_more(q_BNTK: Tensor, k_BNSK: Tensor, v_BNSK: Tensor, is_causal: bool = False, **more: Any) -> Tensor:
        if is_causal:
            more["attn_mask"] = torch.ones(q_BNTK.shape[2], k_BNSK.shape[2], dtype=torch.bool).tril(1)
        return scaled_dot_product_attention(q_BNTK, k_BNSK, v_BNSK, **more)

    run = untrained(text, arch="transformer")
    monkeypatch.setattr("seqlab.attention.multihead.scaled_dot_product_attention", one_more)
    assert red(run) >= {FUTURE, STEPS, GENERATION}


def test_a_context_that_ends_one_token_late(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one pass over a long text, a query sees one key more than in single steps."""

    def longer(before_B: Tensor, steps: int, window: int | None = None) -> Ranges:
        return causal(before_B, steps, window + 1 if window and steps > 1 else window)

    run = untrained(text, arch="transformer")
    monkeypatch.setattr("seqlab.backbones.transformer.causal", longer)
    assert red(run) == {STEPS, CHUNKS, GENERATION}


# --- 3: a state that is not carried ---------------------------------------------------------------------------------


class ForgetsInSteps(Gru):
    def step(self, x_BD: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, RecurrentState]:
        return super().step(x_BD, self.start(len(x_BD)), trace)


class ForgetsBetweenPasses(Gru):
    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, RecurrentState]:
        return super().forward(x_BTD, None, mask_BT, trace)


class ForgetsInTraining(LanguageTask):
    def loss(self, model: TokenModel, batch: TextBatch, carry: State | None, step: int) -> Loss:
        return super().loss(model, batch, None, step)


def test_a_state_that_steps_do_not_carry(text: Path) -> None:
    assert red(with_backbone(untrained(text, arch="gru"), ForgetsInSteps)) == {STEPS, GENERATION}


def test_a_state_that_passes_do_not_carry(text: Path) -> None:
    run = with_backbone(untrained(text, arch="gru", batching="stream"), ForgetsBetweenPasses)
    assert red(run) == {CHUNKS, CARRIED, BY_HAND}


def test_a_state_that_training_does_not_carry(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.tasks.language.LanguageTask", ForgetsInTraining)
    assert red(untrained(text, batching="stream")) == {CARRIED}


def test_a_state_that_scoring_does_not_carry(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.tasks.language.score_rows", lambda model, rows, state=None: score_rows(model, rows))
    assert red(untrained(text)) == {BY_HAND}


# --- 4: padding that is attended to ---------------------------------------------------------------------------------


class Unmasked(Transformer):
    """Padding is kept as if it were text."""

    def forward(
        self, x_BTD: Tensor, state: State | None = None, mask_BT: Tensor | None = None, trace: Trace | None = None
    ) -> tuple[Tensor, TransformerState]:
        return super().forward(x_BTD, state, None, trace)


def test_padding_that_is_kept_in_a_cache(text: Path) -> None:
    assert red(with_backbone(untrained(text, arch="transformer"), Unmasked)) == {PADDING, GENERATION}


def test_padding_that_is_attended_to(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_it(lengths_B: Tensor, steps: int) -> Ranges:
        return everything(torch.full_like(lengths_B, steps), steps)

    run = untrained(text, arch="transformer-encoder", task="masked", documents="lines")
    monkeypatch.setattr("seqlab.backbones.transformer_encoder.everything", all_of_it)
    assert red(run) == {PADDING, BY_HAND}


# --- 5: a vocabulary from all text ----------------------------------------------------------------------------------


# a word that is cut in two where parts meet
@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("tokenizer", ["char", "word", "bpe"])
@pytest.mark.parametrize("split", ["90/10", "80/10/10"])
def test_a_vocabulary_from_all_text(tmp_path: Path, tokenizer: str, split: str) -> None:
    text = tmp_path / "text.txt"
    held_out = "été où ça ".replace(" ", " wxyz ")
    text.write_text(new_text(4000) + held_out * 5, encoding="utf-8")
    run = untrained(text, learn=learnt_from_everything, tokenizer=tokenizer, split_ratios=split)
    assert red(run) == {VOCABULARY}


# --- 6: a cache that is stale ---------------------------------------------------------------------------------------


class Stale(Transformer):
    """Counts the tokens that it has read, but keeps nothing of them."""

    def step(self, x_BD: Tensor, state: Any, trace: Trace | None = None) -> tuple[Tensor, State]:
        y_BH, after = super().step(x_BD, state, trace)
        return y_BH, replace(state, lengths_B=after.lengths_B)


def test_a_cache_that_is_stale(text: Path) -> None:
    assert red(with_backbone(untrained(text, arch="transformer"), Stale)) == {STEPS, GENERATION}


# --- 7: dropout that is left on -------------------------------------------------------------------------------------


class DropsAlways(LanguageModel):
    """As if the rate alone decided."""

    def _drop(self, x: Tensor, rate: float | None) -> Tensor:
        return dropout(x, rate) if rate else x


class NeverReady(LanguageModel):
    """Its `eval` changes nothing."""

    def train(self, mode: bool = True) -> "NeverReady":
        return super().train(True)


@pytest.mark.parametrize("kind", [DropsAlways, NeverReady])
def test_dropout_that_is_left_on(text: Path, kind: type[TokenModel]) -> None:
    torch.manual_seed(0)
    run = with_model(untrained(text, {"model.output_dropout": 0.3}), kind)
    assert red(run) == {FUTURE, STEPS, CHUNKS, GENERATION, PADDING, TWICE, BY_HAND}


# --- 8: a token that is scored twice --------------------------------------------------------------------------------


def one_longer(part: TokenSplit, window: int, limit: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Windows whose last target is the next one's first."""
    firsts_P, lengths_P, document_P = cut_windows(part, window, limit)
    lasts_P = np.append(document_P[1:] != document_P[:-1], True)
    return firsts_P, lengths_P + ~lasts_P, document_P


def one_back(part: TokenSplit, window: int, limit: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The second half of the windows begins one token early: as many tokens are scored as should be."""
    firsts_P, lengths_P, document_P = cut_windows(part, window, limit)
    return firsts_P - (np.arange(len(firsts_P)) >= len(firsts_P) // 2), lengths_P, document_P


@pytest.mark.parametrize("wrong", [one_longer, one_back])
@pytest.mark.parametrize("arch", ["lstm", "transformer"])
def test_a_token_that_is_scored_twice(text: Path, monkeypatch: pytest.MonkeyPatch, wrong: Any, arch: str) -> None:
    monkeypatch.setattr("seqlab.tasks.text_scores.cut_windows", wrong)
    run = untrained(text, arch=arch)
    assert ONCE in red(run) <= {ONCE, BY_HAND}


def test_a_gap_that_is_scored_twice(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first token of a window is hidden in two of the passes."""

    def hide(rows: TokenRows, passes: int, turn: int, mask: int) -> TokenRows:
        hidden = mask_every(rows, passes, turn, mask)
        if turn == 1:
            hidden.targets_BT[:, 0] = rows.targets_BT[:, 0]
        return hidden

    monkeypatch.setattr("seqlab.tasks.masked.mask_every", hide)
    assert red(untrained(text, arch="transformer-encoder", task="masked")) == {ONCE, BY_HAND}
