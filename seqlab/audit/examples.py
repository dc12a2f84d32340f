"""Checks of models on labelled examples: what they know, that padding changes nothing, and an honest score."""

from typing import Any

import numpy as np
import torch

from seqlab.analysis.overlap import REMEMBERING_PAYS
from seqlab.audit.agreement import ALLOWED_MEAN, agree, deviation, in_words, largest
from seqlab.audit.result import check
from seqlab.config import RunSettings
from seqlab.decode.translation import batch_sources, translate
from seqlab.models.translator import Translator
from seqlab.registry import TASKS
from seqlab.tasks.dataset import ExampleDataset
from seqlab.tasks.examples import ExampleTask, scoring_batches
from seqlab.tasks.translate import TranslateTask, pair_batch

LOOKED_AT = 12  # examples
WRITTEN = 30  # tokens of a translation


@check("a future token changes nothing before it")
@torch.inference_mode()
def future(task: TranslateTask, model: Translator) -> tuple[bool, str]:
    """Of the target, to the bit: the decoder must not see what it is to write."""
    batch = _some(task)
    logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
    moved: list[float] = []
    length = batch.inputs_BT.shape[1]
    for place in sorted({1, length // 2, length - 1} & set(range(1, length))):
        changed_BT = batch.inputs_BT.clone()
        changed_BT[:, place:] = (changed_BT[:, place:] + 1) % model.vocab_size
        after_BTV = model(batch.source, changed_BT, batch.mask_BT)
        moved.append(float((after_BTV - logits_BTV)[:, :place].abs().max()))
    return largest(moved) == 0, f"largest change before it: {in_words(largest(moved))}, changed at {len(moved)} places"


@check("step by step equals parallel")
@torch.inference_mode()
def steps(task: TranslateTask, model: Translator) -> tuple[bool, str]:
    batch = _some(task)

    def measure(model: Translator) -> float:
        logits_BTV = model(batch.source, batch.inputs_BT, batch.mask_BT)
        state, found = model.start(batch.source), []
        kept_BT = batch.targets_BT >= 0
        for t in range(batch.inputs_BT.shape[1]):
            logits_BV, state = model.step(batch.inputs_BT[:, t], state)
            found.append(deviation(logits_BV[kept_BT[:, t]], logits_BTV[:, t][kept_BT[:, t]]))
        return largest(found)

    return agree(model, measure)


@check("cached equals uncached generation")
@torch.inference_mode()
def generation(task: TranslateTask, model: Translator) -> tuple[bool, str]:
    """The likeliest tokens, written step by step; and the same target read at once."""
    sources = task.splits["validation"].inputs[: LOOKED_AT // 3]

    def measure(model: Translator) -> float:
        found: list[float] = []
        for source, one in zip(sources, translate(model, sources, task.vocabulary, 1, 0.0, WRITTEN), strict=True):
            begin = task.vocabulary.target_tokenizer.begin if task.vocabulary.target_tokenizer else 0
            inputs_1T = torch.tensor([[begin, *one.tokens[:-1]]])
            logprobs_1TV = model(batch_sources([source], model), inputs_1T).double().log_softmax(2)
            read = float(logprobs_1TV[0].gather(1, torch.tensor(one.tokens)[:, None]).sum())
            found.append(abs(read - one.logprob) / max(1.0, abs(read)))
        return largest(found)

    passed, words = agree(model, measure)
    return passed, f"{len(sources)} translations: {words}"


@check("a padded row equals the row alone")
@torch.inference_mode()
def padding(task: ExampleTask, model: Any) -> tuple[bool, str]:
    """In nats, of examples of different length together and one by one."""
    part = task.splits["validation"]
    longest = int(np.argmax(part.lengths_N))
    rows = sorted({*range(min(LOOKED_AT, len(part))), longest})

    def measure(model: Any) -> float:
        together = task.nats(model, part, np.array(rows))
        alone = np.concatenate([task.nats(model, part, np.array([row])) for row in rows])
        return float(np.max(np.abs(together - alone) / np.maximum(1, np.abs(alone))))

    return agree(model, measure)


@check("vocabulary from the training text only")
def symbols(settings: RunSettings, dataset: ExampleDataset) -> tuple[bool, str]:
    """Learnt again from the training examples, symbols and labels must be the same; or be those of another run."""
    vocabulary = dataset.vocabulary
    size = f"{vocabulary.tokenizer.vocab_size:,} symbols" + (
        f", {len(vocabulary.labels)} labels" if vocabulary.labels else ""
    )
    task = TASKS.load(settings.task.name)
    if task.build_vocabulary(dataset.data.splits["train"], settings).fingerprint == vocabulary.fingerprint:
        return True, f"{size}, the same when learnt again"
    everything = [example for part in dataset.data.splits.values() for example in part]
    if task.build_vocabulary(everything, settings).fingerprint == vocabulary.fingerprint:
        return False, f"{size}, learnt from held-out examples too"
    return True, f"{size} of another run"


@check("the splits do not overlap")
def overlap_of_parts(dataset: ExampleDataset) -> tuple[bool, str]:
    """Inputs that stand in the training part too can be remembered."""
    parts = dataset.data.splits
    known = {example.input for example in parts["train"]}
    words, shares = [], []
    for name, examples in parts.items():
        if name != "train":
            again = sum(example.input in known for example in examples)
            shares.append(again / len(examples))
            words.append(f"{name}: {again:,} of {len(examples):,} inputs ({shares[-1]:.1%})")
    counted = ", ".join(words)
    passed = max(shares) < REMEMBERING_PAYS
    return passed, f"{counted} in the training part too (allowed less than {REMEMBERING_PAYS:.0%})"


@check("evaluation counts every example once")
def counted_once(task: ExampleTask, model: Any) -> tuple[bool, str]:
    """As many units as examples in every held-out part, in batches that hold each one once."""
    right, wrong = [], []
    for name, part in task.splits.items():
        if name == "train":
            continue
        rows_N = np.sort(np.concatenate(scoring_batches(part, len(part))))
        fits = np.array_equal(rows_N, np.arange(len(part)))
        (right if fits else wrong).append(f"{name}: {len(rows_N):,} of {len(part):,}")
    return not wrong, "; ".join(wrong or right)


@check("evaluation equals a count by hand")
@torch.inference_mode()
def by_hand(task: ExampleTask, model: Any) -> tuple[bool, str]:
    """Nats of the first validation examples as they are scored, and one by one."""
    part = task.splits["validation"]
    count = min(LOOKED_AT, len(part))
    limit = int(part.lengths_N[:count].sum()) - 1

    def measure(model: Any) -> float:
        scores = task.validate(model, limit)
        alone = np.concatenate([task.nats(model, part, np.array([row])) for row in range(len(scores.nats_U))])
        return float(np.max(np.abs(scores.nats_U - alone) / scores.tokens_U))

    return agree(model, measure, ALLOWED_MEAN)


def _some(task: TranslateTask) -> Any:
    part = task.splits["validation"]
    return pair_batch(part, np.arange(min(LOOKED_AT, len(part))))
