"""Translation: a text to another text, learnt from pairs and judged by what is written without help."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from seqlab.backbones.attention_decoder import Reader
from seqlab.baselines.dictionary import Copy, Dictionary
from seqlab.config import RunSettings, VocabSizes
from seqlab.contracts import Backbone, Batch, Loss, State
from seqlab.data.examples.encoded import ExampleSplit, padded
from seqlab.data.examples.example import Pair
from seqlab.data.text.batches import NOT_SCORED
from seqlab.decode.translation import attended, search, translate
from seqlab.metrics.bleu import Bleu, Chrf
from seqlab.metrics.named import BLEU, EXACT
from seqlab.models.translator import Source, Translator
from seqlab.registry import BACKBONES
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.example_settings import TranslateSettings
from seqlab.tasks.examples import ExampleScores, ExampleTask, encode_all, learn_text, passes, tensor, within
from seqlab.tasks.predictions import Translated
from seqlab.tasks.task import BaselineScore, MetricValues, Units
from seqlab.tokenization.vocabulary import Vocabulary


@dataclass(frozen=True)
class PairBatch(Batch):
    """Targets stand one position after the inputs: the first input is the begin symbol, the last target the end."""

    source: Source
    inputs_BT: Tensor
    targets_BT: Tensor
    mask_BT: Tensor | None


class TranslateTask(ExampleTask):
    name = "translate"
    kind = "translator"
    settings: TranslateSettings  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, settings: Any, splits: Any, vocabulary: Vocabulary):
        super().__init__(settings, splits, vocabulary)
        self.bleu = Bleu(tokenize=settings.bleu_tokenizer) if settings.metric == "bleu" else None
        self.headline, self.metric = ("bleu", BLEU) if self.bleu else ("exact", EXACT)

    @property
    def signature(self) -> str | None:
        """How sacrebleu counted, where it is asked."""
        return self.bleu and self.bleu.signature

    @classmethod
    def learn(cls, examples: Sequence[Pair], settings: RunSettings) -> Vocabulary:
        task = settings.task.settings_as(TranslateSettings)
        sources, targets = [one.source for one in examples], [one.target for one in examples]
        if task.shared_vocabulary:
            both = learn_text([*sources, *targets], settings, documents=True)
            return Vocabulary(both, target_tokenizer=both)
        return Vocabulary(learn_text(sources, settings), target_tokenizer=learn_text(targets, settings, documents=True))

    @classmethod
    def encode(cls, examples: Sequence[Pair], vocabulary: Vocabulary, settings: RunSettings) -> ExampleSplit:
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
        truth = teacher_forcing_ratio(self.settings, step)
        if truth == 1:
            logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        else:
            logits_BTV = by_itself(model, batch, truth)
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
        best: int = 1,
        weights: bool = False,
        **how: Any,
    ) -> list[Translated]:
        own = settings.task.settings_as(TranslateSettings)
        width, power = max(beam or own.beam, best), own.length_penalty if length_penalty is None else length_penalty
        sources = encode_all(vocabulary.tokenizer, texts)
        found = []
        for text, source in zip(texts, sources, strict=True):
            first, *others = search(model, source, vocabulary, width, power, own.max_target_length, best)
            looked = attended(model, source, first.tokens, vocabulary) if weights else {}
            more = [(one.text, one.score) for one in others]
            found.append(Translated(text, first.text, first.score, first.logprob, more, **looked))
        return found

    @torch.inference_mode()
    def validate(self, model: Translator, limit: int) -> ExampleScores:
        """The loss of the truth alone: to translate takes a hundred times as long."""
        part = self.splits["validation"]
        nats_U, tokens_U = self._nats(model, part, within(part, limit))
        return ExampleScores(nats_U, tokens_U, np.zeros((len(nats_U), 10)), {})

    @torch.inference_mode()
    def score(self, model: Translator, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        """By free translation, as the settings search; the loss of the truth beside it."""
        part = self.splits[split]
        count = within(part, limit)
        nats_U, tokens_U = self._nats(model, part, count)
        found = translate(
            model,
            part.inputs[:count],
            self.vocabulary,
            self.settings.beam,
            self.settings.length_penalty,
            self.settings.max_target_length,
        )
        return self._scores([one.text for one in found], part, nats_U, tokens_U)

    def _scores(self, texts: list[str], part: ExampleSplit, nats_U: np.ndarray, tokens_U: np.ndarray) -> ExampleScores:
        examples: Any = part.examples[: len(texts)]
        sums_UK, shown = self._overlap(texts, examples)
        per_token = nats_U.sum() / tokens_U.sum()
        shown |= {
            "nats_per_token": per_token,
            "perplexity": math.exp(min(per_token, 700)),
            "sentences": len(texts),
        }
        return ExampleScores(nats_U, tokens_U, sums_UK, shown)

    def _overlap(self, texts: Sequence[str], pairs: Sequence[Pair]) -> tuple[np.ndarray, MetricValues]:
        """The sums that decide, and what is told."""
        both = [(text, pair.target) for text, pair in zip(texts, pairs, strict=True)]
        exact_UK = np.array([(text == target, 1) for text, target in both], dtype=float)
        character_UK = np.array([Chrf().sums(*one) for one in both], dtype=float)
        metrics = {"chrf": float(Chrf().value(character_UK.sum(0))), "exact": float(EXACT.value(exact_UK.sum(0)))}
        if self.bleu is None:
            return exact_UK, metrics
        sums_UK = np.array([self.bleu.sums(*one) for one in both], dtype=float)
        return sums_UK, {"bleu": float(self.bleu.value(sums_UK.sum(0))), **metrics}

    def nats(self, model: Translator, part: ExampleSplit, rows_B: np.ndarray) -> np.ndarray:
        """Of the true target, each token read after the true ones before it."""
        batch = pair_batch(part, rows_B).to(next(model.parameters()).device)
        logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        nats_BT = cross_entropy(logits_BTV.transpose(1, 2), batch.targets_BT, ignore_index=NOT_SCORED, reduction="none")
        return nats_BT.double().sum(1).cpu().numpy()

    def _nats(self, model: Translator, part: ExampleSplit, count: int) -> tuple[np.ndarray, np.ndarray]:
        nats_U = np.zeros(count)
        for rows_B in passes(part, count):
            nats_U[rows_B] = self.nats(model, part, rows_B)
        return nats_U, part.target_lengths_N[:count] - 1  # the begin symbol is not predicted

    def score_baselines(self, dataset: ExampleDataset, part: str, units: Units) -> list[BaselineScore]:
        """The source as it is, and word by word from a dictionary learnt from the pairs."""
        train: Any = dataset.data.splits["train"]
        held_out: Any = dataset.data.splits[part][: len(units[0])]
        found = []
        for name, model in (("copy", Copy()), ("dictionary", Dictionary.fit(train))):
            sums_UK, shown = self._overlap([model.translate(pair.source) for pair in held_out], held_out)
            found.append(self.baseline(name, model.about, sums_UK, chrf=shown["chrf"]))
        return found


def _decoder(settings: RunSettings, task: TranslateSettings, inputs: int, memory: int) -> Backbone:
    """One that reads a memory of itself, or made to read one."""
    assert settings.decoder is not None
    decoder, cls = settings.decoder.settings, BACKBONES.load(settings.decoder.name)
    if decoder.cross_attends:
        return cls(decoder, inputs, memory)
    return Reader(task.reader, cls, decoder, inputs, memory)


def pair_batch(part: ExampleSplit, rows_B: Sequence[int] | np.ndarray) -> PairBatch:
    source_BS, mask_BS = padded([part.inputs[row] for row in rows_B])
    mask_BS = np.ones_like(source_BS, dtype=bool) if mask_BS is None else mask_BS
    inputs_BT, mask_BT = padded([part.targets[row][:-1] for row in rows_B])
    targets_BT, _ = padded([part.targets[row][1:] for row in rows_B], NOT_SCORED)
    source = Source(tensor(source_BS), tensor(mask_BS))
    return PairBatch(source, tensor(inputs_BT), tensor(targets_BT), tensor(mask_BT))


def teacher_forcing_ratio(settings: TranslateSettings, step: int) -> float:
    """How probable it is that the decoder reads the true token at a place (Bengio et al. 2015, section 2.4)."""
    if settings.forcing != "scheduled":
        return 1.0 if settings.forcing == "teacher" else 0.0
    match settings.decay:
        case "constant":
            return settings.teacher_ratio
        case "linear":
            return max(settings.teacher_ratio, 1 - (1 - settings.teacher_ratio) * step / settings.decay_steps)
        case "inverse-sigmoid":
            k = _half_at(settings.decay_steps)
            return k / (k + math.exp(min(step / k, 700)))


def _half_at(steps: int) -> float:
    """The k of k / (k + exp(i / k)) that is one half at i = `steps`: k ln k = steps."""
    k = max(2.0, steps / math.log(steps + 2))
    for _ in range(50):  # Newton's method
        k = max(1.0 + 1e-9, k - (k * math.log(k) - steps) / (math.log(k) + 1))
    return k


def by_itself(model: Translator, batch: PairBatch, truth: float) -> Tensor:
    """The logits where the decoder reads, at each place, the true token with that probability, else its own choice."""
    state, token_B = model.start(batch.source), batch.inputs_BT[:, 0]
    logits: list[Tensor] = []
    for t in range(batch.inputs_BT.shape[1]):
        if t:
            true_B = torch.rand(len(token_B), device=token_B.device) < truth
            token_B = torch.where(true_B, batch.inputs_BT[:, t], logits[-1].detach().argmax(1))
        logits_BV, state = model.step(token_B, state)
        logits.append(logits_BV)
    return torch.stack(logits, dim=1)
