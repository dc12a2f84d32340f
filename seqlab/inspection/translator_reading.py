"""How a translator reads a source and writes a target: its own translation, or one that is given."""

from functools import cached_property

import torch
from torch import Tensor

from seqlab.contracts import Backbone, State, Trace
from seqlab.decode.translation import batch_sources, search
from seqlab.inspection.reading import Question, Reading, byte_ends, counted, excerpt, make_side, token_names
from seqlab.models.translator import SourceBatch
from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tasks.examples import encode_text
from seqlab.tokenization.tokenizer import Tokenizer

ENCODER = "encoder."  # what the names of values begin with that are recorded about the source


class TranslatorReading(Reading):
    """The decoder reads the target from its begin token on; each token of it is predicted from the source and from the
    tokens before it, the end token last."""

    target_means = "a translation of the text"
    cut_off: int | None = None  # the tokens after which its own translation was not allowed to go on

    def open(self) -> None:
        model, tokenizer = self.run.model, self.run.tokenizer
        ids = encode_text(tokenizer, self.text) if self.text.strip() else []
        names = token_names(tokenizer)
        source = make_side("source", ids, [names[token] for token in ids], model.backbone.limit, ENCODER)
        answers = self._own(ids) if self.target is None else self._given(self.target)
        read = [self._begin, *answers[:-1]]
        self.places, self.answers, self.after = [self._names[token] for token in answers], answers, range(len(answers))
        target = make_side("target", read, [self._names[token] for token in read], model.limit)
        self.sides = [source, target]

    def _own(self, source: list[int]) -> list[int]:
        """By the search that the settings describe, as `seqlab predict` does."""
        task = self.run.settings.task.settings_as(TranslateSettings)
        limit = task.target_limit(len(source))
        (best,) = search(
            self.run.model, torch.tensor(source).numpy(), self.run.vocabulary, task.beam, task.length_penalty, limit
        )
        self.cut_off = None if best.finished else len(best.tokens)
        return list(best.tokens)

    def _given(self, text: str) -> list[int]:
        end = self._target_tokenizer.end
        assert end is not None
        return [*encode_text(self._target_tokenizer, text), end]

    @property
    def _target_tokenizer(self) -> Tokenizer:
        tokenizer = self.run.vocabulary.target_tokenizer
        assert tokenizer is not None
        return tokenizer

    @property
    def _begin(self) -> int:
        begin = self._target_tokenizer.begin
        assert begin is not None
        return begin

    @cached_property
    def _names(self) -> list[str]:
        return token_names(self._target_tokenizer)

    @property
    def _target(self) -> str:
        return self._target_tokenizer.decode(list(self.answers)).strip()

    @property
    def _cut(self) -> str:
        return "" if self.cut_off is None else f", cut off after {counted(self.cut_off, 'token')}"

    @property
    def title(self) -> str:
        return f"{excerpt(self.text)} → {excerpt(self._target)}{self._cut}"

    @property
    def whose(self) -> str:
        return f"{super().whose}{self._cut}"

    @property
    def texts(self) -> dict[str, str | int]:
        cut = {} if self.cut_off is None else {"cut_off_after_tokens": self.cut_off}
        return {"source": self.text, "target": self._target, **cut}

    @property
    def backbone(self) -> Backbone:
        return self.run.model.decoder

    @property
    def arch(self) -> str:
        """Of the decoder, which predicts."""
        assert self.run.settings.decoder is not None
        return self.run.settings.decoder.name

    @torch.no_grad()
    def start(self) -> State:
        return self.run.model.start(self.source)

    def answer_name(self, answer: int) -> str:
        return self._names[answer]

    @property
    def unknown_answers(self) -> int:
        return sum(token == self._target_tokenizer.unknown for token in self.answers)

    @cached_property
    def ends(self) -> list[int]:
        return byte_ends(self._target_tokenizer, self.answers)

    def predict(self, trace: Trace | None = None) -> Tensor:
        return self._rows(trace, 1)[0]

    def _rows(self, trace: Trace | None, rows: int) -> Tensor:
        source = SourceBatch(*(x_1S.expand(rows, -1) for x_1S in self.source.tensors()))
        return self.run.model(source, torch.tensor(self.ids).expand(rows, -1), trace=trace).log_softmax(2)

    @property
    def source(self) -> SourceBatch:
        return batch_sources([torch.tensor(self.sides[0].ids).numpy()], self.run.model)

    def ask(self, place: int) -> Question:
        token, source = self.answers[place], self.sides[0]
        words = f"log-probability of token {place + 1} of the target, “{self.places[place]}”"
        return Question(words, source, len(source.ids), lambda trace, rows: self._rows(trace, rows)[:, place, token])
