"""Tagging: a tag for every word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.baselines.frequent_tags import FrequentTags
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, State
from seqlab.data.examples.encoded import ExampleSplit, padded
from seqlab.data.examples.example import UNSCORED, TaggedSentence
from seqlab.data.examples.tag_schemes import find_scheme
from seqlab.data.text.batches import NOT_SCORED
from seqlab.metrics.named import ACCURACY, ENTITIES
from seqlab.metrics.spans import precision, recall, span_sums
from seqlab.models.char_encoder import Spelling
from seqlab.models.tagger import Tagger
from seqlab.registry import BACKBONES, TOKENIZERS
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.example_settings import TagSettings
from seqlab.tasks.examples import ExampleScores, ExampleTask, encode_all, learn_text, passes, tensor, within
from seqlab.tasks.predictions import Tags
from seqlab.tasks.task import BaselineScore, Units
from seqlab.tokenization.vocabulary import Vocabulary, sort_labels
from seqlab.tokenization.word import WordTokenizer

WORD = re.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|\w+(?:[-.]\w+)*|['’]\w+|[^\w\s]+")
UNKNOWN_TAG = -1  # of held-out examples, where training has no such tag: never right


@dataclass(frozen=True)
class TagBatch(Batch):
    """`ends_BW` where words are several tokens; spellings where they are one."""

    inputs_BT: Tensor
    mask_BT: Tensor | None
    targets_BW: Tensor
    kept_BW: Tensor
    ends_BW: Tensor | None = None
    words_BW: Tensor | None = None
    spellings: tuple[Tensor, Tensor] | None = None


class TagTask(ExampleTask):
    """Judged by the spans that tags like B-person mark, or where there are none by the share of right tags."""

    name = "tag"
    kind = "tagger"

    def __init__(self, settings: Any, splits: Any, vocabulary: Vocabulary):
        super().__init__(settings, splits, vocabulary)
        self.spans = find_scheme([vocabulary.labels]) is not None
        self.headline = "entity_f1" if self.spans else "accuracy"
        self.metric = ENTITIES if self.spans else ACCURACY

    @classmethod
    def learn(cls, examples: Sequence[TaggedSentence], settings: RunSettings) -> Vocabulary:
        labels = sort_labels([tag for example in examples for tag in example.tags if tag != UNSCORED])
        words = [word for example in examples for word in example.words]
        task = settings.task.settings_as(TagSettings)
        if settings.tokenizer.name != "word":
            return Vocabulary(learn_text(words, settings), labels=labels)
        text = WordTokenizer.train_on_words(words, settings.tokenizer.settings)
        spelt = task.spells(settings.tokenizer.name)
        characters = TOKENIZERS.load("char").train(words, TOKENIZERS.settings("char")()) if spelt else None
        return Vocabulary(text, char_tokenizer=characters, labels=labels)

    @classmethod
    def encode(cls, examples: Sequence[TaggedSentence], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        number = {**vocabulary.label_ids(), UNSCORED: NOT_SCORED}
        targets = [np.array([number.get(tag, UNKNOWN_TAG) for tag in example.tags]) for example in examples]
        if isinstance(vocabulary.tokenizer, WordTokenizer):
            inputs = [vocabulary.tokenizer.encode_words(example.words).astype(np.int64) for example in examples]
            if vocabulary.char_tokenizer is None:
                return ExampleSplit(examples, inputs, targets)
            place: dict[str, int] = {}
            words = [np.array([place.setdefault(word, len(place)) for word in one.words]) for one in examples]
            return ExampleSplit(
                examples,
                inputs,
                targets,
                words=words,
                spellings=encode_all(vocabulary.char_tokenizer, place, spaces=False),
            )
        pieces = [encode_all(vocabulary.tokenizer, example.words) for example in examples]
        ends = [np.cumsum([len(word) for word in words]) - 1 for words in pieces]
        return ExampleSplit(examples, [np.concatenate(words) for words in pieces], targets, ends=ends)

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Tagger:
        task = settings.task.settings_as(TagSettings)
        spelling, inputs = None, settings.model.embedding
        if task.spells(settings.tokenizer.name):
            spelling = Spelling(task.char_encoder, sizes.characters, task.char_embedding, task.char_width)
            inputs += task.char_width
        backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, inputs)
        return Tagger(settings.model, backbone, sizes, spelling, task.output_layer == "crf", task.word_dropout)

    def batch(self, split: str, seed: int, index: int) -> TagBatch:
        return tag_batch(self.splits[split], self._buckets[split].rows(seed, index))

    def loss(self, model: Tagger, batch: TagBatch, carry: State | None, step: int) -> Loss:
        scored_BW = batch.targets_BW != NOT_SCORED
        return Loss(tag_nats(model, emissions(model, batch), batch).sum(), max(1, int(scored_BW.sum())))

    @classmethod
    @torch.inference_mode()
    def predict(
        cls, model: Tagger, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings, **how: Any
    ) -> list[Tags]:
        sentences = [tuple(words_of(text, vocabulary)) for text in texts]
        part = cls.encode(
            [TaggedSentence(words, (UNSCORED,) * len(words)) for words in sentences], vocabulary, settings
        )
        found: dict[int, Tags] = {}
        for rows_B in passes(part, len(part)):
            batch = tag_batch(part, rows_B)
            scores_BWK = emissions(model, batch)
            chances_BWK = tag_chances(model, scores_BWK, batch)
            for at, (row, chosen) in enumerate(zip(rows_B, best_tags(model, scores_BWK, batch), strict=True)):
                words = list(sentences[row])
                tags = [vocabulary.labels[tag] for tag in chosen[: len(words)]]
                chances = [float(chances_BWK[at, place, chosen[place]]) for place in range(len(words))]
                found[int(row)] = Tags(texts[int(row)], words, tags, chances)
        return [found[row] for row in range(len(texts))]

    @torch.inference_mode()
    def score(self, model: Tagger, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        part = self.splits[split]
        count = within(part, limit)
        nats_U, tokens_U, right_U = np.zeros(count), np.zeros(count, dtype=int), np.zeros(count)
        spans_UK, charged = np.zeros((count, 3)), 0
        device = next(model.parameters()).device
        for rows_B in passes(part, count):
            batch = tag_batch(part, rows_B).to(device)
            scores_BWK = emissions(model, batch)
            nats_U[rows_B] = tag_nats(model, scores_BWK, batch).double().cpu().numpy()
            for row, chosen in zip(rows_B, best_tags(model, scores_BWK, batch), strict=True):
                gold = part.targets[row]
                scored = gold != NOT_SCORED
                tokens_U[row], right_U[row] = scored.sum(), (chosen[: len(gold)] == gold)[scored].sum()
                charged += int((gold >= 0).sum())
                if self.spans:
                    example: Any = part.examples[row]
                    tags = [self.vocabulary.labels[tag] for tag in chosen[: len(gold)]]
                    spans_UK[row] = scored_spans(example.tags, tags)
        sums_UK = spans_UK if self.spans else np.stack([right_U, tokens_U], 1)
        value = float(self.metric.value(sums_UK.sum(0)))
        shown = {self.headline: value, "accuracy": 100 * right_U.sum() / tokens_U.sum()}
        if self.spans:
            shown |= {"precision": float(precision(sums_UK.sum(0))), "recall": float(recall(sums_UK.sum(0)))}
        shown |= {"nats_per_tag": nats_U.sum() / max(1, charged), "tags": int(tokens_U.sum()), "sentences": count}
        return ExampleScores(nats_U, tokens_U, sums_UK, shown, 100 - value)

    def nats(self, model: Tagger, part: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        batch = tag_batch(part, rows_B).to(next(model.parameters()).device)
        return tag_nats(model, emissions(model, batch), batch).double().cpu().numpy()

    def score_baselines(self, dataset: ExampleDataset, part: str, units: Units) -> list[BaselineScore]:
        """Each word's most frequent tag, unknown words by their ending."""
        train: Any = dataset.data.splits["train"]
        model = FrequentTags.fit(train)
        sums, right, count = [], 0, 0
        held_out: Any = dataset.data.splits[part][: len(units[0])]
        for example, chosen in zip(held_out, model.predict([one.words for one in held_out]), strict=True):
            marks = [(a == b) for a, b in zip(example.tags, chosen, strict=True) if a != UNSCORED]
            right, count = right + sum(marks), count + len(marks)
            sums.append(scored_spans(example.tags, chosen) if self.spans else np.array([sum(marks), len(marks)]))
        return [
            self.baseline("most frequent tag", model.about, np.array(sums, dtype=float), accuracy=100 * right / count)
        ]


def scored_spans(gold: Sequence[str], chosen: Sequence[str]) -> np.ndarray:
    """Sums of entity F1; where nothing is said of a word, nothing that is said of it counts."""
    return span_sums(gold, [tag if true != UNSCORED else "O" for true, tag in zip(gold, chosen, strict=True)])


def tag_batch(part: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> TagBatch:
    ids_BT, mask_BT = padded([part.inputs[row] for row in rows_B])
    targets = [part.targets[row] for row in rows_B]
    targets_BW, _ = padded(targets, NOT_SCORED)
    kept_BW = np.arange(targets_BW.shape[1]) < np.array([len(one) for one in targets])[:, None]
    ends_BW = words_BW = spellings = None
    if part.ends:
        ends_BW, _ = padded([part.ends[row] for row in rows_B])
    if part.words:
        which_N, words = np.unique(np.concatenate([part.words[row] for row in rows_B]), return_inverse=True)
        words_BW = np.zeros_like(targets_BW)
        words_BW[kept_BW] = words
        characters_NC, mask_NC = padded([part.spellings[which] for which in which_N])
        mask_NC = np.ones_like(characters_NC, dtype=bool) if mask_NC is None else mask_NC
        spellings = tensor(characters_NC), tensor(mask_NC)
    return TagBatch(
        tensor(ids_BT),
        tensor(mask_BT),
        tensor(targets_BW),
        tensor(kept_BW),
        tensor(ends_BW),
        tensor(words_BW),
        spellings,
    )


def emissions(model: Tagger, batch: TagBatch) -> Tensor:
    return model(batch.inputs_BT, batch.mask_BT, batch.words_BW, batch.spellings, batch.ends_BW)


def tag_nats(model: Tagger, scores_BWK: Tensor, batch: TagBatch) -> Tensor:
    """Of each row. A tag that the model does not have cannot be charged, and is passed over."""
    targets_BW = batch.targets_BW.masked_fill(batch.targets_BW == UNKNOWN_TAG, NOT_SCORED)
    if model.chain is not None:
        return model.chain.nats(scores_BWK, targets_BW, batch.kept_BW)
    nats_BW = cross_entropy(scores_BWK.transpose(1, 2), targets_BW, ignore_index=NOT_SCORED, reduction="none")
    return nats_BW.sum(1)


def tag_chances(model: Tagger, scores_BWK: Tensor, batch: TagBatch) -> Tensor:
    """How probable each tag is at each word."""
    if model.chain is not None:
        return model.chain.marginals(scores_BWK, batch.kept_BW)
    return scores_BWK.softmax(2)


def words_of(text: str, vocabulary: Vocabulary) -> list[str]:
    """Words as tagged examples have them: cut at spaces and, where training does not know the word, at punctuation."""
    known = vocabulary.tokenizer.knows if isinstance(vocabulary.tokenizer, WordTokenizer) else lambda word: False
    return [word for part in text.split() for word in ([part] if known(part) else WORD.findall(part))] or [text]


def best_tags(model: Tagger, scores_BWK: Tensor, batch: TagBatch) -> np.ndarray:
    if model.chain is not None:
        return model.chain.best(scores_BWK, batch.kept_BW)[0].cpu().numpy()
    return scores_BWK.argmax(2).cpu().numpy()
