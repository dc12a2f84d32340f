"""Checks of a language model on held-out text: causality, and equal results of all ways to run it."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seqlab.audit.result import check
from seqlab.audit.tolerance import deviation, format_deviation, largest, within_tolerance
from seqlab.data.text.tokens import TokenSplit
from seqlab.decode.context import context_length
from seqlab.decode.generate import generate
from seqlab.decode.logits import log_softmax, mask_banned
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.models.language_model import LanguageModel
from seqlab.models.token_model import TokenModel

ROWS = 3
LENGTH = 160  # tokens per row: more than the default context of 128
MAX_LENGTH = 544  # for a model with a longer context
BEYOND = 16  # tokens beyond the context, where the first ones must be forgotten
GENERATED = 24  # tokens
SHORT_PROMPT = 5


def held_out_rows(model: TokenModel, tokens: TokenSplit) -> Tensor:
    """Rows of a split, longer than the model's context if it has one; a short text is repeated."""
    length = min(max(LENGTH, (model.backbone.context or 0) + BEYOND), MAX_LENGTH, model.limit or MAX_LENGTH)
    text_N = np.resize(tokens.read(0, ROWS * length), ROWS * length)
    return torch.from_numpy(text_N).view(ROWS, length).to(next(model.parameters()).device)


@check("a future token changes nothing before it")
@torch.inference_mode()
def causality(model: TokenModel, tokens_BT: Tensor) -> tuple[bool, str]:
    """To the bit: the same computation on the same numbers has no rounding error."""
    changes: list[float] = []
    views = _views(model, tokens_BT)
    for view_BT, mask_BT in [(view_BT, None) for view_BT in views] + [(tokens_BT, _ragged(tokens_BT))]:
        logits_BTV, _ = model(view_BT, None, mask_BT)
        for position in _positions(view_BT.shape[1]):
            changed_BT = view_BT.clone()
            changed_BT[:, position:] = (changed_BT[:, position:] + 1) % model.vocab_size
            after_BTV, _ = model(changed_BT, None, mask_BT)
            change_BTV = (after_BTV - logits_BTV)[:, :position]
            changes.append(float((change_BTV if mask_BT is None else change_BTV[mask_BT[:, :position]]).abs().max()))
    change = largest(changes)
    return change == 0, f"largest change before it: {format_deviation(change)}, changed at {len(changes)} places"


@check("step by step equals parallel")
@torch.inference_mode()
def steps(model: LanguageModel, tokens_BT: Tensor) -> tuple[bool, str]:
    def measure(model: LanguageModel) -> float:
        state, stepped = model.start(len(tokens_BT)), []
        for t in range(tokens_BT.shape[1]):
            logits_BV, state = model.step(tokens_BT[:, t], state)
            stepped.append(logits_BV)
        stepped_BTV = torch.stack(stepped, dim=1)
        views = _views(model, tokens_BT)
        return largest([deviation(stepped_BTV[:, : view_BT.shape[1]], model(view_BT)[0]) for view_BT in views])

    return within_tolerance(model, measure)


@check("chunked equals whole")
@torch.inference_mode()
def chunks(model: LanguageModel, tokens_BT: Tensor) -> tuple[bool, str]:
    """Chunks of different lengths, with the state carried from one to the next."""

    def measure(model: LanguageModel) -> float:
        logits_BTV, _ = model(tokens_BT)
        state, deviations = None, []
        cuts = _positions(tokens_BT.shape[1])
        for first, last in zip([0, *cuts], [*cuts, tokens_BT.shape[1]], strict=True):
            chunk_BTV, state = model(tokens_BT[:, first:last], state)
            deviations.append(deviation(chunk_BTV, logits_BTV[:, first:last]))
        return largest(deviations)

    return within_tolerance(model, measure)


@check("a padded row equals the row alone")
@torch.inference_mode()
def padding(model: TokenModel, tokens_BT: Tensor, continues: bool) -> tuple[bool, str]:
    """In its logits and, if the model continues a text, in the logits after its padding."""
    length = max(1, tokens_BT.shape[1] - BEYOND)
    mask_BT = _ragged(tokens_BT[:, :length])
    rest_BT = tokens_BT[:, length:]
    continues = continues and rest_BT.numel() > 0

    def measure(model: TokenModel) -> float:
        logits_BTV, state = model(tokens_BT[:, :length], None, mask_BT)
        after_BTV = model(rest_BT, state)[0] if continues else logits_BTV
        deviations: list[float] = []
        for row, row_length in enumerate(mask_BT.sum(1).tolist()):
            alone_1TV, row_state = model(tokens_BT[row : row + 1, :row_length])
            deviations.append(deviation(logits_BTV[row, :row_length], alone_1TV[0]))
            if continues:
                deviations.append(deviation(after_BTV[row], model(rest_BT[row : row + 1], row_state)[0][0]))
        return largest(deviations)

    return within_tolerance(model, measure)


@check("cached equals uncached generation")
@torch.inference_mode()
def generation(model: LanguageModel, text: Sequence[int], banned: Sequence[int]) -> tuple[bool, str]:
    """Greedy generation with a cache against a forward pass over all the text before each token.

    Beyond its limit a model sees the end of the text only (`context_length`), and so does the forward pass."""
    end = min(model.limit or model.backbone.context or LENGTH, MAX_LENGTH)
    prompts = [list(text[: max(1, length)]) for length in (SHORT_PROMPT, end - GENERATED // 3)]

    def measure(model: LanguageModel) -> float:
        generated = generate(
            model, prompts, GENERATED, SamplingSettings(temperature=0), rules=DecodingRules(banned=tuple(banned))
        )
        deviations: list[float] = []
        for prompt, tokens, logprobs in zip(prompts, generated.tokens, generated.logprobs, strict=True):
            for position, (token, logprob) in enumerate(zip(tokens, logprobs, strict=True)):
                logits_V = _uncached_logits(model, prompt + tokens[:position])
                expected_V = log_softmax(logits_V[None])[0]
                likeliest = int(mask_banned(logits_V[None], banned)[0].argmax())
                scale = max(1.0, abs(expected_V[token]))
                deviations.append(abs(logprob - expected_V[token]) / scale)
                deviations.append(expected_V[likeliest] - expected_V[token])  # zero for the same choice, or a tie
        return largest(deviations)

    passed, detail = within_tolerance(model, measure)
    lengths = " and ".join(str(len(prompt)) for prompt in prompts)
    return passed, f"{GENERATED} tokens after {lengths}: {detail}"


def _uncached_logits(model: LanguageModel, text: list[int]) -> np.ndarray:
    tail = text[-context_length(len(text), model.limit) :]
    tokens_1T = torch.tensor([tail], device=next(model.parameters()).device)
    return model(tokens_1T)[0][0, -1].double().cpu().numpy()


def _views(model: TokenModel, tokens_BT: Tensor) -> list[Tensor]:
    """The rows, and if they exceed the context also as much as fills it, which other kernels compute."""
    context = model.backbone.context or tokens_BT.shape[1]
    return [tokens_BT] if context >= tokens_BT.shape[1] else [tokens_BT, tokens_BT[:, :context]]


def _positions(length: int) -> list[int]:
    """Some positions of a row after its first."""
    return sorted({1, 2, length // 3, length // 2, length - 2, length - 1} & set(range(1, length)))


def _ragged(tokens_BT: Tensor) -> Tensor:
    """A mask with rows of different lengths, the first one complete."""
    rows, length = tokens_BT.shape
    lengths_B = (length // torch.arange(1, rows + 1, device=tokens_BT.device) ** 2).clamp(min=1)
    return torch.arange(length, device=tokens_BT.device) < lengths_B[:, None]
