"""Embedding: texts become vectors that are near those of their documents, learned by contrast.

Held-out queries rank all documents by the cosine, and are judged as a search engine is.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.ranker import Ranker, rank_queries
from seqlab.config import CorpusSettings, RunSettings, VocabSizes
from seqlab.contracts import Loss, State
from seqlab.data.documents.document import Document
from seqlab.data.documents.encoded import DocumentTable, PairBatches, PairSplit, distinct_batches, pair_generator
from seqlab.data.documents.open_pairs import documents_to_name, open_retrieval, open_unsplit
from seqlab.data.documents.pairs import JudgedQuery, RetrievalExamples
from seqlab.data.examples.checks import few_examples_note
from seqlab.distributed.world import RowSpan
from seqlab.errors import UsageError
from seqlab.metrics.example_metric import find_metric, mean_average_precision, mrr, ndcg_10, recall_100
from seqlab.models.model import Model
from seqlab.models.text_encoder import TextEncoder
from seqlab.registry import BACKBONES
from seqlab.tasks.contrastive import (
    ContrastiveBatch,
    contrastive_batch,
    contrastive_loss,
    contrastive_nats,
)
from seqlab.tasks.dataset import Dataset, Log, warn_of_notes
from seqlab.tasks.embed_settings import EmbedSettings
from seqlab.tasks.encode_pairs import encode_documents, encode_pairs, encode_queries, training_texts, without_answers
from seqlab.tasks.encoder_start import start_weights
from seqlab.tasks.examples import ExampleScores, encode_all, train_tokenizer
from seqlab.tasks.mining import MinedNegatives, MiningRule, mine
from seqlab.tasks.read_counts import ReadCounts
from seqlab.tasks.retrieval_baselines import fitted_rankers
from seqlab.tasks.retrieval_wording import chance_note, ranking_wording
from seqlab.tasks.task import BaselineScore, MetricValues, Task, UnitSums
from seqlab.tasks.vectors import embed_rows, rank_by_cosine, ranked_within
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.wording import counted

RetrievalDataset = Dataset[RetrievalExamples, PairSplit]


class EmbedTask(Task):
    name = "embed"
    model_kind = "text encoder"
    command = "embed"
    modes = ("query",)
    loss_unit = "nats"
    unit = "pair"
    reported_metrics = ("mrr", "map", "recall_100")
    settings: EmbedSettings
    splits: Mapping[str, PairSplit]
    miner: Callable[[], Ranker]  # fits what hard negatives are mined by

    def __init__(self, settings: EmbedSettings, splits: Mapping[str, PairSplit], vocabulary: Vocabulary):
        super().__init__(settings, splits, vocabulary)
        self.ranking_metric = find_metric(settings.metric, "rankings")
        self.metric = self.headline_metric = self.ranking_metric.description
        if any(not split.judged_N.all() for split in splits.values()):
            self.reported_metrics = (*self.reported_metrics, "ndcg_10_seen", "ndcg_10_all")

    def make_batches(self, split: PairSplit) -> PairBatches:
        return PairBatches(split, self.settings.batch_size)

    # --- data ---------------------------------------------------------------------------------------------------------

    @classmethod
    def open_dataset(cls, settings: RunSettings, log: Log, vocabulary: Vocabulary | None = None) -> RetrievalDataset:
        dataset = super().open_dataset(settings, log, vocabulary)
        for note in few_examples_note({name: len(split) for name, split in dataset.splits.items()}):
            log(note)
        return dataset

    @classmethod
    def read(cls, settings: RunSettings, stdin_copy: Path | None = None) -> RetrievalExamples:
        return open_retrieval(settings.corpus, settings.task.settings_as(EmbedSettings).pairs)

    @classmethod
    def open_unsplit(cls, source: tuple[str, ...], settings: RunSettings, vocabulary: Vocabulary) -> RetrievalDataset:
        data = open_unsplit(CorpusSettings(source=source, skip_limit=settings.corpus.skip_limit))
        warn_of_notes(data)
        return cls.encode_splits(data, settings, vocabulary)

    @classmethod
    def build_vocabulary(cls, data: RetrievalExamples, settings: RunSettings) -> Vocabulary:
        """A tokenizer from the documents and given queries of the training split."""
        return Vocabulary(train_tokenizer(training_texts(data), settings))

    @classmethod
    def encode_splits(
        cls, data: RetrievalExamples, settings: RunSettings, vocabulary: Vocabulary | None = None
    ) -> RetrievalDataset:
        if vocabulary is None:
            vocabulary = cls.build_vocabulary(data, settings)
        tokenizer, longest = vocabulary.tokenizer, settings.task.settings_as(EmbedSettings).max_length
        tables: dict[int, DocumentTable] = {}  # splits may rank the same documents
        splits: dict[str, PairSplit] = {}
        for name, examples in data.splits.items():
            documents = data.documents[name]
            if id(documents) not in tables:
                tables[id(documents)] = encode_documents(documents, tokenizer)
            table = tables[id(documents)]
            if name == "train":
                splits[name] = encode_pairs(examples, documents, table, tokenizer, longest)
            else:
                splits[name] = encode_queries(examples, documents, table, tokenizer, longest, data.seen(name))
        return Dataset(data.name, data.about, data.fingerprint, data, vocabulary, without_answers(splits, data))

    @classmethod
    def fit_settings(cls, settings: RunSettings, dataset: RetrievalDataset, log: Log) -> RunSettings:
        """The settings as they are; says what is cut off, and what repeated texts do to batches."""
        task, train = settings.task.settings_as(EmbedSettings), dataset.splits["train"]
        if task.negatives and "given" not in train.kinds:
            raise UsageError("task.negatives are mined for given pairs, and there is none: leave it out.")
        longer = sum(len(ids) > task.max_length for ids in train.table.texts)
        if longer:
            documents = counted(len(train.table), "document")
            log(f"{longer:,} of {documents} are longer than {task.max_length} tokens (task.max_length): they are cut")
        smaller, left_out = PairBatches(train, task.batch_size).repeats()
        if smaller or left_out:
            log(
                f"texts that repeat are kept out of a batch: of a first pass, {counted(smaller, 'batch', 'batches')} "
                f"{'is' if smaller == 1 else 'are'} smaller for it, and {counted(left_out, 'pair')} left out"
            )
        for name, split in dataset.splits.items():
            if split.seen_note:
                log(f"{name}: {split.seen_note}")
        return settings

    @classmethod
    def build(cls, settings: RunSettings, sizes: VocabSizes) -> TextEncoder:
        task = settings.task.settings_as(EmbedSettings)
        backbone = BACKBONES.load(settings.backbone.name)(settings.backbone.settings, settings.model.embedding)
        return TextEncoder(
            settings.model, backbone, sizes, task.pooling, task.dimensions, task.word_dropout, task.residual
        )

    @classmethod
    def first_weights(
        cls, model: Model, settings: RunSettings, dataset: RetrievalDataset, source: Model | None
    ) -> dict[str, Tensor]:
        assert isinstance(model, TextEncoder)
        return start_weights(model, settings.task.settings_as(EmbedSettings), dataset.splits["train"].table, source)

    @classmethod
    def from_dataset(cls, settings: RunSettings, dataset: RetrievalDataset) -> Self:
        task = super().from_dataset(settings, dataset)
        task.miner = lambda: Bm25.fit(dataset.data.documents["train"])
        return task

    @cached_property
    def mined(self) -> MinedNegatives:
        """The hard negatives of the training split."""
        (first, last), margin = self.settings.negative_ranks, self.settings.negative_margin
        return mine(self.splits["train"], self.miner(), MiningRule(first, last, margin))

    def prepare(self, log: Log) -> dict[str, Any]:
        if not self.settings.negatives:
            return {}
        for line in self.mined.lines():
            log(line)
        return {"negatives.json": self.mined.as_dict(self.splits["train"])}

    # --- training -----------------------------------------------------------------------------------------------------

    def batch(self, split: str, seed: int, index: int) -> ContrastiveBatch:
        data, draw = self.splits[split], pair_generator(seed, index)
        rows_B = self._batches[split].rows(seed, index).tolist()
        pairs = [data.draw(row, self.settings.span_length, draw) for row in rows_B]
        negatives: list[int] = []
        if split == "train" and self.settings.negatives:
            negatives = self.mined.draw(data, rows_B, self.settings.negatives, draw)
        return contrastive_batch(pairs, [data.table.texts[row][: data.longest] for row in negatives])

    def loss(self, model: TextEncoder, batch: ContrastiveBatch, carry: State | None, step: int) -> Loss:
        pairs = len(batch.anchors_BT)
        return contrastive_loss(model, batch, RowSpan(0, pairs, pairs), self.settings)

    def loss_of_rows(
        self, model: TextEncoder, batch: ContrastiveBatch, rows: RowSpan, carry: State | None, step: int
    ) -> Loss:
        return contrastive_loss(model, batch, rows, self.settings)

    # --- scoring ------------------------------------------------------------------------------------------------------

    def validate(self, model: TextEncoder, limit: int) -> ExampleScores:
        """All queries, but only about `limit` tokens of documents: the relevant ones first."""
        split = self.splits["validation"]
        return self._score(model, split, ranked_within(split, limit))

    def score(self, model: TextEncoder, split: str, mode: str | None = None, limit: int | None = None) -> ExampleScores:
        """Every query of a split; a `limit` would make the ranking of too few documents look good, so there is none."""
        if split == "train":
            raise UsageError("the pairs of the training split are drawn anew each time: score validation or test.")
        return self._score(model, self.splits[split], range(len(self.splits[split].table)))

    @torch.inference_mode()
    def _score(self, model: TextEncoder, split: PairSplit, ranked: Sequence[int]) -> ExampleScores:
        queries_QD = embed_rows(model, [ids[: split.longest] for ids in split.inputs])
        documents_ND = embed_rows(model, [split.table.texts[row][: split.longest] for row in ranked])
        rankings = rank_by_cosine(queries_QD, documents_ND, [split.table.names[row] for row in ranked])
        sums_UK, metrics = self.compare(split, rankings)
        nats_U = self._held_out_nats(split, queries_QD, documents_ND, ranked)[split.judged_N]
        metrics |= {"nats_per_example": float(nats_U.mean()), "queries": len(nats_U), "documents": len(ranked)}
        selection = self.metric.cost(metrics[self.metric.key])
        return ExampleScores(nats_U, np.ones(len(nats_U), dtype=int), sums_UK, metrics, selection)

    def _held_out_nats(
        self, split: PairSplit, queries_QD: np.ndarray, documents_ND: np.ndarray, ranked: Sequence[int]
    ) -> np.ndarray:
        """The loss of each query and its first relevant document, in fixed batches of the size of training."""
        place = {row: at for at, row in enumerate(ranked)}
        nats_U = np.zeros(len(split))
        for rows in distinct_batches(split, range(len(split)), self.settings.batch_size):
            anchors_BD = torch.from_numpy(queries_QD[rows])
            own_BD = torch.from_numpy(documents_ND[[place[split.rows[row]] for row in rows]])
            nats_U[rows] = contrastive_nats(anchors_BD, own_BD, self.settings.scale).numpy()
        return nats_U

    def compare(self, split: PairSplit, rankings: Sequence[Sequence[str]]) -> tuple[np.ndarray, MetricValues]:
        """The sums of the metric for each query that is judged, and all metrics of the rankings of all queries."""
        gold = [query.relevance for query in split.examples]
        sums_QK = self.ranking_metric.sums(gold, rankings)
        judged = np.flatnonzero(split.judged_N).tolist()
        judged_gold, judged_rankings = [gold[at] for at in judged], [rankings[at] for at in judged]
        every = {one.description.key: one for one in (ndcg_10, mrr, mean_average_precision, recall_100)}
        values = {key: one.value(judged_gold, judged_rankings) for key, one in every.items()}
        values |= {self.metric.key: float(self.metric.value(sums_QK[judged].sum(0)))}
        if len(judged) < len(split):  # a ranker may have remembered the documents of the others
            values |= {
                "ndcg_10_seen": float(ndcg_10.sums(gold, rankings)[~split.judged_N].mean(0)[0]),
                "ndcg_10_all": ndcg_10.value(gold, rankings),
                "seen": len(split) - len(judged),
            }
        return sums_QK[judged], values

    def unit_sums(self, scores: ExampleScores) -> UnitSums:
        return UnitSums(scores.sums_UK, scores.tokens_U)

    def metrics(self, scores: ExampleScores) -> MetricValues:
        return scores.metrics

    def score_baselines(self, dataset: RetrievalDataset, split: str, units: UnitSums) -> list[BaselineScore]:
        queries: Sequence[JudgedQuery] = dataset.data.splits[split]
        documents: Sequence[Document] = dataset.data.documents[split]
        names, scores = [document.id for document in documents], []
        for name, role, ranker in fitted_rankers(dataset.data, split):
            rankings = rank_queries(ranker, [query.text for query in queries], names)
            sums_UK, metrics = self.compare(dataset.splits[split], rankings)
            metrics |= {"queries": len(sums_UK), "documents": len(documents)}
            value = float(self.metric.value(sums_UK.sum(0)))
            scores.append(BaselineScore(name, ranker.about, role, metrics, value, sums_UK))
        return scores

    @classmethod
    def embed(
        cls, model: TextEncoder, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings
    ) -> np.ndarray:
        """The vectors_ND of texts, of length 1; of a long text, the beginning is read."""
        longest = settings.task.settings_as(EmbedSettings).max_length
        return embed_rows(model, [ids[:longest] for ids in encode_all(vocabulary.tokenizer, texts)])

    @classmethod
    def embed_notes(cls, texts: Sequence[str], vocabulary: Vocabulary, settings: RunSettings) -> list[str]:
        """What `embed` leaves out of texts, or does not know in them."""
        longest, read = settings.task.settings_as(EmbedSettings).max_length, ReadCounts()
        for ids in encode_all(vocabulary.tokenizer, texts):
            read.add(ids, int((ids != vocabulary.tokenizer.unknown).sum()), longest)
        return read.notes(longest)

    # --- presentation -------------------------------------------------------------------------------------------------

    @classmethod
    def usage(cls, run: str) -> tuple[str, str]:
        return f"seqlab embed {run} notes/ --out vectors\n", 'run.embed(["Some text"])'

    @classmethod
    def usage_on(cls, run: str, corpus: CorpusSettings) -> str:
        return f"seqlab embed {run} {documents_to_name(corpus)} --out vectors\n"

    def result_sentence(
        self, metrics: Mapping[str, float], baseline: tuple[str, Mapping[str, float]] | None = None
    ) -> str:
        return super().result_sentence(metrics, baseline) + chance_note(metrics)

    def wording(self, metrics: Mapping[str, float]) -> str:
        return ranking_wording(metrics, f"{self.headline_metric.label} {self.brief(metrics)}")

    def brief(self, metrics: Mapping[str, float]) -> str:
        return f"{metrics[self.headline_metric.key]:.3f}"
