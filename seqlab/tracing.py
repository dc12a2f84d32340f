"""Looking inside a model while it runs: `record` keeps a named value in a trace, and a trace may replace it.

Every recorded value has the axes batch, time, and then its own: H for gates and states, N heads and S keys for
attention. What a model records, and of which kind each value is, it declares as `records`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from seqlab.errors import UsageError

Kind = Literal[
    "gate",  # (B, T, H), between 0 and 1
    "state",  # (B, T, H)
    "layer",  # (B, T, H): what one layer passes to the next; the first to the last in order
    "heads",  # (B, T, N, K): queries, keys, values and results of attention heads
    "scores",  # (B, T, N, S), before the softmax
    "attention",  # (B, T, N, S): weights over the positions of the same text
    "pooling",  # (B, T): the weight of each position in a mean
    "source attention",  # (B, T, N, S): weights over the positions of a source
]
Replacement = Tensor | Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Recorded:
    """What a model declares about one of the values that it records."""

    kind: Kind
    about: str


def prefixed(scope: str, records: Mapping[str, Recorded]) -> dict[str, Recorded]:
    """What a part declares, by the names that its values have in the whole."""
    return {f"{scope}.{name}": recorded for name, recorded in records.items()}


def record(trace: "Trace | None", name: str, value: Tensor) -> Tensor:
    """The value, or what the trace puts in its place: compute on with what this returns."""
    return value if trace is None else trace.record(name, value)


class Trace:
    """The recorded values of one pass. A model that gets a trace runs its plain form.

    `replace` puts something else in the place of a value: a tensor of its shape (axes of size 1 are repeated), or a
    function of the value; `positions` says where, everywhere by default. The values are part of the graph if the caller
    computes gradients.

    >>> trace = Trace()
    >>> logits, _ = model(tokens, None, None, trace)
    >>> trace["layer1.forget"]                      # (batch, time, hidden)
    >>> Trace(replace={"layer1.forget": torch.zeros(1, 1, 1)})
    """

    def __init__(self, replace: Mapping[str, Replacement] | None = None, positions: Collection[int] | None = None):
        self._replace = dict(replace or {})
        self._positions = positions
        self._pieces: dict[str, dict[int, Tensor]] = {}  # by name and first position
        self._scope = ""
        self._first = 0
        self._has_time = True

    def record(self, name: str, value: Tensor) -> Tensor:
        name = f"{self._scope}{name}"
        piece = value if self._has_time else value[:, None]
        if name in self._replace:
            piece = self._replaced(name, piece)
        pieces = self._pieces.setdefault(name, {})
        assert self._first not in pieces, f"'{name}' was recorded before: a trace belongs to one pass"
        pieces[self._first] = piece
        return piece if self._has_time else piece[:, 0]  # what is kept, so that gradients pass through it

    def _replaced(self, name: str, value: Tensor) -> Tensor:
        given = self._replace[name]
        if callable(given):
            new = given(value)
        else:
            new = given
            if given.dim() == value.dim() and given.shape[1] > value.shape[1]:  # of a part, which may see fewer keys
                new = given[:, self._first : self._first + value.shape[1], ..., : value.shape[-1]]
        try:
            new = new.to(value).expand(value.shape)
        except RuntimeError:
            raise UsageError(
                f"the replacement of '{name}' has the shape {tuple(new.shape)}: expected {tuple(value.shape)}, or 1 "
                "where an axis is to be repeated."
            ) from None
        if self._positions is None:
            return new
        here_T = [self._first + t in self._positions for t in range(value.shape[1])]
        at_T = torch.tensor(here_T, device=value.device).view(1, -1, *[1] * (value.dim() - 2))
        return torch.where(at_T, new, value)

    # --- parts of a pass ----------------------------------------------------------------------------------------------

    def within(self, scope: str) -> "Trace":
        """The same trace for a part of the model: its values get a prefix."""
        return self._part(f"{self._scope}{scope}.", self._first, self._has_time)

    def at(self, position: int) -> "Trace":
        """The same trace for a pass over later positions, beginning with this one."""
        return self._part(self._scope, self._first + position, self._has_time)

    def step(self, position: int) -> "Trace":
        """The same trace for a single position, whose values have no axis of time."""
        return self._part(self._scope, self._first + position, False)

    def _part(self, scope: str, first: int, has_time: bool) -> "Trace":
        part = Trace(self._replace, self._positions)
        part._pieces = self._pieces
        part._scope, part._first, part._has_time = scope, first, has_time
        return part

    # --- what was recorded --------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """In the order in which they were recorded first."""
        return list(self._pieces)

    def __contains__(self, name: object) -> bool:
        return name in self._pieces

    def __getitem__(self, name: str) -> Tensor:
        """A value at all positions."""
        pieces = self.pieces(name)
        if len(pieces) == 1:
            return pieces[0]
        longest = max(piece.shape[-1] for piece in pieces)  # steps see more keys each time
        return torch.cat([pad(piece, (0, longest - piece.shape[-1])) for piece in pieces], dim=1)

    def pieces(self, name: str) -> list[Tensor]:
        """The tensors that the model computed with, in the order of their positions: gradients flow into these."""
        if name not in self._pieces:
            raise UsageError(f"nothing was recorded as '{name}': there is {', '.join(self.names) or 'nothing'}.")
        return [piece for _, piece in sorted(self._pieces[name].items(), key=lambda item: item[0])]
