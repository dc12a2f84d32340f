"""Settings of the task `embed`, importable without torch, and its parameter count."""

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from seqlab.config import Activations, BatchShape, Parameters, RunSettings, TaskSettings, VocabSizes
from seqlab.data.documents.pairs import PAIR_KINDS, PairKind
from seqlab.errors import UsageError

Pooling = Literal["mean", "last", "max", "attention", "sif"]


class EmbedSettings(TaskSettings):
    examples = "documents"
    reads = "everything"

    default_overrides: ClassVar[dict[str, Any]] = {
        "tokenizer.name": "word",
        "tokenizer.lowercase": True,
        "tokenizer.vocab_size": 30_000,
        "model.embedding": 256,
        "train.lr": 2e-3,
        "train.sample_tokens": 0,
        "model.embedding_dropout": 0.1,
        "model.output_dropout": 0.1,
    }

    batch_size: int = Field(default=64, ge=2, le=65_536, description="pairs per step, each a negative of all others")
    max_length: int = Field(default=256, ge=1, le=65_536, description="tokens of a text that are read, from its start")
    word_dropout: float = Field(default=0.0, ge=0, lt=1, description="share of tokens read as unknown while training")
    metric: str = Field(
        default="ndcg_10", description="ndcg_10, mrr, map, recall_100, or a metric of your own: package.module:function"
    )
    pooling: Pooling = Field(
        default="mean", description="how the vectors of a text become one; sif: weights of tokens, from frequency on"
    )
    residual: bool = Field(
        default=True,
        description="a vector is the weighted mean of the embeddings, plus what the architecture adds",
    )
    start: Literal["auto", "static", "random"] = Field(
        default="auto",
        description="of the embeddings: static vectors of the training text, or random; auto: static without --init",
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=65_536,
        description="of a vector, by a projection; unset: those of the embedding if residual, else of the architecture",
    )
    pairs: tuple[PairKind, ...] = Field(
        default=(),
        description=f"what is trained on, of {', '.join(PAIR_KINDS)}, such as given,title; unset: what the data has",
    )
    span_length: int = Field(
        default=64, ge=1, le=65_536, description="tokens of a span or of a neighboring passage, at most"
    )
    scale: float = Field(default=20.0, gt=0, le=1000, description="of the cosine, before the softmax over documents")
    symmetric: bool = Field(default=False, description="documents have to find their anchors, too")
    matryoshka: tuple[int, ...] = Field(
        default=(), description="prefixes of the vector that are trained as vectors, such as 64,128"
    )
    negatives: int = Field(
        default=0, ge=0, le=1000, description="hard negatives in a batch for each given pair, mined before training"
    )
    miner: str = Field(default="bm25", description="what ranks documents to mine from: bm25, or the path of a run")
    negative_ranks: tuple[int, int] = Field(
        default=(1, 50), description="first and last rank of a hard negative, relevant documents not counted"
    )
    negative_margin: float = Field(
        default=0.05, ge=0, lt=1, description="a hard negative scores so much less than the relevant document: a share"
    )
    cache_batch: int | None = Field(
        default=None, ge=1, le=65_536, description="texts encoded at a time: less memory, the same gradients"
    )

    @field_validator("pairs", mode="before")
    @classmethod
    def _kinds(cls, value: Any) -> Any:
        words = value.split(",") if isinstance(value, str) else value
        return () if words is None or list(words) == ["auto"] else words

    @field_validator("negative_ranks", mode="before")
    @classmethod
    def _ranks(cls, value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value

    @field_validator("negative_ranks")
    @classmethod
    def _in_order(cls, value: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= value[0] <= value[1]:
            raise ValueError("expected the first rank, from 1, and the last, such as 1,50")
        return value

    @field_validator("matryoshka", mode="before")
    @classmethod
    def _prefixes(cls, value: Any) -> Any:
        numbers = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int) else value
        return () if numbers is None else numbers

    @property
    def sequence_length(self) -> int:
        return self.max_length

    @property
    def evaluation(self) -> str:
        return "every query once, ranking all documents"

    def width(self, settings: RunSettings) -> int:
        """The dimensions of a vector."""
        return self.dimensions or (settings.model.embedding if self.residual else settings.backbone.settings.width)

    @property
    def mining_run(self) -> str | None:
        """The run that hard negatives are mined by, if it is one."""
        return self.miner if self.negatives and self.miner != "bm25" else None

    def refuse_unfit(self, settings: RunSettings) -> None:
        width = self.width(settings)
        if self.residual and width != settings.model.embedding:
            raise UsageError(
                f"task.residual adds embeddings of width {settings.model.embedding} to vectors of {width} dimensions: "
                f"set model.embedding={width}, or task.residual=false."
            )
        if unfit := [prefix for prefix in self.matryoshka if not 1 <= prefix < width]:
            raise UsageError(
                f"task.matryoshka={unfit[0]} is no prefix of a vector of {width} dimensions: expected 1 to {width - 1}."
            )

    def parameters(self, settings: RunSettings, sizes: VocabSizes) -> Parameters:
        backbone = settings.backbone.settings
        width, core = backbone.width, backbone.core_parameters(settings.model.embedding)
        embedding = sizes.vocab_size * settings.model.embedding
        embedding += sizes.vocab_size * ((self.pooling == "sif") + self.residual)
        core += width * (width + 2) if self.pooling == "attention" else 0
        output = width * self.width(settings) if self.residual or self.dimensions is not None else 0
        return Parameters(embedding, core, output, backbone.position_parameters)

    def activations(self, settings: RunSettings, sizes: VocabSizes, shape: BatchShape) -> Activations:
        """Anchors, documents and negatives, `cache_batch` of them at a time, then the cosines of all pairs."""
        texts = shape.rows * (2 + self.negatives)
        at_once = min(texts, self.cache_batch or texts)
        row = self.backbone_bytes(settings, settings.model.embedding, shape.length)
        pooled = 4 * shape.length * settings.backbone.settings.width
        pairs = 12 * shape.rows * shape.rows * (1 + self.negatives) * (1 + len(self.matryoshka))
        return Activations(at_once * (row + pooled), pairs + 16 * texts * self.width(settings))
