"""Compiled token loops: the base class of all engines, and the state that they carry.

An engine is an AutoregressiveModel that also generates a block of tokens in one call, without returning to Python.
An architecture declares its engine as `compiled_engine = "module:Class"`; the kernels behind it are in seqlab/kernels.
This module imports without numba, which the decoders need only where an engine runs.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import State, Trace
from seqlab.decode.logits import no_token_left, not_finite
from seqlab.decode.sampling import SamplingSettings
from seqlab.errors import UsageError
from seqlab.kernels.grams import CountMixture, NoMixture
from seqlab.mixing.mixture import no_context
from seqlab.models.language_model import LanguageModel
from seqlab.models.token_model import TokenModel

if TYPE_CHECKING:
    from seqlab.kernels.decoding import SamplingParameters

ROWS_PER_TILE = 4  # rows that share a tile of weights, see kernels/linear.py


@dataclass(frozen=True)
class EngineState(State):
    """The arrays of a compiled token loop, which updates them in place; with counts, also the contexts of each row."""

    arrays: tuple[Tensor, ...]
    contexts_BK: Tensor | None = None

    def copy(self) -> Self:
        return self.map(Tensor.clone)


class CompiledEngine(ABC):
    """A language model with a compiled token loop. Only `generate_block` changes the state that it is given."""

    kernel_state_type: ClassVar[type]  # the named tuple of arrays that the kernel takes

    def __init__(self, model: TokenModel):
        from seqlab.decode.engines.packing import WeightPacker

        self.vocab_size, self.limit = model.vocab_size, model.limit
        self.settings = model.backbone.settings
        self.mixture = model.mixture if isinstance(model, LanguageModel) else None
        self.packer = WeightPacker(int8=model.settings.precision == "int8")
        self.output = self.packer.output(model)._replace(mixture=self._kernel_mixture())
        self.weights = self.pack_weights(model)

    @abstractmethod
    def pack_weights(self, model: Any) -> Any:
        """The model's weights in the layout of the kernel."""

    @abstractmethod
    def start(self, rows: int) -> EngineState:
        """The state of the network before the first token."""

    def with_capacity(self, state: EngineState, tokens: int) -> EngineState:
        """A copy of the state that has space for `tokens` more tokens."""
        return state.copy()

    def read(self, tokens_BT: Tensor, lengths_B: Tensor, source: Any = None) -> tuple[Tensor, EngineState]:
        assert source is None, "a language model has no source"
        texts = [tokens_T[:length].tolist() for tokens_T, length in zip(tokens_BT, lengths_B.tolist(), strict=True)]
        last_B = torch.tensor([text[-1] for text in texts])
        return self.step(last_B, self.prefill([text[:-1] for text in texts]))

    def step(self, token_B: Tensor, state: EngineState, trace: Trace | None = None) -> tuple[Tensor, EngineState]:
        assert trace is None, "an engine records no trace"
        state = self.with_capacity(state, 1)
        logits_BV = np.empty((len(token_B), self.vocab_size), np.float32)
        tokens_B = self.checked_tokens(token_B.numpy().astype(np.int64))
        self._decode(state, token_B=tokens_B, logits_BV=logits_BV)
        return torch.from_numpy(logits_BV), state

    def prefill(self, texts: Sequence[Sequence[int]]) -> EngineState:
        """The state after all tokens of each text."""
        from seqlab.kernels.decoding import PromptBatch

        order = sorted(range(len(texts)), key=lambda row: -len(texts[row]))  # the kernel expects the longest first
        lengths_B = np.array([len(texts[row]) for row in order])
        tokens_BT = np.zeros((len(texts), lengths_B[0]), np.int64)
        for tokens_T, row in zip(tokens_BT, order, strict=True):
            tokens_T[: len(texts[row])] = texts[row]
        state = self._with_contexts(self.with_capacity(self.start(len(texts)), int(lengths_B[0])))
        self._decode(state, prompts=PromptBatch(self.checked_tokens(tokens_BT), lengths_B))
        return state.select(torch.from_numpy(np.argsort(order)))

    def checked_tokens(self, tokens: np.ndarray) -> np.ndarray:
        """The tokens; UsageError if one is outside the vocabulary, because kernels do not check their indices."""
        for token in (tokens.min(initial=0), tokens.max(initial=0)):
            if not 0 <= token < self.vocab_size:
                raise UsageError(f"there is no token {token}: the vocabulary has the ids 0 to {self.vocab_size - 1:,}.")
        return tokens

    def dummy_state(self, tokens: int) -> EngineState:
        """One row, as if `tokens` tokens had been read. For timing, where their content does not matter."""
        state = self._with_contexts(self.with_capacity(self.start(1), tokens))
        state.lengths_B.fill_(tokens)
        return state

    def generate_block(
        self,
        state: EngineState,
        token_B: np.ndarray,
        sampling: "SamplingParameters",
        sequence_B: np.ndarray,
        position_B: np.ndarray,
        seen_BV: np.ndarray,
        length: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Generate `length` tokens for each row: tokens_BT and their log-probabilities.

        `token_B` is the last token of each text, which the state has not seen yet."""
        self.checked_tokens(token_B)
        tokens_BT = np.empty((len(token_B), length), np.int64)
        logprobs_BT = np.empty((len(token_B), length))

        def generate_rows(rows: slice) -> int:
            return self._decode(
                state.map(lambda array: array[rows]),
                token_B=token_B[rows],
                sampling=sampling,
                sequence_B=sequence_B[rows],
                position_B=position_B[rows],
                seen_BV=seen_BV[rows],
                tokens_BT=tokens_BT[rows],
                logprobs_BT=logprobs_BT[rows],
            )

        slices = _thread_slices(len(token_B), torch.get_num_threads())
        if len(slices) == 1:
            _raise_failure(generate_rows(slices[0]))
        else:
            with ThreadPoolExecutor(len(slices)) as pool:
                for status in pool.map(generate_rows, slices):
                    _raise_failure(status)
        return tokens_BT, logprobs_BT

    def sampling_parameters(self, settings: SamplingSettings, banned: Sequence[int]) -> "SamplingParameters":
        from seqlab.kernels.decoding import SamplingParameters

        banned_V = np.zeros(self.vocab_size, np.bool_)
        banned_V[list(banned)] = True
        return SamplingParameters(
            temperature=float(settings.temperature),
            top_k=min(settings.top_k or self.vocab_size, self.vocab_size),
            top_p=float(settings.top_p or 1.0),
            penalty=float(settings.repetition_penalty),
            seed=settings.seed,
            banned_V=banned_V,
        )

    def _decode(self, state: EngineState, **arguments: Any) -> int:
        """Call the kernel; arguments that are left out are empty arrays, and their stage does nothing."""
        from seqlab.kernels.decoding import decode

        contexts_BK = np.zeros((len(state.lengths_B), 0), np.int64)
        if state.contexts_BK is not None:
            contexts_BK = state.contexts_BK.numpy()
        kernel_state = self.kernel_state_type(state.lengths_B.numpy(), *(array.numpy() for array in state.arrays))
        arguments = {**self._empty_arguments, **arguments}
        return decode(self.weights, self.output, kernel_state, contexts_BK, **arguments)

    def _kernel_mixture(self) -> CountMixture | NoMixture:
        if self.mixture is None:
            return NoMixture()
        exponents = (weights_K.float().numpy() for weights_K in (self.mixture.alpha_K, self.mixture.beta_K))
        return CountMixture(self.mixture.table.grams, *exponents)

    def _with_contexts(self, state: EngineState) -> EngineState:
        """A start state with the contexts of no tokens, if there are counts."""
        if self.mixture is None:
            return state
        return replace(state, contexts_BK=no_context(self.mixture.table, len(state.lengths_B)))

    @cached_property
    def _empty_arguments(self) -> dict[str, Any]:
        from seqlab.kernels.decoding import PromptBatch

        return {
            "prompts": PromptBatch(np.zeros((0, 0), np.int64), np.zeros(0, np.int64)),
            "token_B": np.zeros(0, np.int64),
            "logits_BV": np.zeros((0, 0), np.float32),
            "sampling": self.sampling_parameters(SamplingSettings(), ()),
            "sequence_B": np.zeros(0, np.int64),
            "position_B": np.zeros(0, np.int64),
            "seen_BV": np.zeros((0, self.vocab_size), np.bool_),
            "tokens_BT": np.zeros((0, 0), np.int64),
            "logprobs_BT": np.zeros((0, 0)),
        }


def with_kv_capacity(state: EngineState, tokens: int, context: int | None) -> EngineState:
    """A copy whose KV cache, the last two arrays, has space for `tokens` more.

    The cache doubles when it is full. At `context` positions it stops growing and becomes a ring buffer."""
    keys, values = state.arrays[-2:]  # keys_B..S, values_B..S.
    capacity = keys.shape[-1]
    limit = float("inf") if context is None else context
    needed = min(int(state.lengths_B.max()) + tokens, limit)
    if needed <= capacity:
        return state.copy()
    added = int(min(max(needed, 2 * capacity, 32), limit)) - capacity
    keys = torch.cat([keys, keys.new_zeros(*keys.shape[:-1], added)], dim=-1)
    values = torch.cat([values, values.new_zeros(*values.shape[:-2], added, values.shape[-1])], dim=-2)
    copied = state.copy()
    return replace(copied, arrays=(*copied.arrays[:-2], keys, values))


def _thread_slices(rows: int, threads: int) -> list[slice]:
    """Rows of each thread: whole groups that share a tile, and at least two groups per thread."""
    count = max(1, min(threads, rows // (2 * ROWS_PER_TILE)))
    bounds = [round(rows * part / count / ROWS_PER_TILE) * ROWS_PER_TILE for part in range(count)] + [rows]
    return [slice(first, last) for first, last in pairwise(bounds)]


def _raise_failure(status: int) -> None:
    from seqlab.kernels.sampling import NO_TOKEN_LEFT, NOT_FINITE

    if status == NO_TOKEN_LEFT:
        raise no_token_left()
    if status == NOT_FINITE:
        raise not_finite()
