"""Tagging: a tag for every word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.baselines.frequent_tags import FrequentTags
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, State, Trace
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import UNSCORED, TaggedSentence
from seqlab.data.examples.tag_schemes import detect_scheme
from seqlab.data.text.batches import NOT_SCORED
from seqlab.distributed.group import gather_items, sum_array
from seqlab.distributed.world import joined
from seqlab.metrics.example_metric import ExampleMetric, accuracy, find_metric
from seqlab.metrics.spans import precision, recall
from seqlab.models.char_encoder import CharEncoder
from seqlab.models.tagger import Tagger
from seqlab.registry import BACKBONES, TOKENIZERS
from seqlab.tasks.example_settings import TagSettings
from seqlab.tasks.examples import (
    ExampleScores,
    ExampleTask,
    encode_all,
    mask_or_none,
    pad_rows,
    require_readable,
    train_tokenizer,
)
from seqlab.tasks.predictions import TagPrediction
from seqlab.tasks.task import MetricValues
from seqlab.tokenization.vocabulary import Vocabulary, sort_labels
from seqlab.tokenization.word import WordTokenizer

WORD = re.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|\w+(?:[-.]\w+)*|['’]\w+|[^\w\s]+")
UNKNOWN_TAG = -1  # a held-out tag that training does not have: never predicted


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

    def part(self, rows: slice) -> "TagBatch":
        """With the spellings of its own words."""
        if self.words_BW is None or self.spellings is None:
            return super().part(rows)
        used_N, words_BW = torch.unique(self.words_BW[rows], return_inverse=True)
        characters_NC, mask_NC = self.spellings
        part = replace(self, words_BW=None, spellings=None).part(rows)
        return replace(part, words_BW=words_BW, spellings=(characters_NC[used_N], mask_NC[used_N]))


class TagTask(ExampleTask):
    """Judged by the spans that tags such as B-person mark or, without spans, by the percentage of correct tags."""

    name = "tag"
    predicts = "tags"
    model_kind = "tagger"
    reading = "seqlab.inspection.tagger_reading:TaggerReading"
    loss_unit = "nats"
    unit = "word"
    wordings: ClassVar = {
        "accuracy": "{accuracy:.1f}% of the words tagged correctly",
        "entity_f1": "entity F1 {entity_f1:.1f}",
    }
    baselines: ClassVar = (("most frequent tag of each word", "main", FrequentTags),)

    def _example_metric(self) -> ExampleMetric:
        name, marks_spans = self.settings.metric, detect_scheme([self.vocabulary.labels]) is not None
        if name == "auto":
            name = "entity_f1" if marks_spans else "accuracy"
        self.reported_metrics = ("accuracy", "precision", "recall") if name == "entity_f1" else ("accuracy",)
        return find_metric(name, self.predicts)

    @classmethod
    def build_vocabulary(cls, examples: Sequence[TaggedSentence], settings: RunSettings) -> Vocabulary:
        labels = sort_labels([tag for example in examples for tag in example.tags if tag != UNSCORED])
        words = [word for example in examples for word in example.words]
        task = settings.task.settings_as(TagSettings)
        if settings.tokenizer.name != "word":
            return Vocabulary(train_tokenizer(words, settings), labels=labels)
        text = WordTokenizer.train_on_words(words, settings.tokenizer.settings)
        spelled = task.spells(settings.tokenizer.name)
        characters = TOKENIZERS.load("char").train(words, TOKENIZERS.settings("char")()) if spelled else None
        return Vocabulary(text, char_tokenizer=characters, labels=labels)

    @classmethod
    def encode(cls, examples: Sequence[TaggedSentence], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        number = {**vocabulary.label_ids(), UNSCORED: NOT_SCORED}
        targets = [np.array([number.get(tag, UNKNOWN_TAG) for tag in example.tags]) for example in examples]
        if isinstance(vocabulary.tokenizer, WordTokenizer):
            inputs = [vocabulary.tokenizer.encode_words(example.words).astype(np.int64) for example in examples]
            if vocabulary.char_tokenizer is None:
                return ExampleSplit(examples, inputs, targets)
            index: dict[str, int] = {}
            words = [np.array([index.setdefault(word, len(index)) for word in example.words]) for example in examples]
            spellings = encode_all(vocabulary.char_tokenizer, index, spaces=False)
            return ExampleSplit(examples, inputs, targets, words=words, spellings=spellings)
        pieces = [encode_all(vocabulary.tokenizer, example.words) for example in examples]
        ends = [np.cumsum([len(word) for word in words]) - 1 for words in pieces]
        return ExampleSplit(examples, [np.concatenate(words) for words in pieces], targets, ends=ends)

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Tagger:
        task = settings.task.settings_as(TagSettings)
        spelling, inputs = None, settings.model.embedding
        if task.spells(settings.tokenizer.name):
            spelling = CharEncoder(task.char_encoder, sizes.characters, task.char_embedding, task.char_width)
            inputs += task.char_width
        backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, inputs)
        return Tagger(settings.model, backbone, sizes, spelling, task.output_layer == "crf", task.word_dropout)

    def batch(self, split: str, seed: int, index: int) -> TagBatch:
        return tag_batch(self.splits[split], self._batches[split].rows(seed, index))

    def loss(self, model: Tagger, batch: TagBatch, carry: State | None, step: int) -> Loss:
        scored_BW = batch.targets_BW != NOT_SCORED
        return Loss(tag_nats(model, emissions(model, batch), batch).sum(), int(scored_BW.sum()))

    @classmethod
    def can_read(cls, text: Any) -> bool:
        """A text, or a list of words."""
        if isinstance(text, list | tuple):
            return bool(text) and all(map(super().can_read, text))
        return super().can_read(text)

    @classmethod
    def without_answers(cls, texts: Sequence[str | Sequence[str]], vocabulary: Vocabulary) -> list[TaggedSentence]:
        sentences = [tuple(split_words(text, vocabulary) if isinstance(text, str) else text) for text in texts]
        return [TaggedSentence(words, (UNSCORED,) * len(words)) for words in sentences]

    @classmethod
    @torch.inference_mode()
    def predict(
        cls,
        model: Tagger,
        texts: Sequence[str | Sequence[str]],
        vocabulary: Vocabulary,
        settings: RunSettings,
        **options: Any,
    ) -> list[TagPrediction]:
        """Tags of texts, and of sentences that are given as their words."""
        examples = cls.without_answers(texts, vocabulary)
        split = cls.encode(examples, vocabulary, settings)
        require_readable(split.longest_N, settings.task.settings_as(TagSettings).max_length, "text")
        predictions: dict[int, TagPrediction] = {}
        for rows_B in split.scoring_batches(len(split)):
            batch = tag_batch(split, rows_B)
            scores_BWK = emissions(model, batch)
            probabilities_BWK = tag_logprobs(model, scores_BWK, batch).exp()
            for at, (row, chosen) in enumerate(zip(rows_B, best_tags(model, scores_BWK, batch), strict=True)):
                words, given = list(examples[row].words), texts[int(row)]
                text = given if isinstance(given, str) else " ".join(words)
                tags = [vocabulary.labels[tag] for tag in chosen[: len(words)]]
                probabilities = [float(probabilities_BWK[at, word, chosen[word]]) for word in range(len(words))]
                predictions[int(row)] = TagPrediction(text, words, tags, probabilities)
        return [predictions[row] for row in range(len(texts))]

    @torch.inference_mode()
    def score(self, model: Tagger, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        data = self.scored_split(split)
        count = data.count_within(limit)
        nats_U, found = np.zeros(count), dict[int, list[int]]()
        device = next(model.parameters()).device
        for rows_B in joined().part(data.scoring_batches(count)):
            batch = tag_batch(data, rows_B).to(device)
            scores_BWK = emissions(model, batch)
            nats_U[rows_B] = tag_nats(model, scores_BWK, batch).double().cpu().numpy()
            for row, tags in zip(rows_B.tolist(), best_tags(model, scores_BWK, batch), strict=True):
                found[row] = tags[: len(data.targets[row])].tolist()
        nats_U, found = sum_array(nats_U), gather_items(found)
        predicted = [[self.vocabulary.labels[tag] for tag in found[row]] for row in range(count)]
        sums_UK, metrics = self.compare(data.examples[:count], predicted)
        tokens_U = np.array([int((target != NOT_SCORED).sum()) for target in data.targets[:count]])
        known = sum(int((target >= 0).sum()) for target in data.targets[:count])
        metrics |= {"nats_per_tag": nats_U.sum() / max(1, known), "tags": int(tokens_U.sum()), "sentences": count}
        return ExampleScores(nats_U, tokens_U, sums_UK, metrics, self.metric.cost(metrics[self.metric.key]))

    def nats(self, model: Tagger, split: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        batch = tag_batch(split, rows_B).to(next(model.parameters()).device)
        return tag_nats(model, emissions(model, batch), batch).double().cpu().numpy()

    def compare(self, examples: Sequence[Any], predicted: Sequence[Sequence[str]]) -> tuple[np.ndarray, MetricValues]:
        """Predicted tags of words without a gold tag are left out."""
        gold = [example.tags for example in examples]
        predicted = [
            [UNSCORED if gold_tag == UNSCORED else tag for gold_tag, tag in zip(gold_tags, tags, strict=True)]
            for gold_tags, tags in zip(gold, predicted, strict=True)
        ]
        sums_UK = self.example_metric.sums(gold, predicted)
        metrics = {self.metric.key: self.value(sums_UK), "accuracy": accuracy.value(gold, predicted)}
        if self.metric.key == "entity_f1":
            metrics |= {"precision": float(precision(sums_UK.sum(0))), "recall": float(recall(sums_UK.sum(0)))}
        return sums_UK, metrics


def tag_batch(split: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> TagBatch:
    ids_BT, mask_BT = pad_rows([split.inputs[row] for row in rows_B])
    targets_BW, kept_BW = pad_rows([split.targets[row] for row in rows_B], NOT_SCORED)
    ends_BW = pad_rows([split.ends[row] for row in rows_B])[0] if split.ends else None
    words_BW = spellings = None
    if split.words:
        distinct_N, words = np.unique(np.concatenate([split.words[row] for row in rows_B]), return_inverse=True)
        words_BW = torch.zeros_like(targets_BW)
        words_BW[kept_BW] = torch.from_numpy(words)
        spellings = pad_rows([split.spellings[word] for word in distinct_N])
    return TagBatch(ids_BT, mask_or_none(mask_BT), targets_BW, kept_BW, ends_BW, words_BW, spellings)


def emissions(model: Tagger, batch: TagBatch, trace: Trace | None = None) -> Tensor:
    return model(batch.inputs_BT, batch.mask_BT, batch.words_BW, batch.spellings, batch.ends_BW, trace)


def tag_nats(model: Tagger, scores_BWK: Tensor, batch: TagBatch) -> Tensor:
    """The loss of each row. A tag that the model does not have has no probability, and is left out."""
    targets_BW = batch.targets_BW.masked_fill(batch.targets_BW == UNKNOWN_TAG, NOT_SCORED)
    if model.chain is not None:
        return model.chain.nats(scores_BWK, targets_BW, batch.kept_BW)
    nats_BW = cross_entropy(scores_BWK.transpose(1, 2), targets_BW, ignore_index=NOT_SCORED, reduction="none")
    return nats_BW.sum(1)


def tag_logprobs(model: Tagger, scores_BWK: Tensor, batch: TagBatch) -> Tensor:
    """The log-probability of each tag at each word, whatever the tags of the others; not of padding."""
    if model.chain is not None:
        return model.chain.log_marginals(scores_BWK, batch.kept_BW)
    return scores_BWK.log_softmax(2)


def split_words(text: str, vocabulary: Vocabulary) -> list[str]:
    """Words as in tagged examples: split at spaces, and at punctuation unless the vocabulary has the word as it is."""
    known = vocabulary.tokenizer.knows if isinstance(vocabulary.tokenizer, WordTokenizer) else lambda word: False
    return [word for chunk in text.split() for word in ([chunk] if known(chunk) else WORD.findall(chunk))] or [text]


def best_tags(model: Tagger, scores_BWK: Tensor, batch: TagBatch) -> np.ndarray:
    if model.chain is not None:
        return model.chain.best(scores_BWK, batch.kept_BW)[0].cpu().numpy()
    return scores_BWK.argmax(2).cpu().numpy()
