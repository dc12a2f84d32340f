"""Back from what a model of any task predicts to the tokens before it: by gradients, and by changed tokens.

Distances count the tokens from the one from whose output something is predicted: from the end of the text for a label,
from the word for its tag, within the target for a translation.
"""

import math

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.backward import row_norms
from seqlab.inspection.distances import exact, spread
from seqlab.inspection.reading import Reading
from seqlab.threads import compute_threads


def reading_norms(reading: Reading) -> np.ndarray:
    """The mean norm of the gradient of a loss with respect to an earlier input, by distance, over predictions that see
    all distances."""
    reading, longest = reading.with_model(exact(reading.model)), _longest(reading)
    seen = [place for place, after in enumerate(reading.after) if after >= longest]
    with compute_threads(1):
        reading.logprobs(trace := Trace())
        with torch.enable_grad():
            x_1TD = trace[reading.side.embedding].clone().requires_grad_()
            logprobs_PV = reading.predict(Trace({reading.side.embedding: x_1TD}))
            norms = []
            for place in (seen[at] for at in spread(0, len(seen) - 1)):
                after, loss = reading.after[place], -logprobs_PV[place, reading.answers[place]]
                (slope_1TD,) = torch.autograd.grad(loss, x_1TD, retain_graph=True)
                norms.append(row_norms(slope_1TD[0, after - longest : after + 1]).flip(0))
    return torch.stack(norms).mean(0).numpy()


@torch.no_grad()
def reading_divergences(reading: Reading) -> np.ndarray:
    """By how many bits a changed token changes what is predicted after it, by distance: the mean over changed tokens.
    Distances that no changed token has lie on a line between the nearest that have one."""
    reading, longest = reading.with_model(exact(reading.model)), _longest(reading)
    last = max(reading.after) - (0 if len(reading.places) == 1 else longest)
    found: dict[int, list[float]] = {}
    with compute_threads(1):
        before_PV = reading.logprobs()
        for s in spread(0, last):
            after_PV = reading.rearranged(_changed(torch.tensor(reading.ids), s)).logprobs()
            bits_P = (before_PV.exp() * (before_PV - after_PV)).sum(1) / math.log(2)
            for after, bits in zip(reading.after, bits_P.tolist(), strict=True):
                if 0 <= after - s <= longest:
                    found.setdefault(after - s, []).append(max(0.0, bits))
    known = sorted(found)
    return np.interp(range(longest + 1), known, [float(np.mean(found[k])) for k in known])


def _longest(reading: Reading) -> int:
    """The largest distance: the whole text from its end, or half of it from every prediction in its second half."""
    return reading.after[0] if len(reading.places) == 1 else max(1, max(reading.after) // 2)


def _changed(ids_T: Tensor, s: int) -> Tensor:
    """The order of the tokens with another one at position `s`: the next one that differs, from the middle on."""
    candidates_T = torch.arange(len(ids_T)).roll(-(len(ids_T) // 2 + s))
    others_N = candidates_T[ids_T[candidates_T] != ids_T[s]]
    if not len(others_N):
        raise UsageError("all tokens of the text are alike, so none can be changed into another.")
    return torch.arange(len(ids_T)).index_fill(0, torch.tensor([s]), int(others_N[0]))
