"""attribution: which tokens of the text made the model say what it says.

Input times gradient follows the slope at the text itself. Integrated gradients (Sundararajan et al. 2017) follow it on
the way from embeddings of zeros to the text, so the shares of all tokens add up to the difference that the text makes.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Reading
from seqlab.inspection.shades import signed_level
from seqlab.inspection.sheet import Detail, Sheet, TextTable, TokenColumn, number, one
from seqlab.models.classifier import Classifier
from seqlab.models.masked_language_model import MaskedLanguageModel

STEPS = 64  # on the way from zeros to the text
AT_ONCE = 16  # of them, in one pass
FOUND = 8  # tokens in the table


class Question(NamedTuple):
    """What is explained: the log-probability of one answer, given the ids that are read."""

    words: str
    ids_T: Tensor
    answer: Callable[[Tensor | tuple[Tensor, object]], Tensor]  # from what the model returns, (B,)


def attribution(readings: Sequence[Reading], *, position: int | None = None) -> Sheet:
    """The share of every token in the log-probability of a predicted token (the last if not given) or of the label."""
    reading = one(readings, "attribution")
    question = _question(reading, position)
    x_1TD = _embedded(reading, question)
    shares_T, difference = integrated_gradients(reading, question, x_1TD)
    slopes_T = input_times_gradient(reading, question, x_1TD)
    total, strongest = float(shares_T.sum()), max(1e-9, float(shares_T.abs().max()))
    tokens = reading.tokens[: len(shares_T)]
    columns = [
        TokenColumn(
            token,
            signed_level(share / strongest),
            heading=f"token {t + 1}",
            details=[
                Detail("integrated gradients", abs(share) / strongest, number(share)),
                Detail("input × gradient", abs(slope) / max(1e-9, float(slopes_T.abs().max())), number(slope)),
            ],
        )
        for t, (token, share, slope) in enumerate(zip(tokens, shares_T.tolist(), slopes_T.tolist(), strict=True))
    ]
    order = shares_T.abs().argsort(descending=True)[:FOUND].tolist()
    rows = [["token", "its place", "integrated gradients", "input × gradient"]]
    rows += [[tokens[t], str(t + 1), number(float(shares_T[t])), number(float(slopes_T[t]))] for t in order]
    return Sheet(
        "attribution",
        f"{question.words}: the text makes a difference of {number(difference)} nats to a text of zeros; the shares "
        f"of its tokens add up to {number(total)}.",
        {
            "question": question.words,
            "tokens": tokens,
            "integrated_gradients": shares_T.tolist(),
            "input_times_gradient": slopes_T.tolist(),
            "difference": difference,
        },
        "orange tokens speak for it, blue ones against it",
        columns=columns,
        blocks=[TextTable("the strongest tokens (nats)", rows)],
    )


def integrated_gradients(reading: Reading, question: Question, x_1TD: Tensor) -> tuple[Tensor, float]:
    """The share of each token, and what the answer gains from zeros to the text, which the shares should add up to."""
    slopes_1TD = torch.zeros_like(x_1TD)
    middles_S = (torch.arange(STEPS, dtype=x_1TD.dtype) + 0.5) / STEPS
    for some_S in middles_S.split(AT_ONCE):
        slopes_1TD += _slopes(reading, question, some_S[:, None, None] * x_1TD).sum(0, keepdim=True) / STEPS
    with torch.no_grad():
        gain_2 = _answers(reading, question, torch.cat([torch.zeros_like(x_1TD), x_1TD]))
    return (slopes_1TD * x_1TD)[0].sum(1), float(gain_2[1] - gain_2[0])


def input_times_gradient(reading: Reading, question: Question, x_1TD: Tensor) -> Tensor:
    return (_slopes(reading, question, x_1TD) * x_1TD)[0].sum(1)


def _slopes(reading: Reading, question: Question, x_BTD: Tensor) -> Tensor:
    with torch.enable_grad():
        x_BTD = x_BTD.detach().requires_grad_()
        (slopes_BTD,) = torch.autograd.grad(_answers(reading, question, x_BTD).sum(), x_BTD)
    return slopes_BTD


def _answers(reading: Reading, question: Question, x_BTD: Tensor) -> Tensor:
    """The answer for each row of vectors in the place of the embedded tokens."""
    ids_BT = question.ids_T.expand(len(x_BTD), -1)
    return question.answer(reading.model(ids_BT, trace=Trace({"embedding": x_BTD})))


@torch.no_grad()
def _embedded(reading: Reading, question: Question) -> Tensor:
    trace = Trace()
    reading.model(question.ids_T[None], trace=trace)
    return trace["embedding"].clone()


def _question(reading: Reading, position: int | None) -> Question:
    ids_T, model, count = torch.tensor(reading.ids), reading.model, len(reading.ids)
    if isinstance(model, Classifier):
        if position is not None:
            raise UsageError(
                "position does nothing for a classifier, whose label belongs to the whole text: leave it out."
            )
        with torch.no_grad():
            label = int(model(ids_T[None])[0].argmax())
        name = reading.run.vocabulary.labels[label]
        return Question(f"log-probability of the label '{name}'", ids_T, lambda out: out.log_softmax(1)[:, label])  # pyright: ignore
    masked = isinstance(model, MaskedLanguageModel)
    at = count if position is None else position
    if not (1 if masked else 2) <= at <= count:
        raise UsageError(f"token {at} is not predicted: give a number from {1 if masked else 2} to {count:,}.")
    place, token = at - 1, reading.ids[at - 1]
    words = f"log-probability of token {at}, “{reading.tokens[place]}”"
    if masked:
        read_T = ids_T.masked_fill(torch.arange(count) == place, model.mask)
        return Question(words, read_T, lambda out: out[0][:, place].log_softmax(1)[:, token])
    return Question(words, ids_T[:place], lambda out: out[0][:, -1].log_softmax(1)[:, token])
