"""Translation: greedy decoding of many sources in a batch, or beam search for each."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from seqlab.contracts import Trace
from seqlab.decode.beam import BeamResult, beam_search
from seqlab.decode.generate import generate
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.distributed.group import gather_items
from seqlab.distributed.world import joined
from seqlab.models.translator import SourceBatch, Translator
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.vocabulary import Vocabulary

GREEDY_BATCH = 128  # sources per batch
MaxLength = (
    int | Callable[[int], int]
)  # tokens of a translation at most: a number, or a function of the source's length


def translate(
    model: Translator,
    sources: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    width: int,
    length_penalty: float,
    max_length: MaxLength,
) -> list[BeamResult]:
    """One translation for each source, in order. Width 1 is greedy."""
    if width == 1:
        return _translate_greedily(model, sources, vocabulary, length_penalty, max_length)
    found = {
        row: search(model, sources[row], vocabulary, width, length_penalty, max_length)[0]
        for row in joined().part(range(len(sources)))
    }
    return _all_results(found)


def _all_results(found: dict[int, BeamResult]) -> list[BeamResult]:
    """In the order of the sources, with those of other processes."""
    items = gather_items({row: asdict(result) for row, result in found.items()})
    return [BeamResult(**items[row]) for row in range(len(items))]


def search(
    model: Translator,
    source: np.ndarray,
    vocabulary: Vocabulary,
    width: int,
    length_penalty: float,
    max_length: MaxLength,
    n_best: int = 1,
) -> list[BeamResult]:
    """The `n_best` translations of one source."""
    target, prompt, rules = _decoding(vocabulary)
    hypotheses = beam_search(
        model,
        prompt,
        width,
        _limit(max_length, source),
        length_penalty=length_penalty,
        n_best=n_best,
        rules=rules,
        source=batch_sources([source] * width, model),
    )
    return [
        BeamResult(detokenize(target, best.tokens), best.tokens, best.logprob, best.score, best.finished)
        for best in hypotheses
    ]


def _translate_greedily(
    model: Translator,
    sources: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    length_penalty: float,
    max_length: MaxLength,
) -> list[BeamResult]:
    """Sources of similar length share a batch, to waste few steps on finished rows."""
    target, prompt, rules = _decoding(vocabulary)
    order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
    results: dict[int, BeamResult] = {}
    for first in joined().part(range(0, len(order), GREEDY_BATCH)):
        rows = order[first : first + GREEDY_BATCH]
        batch = [sources[row] for row in rows]
        generation = generate(
            model,
            [prompt] * len(batch),
            max(_limit(max_length, source) for source in batch),
            SamplingSettings(temperature=0),
            rules=rules,
            source=batch_sources(batch, model),
        )
        for at, row in enumerate(rows):
            limit = _limit(max_length, sources[row])  # its own, whatever the other rows of the batch may write
            tokens, logprob = generation.tokens[at][:limit], sum(generation.logprobs[at][:limit])
            score = logprob / max(1, len(tokens)) ** length_penalty
            finished = generation.finished[at] and len(generation.tokens[at]) <= limit
            results[row] = BeamResult(detokenize(target, tokens), tokens, logprob, score, finished)
    return _all_results(results)


@torch.inference_mode()
def attention_weights(
    model: Translator, source: np.ndarray, tokens: Sequence[int], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Tokens of both sides and the attention weights between them; no weights if the model has no attention.

    A Transformer's weights are the mean over the heads of its last layer."""
    target, prompt, _ = _decoding(vocabulary)
    trace = Trace()
    inputs_1T = torch.tensor([[*prompt, *tokens[:-1]]])
    model(batch_sources([source], model), inputs_1T, None, trace)
    names = [name for name, recorded in model.records.items() if recorded.kind == "source attention"]
    tokens_of_both = {
        "source_tokens": [vocabulary.tokenizer.decode([int(token)]).strip() for token in source],
        "target_tokens": [target.decode([token]).strip() if token != target.end else "<end>" for token in tokens],
    }
    if not names:
        return tokens_of_both
    return {**tokens_of_both, "weights": trace[names[-1]][0].mean(1).tolist()}


def batch_sources(sources: Sequence[np.ndarray], model: Translator) -> SourceBatch:
    lengths_B = torch.tensor([len(source) for source in sources])
    tokens_BS = torch.zeros(len(sources), int(lengths_B.max()), dtype=torch.long)
    for row, source in zip(tokens_BS, sources, strict=True):
        row[: len(source)] = torch.from_numpy(np.asarray(source, dtype=np.int64))
    device = next(model.parameters()).device
    mask_BS = torch.arange(tokens_BS.shape[1]) < lengths_B[:, None]
    return SourceBatch(tokens_BS.to(device), mask_BS.to(device))


def detokenize(target: Tokenizer, tokens: Sequence[int]) -> str:
    """The text of a target, without the end token and the leading space of every text."""
    content = tokens[:-1] if tokens and tokens[-1] == target.end else tokens
    return target.decode(list(content)).removeprefix(" ")


def _limit(max_length: MaxLength, source: np.ndarray) -> int:
    return max_length(len(source)) if callable(max_length) else max_length


def _decoding(vocabulary: Vocabulary) -> tuple[Tokenizer, list[int], DecodingRules]:
    """The target's tokenizer, the prompt (the begin token), and the decoding rules."""
    target = vocabulary.target_tokenizer
    assert target is not None and target.begin is not None
    return target, [target.begin], DecodingRules(end=target.end, banned=target.never_sampled)
