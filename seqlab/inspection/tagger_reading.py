"""How a tagger reads a text: a tag for every word, from its words before and after it."""

from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqlab.contracts import Trace
from seqlab.data.examples.example import UNSCORED, TaggedSentence
from seqlab.errors import UsageError
from seqlab.inspection.reading import Question, Reading, make_side, token_names, visible
from seqlab.registry import TASKS, did_you_mean
from seqlab.tasks.examples import encode_text
from seqlab.tasks.tag import TagBatch, best_tags, emissions, split_words, tag_batch, tag_logprobs
from seqlab.tokenization.word import WordTokenizer


class TaggerReading(Reading):
    """Places are words. A word is one token, or several, the last of which is tagged."""

    answer = "tag"
    answer_lane = "tag"
    target_means = "a tag for each word, with spaces between them"
    batch: TagBatch

    def open(self) -> None:
        vocabulary = self.run.vocabulary
        self.words = split_words(self.text, vocabulary) if self.text.strip() else []
        if not self.words:
            raise UsageError("the text is empty: give some words to look at.")
        self._warn_of_unknown()
        sentence = TaggedSentence(tuple(self.words), (UNSCORED,) * len(self.words))
        task: Any = TASKS.load(self.run.settings.task.name)
        self.batch = tag_batch(task.encode([sentence], vocabulary, self.run.settings), [0])
        ids, names = self.batch.inputs_BT[0].tolist(), token_names(self.run.tokenizer)
        self.places = self._spaced()
        if self.batch.ends_BW is None:
            tokens, self.after = list(self.places), range(len(ids))
        else:
            tokens, self.after = [names[token] for token in ids], self.batch.ends_BW[0].tolist()
        self.sides = [make_side("text", ids, tokens, self.model.limit)]
        self.answers = self._best() if self.target is None else self._given(self.target.split())

    def _warn_of_unknown(self) -> None:
        """Tasks encode examples without a warning."""
        tokenizer = self.run.tokenizer
        if isinstance(tokenizer, WordTokenizer):
            tokenizer.warn_of_unknown(word for word in self.words if not tokenizer.knows(word))
        else:
            encode_text(tokenizer, " ".join(self.words))

    @cached_property
    def _word_ends(self) -> list[int]:
        """Where each word ends in the text."""
        ends = [0]
        for word in self.words:
            ends.append(self.text.index(word, ends[-1]) + len(word))
        return ends[1:]

    def _spaced(self) -> list[str]:
        """The words, each with the space that stands before it."""
        starts = [end - len(word) for end, word in zip(self._word_ends, self.words, strict=True)]
        spaced = [at > 0 and self.text[at - 1].isspace() for at in starts]
        return [visible(" " * space + word) for space, word in zip(spaced, self.words, strict=True)]

    @torch.no_grad()
    def _best(self) -> list[int]:
        return best_tags(self.run.model, emissions(self.run.model, self.batch), self.batch)[0].tolist()

    def _given(self, tags: list[str]) -> list[int]:
        labels = self.run.vocabulary.labels
        if len(tags) != len(self.words):
            raise UsageError(
                f"the target has {len(tags):,} tags for {len(self.words):,} words ({' '.join(self.words)[:200]}): "
                f"expected {self.target_means}."
            )
        for tag in tags:
            if tag not in labels:
                raise UsageError(
                    f"there is no tag '{tag}'{did_you_mean(tag, labels)}: the model has {', '.join(labels)}."
                )
        return [labels.index(tag) for tag in tags]

    def answer_name(self, answer: int) -> str:
        return self.run.vocabulary.labels[answer]

    @cached_property
    def ends(self) -> list[int]:
        return list(accumulate(len(word.encode()) for word in self.words))

    @cached_property
    def last_characters(self) -> list[int]:
        """All tokens of a word have the last character of the word."""
        tokens_W = np.diff(np.array([-1, *self.after]))
        return (np.repeat(self._word_ends, tokens_W) - 1).tolist()

    def predict(self, trace: Trace | None = None) -> Tensor:
        return self._rows(trace, 1)[0]

    def _rows(self, trace: Trace | None, rows: int) -> Tensor:
        batch = self.batch if rows == 1 else repeated(self.batch, rows)
        return tag_logprobs(self.run.model, emissions(self.run.model, batch, trace), batch)

    def ask(self, place: int) -> Question:
        tag = self.answers[place]
        words = f"log-probability of the tag '{self.answer_name(tag)}' of word {place + 1}, “{self.words[place]}”"
        return Question(words, self.side, len(self.ids), lambda trace, rows: self._rows(trace, rows)[:, place, tag])

    def rearranged(self, order_T: Tensor) -> Reading:
        other = super().rearranged(order_T)
        assert isinstance(other, TaggerReading)
        words_BW = self.batch.words_BW  # a word that is spelled is one token
        moved_BW = None if words_BW is None else words_BW[:, order_T]
        other.batch = replace(self.batch, inputs_BT=self.batch.inputs_BT[:, order_T], words_BW=moved_BW)
        return other


def repeated(batch: TagBatch, rows: int) -> TagBatch:
    """A batch of one sentence, with as many rows of it; the spellings of its words are not those of a row."""

    def rows_of(x_1T: Tensor | None) -> Any:
        return None if x_1T is None else x_1T.expand(rows, -1)

    names = ("inputs_BT", "mask_BT", "targets_BW", "kept_BW", "ends_BW", "words_BW")
    return replace(batch, **{name: rows_of(getattr(batch, name)) for name in names})
