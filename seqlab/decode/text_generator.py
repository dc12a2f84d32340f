"""Text in, text out: a language model with its tokenizer, engines and decoders."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.contracts import AutoregressiveModel, State
from seqlab.decode.beam import BeamResult, beam_search
from seqlab.decode.context import context_length
from seqlab.decode.engines.compiled import CompiledEngine, EngineState
from seqlab.decode.engines.selection import EngineSelector
from seqlab.decode.generate import Generation, begin, continue_from, generate, stream
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings
from seqlab.decode.stop_strings import StopStrings
from seqlab.tokenization.streaming import TextStream
from seqlab.tokenization.tokenizer import Tokenizer

Prompt = str | Sequence[int]


@dataclass(frozen=True)
class GeneratedText:
    """The text after each prompt, and the state from which generation can continue."""

    texts: list[str]  # without the prompts
    generation: Generation

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
        ids = [self.encode(prompt) for prompt in prompts]
        model = self.selector.select(len(ids), length, engine)
        return self._to_text(generate(model, ids, length, settings, rules=self._rules(stop)))

    def continue_from(self, previous: GeneratedText, length: int) -> GeneratedText:
        """At most `length` more tokens by the same engine: the same tokens as in one call."""
        model = self.selector.engine if isinstance(previous.state, EngineState) else self.selector.model
        return self._to_text(continue_from(model, previous.generation, length))

    def dummy_context(self, length: int, engine: str = "auto") -> GeneratedText:
        """A text of `length` arbitrary tokens, for timing: what a token costs does not depend on the earlier ones."""
        model = self.selector.select(1, length, engine)
        if not isinstance(model, CompiledEngine):
            return self.generate([""], length, SamplingSettings(), engine="plain")
        generation = begin([[0] * length])
        generation.state = model.dummy_state(context_length(length, model.limit) - 1)
        return self._to_text(generation)

    def stream(
        self, prompt: Prompt, length: int, settings: SamplingSettings, stop: Sequence[str] = (), engine: str = "auto"
    ) -> Iterator[str]:
        """The text piece by piece as soon as it is final; the possible beginning of a stop string is held back."""
        model = self.selector.select(1, length, engine)
        generation = begin([self.encode(prompt)], settings, rules=self._rules(stop))
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
        hypotheses = beam_search(
            self.selector.select(width, length, engine),
            self.encode(prompt),
            width,
            length,
            length_penalty=length_penalty,
            n_best=n_best,
            rules=self._rules(()),
        )
        return [BeamResult(self._text(best.tokens), best.tokens, best.logprob, best.score) for best in hypotheses]

    def encode(self, prompt: Prompt) -> list[int]:
        """Token ids of a prompt. Documents start with the begin token; other text never starts empty."""
        ids = [int(i) for i in (self.tokenizer.encode(prompt) if isinstance(prompt, str) else prompt)]
        if self.tokenizer.begin is not None:
            return ids if ids[:1] == [self.tokenizer.begin] else [self.tokenizer.begin, *ids]
        return ids or self._line_break()

    def _line_break(self) -> list[int]:
        ordinary = range(self.tokenizer.ordinary_size)
        return [next((i for i in ordinary if self.tokenizer.decode_bytes([i]) == b"\n"), 0)]

    def _rules(self, stop: Sequence[str]) -> DecodingRules:
        halt: Any = StopStrings(self.tokenizer, stop) if stop else None
        return DecodingRules(end=self.tokenizer.end, banned=self.tokenizer.never_sampled, stop=halt)

    def _to_text(self, generation: Generation) -> GeneratedText:
        return GeneratedText([self._text(tokens, generation.rules) for tokens in generation.tokens], generation)

    def _text(self, tokens: Sequence[int], rules: DecodingRules | None = None) -> str:
        content = tokens[:-1] if tokens and tokens[-1] == self.tokenizer.end else tokens
        if rules is not None and isinstance(rules.stop, StopStrings):
            return rules.stop.cut(content)
        return self.tokenizer.decode(list(content))
