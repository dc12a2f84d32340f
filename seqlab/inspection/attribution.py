"""attribution: which tokens of the text made the model say what it says.

Input times gradient follows the slope at the text itself. Integrated gradients (Sundararajan et al. 2017) follow it on
the way from embeddings of zeros to the text, so the shares of all tokens add up to the difference that the text makes.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Question, Reading, require_predictions
from seqlab.inspection.shades import signed_level
from seqlab.inspection.sheet import Detail, Sheet, TextTable, TokenColumn, number, one

STEPS = 64  # on the way from zeros to the text
AT_ONCE = 16  # of them, in one pass
FOUND = 8  # tokens in the table
COMPLETE = 0.02  # of the difference, or nats if it is below 1: what the shares may miss


def attribution(readings: Sequence[Reading], *, position: int | None = None) -> Sheet:
    """The share of every token in the log-probability of a predicted token (the last if not given) or of the label."""
    reading = one(readings, "attribution")
    question = reading.ask(_place(reading, position))
    x_1TD = _embedded(question)
    shares_T, difference = integrated_gradients(question, x_1TD)
    slopes_T = input_times_gradient(question, x_1TD)
    total, strongest = float(shares_T.sum()), max(1e-9, float(shares_T.abs().max()))
    text, tokens = question.side.name, question.side.tokens[: question.count]
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
        f"{question.words}: the {text} makes a difference of {number(difference)} nats to a {text} of zeros; the "
        f"shares of its tokens add up to {number(total)}{_missing(total, difference)}.",
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


def _missing(total: float, difference: float) -> str:
    """Says how far the shares are from complete, if it is too far."""
    gap = difference - total
    if abs(gap) <= COMPLETE * max(1.0, abs(difference)):
        return ""
    return f", so {number(gap)} nats belong to no token: {STEPS} steps are too few for so curved a way"


def integrated_gradients(question: Question, x_1TD: Tensor) -> tuple[Tensor, float]:
    """The share of each token, and what the answer gains from zeros to the text, which the shares should add up to."""
    slopes_1TD = torch.zeros_like(x_1TD)
    middles_S = (torch.arange(STEPS, dtype=x_1TD.dtype) + 0.5) / STEPS
    for some_S in middles_S.split(AT_ONCE):
        slopes_1TD += _slopes(question, some_S[:, None, None] * x_1TD).sum(0, keepdim=True) / STEPS
    with torch.no_grad():
        gain_2 = _answers(question, torch.cat([torch.zeros_like(x_1TD), x_1TD]))
    return (slopes_1TD * x_1TD)[0].sum(1), float(gain_2[1] - gain_2[0])


def input_times_gradient(question: Question, x_1TD: Tensor) -> Tensor:
    return (_slopes(question, x_1TD) * x_1TD)[0].sum(1)


def _slopes(question: Question, x_BTD: Tensor) -> Tensor:
    with torch.enable_grad():
        x_BTD = x_BTD.detach().requires_grad_()
        (slopes_BTD,) = torch.autograd.grad(_answers(question, x_BTD).sum(), x_BTD)
    return slopes_BTD


def _answers(question: Question, x_BTD: Tensor) -> Tensor:
    """The answer for each row of vectors in the place of the embedded tokens."""
    return question.answer(Trace({question.side.embedding: x_BTD}), len(x_BTD))


@torch.no_grad()
def _embedded(question: Question) -> Tensor:
    trace = Trace()
    question.answer(trace, 1)
    return trace[question.side.embedding].clone()


def _place(reading: Reading, position: int | None) -> int:
    """The place whose answer is explained, the last if not given."""
    count, first = len(reading.places), sum(after < 0 for after in reading.after) + 1
    if position is not None and reading.answer == "label":
        raise UsageError("position does nothing for a classifier, whose label belongs to the whole text: leave it out.")
    require_predictions(reading)
    at = count if position is None else position
    if not first <= at <= count:
        raise UsageError(f"token {at} is not predicted: give a number from {first} to {count:,}.")
    return at - 1
