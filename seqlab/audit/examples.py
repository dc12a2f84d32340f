"""Checks of models on examples: causality, padding, the vocabulary, the splits and the score."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from seqlab.audit.data import judge_copies, judge_overlaps, judge_splits
from seqlab.audit.origins import vocabulary_origin
from seqlab.audit.result import check
from seqlab.audit.tolerance import MEAN_TOLERANCE, deviation, format_deviation, largest, within_tolerance
from seqlab.data.examples.example import Example, LabeledText, TaggedSentence
from seqlab.data.examples.giveaways import giveaways, sample_inputs
from seqlab.data.near_copies import near_copied_examples
from seqlab.data.overlap import Overlap, example_overlap
from seqlab.data.text.split import compared_splits
from seqlab.decode.translation import batch_sources, translate
from seqlab.models.translator import Translator
from seqlab.registry import TASKS
from seqlab.runs.run import Run
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.examples import ExampleTask
from seqlab.tasks.translate import TranslateTask, pair_batch

EXAMPLES = 12
MAX_TOKENS = 30  # of a translation


@check("a future token changes nothing before it")
@torch.inference_mode()
def causality(task: TranslateTask, model: Translator) -> tuple[bool, str]:
    """In the target, to the bit: the decoder must not see the tokens that it predicts."""
    batch = _first_batch(task)
    logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
    changes: list[float] = []
    length = batch.inputs_BT.shape[1]
    for position in sorted({1, length // 2, length - 1} & set(range(1, length))):
        changed_BT = batch.inputs_BT.clone()
        changed_BT[:, position:] = (changed_BT[:, position:] + 1) % model.vocab_size
        after_BTV = model(batch.source, changed_BT, batch.mask_BT)
        changes.append(float((after_BTV - logits_BTV)[:, :position].abs().max()))
    change = largest(changes)
    return change == 0, f"largest change before it: {format_deviation(change)}, changed at {len(changes)} places"


@check("step by step equals parallel")
@torch.inference_mode()
def steps(task: TranslateTask, model: Translator) -> tuple[bool, str]:
    batch = _first_batch(task)

    def measure(model: Translator) -> float:
        logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        state, deviations = model.start(batch.source), []
        scored_BT = batch.targets_BT >= 0
        for t in range(batch.inputs_BT.shape[1]):
            logits_BV, state = model.step(batch.inputs_BT[:, t], state)
            deviations.append(deviation(logits_BV[scored_BT[:, t]], logits_BTV[:, t][scored_BT[:, t]]))
        return largest(deviations)

    return within_tolerance(model, measure)


@check("cached equals uncached generation")
@torch.inference_mode()
def generation(task: TranslateTask, model: Translator) -> tuple[bool, str]:
    """Greedy translation step by step against one forward pass over the same target."""
    sources = task.splits["validation"].inputs[: EXAMPLES // 3]

    def measure(model: Translator) -> float:
        deviations: list[float] = []
        translations = translate(model, sources, task.vocabulary, 1, 0.0, MAX_TOKENS)
        for source, translation in zip(sources, translations, strict=True):
            begin = task.vocabulary.target_tokenizer.begin if task.vocabulary.target_tokenizer else 0
            inputs_1T = torch.tensor([[begin, *translation.tokens[:-1]]])
            logprobs_1TV = model(batch_sources([source], model), inputs_1T).double().log_softmax(2)
            expected = float(logprobs_1TV[0].gather(1, torch.tensor(translation.tokens)[:, None]).sum())
            deviations.append(abs(expected - translation.logprob) / max(1.0, abs(expected)))
        return largest(deviations)

    passed, detail = within_tolerance(model, measure)
    return passed, f"{len(sources)} translations: {detail}"


@check("a padded row equals the row alone")
@torch.inference_mode()
def padding(task: ExampleTask, model: Any) -> tuple[bool, str]:
    """The nats of examples in one batch equal those of each example alone."""
    split = task.splits["validation"]
    longest = int(np.argmax(split.lengths_N))
    rows = sorted({*range(min(EXAMPLES, len(split))), longest})

    def measure(model: Any) -> float:
        together = task.nats(model, split, np.array(rows))
        alone = np.concatenate([task.nats(model, split, np.array([row])) for row in rows])
        return float(np.max(np.abs(together - alone) / np.maximum(1, np.abs(alone))))

    return within_tolerance(model, measure)


@check("vocabulary from the training text only")
def vocabulary(run: Run, dataset: ExampleDataset) -> tuple[bool, str]:
    """Built again from the training examples, it must be the same, or that of the run that config.json names as its
    origin; and every label must occur in training, whatever the task's own code says."""
    vocabulary, train = dataset.vocabulary, dataset.data.splits["train"]
    size = f"{vocabulary.tokenizer.vocab_size:,} tokens" + (
        f", {len(vocabulary.labels)} labels" if vocabulary.labels else ""
    )
    if (origin := vocabulary_origin(run)) is not None:
        return True, f"{size}, those of '{origin}'"
    if never := set(vocabulary.labels) - _labels(train):
        return False, f"{size}, and {len(never)} of the labels never occur in training: {', '.join(sorted(never)[:5])}"
    rebuilt = TASKS.load(run.settings.task.name).build_vocabulary(train, run.settings)
    if rebuilt.fingerprint == vocabulary.fingerprint:
        return True, f"{size}, the same when built again"
    foreign = len(set(vocabulary.tokenizer.tokens()) - set(rebuilt.tokenizer.tokens()))
    return (
        False,
        f"{size}; {foreign:,} of the tokens do not come from the training examples, nor from a run in config.json",
    )


def _labels(examples: Sequence[Example]) -> set[str]:
    tags = {tag for example in examples if isinstance(example, TaggedSentence) for tag in example.tags}
    return tags | {example.label for example in examples if isinstance(example, LabeledText)}


@check("the splits do not overlap")
def split_overlap(dataset: ExampleDataset) -> tuple[bool, str]:
    """Inputs that the training split repeats can be memorized."""
    splits = dataset.data.splits
    pairs = compared_splits(splits)
    return judge_splits({(split, earlier): example_overlap(splits[split], splits[earlier]) for split, earlier in pairs})


@check("held-out data is not copied with small changes")
def near_copied(dataset: ExampleDataset) -> tuple[bool | None, str]:
    """Held-out inputs that are nearly those of a training example."""
    splits = dataset.data.splits
    held_out = [split for split in splits if split != "train"]
    return judge_copies({split: near_copied_examples(splits[split], splits["train"]) for split in held_out})


@check("inputs do not give their labels away")
def given_away(dataset: ExampleDataset) -> tuple[bool, str]:
    """Names of labels, and identifiers that tell them, in the inputs of all splits."""
    checked, total = sample_inputs(dataset.data.splits), sum(map(len, dataset.data.splits.values()))
    found = giveaways(checked)
    counts = f"{len(checked):,} of {total:,} inputs checked"
    return not found, f"{'; '.join(found) or 'no name of a label and no mark tells it'}; {counts}"


@check("the splits share no groups")
def shared_groups(dataset: ExampleDataset) -> tuple[bool | None, str]:
    """Held-out examples of an author or document that was trained on are easier than those of a new one."""
    groups = dataset.data.groups
    if groups is None:
        return None, "no column of the data seems to name groups (corpus.groups)"
    held_out = {split: given for split, given in groups.splits.items() if split != "train"}
    overlaps = {split: Overlap("examples", len(given), groups.shared(split)) for split, given in held_out.items()}
    return judge_overlaps(overlaps, f"belong to a group of '{groups.column}' that the training split has too")


@check("evaluation counts every example once")
def counted_once(task: ExampleTask, model: Any) -> tuple[bool, str]:
    """The batches of every held-out split contain each example once."""
    right, wrong = [], []
    for name, split in task.splits.items():
        if name == "train":
            continue
        rows_N = np.sort(np.concatenate(split.scoring_batches(len(split))))
        each_once = np.array_equal(rows_N, np.arange(len(split)))
        (right if each_once else wrong).append(f"{name}: {len(rows_N):,} of {len(split):,}")
    return not wrong, "; ".join(wrong or right)


@check("evaluation equals an independent recount")
@torch.inference_mode()
def recount(task: ExampleTask, model: Any) -> tuple[bool, str]:
    """The nats of the first validation examples, scored in batches and one by one."""
    split = task.splits["validation"]
    count = min(EXAMPLES, len(split))
    limit = int(split.lengths_N[:count].sum()) - 1

    def measure(model: Any) -> float:
        scores = task.validate(model, limit)
        alone = np.concatenate([task.nats(model, split, np.array([row])) for row in range(len(scores.nats_U))])
        return float(np.max(np.abs(scores.nats_U - alone) / scores.tokens_U))

    return within_tolerance(model, measure, MEAN_TOLERANCE)


def _first_batch(task: TranslateTask) -> Any:
    split = task.splits["validation"]
    return pair_batch(split, np.arange(min(EXAMPLES, len(split))))
