"""Classification: one label for a whole text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.baselines.majority import Majority
from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, State, Trace
from seqlab.data.examples.encoded import ExampleSplit, padded
from seqlab.data.examples.example import LabeledText
from seqlab.metrics.labels import accuracy, macro_f1
from seqlab.metrics.named import ACCURACY
from seqlab.models.classifier import Classifier
from seqlab.registry import BACKBONES
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.example_settings import ClassifySettings
from seqlab.tasks.examples import ExampleScores, ExampleTask, encode_all, learn_text, passes, tensor, within
from seqlab.tasks.predictions import Label
from seqlab.tasks.task import BaselineScore, Units
from seqlab.tokenization.vocabulary import Vocabulary, sort_labels

UNKNOWN_LABEL = -1  # of a file that is only scored: never right


@dataclass(frozen=True)
class LabelBatch(Batch):
    inputs_BT: Tensor
    mask_BT: Tensor | None
    targets_B: Tensor


class ClassifyTask(ExampleTask):
    name = "classify"
    kind = "classifier"
    headline = "accuracy"
    metric = ACCURACY

    @classmethod
    def learn(cls, examples: Sequence[LabeledText], settings: RunSettings) -> Vocabulary:
        labels = sort_labels([example.label for example in examples])
        return Vocabulary(learn_text((example.text for example in examples), settings), labels=labels)

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
        return label_batch(self.splits[split], self._buckets[split].rows(seed, index))

    def loss(self, model: Classifier, batch: LabelBatch, carry: State | None, step: int) -> Loss:
        logits_BK = model(batch.inputs_BT, batch.mask_BT)
        return Loss(cross_entropy(logits_BK, batch.targets_B, reduction="sum"), len(logits_BK))

    @classmethod
    @torch.inference_mode()
    def predict(
        cls, model: Classifier, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings, **how: Any
    ) -> list[Label]:
        part = cls.encode([LabeledText(text, "") for text in texts], vocabulary, settings)
        found: dict[int, Label] = {}
        for rows_B in passes(part, len(part)):
            batch = label_batch(part, rows_B)
            trace = Trace() if model.how == "attention" else None
            chances_BK = model(batch.inputs_BT, batch.mask_BT, trace).softmax(1)
            for at, row in enumerate(rows_B):
                order = chances_BK[at].argsort(descending=True, stable=True).tolist()
                chances = {vocabulary.labels[label]: float(chances_BK[at, label]) for label in order}
                weights = None
                if trace is not None:
                    pieces = [vocabulary.tokenizer.decode([token]).strip() for token in part.inputs[row]]
                    weights = list(zip(pieces, trace.values["pooling.weights"][0][at].tolist(), strict=False))
                found[int(row)] = Label(texts[int(row)], vocabulary.labels[order[0]], chances, weights)
        return [found[row] for row in range(len(texts))]

    @torch.inference_mode()
    def score(self, model: Classifier, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        part = self.splits[split]
        count = within(part, limit)
        nats_U, chosen_U = np.zeros(count), np.zeros(count, dtype=int)
        device = next(model.parameters()).device
        for rows_B in passes(part, count):
            batch = label_batch(part, rows_B).to(device)
            logits_BK = model(batch.inputs_BT, batch.mask_BT).double()
            nats_U[rows_B] = label_nats(logits_BK, batch.targets_B).cpu().numpy()
            chosen_U[rows_B] = logits_BK.argmax(1).cpu().numpy()
        gold_U = np.array([int(target[0]) for target in part.targets[:count]])
        right_U = (chosen_U == gold_U).astype(float)
        sums_UK = np.stack([right_U, np.ones(count)], 1)
        shown = {
            "accuracy": float(accuracy(sums_UK.sum(0))),
            "macro_f1": macro_f1([str(one) for one in gold_U], [str(one) for one in chosen_U]),
            "nats_per_example": float(nats_U.mean()),
            "examples": count,
        }
        return ExampleScores(nats_U, np.ones(count, dtype=int), sums_UK, shown, 100 - shown["accuracy"])

    def nats(self, model: Classifier, part: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        batch = label_batch(part, rows_B).to(next(model.parameters()).device)
        return label_nats(model(batch.inputs_BT, batch.mask_BT).double(), batch.targets_B).cpu().numpy()

    def score_baselines(self, dataset: ExampleDataset, part: str, units: Units) -> list[BaselineScore]:
        """The most frequent label, and naive Bayes."""
        train: Any = dataset.data.splits["train"]
        held_out: Any = dataset.data.splits[part][: len(units[0])]
        gold = [example.label for example in held_out]
        found = []
        for name, model in (("majority", Majority.fit(train)), ("naive Bayes", NaiveBayes.fit(train))):
            chosen = model.predict([example.text for example in held_out])
            right_U = np.array([a == b for a, b in zip(gold, chosen, strict=True)], dtype=float)
            sums_UK = np.stack([right_U, np.ones(len(gold))], 1)
            found.append(self.baseline(name, model.about, sums_UK, macro_f1=macro_f1(gold, chosen)))
        return found


def label_batch(part: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> LabelBatch:
    ids_BT, mask_BT = padded([part.inputs[row] for row in rows_B])
    targets_B = np.array([part.targets[row][0] for row in rows_B])
    return LabelBatch(tensor(ids_BT), tensor(mask_BT), tensor(targets_B))


def label_nats(logits_BK: Tensor, targets_B: Tensor) -> Tensor:
    """A label that the model does not have is charged as the least likely one that it has."""
    logprobs_BK = logits_BK.log_softmax(1)
    nats_B = -logprobs_BK.gather(1, targets_B.clamp(min=0)[:, None])[:, 0]
    return torch.where(targets_B >= 0, nats_B, -logprobs_BK.amin(1))
