"""Small sets of labelled examples, one for each task, and what is made of them."""

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
EXAMPLE_TASKS = [name for name in TASKS if TASKS.settings(name)().reads == "everything"]
ARCHS = list(BACKBONES)


def sentences(count: int, seed: int = 0, longest: int = 9) -> list[tuple[str, ...]]:
    draw = np.random.default_rng(seed)
    return [tuple(draw.choice(WORDS, draw.integers(1, longest + 1)).tolist()) for _ in range(count)]


def labelled(words: tuple[str, ...]) -> LabeledText:
    return LabeledText(" ".join(words), "animal" if {"cat", "dog", "bird"} & set(words) else "none")


def tagged(words: tuple[str, ...]) -> TaggedSentence:
    tags = ["B-animal" if word in ("cat", "dog", "bird") else "O" for word in words]
    return TaggedSentence(words, tuple(tags))


def pair(words: tuple[str, ...]) -> TextPair:
    return TextPair(" ".join(words), " ".join(word.upper() for word in reversed(words)))


MADE = {"classify": labelled, "tag": tagged, "translate": pair}


@dataclass(frozen=True)
class Case:
    settings: Any
    dataset: Any
    task: Any
    model: Any


def case(name: str, arch: str = "lstm", train: int = 40, held_out: int = 12, **changes: Any) -> Case:
    """A task on random sentences, with a small untrained model in evaluation mode."""
    dotted = [(key.replace("__", "."), value) for key, value in changes.items() if "__" in key]
    own = {"task": name, "arch": arch, "hidden": 8, "embedding": 8, "batch_size": 6}
    own |= {key: changes[key] for key in own if key in changes}
    still = [("model.embedding_dropout", 0.0), ("model.output_dropout", 0.0)]
    settings = build_settings(
        {"corpus": {"source": ["none"]}}, [("tokenizer.name", "word"), *expand_short_names(own), *still, *dotted]
    )
    splits = {"train": sentences(train), "validation": sentences(held_out, 1), "test": sentences(held_out, 2)}
    made = {part: [MADE[name](words) for words in found] for part, found in splits.items()}
    task_class = TASKS.load(name)
    assert issubclass(task_class, ExampleTask)
    vocabulary = task_class.build_vocabulary(made["train"], settings)
    examples = Examples("random", made, "as made")
    encoded = {part: task_class.encode(found, vocabulary, settings) for part, found in made.items()}
    dataset = Dataset("random", "", examples.fingerprint, examples, vocabulary, encoded)
    model = build_model(settings, vocabulary.sizes).eval()
    return Case(settings, dataset, task_class.from_dataset(settings, dataset), model)


def gradients(found: Case) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss of a pass over the training part and what it gives every parameter."""
    torch.manual_seed(0)
    found.model.train()
    found.model.zero_grad()
    total = torch.zeros(())
    for index in range(found.task.steps_per_epoch):
        total = total + found.task.loss(found.model, found.task.batch("train", 0, index), None, 0).total
    total.backward()
    return float(total.detach()), {name: p.grad for name, p in found.model.named_parameters()}
