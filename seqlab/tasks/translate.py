"""Translation: one text to another, trained on pairs and judged by free-running search."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.special import lambertw
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.backbones.attention_decoder import AttentionDecoder
from seqlab.baselines.dictionary import Copy, Dictionary
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Batch, Loss, State
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import TextPair
from seqlab.data.text.batches import NOT_SCORED
from seqlab.decode.limits import MAX_BEAM, require_between
from seqlab.decode.translation import attention_weights, search, translate
from seqlab.distributed.group import sum_array
from seqlab.distributed.rows import rand_rows
from seqlab.distributed.world import joined
from seqlab.errors import refuse_given
from seqlab.metrics.bleu import bleu_signature
from seqlab.metrics.example_metric import ExampleMetric, bleu, chrf, exact
from seqlab.models.translator import SourceBatch, Translator
from seqlab.registry import BACKBONES
from seqlab.tasks.dataset import ExampleDataset, Log
from seqlab.tasks.example_settings import LONGEST_TARGET, ROOM, ROOM_FACTOR, TranslateSettings
from seqlab.tasks.examples import (
    ExampleScores,
    ExampleTask,
    encode_all,
    mask_or_none,
    pad_rows,
    require_readable,
    train_tokenizer,
)
from seqlab.tasks.predictions import Translation
from seqlab.tasks.task import MetricValues
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.wording import counted


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
    reading = "seqlab.inspection.translator_reading:TranslatorReading"
    reported_metrics = ("chrf", "exact")
    wordings: ClassVar = {
        "bleu": "BLEU {bleu:.1f}, {exact:.0f}% of the sentences identical to the reference",
        "exact": "{exact:.1f}% of the texts identical to the reference",
    }
    baselines: ClassVar = (("copy", "reference", Copy), ("dictionary", "main", Dictionary))
    settings: TranslateSettings  # pyright: ignore[reportIncompatibleVariableOverride]

    def _example_metric(self) -> ExampleMetric:
        return bleu(self.settings.bleu_tokenizer) if self.settings.metric == "bleu" else super()._example_metric()

    def wording(self, metrics: Mapping[str, float]) -> str:
        cut = int(metrics.get("truncated", 0))
        limits = "their longest allowed length (task.max_target_length, task.max_target_ratio)"
        said = f"; {cut:,} of {int(metrics['sentences']):,} translations were cut off at {limits}" if cut else ""
        return super().wording(metrics) + said

    @property
    def signature(self) -> str | None:
        """How sacrebleu computes BLEU, if that is the metric."""
        return bleu_signature(self.settings.bleu_tokenizer) if self.metric.key == "bleu" else None

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: ExampleDataset, log: Log) -> RunSettings:
        """Limits that are not set follow from the training pairs, with room for longer ones."""
        settings = super().fit_settings(settings, dataset, log)
        task, train = settings.task.settings_as(TranslateSettings), dataset.splits["train"]
        read_N = train.longest_N <= task.max_length
        targets_N = train.target_lengths_N[read_N] - 1  # with the end token, without the begin token
        ratios_N = targets_N / np.maximum(1, train.input_lengths_N[read_N])
        fitted: dict[str, float] = {}
        if task.max_target_length is None:
            fitted["task.max_target_length"] = min(LONGEST_TARGET, math.ceil(ROOM_FACTOR * targets_N.max()) + ROOM)
        if task.max_target_ratio is None:
            fitted["task.max_target_ratio"] = min(LONGEST_TARGET, round(ROOM_FACTOR * float(ratios_N.max()), 2))
        if fitted:
            settings = settings.with_values(**fitted)
            task = settings.task.settings_as(TranslateSettings)
            which = "" if len(fitted) > 1 else f"{next(iter(fitted))}, which was not set, is "
            log(
                f"a translation may have {task.max_target_length:,} tokens, and {task.max_target_ratio:g} for each "
                f"source token plus {ROOM}: {which}{ROOM_FACTOR} times the most in training"
            )
        beyond = _beyond_limit(dataset, task)
        if beyond:
            log(f"targets that are longer than a translation may be, so that none is like them: {', '.join(beyond)}")
        return settings

    @classmethod
    def build_vocabulary(cls, examples: Sequence[TextPair], settings: RunSettings) -> Vocabulary:
        task = settings.task.settings_as(TranslateSettings)
        sources, targets = [pair.source for pair in examples], [pair.target for pair in examples]
        if task.shared_vocabulary:
            shared = train_tokenizer([*sources, *targets], settings, documents=True)
            return Vocabulary(shared, target_tokenizer=shared)
        target = train_tokenizer(targets, settings, documents=True)
        return Vocabulary(train_tokenizer(sources, settings), target_tokenizer=target)

    @classmethod
    def encode(cls, examples: Sequence[TextPair], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
        target = vocabulary.target_tokenizer
        assert target is not None and target.begin is not None and target.end is not None
        inputs = encode_all(vocabulary.tokenizer, (pair.source for pair in examples))
        targets = encode_all(target, (pair.target for pair in examples))
        return ExampleSplit(examples, inputs, [np.concatenate([[target.begin], ids, [target.end]]) for ids in targets])

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> Translator:
        task = settings.task.settings_as(TranslateSettings)
        inputs, decoder = settings.model.embedding, settings.decoder
        assert decoder is not None
        encoder = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, inputs)
        decoder_class = BACKBONES.load(decoder.name)
        if decoder.settings.cross_attends:
            decoder = decoder_class(decoder.settings, inputs, encoder.width)
        else:
            decoder = AttentionDecoder(task.reader, decoder_class, decoder.settings, inputs, encoder.width)
        return Translator(settings.model, encoder, decoder, sizes, task.shared_vocabulary, task.word_dropout)

    def batch(self, split: str, seed: int, index: int) -> PairBatch:
        return pair_batch(self.splits[split], self._batches[split].rows(seed, index))

    def loss(self, model: Translator, batch: PairBatch, carry: State | None, step: int) -> Loss:
        teacher_ratio = teacher_forcing_ratio(self.settings, step)
        if teacher_ratio == 1:
            logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        else:
            logits_BTV = free_running_logits(model, batch, teacher_ratio)
        smoothing = self.settings.label_smoothing
        total = _summed_loss(logits_BTV, batch.targets_BT, smoothing)
        plain = _summed_loss(logits_BTV.detach(), batch.targets_BT, 0.0) if smoothing else None
        return Loss(total, int((batch.targets_BT != NOT_SCORED).sum()), cross_entropy=plain)

    @classmethod
    def without_answers(cls, texts: Sequence[str], vocabulary: Vocabulary) -> list[TextPair]:
        return [TextPair(text, "") for text in texts]

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
        n_best: int | None = None,
        weights: bool = False,
        **options: Any,
    ) -> list[Translation]:
        """`options`: max_length, the tokens of a translation at most, instead of what the settings allow."""
        task = settings.task.settings_as(TranslateSettings)
        require_between("the beam width", 1 if beam is None else beam, 1, MAX_BEAM)
        n_best = 1 if n_best is None else n_best
        if beam is None:
            require_between("n_best", n_best, 1, MAX_BEAM)
        else:
            require_between(f"n_best, in a beam of {beam},", n_best, 1, beam)
        max_length: int | None = options.get("max_length")
        require_between("max_length", 1 if max_length is None else max_length, 1, LONGEST_TARGET)
        width, power = max(beam or task.beam, n_best), task.length_penalty if length_penalty is None else length_penalty
        if width == 1:
            refuse_given({"length_penalty": length_penalty}, "with a beam of 1")
        sources = encode_all(vocabulary.tokenizer, texts)
        require_readable(np.array([len(source) for source in sources]), task.max_length, "text")
        translations = []
        for text, source in zip(texts, sources, strict=True):
            limit = max_length or task.target_limit(len(source))
            best, *others = search(model, source, vocabulary, width, power, limit, n_best)
            attention = attention_weights(model, source, best.tokens, vocabulary) if weights else {}
            alternatives = [(other.text, other.score) for other in others]
            translations.append(
                Translation(text, best.text, best.score, best.logprob, alternatives, not best.finished, **attention)
            )
        return translations

    @torch.inference_mode()
    def validate(self, model: Translator, limit: int) -> ExampleScores:
        """The loss with teacher forcing alone: searching for translations takes a hundred times as long."""
        nats_U, tokens_U = self._nats(model, "validation", limit)
        return ExampleScores(nats_U, tokens_U, np.zeros((len(nats_U), 2)), {})

    @torch.inference_mode()
    def score(self, model: Translator, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        """By the search that the settings describe; the loss is the one with teacher forcing."""
        nats_U, tokens_U = self._nats(model, split, limit)
        data, task, count = self.scored_split(split), self.settings, len(nats_U)
        outputs = translate(
            model, data.inputs[:count], self.vocabulary, task.beam, task.length_penalty, task.target_limit
        )
        sums_UK, metrics = self.compare(data.examples[:count], [output.text for output in outputs])
        per_token = nats_U.sum() / tokens_U.sum()
        metrics |= {"nats_per_token": per_token, "perplexity": math.exp(min(per_token, 700)), "sentences": count}
        metrics["truncated"] = sum(not output.finished for output in outputs)
        return ExampleScores(nats_U, tokens_U, sums_UK, metrics)

    def _nats(self, model: Translator, split: str, limit: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The loss and the tokens of each example."""
        data = self.scored_split(split)
        nats_U = np.zeros(data.count_within(limit))
        for rows_B in joined().part(data.scoring_batches(len(nats_U))):
            nats_U[rows_B] = self.nats(model, data, rows_B)
        return sum_array(nats_U), data.target_lengths_N[: len(nats_U)] - 1  # the begin symbol is not predicted

    def nats(self, model: Translator, split: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        """The loss of the reference with teacher forcing."""
        batch = pair_batch(split, rows_B).to(next(model.parameters()).device)
        logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        nats_BT = cross_entropy(logits_BTV.transpose(1, 2), batch.targets_BT, ignore_index=NOT_SCORED, reduction="none")
        return nats_BT.double().sum(1).cpu().numpy()

    def compare(self, examples: Sequence[Any], predicted: Sequence[str]) -> tuple[np.ndarray, MetricValues]:
        gold = [pair.target for pair in examples]
        sums_UK = self.example_metric.sums(gold, predicted)
        return sums_UK, {
            self.metric.key: self.value(sums_UK),
            "chrf": chrf.value(gold, predicted),
            "exact": exact.value(gold, predicted),
        }


def _beyond_limit(dataset: ExampleDataset, task: TranslateSettings) -> list[str]:
    """How many targets have more tokens than the translations of their sources may have, if they are read at all."""
    found = []
    for name, split in dataset.splits.items():
        read = split.up_to(task.max_length)
        limits = [task.target_limit(length) for length in read.input_lengths_N.tolist()]
        longer_N = read.target_lengths_N - 1 > np.array(limits)  # the begin token is not written
        if longer_N.any():
            longest = read.target_lengths_N[longer_N].max() - 1
            found.append(f"{longer_N.sum():,} of {counted(len(read), f'{name} example')} (up to {longest:,} tokens)")
    return found


def pair_batch(split: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> PairBatch:
    source = SourceBatch(*pad_rows([split.inputs[row] for row in rows_B]))
    inputs_BT, mask_BT = pad_rows([split.targets[row][:-1] for row in rows_B])
    targets_BT, _ = pad_rows([split.targets[row][1:] for row in rows_B], NOT_SCORED)
    return PairBatch(source, inputs_BT, targets_BT, mask_or_none(mask_BT))


def _summed_loss(logits_BTV: Tensor, targets_BT: Tensor, smoothing: float) -> Tensor:
    return cross_entropy(
        logits_BTV.flatten(0, 1),
        targets_BT.flatten(),
        ignore_index=NOT_SCORED,
        reduction="sum",
        label_smoothing=smoothing,
    )


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
            # k / (k + exp(i / k)) is one half at i = decay_steps if k ln k = decay_steps
            k = settings.decay_steps / float(lambertw(settings.decay_steps).real)
            return k / (k + math.exp(min(step / k, 700)))


def free_running_logits(model: Translator, batch: PairBatch, teacher_ratio: float) -> Tensor:
    """The logits of a decoder that reads the true token with this probability, else the one that it predicted."""
    state, token_B = model.start(batch.source), batch.inputs_BT[:, 0]
    logits: list[Tensor] = []
    for t in range(batch.inputs_BT.shape[1]):
        if t:
            true_B = rand_rows(token_B.shape, token_B.device) < teacher_ratio
            token_B = torch.where(true_B, batch.inputs_BT[:, t], logits[-1].detach().argmax(1))
        logits_BV, state = model.step(token_B, state)
        logits.append(logits_BV)
    return torch.stack(logits, dim=1)
