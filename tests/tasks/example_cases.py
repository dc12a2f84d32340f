"""Small sets of labeled examples, one for each task, with the task and an untrained model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from seqlab.config import build_settings, expand_short_names
from seqlab.data.examples.example import Examples, LabeledText, TaggedSentence, TextPair
from seqlab.registry import BACKBONES, TASKS
from seqlab.runs.load import build_model
from seqlab.tasks.dataset import Dataset
from seqlab.tasks.examples import ExampleTask

WORDS = [
    *("the", "a", "small", "big", "red", "old", "cat", "dog", "bird", "tree"),
    *("runs", "sees", "likes", "sleeps", "here", "there", "now"),
]
EXAMPLE_TASKS = [name for name in TASKS if issubclass(TASKS.load(name), ExampleTask)]
ARCHS = list(BACKBONES)


def sentences(count: int, seed: int = 0, longest: int = 9) -> list[tuple[str, ...]]:
    draw = np.random.default_rng(seed)
    return [tuple(draw.choice(WORDS, draw.integers(1, longest + 1)).tolist()) for _ in range(count)]


def labeled(words: tuple[str, ...]) -> LabeledText:
    return LabeledText(" ".join(words), "animal" if {"cat", "dog", "bird"} & set(words) else "none")


def tagged(words: tuple[str, ...]) -> TaggedSentence:
    tags = ["B-animal" if word in ("cat", "dog", "bird") else "O" for word in words]
    return TaggedSentence(words, tuple(tags))


def pair(words: tuple[str, ...]) -> TextPair:
    return TextPair(" ".join(words), " ".join(word.upper() for word in reversed(words)))


MAKE_EXAMPLE = {"classify": labeled, "tag": tagged, "translate": pair}


@dataclass(frozen=True)
class Case:
    settings: Any
    dataset: Any
    task: Any
    model: Any


def case(name: str, arch: str = "lstm", train: int = 40, held_out: int = 12, **changes: Any) -> Case:
    """A task on random sentences, with a small untrained model in evaluation mode."""
    dotted = [(key.replace("__", "."), value) for key, value in changes.items() if "__" in key]
    short_names = {"task": name, "arch": arch, "hidden": 8, "embedding": 8, "batch_size": 6}
    short_names |= {key: changes[key] for key in short_names if key in changes}
    no_dropout = [("model.embedding_dropout", 0.0), ("model.output_dropout", 0.0)]
    settings = build_settings(
        {"corpus": {"source": ["none"]}},
        [("tokenizer.name", "word"), *expand_short_names(short_names), *no_dropout, *dotted],
    )
    splits = {"train": sentences(train), "validation": sentences(held_out, 1), "test": sentences(held_out, 2)}
    split_examples = {split: [MAKE_EXAMPLE[name](words) for words in drawn] for split, drawn in splits.items()}
    task_class = TASKS.load(name)
    assert issubclass(task_class, ExampleTask)
    vocabulary = task_class.build_vocabulary(split_examples["train"], settings)
    examples = Examples("random", split_examples, "as made")
    encoded = {split: task_class.encode(drawn, vocabulary, settings) for split, drawn in split_examples.items()}
    dataset = Dataset("random", "", examples.fingerprint, examples, vocabulary, encoded)
    settings = task_class.fit_settings(settings, dataset, lambda note: None)
    model = build_model(settings, vocabulary.sizes).eval()
    return Case(settings, dataset, task_class.from_dataset(settings, dataset), model)


def gradients(setup: Case) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss of an epoch and the gradient of every parameter."""
    torch.manual_seed(0)
    setup.model.train()
    setup.model.zero_grad()
    total = torch.zeros(())
    for index in range(setup.task.steps_per_epoch):
        total = total + setup.task.loss(setup.model, setup.task.batch("train", 0, index), None, 0).total
    total.backward()
    return float(total.detach()), {name: p.grad for name, p in setup.model.named_parameters()}
