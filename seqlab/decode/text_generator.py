"""Text in, text out: a language model with its tokenizer, engines and decoders."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index

from seqlab.contracts import AutoregressiveModel, State
from seqlab.decode.beam import BeamResult, beam_search
from seqlab.decode.context import context_length
from seqlab.decode.engines.compiled import CompiledEngine
from seqlab.decode.engines.selection import EngineSelector
from seqlab.decode.generate import Generation, begin, continue_from, generate, join, stream
from seqlab.decode.limits import MAX_BEAM, MAX_NEW_TOKENS, MAX_SAMPLES, require_between
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.decode.stop_strings import StopStrings
from seqlab.errors import UsageError
from seqlab.tokenization.streaming import TextStream
from seqlab.tokenization.tokenizer import Tokenizer

Prompt = str | Sequence[int]
ROWS_AT_ONCE = 256  # texts generated in one batch, because each has a state: the KV cache of a Transformer is large


@dataclass(frozen=True)
class GeneratedText:
    """The text after each prompt, and the state from which generation can continue."""

    texts: list[str]  # without the prompts
    generation: Generation
    compiled: bool  # by the compiled engine

    def __str__(self) -> str:
        return self.texts[0]

    @property
    def tokens(self) -> list[list[int]]:
        return self.generation.tokens

    @property
    def state(self) -> State | None:
        return self.generation.state


class TextGenerator:
    """A language model with its tokenizer. `engine` is plain, compiled, or auto for the one that finishes sooner."""

    def __init__(self, model: AutoregressiveModel, tokenizer: Tokenizer):
        self.selector, self.tokenizer = EngineSelector(model), tokenizer

    def generate(
        self,
        prompts: Sequence[Prompt],
        length: int,
        settings: SamplingSettings,
        stop: Sequence[str] = (),
        engine: str = "auto",
    ) -> GeneratedText:
        """Continue each prompt by at most `length` tokens."""
        require_between("the number of texts", len(prompts), 1, MAX_SAMPLES)
        require_between("the length", length, 0, MAX_NEW_TOKENS)
        ids = [self.encode(prompt) for prompt in prompts]
        model, rules = self.selector.select(len(ids), length, engine), self._rules(stop)
        groups = [
            generate(model, ids[first : first + ROWS_AT_ONCE], length, settings, rules=rules, first_sequence=first)
            for first in range(0, len(ids), ROWS_AT_ONCE)
        ]
        return self._to_text(join(groups), isinstance(model, CompiledEngine))

    def continue_from(self, previous: GeneratedText, length: int) -> GeneratedText:
        """At most `length` more tokens by the same engine: the same tokens as in one call."""
        require_between("the length", length, 0, MAX_NEW_TOKENS)
        model = self.selector.engine if previous.compiled else self.selector.model
        return self._to_text(continue_from(model, previous.generation, length), previous.compiled)

    def dummy_context(self, length: int, engine: str = "auto") -> GeneratedText:
        """A text of `length` arbitrary tokens, for timing: what a token costs does not depend on the earlier ones."""
        model = self.selector.select(1, length, engine)
        if not isinstance(model, CompiledEngine):
            return self.generate([""], length, SamplingSettings(), engine="plain")
        generation = begin([[0] * length])
        generation.state = model.dummy_state(context_length(length, model.limit) - 1)
        return self._to_text(generation, compiled=True)

    def stream(
        self, prompt: Prompt, length: int, settings: SamplingSettings, stop: Sequence[str] = (), engine: str = "auto"
    ) -> Iterator[str]:
        """The text piece by piece as soon as it is final; the possible beginning of a stop string is held back.

        The prompt is read at once: what is wrong with it is said before the first piece is asked for."""
        require_between("the length", length, 0, MAX_NEW_TOKENS)
        model = self.selector.select(1, length, engine)
        generation = begin([self.encode(prompt)], settings, rules=self._rules(stop))
        return self._pieces(model, generation, length, stop)

    def _pieces(
        self, model: AutoregressiveModel, generation: Generation, length: int, stop: Sequence[str]
    ) -> Iterator[str]:
        decoder, sent, text = TextStream(self.tokenizer), 0, ""
        for step in stream(model, generation, length):
            text += decoder.push([token for token in step if token is not None and token != self.tokenizer.end])
            safe = len(text) - max((len(string) - 1 for string in stop), default=0)
            if safe > sent and not generation.finished[0]:
                yield text[sent:safe]
                sent = safe
        text += decoder.flush()
        cut = min((text.find(string) for string in stop if string in text), default=len(text))
        yield text[sent:cut]

    def search(
        self,
        prompt: Prompt,
        length: int,
        width: int,
        length_penalty: float = 0.0,
        n_best: int = 1,
        engine: str = "auto",
    ) -> list[BeamResult]:
        """Beam search: the `n_best` most probable continuations, best first."""
        require_between("the beam width", width, 1, MAX_BEAM)
        require_between("the length", length, 1, MAX_NEW_TOKENS)
        model, ids = self.selector.select(width, length, engine), self.encode(prompt)
        hypotheses = beam_search(
            model, ids, width, length, length_penalty=length_penalty, n_best=n_best, rules=self._rules(())
        )
        return [
            BeamResult(self._text(best.tokens), best.tokens, best.logprob, best.score, best.finished)
            for best in hypotheses
        ]

    def encode(self, prompt: Prompt) -> list[int]:
        """Token ids of a prompt. Documents start with the begin token; other text never starts empty."""
        ids = self.tokenizer.encode(prompt) if isinstance(prompt, str) else self._checked_ids(prompt)
        if self.tokenizer.begin is not None:
            return ids if ids[:1] == [self.tokenizer.begin] else [self.tokenizer.begin, *ids]
        return ids or self._line_break()

    def _checked_ids(self, prompt: Sequence[int]) -> list[int]:
        """The ids of a prompt; those outside the vocabulary would read memory beside the embedding."""
        try:
            ids = [index(token) for token in prompt]
        except TypeError:
            raise UsageError(f"the prompt {prompt!r:.100} is neither a text nor a list of token ids.") from None
        size = self.tokenizer.vocab_size
        for token in ids:
            if not 0 <= token < size:
                raise UsageError(f"the prompt has the token id {token}: the vocabulary has the ids 0 to {size - 1:,}.")
        return ids

    def _line_break(self) -> list[int]:
        ordinary = range(self.tokenizer.ordinary_size)
        return [next((i for i in ordinary if self.tokenizer.decode_bytes([i]) == b"\n"), 0)]

    def _rules(self, stop: Sequence[str]) -> DecodingRules:
        stop_strings = StopStrings(self.tokenizer, stop) if stop else None
        return DecodingRules(end=self.tokenizer.end, banned=self.tokenizer.never_sampled, stop=stop_strings)

    def _to_text(self, generation: Generation, compiled: bool) -> GeneratedText:
        texts = [self._text(tokens, generation.rules) for tokens in generation.tokens]
        return GeneratedText(texts, generation, compiled)

    def _text(self, tokens: Sequence[int], rules: DecodingRules | None = None) -> str:
        content = tokens[:-1] if tokens and tokens[-1] == self.tokenizer.end else tokens
        if rules is not None and isinstance(rules.stop, StopStrings):
            return rules.stop.cut(content)
        return self.tokenizer.decode(list(content))
