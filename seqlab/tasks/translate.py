"""Translation: one text to another, trained on pairs and judged by free-running search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.backbones.attention_decoder import AttentionDecoder
from seqlab.baselines.dictionary import Copy, Dictionary
from seqlab.baselines.role import BaselineRole
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Backbone, Batch, Loss, State
from seqlab.data.examples.encoded import ExampleSplit, pad_rows
from seqlab.data.examples.example import TextPair
from seqlab.data.text.batches import NOT_SCORED
from seqlab.decode.translation import attention_weights, search, translate
from seqlab.metrics.bleu import Bleu
from seqlab.metrics.example_metric import ExampleMetric, bleu, chrf, exact
from seqlab.models.translator import SourceBatch, Translator
from seqlab.registry import BACKBONES
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tasks.examples import (
    ExampleScores,
    ExampleTask,
    count_within,
    encode_all,
    scoring_batches,
    to_tensor,
    train_tokenizer,
)
from seqlab.tasks.predictions import Translation
from seqlab.tasks.task import BaselineScore, MetricValues, UnitSums
from seqlab.tokenization.vocabulary import Vocabulary


@dataclass(frozen=True)
class PairBatch(Batch):
    """Targets are the inputs shifted by one: the first input is the begin symbol, the last target the end symbol."""

    source: SourceBatch
    inputs_BT: Tensor
    targets_BT: Tensor
    mask_BT: Tensor | None


class TranslateTask(ExampleTask):
    name = "translate"
    predicts = "texts"
    model_kind = "translator"
    settings: TranslateSettings  # pyright: ignore[reportIncompatibleVariableOverride]

    def _example_metric(self) -> ExampleMetric:
        return bleu(self.settings.bleu_tokenizer) if self.settings.metric == "bleu" else super()._example_metric()

    @property
    def signature(self) -> str | None:
        """How sacrebleu computes BLEU, if that is the metric."""
        return Bleu(self.settings.bleu_tokenizer).signature if self.metric.key == "bleu" else None

    @property
    def reported_metrics(self) -> Sequence[str]:
        return ("chrf", "exact")

    def wording(self, metrics: Mapping[str, float]) -> str:
        match self.metric.key:
            case "bleu":
                same = f", {metrics['exact']:.0f} % of the sentences identical to the reference"
                return f"BLEU {metrics['bleu']:.1f}{same}"
            case "exact":
                return f"{metrics['exact']:.1f} % of the texts identical to the reference"
            case _:
                return super().wording(metrics)

    @classmethod
    def build_vocabulary(cls, examples: Sequence[TextPair], settings: RunSettings) -> Vocabulary:
        task = settings.task.settings_as(TranslateSettings)
        sources, targets = [one.source for one in examples], [one.target for one in examples]
        if task.shared_vocabulary:
            both = train_tokenizer([*sources, *targets], settings, documents=True)
            return Vocabulary(both, target_tokenizer=both)
        target = train_tokenizer(targets, settings, documents=True)
        return Vocabulary(train_tokenizer(sources, settings), target_tokenizer=target)

    @classmethod
    def encode(cls, examples: Sequence[TextPair], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        target = vocabulary.target_tokenizer
        assert target is not None and target.begin is not None and target.end is not None
        around = [target.begin], [target.end]
        written = encode_all(target, (one.target for one in examples))
        targets = [np.concatenate([around[0], ids, around[1]]) for ids in written]
        return ExampleSplit(examples, encode_all(vocabulary.tokenizer, (one.source for one in examples)), targets)

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Translator:
        task = settings.task.settings_as(TranslateSettings)
        inputs = settings.model.embedding
        encoder = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, inputs)
        decoder = _decoder(settings, task, inputs, encoder.width)
        return Translator(settings.model, encoder, decoder, sizes, task.shared_vocabulary, task.word_dropout)

    def batch(self, split: str, seed: int, index: int) -> PairBatch:
        return pair_batch(self.splits[split], self._buckets[split].rows(seed, index))

    def loss(self, model: Translator, batch: PairBatch, carry: State | None, step: int) -> Loss:
        teacher_ratio = teacher_forcing_ratio(self.settings, step)
        if teacher_ratio == 1:
            logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        else:
            logits_BTV = free_running_logits(model, batch, teacher_ratio)
        total = cross_entropy(
            logits_BTV.flatten(0, 1),
            batch.targets_BT.flatten(),
            ignore_index=NOT_SCORED,
            reduction="sum",
            label_smoothing=self.settings.label_smoothing,
        )
        return Loss(total, int((batch.targets_BT != NOT_SCORED).sum()))

    @classmethod
    @torch.inference_mode()
    def predict(
        cls,
        model: Translator,
        texts: Sequence[str],
        vocabulary: Vocabulary,
        settings: RunSettings,
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int = 1,
        weights: bool = False,
        **options: Any,
    ) -> list[Translation]:
        task = settings.task.settings_as(TranslateSettings)
        width, power = max(beam or task.beam, n_best), task.length_penalty if length_penalty is None else length_penalty
        sources = encode_all(vocabulary.tokenizer, texts)
        translations = []
        for text, source in zip(texts, sources, strict=True):
            first, *others = search(model, source, vocabulary, width, power, task.max_target_length, n_best)
            attention = attention_weights(model, source, first.tokens, vocabulary) if weights else {}
            more = [(other.text, other.score) for other in others]
            translations.append(Translation(text, first.text, first.score, first.logprob, more, **attention))
        return translations

    @torch.inference_mode()
    def validate(self, model: Translator, limit: int) -> ExampleScores:
        """The loss with teacher forcing alone: searching for translations takes a hundred times as long."""
        data = self.splits["validation"]
        nats_U, tokens_U = self._nats(model, data, count_within(data, limit))
        return ExampleScores(nats_U, tokens_U, np.zeros((len(nats_U), 2)), {})

    @torch.inference_mode()
    def score(self, model: Translator, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        """By the search that the settings describe; the loss is the one with teacher forcing."""
        data = self.splits[split]
        count = count_within(data, limit)
        nats_U, tokens_U = self._nats(model, data, count)
        outputs = translate(
            model,
            data.inputs[:count],
            self.vocabulary,
            self.settings.beam,
            self.settings.length_penalty,
            self.settings.max_target_length,
        )
        sums_UK, metrics = self._compare(data.examples[:count], [output.text for output in outputs])
        per_token = nats_U.sum() / tokens_U.sum()
        metrics |= {"nats_per_token": per_token, "perplexity": math.exp(min(per_token, 700)), "sentences": count}
        return ExampleScores(nats_U, tokens_U, sums_UK, metrics)

    def _compare(self, examples: Sequence[Any], predicted: Sequence[str]) -> tuple[np.ndarray, MetricValues]:
        """The sums of the metric, and all metrics of these translations."""
        gold = [pair.target for pair in examples]
        sums_UK = self.example_metric.sums(gold, predicted)
        return sums_UK, {
            self.metric.key: self.value(sums_UK),
            **{
                metric.description.key: float(metric.description.value(metric.sums(gold, predicted).sum(0)))
                for metric in (chrf, exact)
            },
        }

    def nats(self, model: Translator, split: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        """The loss of the reference with teacher forcing."""
        batch = pair_batch(split, rows_B).to(next(model.parameters()).device)
        logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        nats_BT = cross_entropy(logits_BTV.transpose(1, 2), batch.targets_BT, ignore_index=NOT_SCORED, reduction="none")
        return nats_BT.double().sum(1).cpu().numpy()

    def _nats(self, model: Translator, split: ExampleSplit, count: int) -> tuple[np.ndarray, np.ndarray]:
        nats_U = np.zeros(count)
        for rows_B in scoring_batches(split, count):
            nats_U[rows_B] = self.nats(model, split, rows_B)
        return nats_U, split.target_lengths_N[:count] - 1  # the begin symbol is not predicted

    def score_baselines(self, dataset: ExampleDataset, split: str, units: UnitSums) -> list[BaselineScore]:
        """The source unchanged, and a word-by-word dictionary learned from the training pairs."""
        train: Any = dataset.data.splits["train"]
        held_out: Any = dataset.data.splits[split][: len(units.sums_UK)]
        models: list[tuple[str, BaselineRole, Any]] = [
            ("copy", "reference", Copy()),
            ("dictionary", "main", Dictionary.fit(train)),
        ]
        scores = []
        for name, role, model in models:
            sums_UK, metrics = self._compare(held_out, [model.translate(pair.source) for pair in held_out])
            scores.append(self.baseline(name, model.about, role, sums_UK, metrics))
        return scores


def _decoder(settings: RunSettings, task: TranslateSettings, inputs: int, memory: int) -> Backbone:
    """A decoder that attends to the source by itself, or one that an AttentionDecoder wraps."""
    assert settings.decoder is not None
    decoder, cls = settings.decoder.settings, BACKBONES.load(settings.decoder.name)
    if decoder.cross_attends:
        return cls(decoder, inputs, memory)
    return AttentionDecoder(task.reader, cls, decoder, inputs, memory)


def pair_batch(split: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> PairBatch:
    source_BS, mask_BS = pad_rows([split.inputs[row] for row in rows_B])
    mask_BS = np.ones_like(source_BS, dtype=bool) if mask_BS is None else mask_BS
    inputs_BT, mask_BT = pad_rows([split.targets[row][:-1] for row in rows_B])
    targets_BT, _ = pad_rows([split.targets[row][1:] for row in rows_B], NOT_SCORED)
    source = SourceBatch(to_tensor(source_BS), to_tensor(mask_BS))
    return PairBatch(source, to_tensor(inputs_BT), to_tensor(targets_BT), to_tensor(mask_BT))


def teacher_forcing_ratio(settings: TranslateSettings, step: int) -> float:
    """The probability that the decoder reads the true token at a position (Bengio et al. 2015, section 2.4)."""
    if settings.forcing != "scheduled":
        return 1.0 if settings.forcing == "teacher" else 0.0
    match settings.decay:
        case "constant":
            return settings.teacher_ratio
        case "linear":
            return max(settings.teacher_ratio, 1 - (1 - settings.teacher_ratio) * step / settings.decay_steps)
        case "inverse-sigmoid":
            k = _inverse_sigmoid_k(settings.decay_steps)
            return k / (k + math.exp(min(step / k, 700)))


def _inverse_sigmoid_k(steps: int) -> float:
    """The k of k / (k + exp(i / k)) that is one half at i = `steps`: k ln k = steps."""
    k = max(2.0, steps / math.log(steps + 2))
    for _ in range(50):  # Newton's method
        k = max(1.0 + 1e-9, k - (k * math.log(k) - steps) / (math.log(k) + 1))
    return k


def free_running_logits(model: Translator, batch: PairBatch, teacher_ratio: float) -> Tensor:
    """The logits of a decoder that reads the true token with this probability, else the one that it predicted."""
    state, token_B = model.start(batch.source), batch.inputs_BT[:, 0]
    logits: list[Tensor] = []
    for t in range(batch.inputs_BT.shape[1]):
        if t:
            true_B = torch.rand(len(token_B), device=token_B.device) < teacher_ratio
            token_B = torch.where(true_B, batch.inputs_BT[:, t], logits[-1].detach().argmax(1))
        logits_BV, state = model.step(token_B, state)
        logits.append(logits_BV)
    return torch.stack(logits, dim=1)
