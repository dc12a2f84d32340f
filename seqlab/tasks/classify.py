"""Classification: one label for a whole text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.baselines.majority import Majority
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, State, Trace
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import LabeledText
from seqlab.distributed.group import sum_array
from seqlab.distributed.world import joined
from seqlab.metrics.example_metric import accuracy
from seqlab.metrics.labels import macro_f1
from seqlab.models.classifier import Classifier
from seqlab.registry import BACKBONES
from seqlab.tasks.example_settings import ClassifySettings
from seqlab.tasks.examples import (
    ExampleScores,
    ExampleTask,
    encode_all,
    mask_or_none,
    pad_rows,
    require_readable,
    train_tokenizer,
)
from seqlab.tasks.predictions import LabelPrediction
from seqlab.tasks.task import MetricValues
from seqlab.tokenization.vocabulary import Vocabulary, sort_labels

UNKNOWN_LABEL = -1  # a label that training does not have, in a file that is only scored: never predicted


@dataclass(frozen=True)
class LabelBatch(Batch):
    inputs_BT: Tensor
    mask_BT: Tensor | None
    targets_B: Tensor


class ClassifyTask(ExampleTask):
    name = "classify"
    predicts = "labels"
    model_kind = "classifier"
    reading = "seqlab.inspection.text_readings:ClassifierReading"
    loss_unit = "nats"
    unit = "text"
    reported_metrics = ("accuracy", "macro_f1")
    wordings: ClassVar = {"accuracy": "{accuracy:.1f}% of the texts labeled correctly"}
    baselines: ClassVar = (("majority", "reference", Majority), ("naive Bayes", "main", NaiveBayes))

    @classmethod
    def build_vocabulary(cls, examples: Sequence[LabeledText], settings: RunSettings) -> Vocabulary:
        labels = sort_labels([example.label for example in examples])
        return Vocabulary(train_tokenizer((example.text for example in examples), settings), labels=labels)

    @classmethod
    def encode(cls, examples: Sequence[LabeledText], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        number = vocabulary.label_ids()
        inputs = encode_all(vocabulary.tokenizer, (example.text for example in examples))
        targets = [np.array([number.get(example.label, UNKNOWN_LABEL)]) for example in examples]
        return ExampleSplit(examples, inputs, targets)

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Classifier:
        task = settings.task.settings_as(ClassifySettings)
        backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, settings.model.embedding)
        return Classifier(settings.model, backbone, sizes, task.pooling, task.word_dropout)

    def batch(self, split: str, seed: int, index: int) -> LabelBatch:
        return label_batch(self.splits[split], self._batches[split].rows(seed, index))

    def loss(self, model: Classifier, batch: LabelBatch, carry: State | None, step: int) -> Loss:
        logits_BK = model(batch.inputs_BT, batch.mask_BT)
        return Loss(cross_entropy(logits_BK, batch.targets_B, reduction="sum"), len(logits_BK))

    @classmethod
    def without_answers(cls, texts: Sequence[str], vocabulary: Vocabulary) -> list[LabeledText]:
        return [LabeledText(text, "") for text in texts]

    @classmethod
    @torch.inference_mode()
    def predict(
        cls, model: Classifier, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings, **options: Any
    ) -> list[LabelPrediction]:
        split = cls.encode(cls.without_answers(texts, vocabulary), vocabulary, settings)
        require_readable(split.longest_N, settings.task.settings_as(ClassifySettings).max_length, "text")
        predictions: dict[int, LabelPrediction] = {}
        for rows_B in split.scoring_batches(len(split)):
            batch = label_batch(split, rows_B)
            trace = Trace() if model.pooling_kind == "attention" else None
            probabilities_BK = model(batch.inputs_BT, batch.mask_BT, trace).softmax(1)
            for at, row in enumerate(rows_B):
                order = probabilities_BK[at].argsort(descending=True, stable=True).tolist()
                probabilities = {vocabulary.labels[label]: float(probabilities_BK[at, label]) for label in order}
                weights = None
                if trace is not None:
                    tokens = [vocabulary.tokenizer.decode([token]).strip() for token in split.inputs[row]]
                    weights = list(zip(tokens, trace["pooling"][at].tolist(), strict=False))
                label = vocabulary.labels[order[0]]
                predictions[int(row)] = LabelPrediction(texts[int(row)], label, probabilities, weights)
        return [predictions[row] for row in range(len(texts))]

    @torch.inference_mode()
    def score(self, model: Classifier, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        data = self.scored_split(split)
        count = data.count_within(limit)
        nats_U, labels_U = np.zeros(count), np.zeros(count, dtype=int)
        for rows_B in joined().part(data.scoring_batches(count)):
            nats_U[rows_B], labels_U[rows_B] = score_labels(model, data, rows_B)
        nats_U, labels_U = sum_array(nats_U), sum_array(labels_U)
        sums_UK, metrics = self.compare(data.examples[:count], [self.vocabulary.labels[label] for label in labels_U])
        metrics |= {"nats_per_example": float(nats_U.mean()), "examples": count}
        selection = self.metric.cost(metrics[self.metric.key])
        return ExampleScores(nats_U, np.ones(count, dtype=int), sums_UK, metrics, selection)

    def nats(self, model: Classifier, split: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        return score_labels(model, split, rows_B)[0]

    def compare(self, examples: Sequence[Any], predicted: Sequence[str]) -> tuple[np.ndarray, MetricValues]:
        gold = [example.label for example in examples]
        sums_UK = self.example_metric.sums(gold, predicted)
        return sums_UK, {
            self.metric.key: self.value(sums_UK),
            "accuracy": accuracy.value(gold, predicted),
            "macro_f1": macro_f1(gold, predicted),
        }


def score_labels(model: Classifier, split: ExampleSplit, rows_B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The loss of each of these texts, run as one batch, and its most probable label."""
    batch = label_batch(split, rows_B).to(next(model.parameters()).device)
    logits_BK = model(batch.inputs_BT, batch.mask_BT).double()
    return label_nats(logits_BK, batch.targets_B).cpu().numpy(), logits_BK.argmax(1).cpu().numpy()


def label_batch(split: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> LabelBatch:
    ids_BT, mask_BT = pad_rows([split.inputs[row] for row in rows_B])
    targets_B = torch.tensor([int(split.targets[row][0]) for row in rows_B])
    return LabelBatch(ids_BT, mask_or_none(mask_BT), targets_B)


def label_nats(logits_BK: Tensor, targets_B: Tensor) -> Tensor:
    """The loss of each row; an unknown label costs as much as the least likely known one."""
    logprobs_BK = logits_BK.log_softmax(1)
    nats_B = -logprobs_BK.gather(1, targets_B.clamp(min=0)[:, None])[:, 0]
    return torch.where(targets_B >= 0, nats_B, -logprobs_BK.amin(1))
