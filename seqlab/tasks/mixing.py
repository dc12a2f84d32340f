"""Counts beside a trained language model: what they are counted in, and what the mixture is fitted on.

The exponents of a mixture have to be fitted on text that neither side was made from. If there is a test split,
validation serves. Otherwise stretches of the training split are kept from the network; they are counted afterwards.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.baselines.kneser_ney import FIT_TOKENS, KneserNey, best_kneser_ney, best_with_parts
from seqlab.data.batching import cut_by_count
from seqlab.data.text.batches import NOT_SCORED, cut_windows, pad_windows
from seqlab.data.text.tokens import TokenSplit
from seqlab.errors import UsageError
from seqlab.mixing.fit import fit_exponents
from seqlab.mixing.gram_table import GramTable
from seqlab.mixing.mixture import Mixture, count_predictions, no_context
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.dataset import Log
from seqlab.tasks.text_scores import as_batch
from seqlab.wording import counted

FIT_SHARE = 0.02  # of the training split, if there is no test split
LEAST_FIT, MOST_FIT = 5_000, 200_000  # tokens; but at most a tenth of the training split
MIN_STRETCH, MAX_STRETCHES = 1000, 20  # tokens of each stretch at least, and how many there are at most
MAX_FIT_LOGITS = 1 << 23  # held in memory while the exponents are fitted


def training_part(splits: Mapping[str, TokenSplit]) -> tuple[TokenSplit, TokenSplit]:
    """What the network is trained on, and what the mixture is fitted on."""
    train = splits["train"]
    if "test" in splits:
        return train, splits["validation"]
    kept = _kept_from_network(train)
    return train.parts(_between(kept, len(train))), train.parts(kept)


def _kept_from_network(train: TokenSplit) -> list[tuple[int, int]]:
    """The ranges of the training split that the mixture is fitted on."""
    held_out = max(2, min(max(int(FIT_SHARE * len(train)), LEAST_FIT), MOST_FIT, len(train) // 10))
    kept = _last_lines(train, held_out) if train.stats.by_lines else _stretches(len(train), held_out)
    if sum(last - first for first, last in _between(kept, len(train))) < 2:
        raise UsageError(
            "the training split is too short to be mixed with counts: nothing could be kept from the network to fit "
            "the mixture on. Leave out --mix counts, or give more text."
        )
    return kept


def _between(kept: list[tuple[int, int]], tokens: int) -> list[tuple[int, int]]:
    """The ranges before, between and behind those that are kept."""
    bounds = [0, *(bound for stretch in kept for bound in stretch), tokens]
    return [(first, last) for first, last in zip(bounds[::2], bounds[1::2], strict=True) if first < last]


def kept_notes(splits: Mapping[str, TokenSplit], window: int) -> list[str]:
    """For the log: how much of the training split the network does not read, and windows that this makes shorter."""
    train, (network, kept) = splits["train"], training_part(splits)
    if network is train:
        return []
    tokens = f"{len(kept):,} of {counted(len(train), 'training token')}"
    notes = [f"{tokens} are kept from the network: how far the counts are trusted is fitted on them (task.mix)"]
    shortest = int(np.diff(network.document_starts()).min()) - 1
    if not train.stats.by_lines and shortest < window:
        notes.append(f"the text between them is read in windows of {max(1, shortest):,} tokens instead of {window:,}")
    return notes


def _stretches(tokens: int, held_out: int) -> list[tuple[int, int]]:
    """Ranges of about so many tokens, in the middle of equal parts of the text.

    One range at the end would keep the network from what comes right before the validation text: a play whose
    characters occur nowhere else."""
    count = max(1, min(MAX_STRETCHES, held_out // MIN_STRETCH))
    middles = [tokens * (2 * part + 1) // (2 * count) for part in range(count)]
    length = max(2, held_out // count)
    return [(middle - length // 2, middle - length // 2 + length) for middle in middles]


def _last_lines(train: TokenSplit, held_out: int) -> list[tuple[int, int]]:
    """Whole lines at the end: they are in random order."""
    starts = train.document_starts()
    return [(int(starts[np.searchsorted(starts, len(train) - held_out, side="right") - 1]), len(train))]


def fit_mixture(
    model: LanguageModel, splits: Mapping[str, TokenSplit], window: int, max_bytes: int, log: Log
) -> tuple[Mixture, KneserNey]:
    """Count the training split, and fit how much the network and the counts are trusted; returns the counts, too.

    Fitting takes counts without the text that it is fitted on, which are of the same order."""
    train, held_out = splits["train"], training_part(splits)[1]
    parts = [] if "test" in splits else [_between(_kept_from_network(train), len(train))]
    first, tokens_N, starts_D = _counted_tokens(train)
    within = [[(max(0, begin - first), end - first) for begin, end in part if end > first] for part in parts]
    models = best_with_parts(tokens_N, model.vocab_size, within, starts_D)
    counts, without_held_out = models[0], models[-1]
    predictions = _predictions(model, GramTable.from_counts(without_held_out), held_out, window)
    alpha_K, beta_K = fit_exponents(*predictions, counts.order)
    table = GramTable.from_counts(counts, max_bytes)
    mixture = Mixture(table, alpha_K, beta_K)
    where = "validation" if "test" in splits else "the training text, kept from the network"
    log(
        f"mixed with counts: {counted(len(table.grams.tokens_G), 'gram')} of up to {counted(table.order, 'token')} "
        f"({table.bytes / 1e6:.1f} MB), fitted on {counted(len(predictions.targets_N), 'token')} of {where}"
    )
    if table.pruned:
        left_out = f"{counted(table.pruned, 'gram')} of least effect left out"
        log(f"{left_out}, to stay within {max_bytes / 1e6:g} MB (--mix-size)")
    if counts.fitted_tokens < len(splits["train"]):
        log(f"counted in the last {counts.fitted_tokens:,} of {len(splits['train']):,} training tokens")
    return mixture, counts


class MixingGain(NamedTuple):
    nats: float  # per token, by which the mixture is better than the network alone
    tokens: int  # that were scored


def mixing_gain(model: LanguageModel, splits: Mapping[str, TokenSplit], scored: str, window: int) -> MixingGain:
    """What counts would add to a network that is not mixed, on a held-out split; windows from all over a long one.

    The exponents are fitted on validation; if that is what is scored, those of each half on the other half."""
    counts = count_split(splits["train"], model.vocab_size)
    table = GramTable.from_counts(counts)
    scored_part = _predictions(model, table, splits[scored], window)
    second_N = torch.arange(len(scored_part.targets_N)) * 2 >= len(scored_part.targets_N)
    first, second = scored_part.select(~second_N), scored_part.select(second_N)
    folds = [(first, second), (second, first)]
    if scored != "validation":
        folds = [(_predictions(model, table, splits["validation"], window), scored_part)]
    gained = sum(_gained_nats(*fold, counts.order) for fold in folds)
    return MixingGain(gained / len(scored_part.targets_N), len(scored_part.targets_N))


def _gained_nats(fitted: "_Predictions", scored: "_Predictions", order: int) -> float:
    alpha_K, beta_K = fit_exponents(*fitted, order)
    mixed_NV = alpha_K[scored.longest_N, None] * scored.logits_NV + beta_K[scored.longest_N, None] * scored.log_p_NV
    alone, mixed = (
        float(cross_entropy(logits_NV, scored.targets_N, reduction="sum")) for logits_NV in (scored.logits_NV, mixed_NV)
    )
    return alone - mixed


def count_split(split: TokenSplit, vocab_size: int, order: int | None = None) -> KneserNey:
    """The counts of a split, at the order that predicts its end best unless one is given."""
    _, tokens_N, starts_D = _counted_tokens(split)
    if order is None:
        return best_kneser_ney(tokens_N, vocab_size, starts_D)
    return KneserNey.fit(tokens_N, vocab_size, order, starts_D)


def _counted_tokens(split: TokenSplit) -> tuple[int, np.ndarray, np.ndarray]:
    """The first token that is counted, the tokens from there on, and where documents start among them."""
    first = max(0, len(split) - FIT_TOKENS)
    starts_D = split.document_starts()[:-1]
    return first, split.read(first, len(split)), np.append(0, starts_D[starts_D > first] - first)


class _Predictions(NamedTuple):
    """The network's logits, the counts' ln p, the length of the longest context, and the token that came."""

    logits_NV: Tensor
    log_p_NV: Tensor
    longest_N: Tensor
    targets_N: Tensor

    def select(self, chosen_N: Tensor) -> "_Predictions":
        return _Predictions(*(column[chosen_N] for column in self))


@torch.no_grad()
def _predictions(model: LanguageModel, table: GramTable, split: TokenSplit, window: int) -> _Predictions:
    """Of the network alone, in windows from a fresh state; of a long text, windows from all over it."""
    firsts_P, lengths_P, _ = cut_windows(split, window)
    most = max(1, MAX_FIT_LOGITS // (window * model.vocab_size))
    chosen_P = np.unique(np.linspace(0, len(firsts_P) - 1, min(most, len(firsts_P))).astype(int))
    device, parts = next(model.parameters()).device, []
    for units_B in cut_by_count(chosen_P, 32):
        rows = pad_windows(split, firsts_P[units_B], lengths_P[units_B])
        batch = as_batch(rows)
        on_device = batch.to(device)
        with model.without_mixture():  # a run that goes on has one already
            logits_BTV = model(on_device.inputs_BT, None, on_device.mask_BT)[0].cpu()
        fresh_BK = no_context(table, len(units_B))
        counts, _ = count_predictions(table, batch.inputs_BT, fresh_BK, batch.mask_BT)
        kept_BT = batch.targets_BT != NOT_SCORED
        columns = (logits_BTV, counts.log_p_BTV, counts.longest_BT, batch.targets_BT)
        parts.append([column[kept_BT] for column in columns])
    return _Predictions(*(torch.cat(column) for column in zip(*parts, strict=True)))
