"""Texts to texts: many sources at a time greedily, or each by a beam."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from seqlab.contracts import Trace
from seqlab.decode.beam import BeamResult, beam_search
from seqlab.decode.generate import generate
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.models.translator import Source, Translator
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

GREEDY_BATCH = 128  # sources that are translated greedily together


def translate(
    model: Translator,
    sources: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    width: int,
    length_penalty: float,
    max_length: int,
) -> list[BeamResult]:
    """One translation of each source, in their order."""
    if width == 1:
        return _translate_greedily(model, sources, vocabulary, length_penalty, max_length)
    return [search(model, source, vocabulary, width, length_penalty, max_length)[0] for source in sources]


def search(
    model: Translator,
    source: np.ndarray,
    vocabulary: Vocabulary,
    width: int,
    length_penalty: float,
    max_length: int,
    n_best: int = 1,
) -> list[BeamResult]:
    """The `best` translations of one source that a beam finds."""
    target = _target(vocabulary)
    found = beam_search(
        model,
        [_begin(target)],
        width,
        _max_length(len(source), max_length),
        length_penalty=length_penalty,
        n_best=n_best,
        rules=_rules(target),
        source=batch_sources([source] * width, model),
    )
    return [BeamResult(detokenize(target, one.tokens), one.tokens, one.logprob, one.score) for one in found]


def _translate_greedily(
    model: Translator, sources: Sequence[np.ndarray], vocabulary: Vocabulary, length_penalty: float, max_length: int
) -> list[BeamResult]:
    """Sources of similar length together, so that none waits long for another."""
    target = _target(vocabulary)
    order = sorted(range(len(sources)), key=lambda at: len(sources[at]))
    found: dict[int, BeamResult] = {}
    for first in range(0, len(order), GREEDY_BATCH):
        places = order[first : first + GREEDY_BATCH]
        chosen = [sources[place] for place in places]
        written = generate(
            model,
            [[_begin(target)]] * len(chosen),
            _max_length(max(map(len, chosen)), max_length),
            SamplingSettings(temperature=0),
            rules=_rules(target),
            source=batch_sources(chosen, model),
        )
        for place, tokens, logprobs in zip(places, written.tokens, written.logprobs, strict=True):
            total = sum(logprobs)
            found[place] = BeamResult(
                detokenize(target, tokens), tokens, total, total / max(1, len(tokens)) ** length_penalty
            )
    return [found[place] for place in range(len(sources))]


@torch.inference_mode()
def attention_weights(
    model: Translator, source: np.ndarray, tokens: Sequence[int], vocabulary: Vocabulary
) -> dict[str, Any]:
    """What each written token looked at: tokens of both sides, and weights; none where there is no attention.

    Of a Transformer, the mean over the heads of its last layer."""
    target = _target(vocabulary)
    trace = Trace()
    inputs_1T = torch.tensor([[_begin(target), *tokens[:-1]]])
    model(batch_sources([source], model), inputs_1T, None, trace)
    names = [name for name in trace.values if name.endswith(("reader.weights", "cross.weights"))]
    shown = {
        "source_tokens": [vocabulary.tokenizer.decode([int(token)]).strip() for token in source],
        "target_tokens": [target.decode([token]).strip() if token != target.end else "<end>" for token in tokens],
    }
    if not names:
        return shown
    weights = trace.values[names[-1]][0][0]
    return {**shown, "weights": (weights if weights.dim() == 2 else weights.mean(0)).tolist()}


def batch_sources(sources: Sequence[np.ndarray], model: Translator) -> Source:
    lengths_B = torch.tensor([len(source) for source in sources])
    tokens_BS = torch.zeros(len(sources), int(lengths_B.max()), dtype=torch.long)
    for row, source in zip(tokens_BS, sources, strict=True):
        row[: len(source)] = torch.from_numpy(np.asarray(source, dtype=np.int64))
    device = next(model.parameters()).device
    mask_BS = torch.arange(tokens_BS.shape[1]) < lengths_B[:, None]
    return Source(tokens_BS.to(device), mask_BS.to(device))


def detokenize(target: Tokenizer, tokens: Sequence[int]) -> str:
    """Without the end symbol and the space that every text begins with."""
    kept = tokens[:-1] if tokens and tokens[-1] == target.end else tokens
    return target.decode(list(kept)).removeprefix(" ")


def _max_length(source: int, max_length: int) -> int:
    """Tokens that are written at most: what goes on for much longer than its source has lost its way."""
    return min(max_length, 3 * source + 20)


def _target(vocabulary: Vocabulary) -> Tokenizer:
    assert vocabulary.target_tokenizer is not None
    return vocabulary.target_tokenizer


def _begin(target: Tokenizer) -> int:
    assert target.begin is not None
    return target.begin


def _rules(target: Tokenizer) -> DecodingRules:
    return DecodingRules(end=target.end, banned=target.never_sampled)
