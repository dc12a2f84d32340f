"""Checks of training: that a seed decides everything, and that a stream of text carries its state along."""

from typing import cast

import torch

from seqlab.audit.agreement import ALLOWED_MEAN, agree, in_words, largest
from seqlab.audit.result import check
from seqlab.config import RunSettings
from seqlab.contracts import TextBatch
from seqlab.models.token_model import TokenModel
from seqlab.runs.load import build_model
from seqlab.tasks.task import Task
from seqlab.tasks.text import TextTask, token_nats
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.training.step import TrainingStep

STEPS = 2


@check("same seed, same result")
def same_seed(settings: RunSettings, vocabulary: Vocabulary, task: Task) -> tuple[bool, str]:
    """The first steps of the run, twice, while the random generator of the process stands elsewhere: equal bits."""
    with torch.random.fork_rng(devices=[]):
        (losses, weights), (other_losses, other_weights) = (
            _first_steps(settings, vocabulary, task, seed) for seed in (1, 2)
        )
    apart = [float((one - other).abs().max()) for one, other in zip(weights, other_weights, strict=True)]
    apart += [abs(one - other) for one, other in zip(losses, other_losses, strict=True)]
    words = f"{STEPS} steps twice, largest difference of weights and losses: {in_words(largest(apart))}"
    return largest(apart) == 0, words


def _first_steps(
    settings: RunSettings, vocabulary: Vocabulary, task: Task, elsewhere: int
) -> tuple[list[float], list[torch.Tensor]]:
    torch.manual_seed(elsewhere)
    model = build_model(settings, vocabulary.sizes)
    training = TrainingStep(model, task, settings.train)
    losses: list[float] = []
    for step in range(STEPS):
        nats, count, _ = training.gradients(step)
        training.update()
        losses.append(nats / count)
    return losses, [parameter.detach() for parameter in model.parameters()]


@check("training carries its state")
@torch.inference_mode()
def carried(task: TextTask, model: TokenModel) -> tuple[bool, str]:
    """The loss of a stream's second batch, against one pass over the first and the second."""
    device = next(model.parameters()).device
    first, second = (cast(TextBatch, task.batch("train", 0, index)).to(device) for index in (0, 1))
    if second.fresh:
        return True, "not asked where every batch starts afresh"

    def measure(model: TokenModel) -> float:
        carry = task.loss(model, first, None, 0).carry
        loss = task.loss(model, second, carry, 1)
        logits_BTV, _ = model(torch.cat([first.inputs_BT, second.inputs_BT], dim=1))
        expected = token_nats(logits_BTV[:, first.inputs_BT.shape[1] :], second.targets_BT, "sum")
        return abs(float(loss.total) - float(expected)) / second.targets_BT.numel()

    return agree(model, measure, ALLOWED_MEAN)
