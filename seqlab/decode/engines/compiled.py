"""What all engines share: they are Generators, and they write many tokens in one call."""

from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.decode.engine import Engine, EngineState
from seqlab.decode.engines.packing import Packer
from seqlab.decode.logits import not_finite, nothing_left
from seqlab.decode.sampling import SamplingSettings
from seqlab.kernels.decoding import Sampling, Texts, decode
from seqlab.kernels.sampling import NOT_FINITE, NOTHING_LEFT
from seqlab.models.token_model import TokenModel


class CompiledEngine(Engine):
    """A language model whose token loop is compiled."""

    kernel_state: ClassVar[type]  # of the arrays

    def __init__(self, model: TokenModel):
        self.vocab_size = model.vocab_size
        self.limit = model.limit
        self.packer = Packer(int8=model.settings.precision == "int8")
        self.output = self.packer.output(model)
        self.weights = self.pack(model)

    @abstractmethod
    def pack(self, model: Any) -> Any:
        """Its weights as the kernel reads them."""

    @abstractmethod
    def start(self, rows: int) -> EngineState:
        """The state before the first token."""

    def with_room(self, state: EngineState, tokens: int) -> EngineState:
        return state.copy()

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, EngineState]:
        assert source is None, "a language model has no source"
        texts = [tokens_T[:length].tolist() for tokens_T, length in zip(tokens_BT, lengths_B.tolist(), strict=True)]
        last_B = torch.tensor([text[-1] for text in texts])
        return self.step(last_B, self.read_in([text[:-1] for text in texts]))

    def step(self, token_B: Tensor, state: EngineState, trace: Trace | None = None) -> tuple[Tensor, EngineState]:
        assert trace is None, "an engine shows nothing of its inside"
        state = self.with_room(state, 1)
        logits_BV = np.empty((len(token_B), self.vocab_size), np.float32)
        self._decode(self._kernel(state), token_B=token_B.numpy().astype(np.int64), logits_BV=logits_BV)
        return torch.from_numpy(logits_BV), state

    def read_in(self, texts: Sequence[Sequence[int]]) -> EngineState:
        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))  # as the kernel wants them
        lengths_B = np.array([len(texts[row]) for row in order])
        tokens_BT = np.zeros((len(texts), lengths_B[0]), np.int64)
        for tokens_T, row in zip(tokens_BT, order, strict=True):
            tokens_T[: len(texts[row])] = texts[row]
        state = self.with_room(self.start(len(texts)), int(lengths_B[0]))
        self._decode(self._kernel(state), texts=Texts(tokens_BT, lengths_B))
        return state.select(torch.from_numpy(np.argsort(order)))

    def after(self, tokens: int) -> EngineState:
        state = self.with_room(self.start(1), tokens)
        state.lengths_B.fill_(tokens)
        return state

    def run(
        self,
        state: EngineState,
        token_B: np.ndarray,
        sampling: Sampling,
        sequence_B: np.ndarray,
        position_B: np.ndarray,
        seen_BV: np.ndarray,
        length: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        tokens_BT = np.empty((len(token_B), length), np.int64)
        logprobs_BT = np.empty((len(token_B), length))
        parts = _shares(len(token_B), torch.get_num_threads())
        kernel = self._kernel(state)

        def part(rows: slice) -> int:
            return self._decode(
                type(kernel)(*(array[rows] for array in kernel)),
                token_B=token_B[rows],
                how=sampling,
                sequence_B=sequence_B[rows],
                position_B=position_B[rows],
                seen_BV=seen_BV[rows],
                tokens_BT=tokens_BT[rows],
                logprobs_BT=logprobs_BT[rows],
            )

        if len(parts) == 1:
            _complain(part(parts[0]))
        else:
            with ThreadPoolExecutor(len(parts)) as pool:
                for came in pool.map(part, parts):
                    _complain(came)
        return tokens_BT, logprobs_BT

    def sampling(self, settings: SamplingSettings, banned: Sequence[int]) -> Sampling:
        banned_V = np.zeros(self.vocab_size, np.bool_)
        banned_V[list(banned)] = True
        top_k = min(settings.top_k or self.vocab_size, self.vocab_size)
        return Sampling(
            float(settings.temperature), top_k, float(settings.top_p or 1.0), float(settings.repetition_penalty),
            settings.seed, banned_V,
        )  # fmt: skip

    def _decode(self, state: Any, **given: Any) -> int:
        """The kernel; of what is not given there is nothing to do."""
        return decode(self.weights, self.output, state, **{**self._nothing, **given})

    @cached_property
    def _nothing(self) -> dict[str, Any]:
        return {
            "texts": Texts(np.zeros((0, 0), np.int64), np.zeros(0, np.int64)),
            "token_B": np.zeros(0, np.int64),
            "logits_BV": np.zeros((0, 0), np.float32),
            "how": self.sampling(SamplingSettings(), ()),
            "sequence_B": np.zeros(0, np.int64),
            "position_B": np.zeros(0, np.int64),
            "seen_BV": np.zeros((0, self.vocab_size), np.bool_),
            "tokens_BT": np.zeros((0, 0), np.int64),
            "logprobs_BT": np.zeros((0, 0)),
        }

    def _kernel(self, state: EngineState) -> Any:
        return self.kernel_state(state.lengths_B.numpy(), *(array.numpy() for array in state.arrays))


def _shares(rows: int, threads: int) -> list[slice]:
    """Rows for each thread: whole groups of those that share a tile, and no thread for fewer than two groups."""
    parts = max(1, min(threads, rows // 8))
    bounds = [round(rows * part / parts / 4) * 4 for part in range(parts)] + [rows]
    return [slice(first, last) for first, last in pairwise(bounds)]


def _complain(came: int) -> None:
    if came == NOTHING_LEFT:
        raise nothing_left()
    if came == NOT_FINITE:
        raise not_finite()
