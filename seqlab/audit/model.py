"""Checks of a model on real held-out text: what it knows of the future, and ways of running it that must agree."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from seqlab.audit.agreement import agree, deviation, in_words, largest
from seqlab.audit.result import check
from seqlab.data.text.tokens import TokenSplit
from seqlab.decode.context import context_length
from seqlab.decode.generate import generate
from seqlab.decode.logits import log_softmax, mask_banned
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.models.language_model import LanguageModel
from seqlab.models.token_model import TokenModel

ROWS = 3
LENGTH = 160  # tokens of a row: past the usual context of 128
LONGEST = 544  # of a model with a longer context
PAST = 16  # tokens beyond a context, where what was read first must be forgotten
WRITTEN = 24
SHORT_PROMPT = 5


def held_out(model: TokenModel, part: TokenSplit) -> Tensor:
    """Rows of a part's text, past the end of the model's context if it has one; a short text is repeated."""
    length = min(max(LENGTH, (model.backbone.context or 0) + PAST), LONGEST, model.limit or LONGEST)
    text_N = np.resize(part.read(0, ROWS * length), ROWS * length)
    return torch.from_numpy(text_N).view(ROWS, length).to(next(model.parameters()).device)


@check("a future token changes nothing before it")
@torch.inference_mode()
def future(model: TokenModel, tokens_BT: Tensor) -> tuple[bool, str]:
    """To the bit: the same computation on the same numbers leaves no room for rounding."""
    moved: list[float] = []
    views = _views(model, tokens_BT)
    for view_BT, mask_BT in [(view_BT, None) for view_BT in views] + [(tokens_BT, _ragged(tokens_BT))]:
        logits_BTV, _ = model(view_BT, None, mask_BT)
        for place in _places(view_BT.shape[1]):
            changed_BT = view_BT.clone()
            changed_BT[:, place:] = (changed_BT[:, place:] + 1) % model.vocab_size
            after_BTV, _ = model(changed_BT, None, mask_BT)
            change_BTV = (after_BTV - logits_BTV)[:, :place]
            moved.append(float((change_BTV if mask_BT is None else change_BTV[mask_BT[:, :place]]).abs().max()))
    return largest(moved) == 0, f"largest change before it: {in_words(largest(moved))}, changed at {len(moved)} places"


@check("step by step equals parallel")
@torch.inference_mode()
def steps(model: LanguageModel, tokens_BT: Tensor) -> tuple[bool, str]:
    def measure(model: LanguageModel) -> float:
        state, stepped = model.backbone.start(len(tokens_BT)), []
        for t in range(tokens_BT.shape[1]):
            logits_BV, state = model.step(tokens_BT[:, t], state)
            stepped.append(logits_BV)
        stepped_BTV = torch.stack(stepped, dim=1)
        views = _views(model, tokens_BT)
        return largest([deviation(stepped_BTV[:, : view_BT.shape[1]], model(view_BT)[0]) for view_BT in views])

    return agree(model, measure)


@check("chunked equals whole")
@torch.inference_mode()
def chunks(model: LanguageModel, tokens_BT: Tensor) -> tuple[bool, str]:
    """Pieces of different length, the state carried from one to the next."""

    def measure(model: LanguageModel) -> float:
        logits_BTV, _ = model(tokens_BT)
        state, found = None, []
        cuts = _places(tokens_BT.shape[1])
        for first, last in zip([0, *cuts], [*cuts, tokens_BT.shape[1]], strict=True):
            chunk_BTV, state = model(tokens_BT[:, first:last], state)
            found.append(deviation(chunk_BTV, logits_BTV[:, first:last]))
        return largest(found)

    return agree(model, measure)


@check("a padded row equals the row alone")
@torch.inference_mode()
def padding(model: TokenModel, tokens_BT: Tensor, goes_on: bool) -> tuple[bool, str]:
    """In its logits and, where a text goes on, in what comes after its padding."""
    some = max(1, tokens_BT.shape[1] - PAST)
    mask_BT = _ragged(tokens_BT[:, :some])
    rest_BT = tokens_BT[:, some:]
    goes_on = goes_on and rest_BT.numel() > 0

    def measure(model: TokenModel) -> float:
        logits_BTV, state = model(tokens_BT[:, :some], None, mask_BT)
        after_BTV = model(rest_BT, state)[0] if goes_on else logits_BTV
        found: list[float] = []
        for row, length in enumerate(mask_BT.sum(1).tolist()):
            alone_1TV, own = model(tokens_BT[row : row + 1, :length])
            found.append(deviation(logits_BTV[row, :length], alone_1TV[0]))
            if goes_on:
                found.append(deviation(after_BTV[row], model(rest_BT[row : row + 1], own)[0][0]))
        return largest(found)

    return agree(model, measure)


@check("cached equals uncached generation")
@torch.inference_mode()
def generation(model: LanguageModel, text: Sequence[int], banned: Sequence[int]) -> tuple[bool, str]:
    """The likeliest tokens, written with a cache; and for each of them the whole text before it read anew.

    Beyond its limit a model holds the end of the text only (`held`): then that is what is read anew."""
    end = min(model.limit or model.backbone.context or LENGTH, LONGEST)
    prompts = [list(text[: max(1, length)]) for length in (SHORT_PROMPT, end - WRITTEN // 3)]

    def measure(model: LanguageModel) -> float:
        written = generate(
            model, prompts, WRITTEN, SamplingSettings(temperature=0), rules=DecodingRules(banned=tuple(banned))
        )
        found: list[float] = []
        for prompt, tokens, logprobs in zip(prompts, written.tokens, written.logprobs, strict=True):
            for place, (token, logprob) in enumerate(zip(tokens, logprobs, strict=True)):
                logits_V = _read_anew(model, prompt + tokens[:place])
                expected_V = log_softmax(logits_V[None])[0]
                likeliest = int(mask_banned(logits_V[None], banned)[0].argmax())
                scale = max(1.0, abs(expected_V[token]))
                found.append(abs(logprob - expected_V[token]) / scale)
                found.append(expected_V[likeliest] - expected_V[token])  # another choice, unless they are equal
        return largest(found)

    passed, words = agree(model, measure)
    lengths = " and ".join(str(len(prompt)) for prompt in prompts)
    return passed, f"{WRITTEN} tokens after {lengths}: {words}"


def _read_anew(model: LanguageModel, text: list[int]) -> np.ndarray:
    tail = text[-context_length(len(text), model.limit) :]
    tokens_1T = torch.tensor([tail], device=next(model.parameters()).device)
    return model(tokens_1T)[0][0, -1].double().cpu().numpy()


def _views(model: TokenModel, tokens_BT: Tensor) -> list[Tensor]:
    """The rows, and where they are longer than the context what just fills it: other kernels compute that."""
    context = model.backbone.context or tokens_BT.shape[1]
    return [tokens_BT] if context >= tokens_BT.shape[1] else [tokens_BT, tokens_BT[:, :context]]


def _places(length: int) -> list[int]:
    """Some of a row's places after its first."""
    return sorted({1, 2, length // 3, length // 2, length - 2, length - 1} & set(range(1, length)))


def _ragged(tokens_BT: Tensor) -> Tensor:
    """A mask that leaves rows of different length, the first of them whole."""
    rows, length = tokens_BT.shape
    lengths_B = (length // torch.arange(1, rows + 1, device=tokens_BT.device) ** 2).clamp(min=1)
    return torch.arange(length, device=tokens_BT.device) < lengths_B[:, None]
