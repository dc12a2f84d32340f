"""The golden runs as settings tables, and the data that they train on.

Each architecture does each task that it can do. Options with code of their own are spread over these runs, so that
each is in at least one of them. Learning rates are low on purpose: rounding errors must not grow into differences.
"""

import json
from dataclasses import dataclass, field
from typing import Any

STEPS = 50

# --- data -----------------------------------------------------------------------------------------------------------

WORDS = ["red", "green", "blue", "small", "large", "old", "new", "fish", "bird", "stone", "sees", "likes", "near"]
SENTENCES = [
    [WORDS[(at * at + place * (at + 2) + at // 7) % len(WORDS)] for place in range(1 + at * 5 % 6)] for at in range(90)
]


def _lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


def _tag(word: str) -> str:
    return {"fish": "B-animal", "bird": "B-animal", "stone": "I-thing", "near": "B-place"}.get(word, "O")


# by task: the name of a file and what is in it
TEXT = "text.txt", _lines(*(f"{' '.join(words)} {at % 10}." for at, words in enumerate(SENTENCES)))
DATA = {
    "language": TEXT,
    "masked": TEXT,
    "classify": (
        "labels.tsv",
        _lines("text\tlabel", *(f"{' '.join(words)}\t{'abc'[len(set(words)) % 3]}" for words in SENTENCES)),
    ),
    "tag": ("tags.conll", _lines(*(_lines(*(f"{word} {_tag(word)}" for word in words)) for words in SENTENCES))),
    "translate": (
        "pairs.tsv",
        _lines("source\ttarget", *(f"{' '.join(words)}\t{' '.join(words[::-1]).upper()}" for words in SENTENCES)),
    ),
    "embed": (
        "documents.jsonl",
        _lines(
            *(
                json.dumps({"title": f"{' '.join(words)} {at}", "text": " ".join(words * 2)})
                for at, words in enumerate(SENTENCES)
            )
        ),
    ),
}

# --- settings -------------------------------------------------------------------------------------------------------

Settings = dict[str, Any]

COMMON: Settings = {
    "backbone.hidden": 16,
    "model.embedding": 12,
    "task.batch_size": 4,
    "train.steps": STEPS,
    "train.evaluate_every": STEPS,  # not before the last loss is known
    "train.lr": 2e-3,
    "train.threads": 1,
}
OF_TASK: dict[str, Settings] = {
    "language": {"task.window": 16},
    "masked": {"task.window": 16},
    "tag": {"task.char_embedding": 6, "task.char_width": 8},
    "translate": {"tokenizer.name": "word"},
    # static vectors are singular vectors, whose signs are not the same on every machine
    "embed": {
        "tokenizer.name": "bpe",
        "tokenizer.vocab_size": 280,
        "task.dimensions": 10,
        "task.residual": False,
        "task.start": "random",
    },
}
OF_ARCH: dict[str, Settings] = {
    "transformer": {"backbone.layers": 1, "backbone.heads": 2},
    "transformer-encoder": {"backbone.layers": 1, "backbone.heads": 2},
}
BOTH_WAYS = {"backbone.bidirectional": True}
STREAM = {"task.batching": "stream"}
TEACHER: Settings = {"backbone.name": "lstm", "task.name": "language", **COMMON, **OF_TASK["language"]}


@dataclass(frozen=True)
class Case:
    """`settings` are those of one run by their dotted names; `teacher` those of another run that it learns from."""

    arch: str
    task: str
    variant: str = ""
    changes: Settings = field(default_factory=dict)
    teacher: Settings | None = None

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.arch, self.task, self.variant)))

    @property
    def settings(self) -> Settings:
        chosen = {"backbone.name": self.arch, "task.name": self.task}
        settings = {**COMMON, **OF_TASK.get(self.task, {}), **OF_ARCH.get(self.arch, {}), **chosen, **self.changes}
        spells = settings.get("task.char_encoder") != "none" and settings.get("tokenizer.name", "word") == "word"
        return {key: value for key, value in settings.items() if spells or key not in OF_TASK["tag"]}


LANGUAGE = [
    Case("feedforward", "language", "", {"backbone.layers": 2, "backbone.span": 4}),
    Case("rnn", "language"),
    Case(
        "rnn",
        "language",
        "relu",
        {
            "backbone.activation": "relu",
            "train.optimizer": "sgd",
            "train.lr": 3e-2,
            "model.initialization": "orthogonal",
            "train.clip_value": 0.05,
        },
    ),
    Case("rnn", "language", "sigmoid", {"backbone.activation": "sigmoid", "train.optimizer": "rmsprop", **STREAM}),
    Case("gru", "language"),
    Case(
        "gru", "language", "lines", {"corpus.documents": "lines", "tokenizer.name": "byte", "train.schedule": "linear"}
    ),
    Case(
        "gru",
        "language",
        "reset-before",
        {"backbone.reset": "before", "backbone.layers": 2, "backbone.residual": True, "task.window": 8, **STREAM},
    ),
    Case("gru", "language", "distilled", {"task.teacher_weight": 0.6, "task.temperature": 2.0}, TEACHER),
    Case("lstm", "language"),
    Case(
        "lstm",
        "language",
        "plain",
        {
            "backbone.implementation": "plain",
            "backbone.forget_bias": 0.5,
            "train.seed": 7,
            "model.initialization": "uniform:0.1",
            "task.window": 8,
        },
    ),
    Case(
        "lstm",
        "language",
        "stream",
        {"model.tie_embeddings": True, "tokenizer.name": "word", "train.schedule": "constant", **STREAM},
    ),
    Case("lstm", "language", "accumulate", {"train.accumulate": 3, "corpus.documents": "lines", "task.batch_size": 2}),
    Case(
        "lstm",
        "language",
        "dropout",
        {"backbone.layers": 2, "backbone.dropout": 0.2, "model.embedding_dropout": 0.2, "model.output_dropout": 0.2},
    ),
    Case("lstm-attention", "language"),
    Case(
        "lstm-attention",
        "language",
        "dot",
        {"backbone.score": "dot", "backbone.combine": "context", "backbone.context": 6},
    ),
    Case("lstm-attention", "language", "scaled", {"backbone.score": "scaled", "backbone.combine": "add", **STREAM}),
    Case("transformer", "language", "", {"backbone.layers": 2}),
    Case(
        "transformer",
        "language",
        "after",
        {
            "backbone.norm_position": "after",
            "backbone.positions": "learned",
            "backbone.activation": "relu",
            "model.tie_embeddings": True,
        },
    ),
    Case(
        "transformer",
        "language",
        "rms",
        {
            "backbone.norm": "rms",
            "backbone.activation": "swiglu",
            "model.initialization": "normal:0.05",  # so small that the norm's epsilon matters
        },
    ),
    Case(
        "transformer",
        "language",
        "dropout",
        {
            "backbone.dropout": 0.1,
            "backbone.positions": "sinusoidal",
            "backbone.scale_input": True,
            "backbone.context": 6,
            "train.optimizer": "adam",
            "model.embedding": 16,
        },
    ),
    Case(
        "transformer",
        "language",
        "speedrun",
        {
            "backbone.qk_norm": True,
            "backbone.activation": "relu2",
            "backbone.zero_init": True,
            "model.logit_cap": 5.0,
        },
    ),
]
MASKED = [
    Case("rnn", "masked", "", BOTH_WAYS),
    Case("gru", "masked", "", {**BOTH_WAYS, "backbone.layers": 2, "task.window": 8}),
    Case("lstm", "masked", "", {**BOTH_WAYS, "model.tie_embeddings": True}),
    Case("lstm-attention", "masked", "", {**BOTH_WAYS, "backbone.score": "scaled", "backbone.combine": "add"}),
    Case("transformer-encoder", "masked", "", {"backbone.layers": 2, "backbone.input_norm": True}),
]
CLASSIFY = [
    Case("feedforward", "classify", "", {"task.pooling": "mean"}),
    Case("rnn", "classify", "", {"task.pooling": "last", "backbone.bidirectional": False}),
    Case("gru", "classify", "", {"task.pooling": "attention"}),
    Case("lstm", "classify"),
    Case("lstm-attention", "classify", "", {"task.pooling": "last"}),
    Case("lstm-attention", "classify", "causal", {"task.pooling": "last", "backbone.bidirectional": False}),
    Case("transformer", "classify", "", {"task.pooling": "mean", "tokenizer.name": "char"}),
    Case(
        "transformer-encoder", "classify", "", {"task.pooling": "last", "backbone.pooler": True, "backbone.segments": 2}
    ),
]
TAG = [
    Case("feedforward", "tag", "", {"task.char_encoder": "none"}),
    Case("rnn", "tag", "", {"task.char_encoder": "lstm"}),
    Case("gru", "tag", "", {"task.output_layer": "crf", "task.char_encoder": "none"}),
    Case("lstm", "tag", "", {"task.output_layer": "crf"}),
    Case("lstm-attention", "tag"),
    Case(
        "transformer", "tag", "", {"tokenizer.name": "bpe", "tokenizer.vocab_size": 280, "backbone.positions": "none"}
    ),
    Case("transformer-encoder", "tag", "", {"task.char_encoder": "lstm", "backbone.positions": "learned"}),
]
TRANSLATE = [
    Case("feedforward", "translate", "", {"task.attention": "dot"}),
    Case("rnn", "translate", "", {"task.attends": "before"}),
    Case("gru", "translate", "", {"task.attention": "none"}),
    Case(
        "gru",
        "translate",
        "scheduled",
        {"task.forcing": "scheduled", "task.decay": "linear", "task.teacher_ratio": 0.3, "task.decay_steps": 30},
    ),
    Case("lstm", "translate"),
    Case(
        "lstm",
        "translate",
        "separate",
        {
            "task.shared_vocabulary": False,
            "model.tie_embeddings": False,
            "tokenizer.name": "bpe",
            "tokenizer.vocab_size": 280,
            "task.attention": "dot",
        },
    ),
    Case("lstm-attention", "translate", "", {"task.attention": "scaled"}),
    Case("transformer", "translate", "", {"task.batch_tokens": 40}),
    Case("transformer-encoder", "translate", "", {"decoder.name": "gru"}),
]
EMBED = [
    Case("feedforward", "embed", "", {"task.pooling": "sif"}),
    Case("rnn", "embed", "", {"task.pooling": "last", "task.symmetric": True}),
    Case("gru", "embed", "", {"task.pairs": ["title", "spans", "neighbors"], "task.span_length": 5}),
    Case("gru", "embed", "residual", {"task.residual": True, "task.dimensions": None, "task.word_dropout": 0.1}),
    Case("lstm", "embed", "", {"task.pooling": "attention", "task.cache_batch": 2}),
    Case("lstm-attention", "embed", "", {"task.pooling": "max", "task.dimensions": None}),
    Case("transformer", "embed", "", {"task.matryoshka": [4, 8]}),
    Case("transformer-encoder", "embed", "", {"task.pairs": ["twins"], "task.scale": 5, "tokenizer.name": "word"}),
]
CASES = {case.name: case for case in (*LANGUAGE, *MASKED, *CLASSIFY, *TAG, *TRANSLATE, *EMBED)}
