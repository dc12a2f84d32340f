"""How models read one text: language models, masked language models and classifiers."""

import math
from functools import cached_property

import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.errors import UsageError
from seqlab.inspection.reading import Question, Reading, byte_ends, make_side, token_names
from seqlab.registry import did_you_mean
from seqlab.tasks.examples import encode_text
from seqlab.tasks.masked import PASSES


class LanguageReading(Reading):
    """Every token is predicted from those before it, the first from nothing."""

    def open(self) -> None:
        tokenizer = self.run.tokenizer
        ids = tokenizer.encode(self.text)
        if ids and tokenizer.begin is not None:
            ids = [tokenizer.begin, *ids]
        tokens = [self._names[token] for token in ids]
        self.sides = [make_side("text", ids, tokens, self.model.limit)]
        self.places, self.answers, self.after = tokens, ids, range(-1, len(ids) - 1)

    @cached_property
    def _names(self) -> list[str]:
        return token_names(self.run.tokenizer)

    def answer_name(self, answer: int) -> str:
        return self._names[answer]

    @property
    def unknown_answers(self) -> int:
        predicted = [token for token, after in zip(self.answers, self.after, strict=True) if after >= 0]
        return sum(token == self.run.tokenizer.unknown for token in predicted)

    @cached_property
    def ends(self) -> list[int]:
        return byte_ends(self.run.tokenizer, self.ids)

    def predict(self, trace: Trace | None = None) -> Tensor:
        read_T = torch.tensor(self.ids)[: max(1, len(self.ids) - 1)]
        logits_TV = self.model(read_T[None], trace=trace)[0][0]
        nothing_1V = logits_TV.new_full((1, logits_TV.shape[1]), math.nan)
        return torch.cat([nothing_1V, logits_TV.log_softmax(1)])[: len(self.ids)]

    @cached_property
    @torch.no_grad()
    def trace(self) -> Trace:
        return self.trace_of(torch.tensor(self.ids))

    def trace_of(self, ids_T: Tensor) -> Trace:
        trace = Trace()
        self.model(ids_T[None], trace=trace)
        return trace

    def ask(self, place: int) -> Question:
        read_T, token = torch.tensor(self.ids[:place]), self.answers[place]

        def answer(trace: Trace, rows: int) -> Tensor:
            return self.model(read_T.expand(rows, -1), trace=trace)[0][:, -1].log_softmax(1)[:, token]

        return Question(self._question(place), self.side, place, answer)

    def _question(self, place: int) -> str:
        return f"log-probability of token {place + 1}, “{self.places[place]}”"


class MaskedReading(LanguageReading):
    """Every token is predicted from both sides while it is masked, in several passes, as scores are computed."""

    def open(self) -> None:
        super().open()
        self.after = range(len(self.ids))

    def predict(self, trace: Trace | None = None) -> Tensor:
        ids_T, place_T = torch.tensor(self.ids), torch.arange(len(self.ids))
        masked_PT = place_T % PASSES == torch.arange(PASSES)[:, None]
        logits_PTV, _ = self.model(ids_T.expand(PASSES, -1).masked_fill(masked_PT, self.run.model.mask), trace=trace)
        return logits_PTV[place_T % PASSES, place_T].log_softmax(1)

    def ask(self, place: int) -> Question:
        ids_T, token = torch.tensor(self.ids), self.answers[place]
        read_T = ids_T.masked_fill(torch.arange(len(ids_T)) == place, self.run.model.mask)

        def answer(trace: Trace, rows: int) -> Tensor:
            return self.model(read_T.expand(rows, -1), trace=trace)[0][:, place].log_softmax(1)[:, token]

        return Question(self._question(place), self.side, len(ids_T), answer)


class ClassifierReading(Reading):
    """One label for the whole text: the one that the model chooses, or one that is given."""

    answer = "label"
    answer_lane = "label"
    target_means = "a label"

    def open(self) -> None:
        ids = encode_text(self.run.tokenizer, self.text) if self.text.strip() else []
        names = token_names(self.run.tokenizer)
        self.sides = [make_side("text", ids, [names[token] for token in ids], self.model.limit)]
        self.places, self.after = ["the whole text"], [len(ids) - 1]
        self.answers = [int(self.logprobs()[0].argmax()) if self.target is None else self._given(self.target)]

    def _given(self, label: str) -> int:
        labels = self.run.vocabulary.labels
        if label not in labels:
            raise UsageError(
                f"there is no label '{label}'{did_you_mean(label, labels)}: the model has {', '.join(labels)}."
            )
        return labels.index(label)

    def answer_name(self, answer: int) -> str:
        return self.run.vocabulary.labels[answer]

    @cached_property
    def ends(self) -> list[int]:
        return [len(self.text.encode())]

    def predict(self, trace: Trace | None = None) -> Tensor:
        return self._rows(trace, 1)

    def _rows(self, trace: Trace | None, rows: int) -> Tensor:
        return self.model(torch.tensor(self.ids).expand(rows, -1), trace=trace).log_softmax(1)

    def trace_of(self, ids_T: Tensor) -> Trace:
        trace = Trace()
        self.model(ids_T[None], trace=trace)
        return trace

    def ask(self, place: int) -> Question:
        label = self.answers[0]
        words = f"log-probability of the label '{self.answer_name(label)}'"
        return Question(words, self.side, len(self.ids), lambda trace, rows: self._rows(trace, rows)[:, label])
