"""Training examples with more tokens than task.max_length, which are left out: what is then left to train on."""

from collections import Counter
from typing import Any

from seqlab.config import RunSettings
from seqlab.data.examples.checks import LABELS_NAMED, count_labels_of
from seqlab.data.examples.encoded import ExampleSplit
from seqlab.data.examples.example import LabeledText, TextPair
from seqlab.data.examples.lines import quote_list
from seqlab.errors import DataError
from seqlab.tasks.dataset import AnyDataset
from seqlab.tasks.example_settings import LONGEST_EXAMPLE, ExampleSettings
from seqlab.wording import counted


def trained_split(dataset: AnyDataset, settings: RunSettings) -> Any:
    """The training split without the examples that are too long to train on."""
    train, task = dataset.splits["train"], settings.task.settings
    if not isinstance(train, ExampleSplit) or not isinstance(task, ExampleSettings):
        return train
    return train.up_to(task.max_length)


def left_out(dataset: AnyDataset, settings: RunSettings) -> int:
    """How many training examples are too long to train on."""
    return len(dataset.splits["train"]) - len(trained_split(dataset, settings))


def too_long_notes(train: ExampleSplit, limit: int) -> list[str]:
    """For the log: how many examples are left out, and how often each label or tag is left.

    DataError if none is left, or too few labels to tell apart."""
    kept = train.up_to(limit)
    if not len(kept):
        raise DataError(f"every training example has more than {limit:,} tokens: raise task.max_length.")
    if len(kept) == len(train):
        return []
    examples = f"{len(train) - len(kept):,} of {counted(len(train), 'training example')}"
    sides = " in the source or in the target" if isinstance(train.examples[0], TextPair) else ""
    notes = [f"leaving out {examples}, which have more than {limit:,} tokens{sides} (task.max_length)"]
    counts = count_labels_of(kept.examples)
    lost = lost_labels_note(train, limit)
    if lost and len(counts) < 2:
        raise DataError(f"{notes[0]}: {lost}. Training needs at least two.")
    if counts:
        named = quote_list([label for label, _ in counts.most_common()], LABELS_NAMED, counts)
        notes.append(
            f"left to train on: {counted(len(kept), 'example')}, {counted(len(counts), _noun(train))}: {named}"
        )
    return [*notes, f"warning: {lost}"] if lost else notes


def lost_labels_note(train: ExampleSplit, limit: int) -> str:
    """Which labels or tags only examples have that are left out, with the limit that keeps them."""
    counts, kept = count_labels_of(train.examples), count_labels_of(train.up_to(limit).examples)
    lost = Counter({label: count for label, count in counts.items() if label not in kept})
    if not lost:
        return ""
    named = quote_list([label for label, _ in lost.most_common()], LABELS_NAMED, lost)
    have = [not lost.keys().isdisjoint(count_labels_of([example])) for example in train.examples]
    enough = int(train.longest_N[have].max())
    advice = f"raise the limit: --set task.max_length={enough}"
    if enough > LONGEST_EXAMPLE:
        advice = f"divide its examples, which have up to {enough:,} tokens"
    noun = _noun(train) if len(lost) == 1 else f"{_noun(train)}s"
    return f"no training example is left of the {noun} {named}, so the model cannot learn it; {advice}"


def _noun(split: ExampleSplit) -> str:
    return "label" if isinstance(split.examples[0], LabeledText) else "tag"
