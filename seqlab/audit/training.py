"""Checks of training: the seed determines everything, and stream batches carry their state."""

from typing import cast

import torch

from seqlab.audit.result import check
from seqlab.audit.tolerance import MEAN_TOLERANCE, format_deviation, largest, within_tolerance
from seqlab.config import RunSettings
from seqlab.contracts import TextBatch
from seqlab.models.token_model import TokenModel
from seqlab.runs.load import build_model
from seqlab.tasks.task import Task
from seqlab.tasks.text import TextTask
from seqlab.tasks.text_scores import token_nats
from seqlab.tokenization.vocabulary import Vocabulary
from seqlab.training.step import TrainingStep

STEPS = 2


@check("same seed, same result")
def same_seed(settings: RunSettings, vocabulary: Vocabulary, task: Task) -> tuple[bool, str]:
    """The first steps of the run, twice, from different states of the global generator: equal bits."""
    with torch.random.fork_rng(devices=[]):
        (losses, weights), (other_losses, other_weights) = (
            _first_steps(settings, vocabulary, task, global_seed) for global_seed in (1, 2)
        )
    differences = [float((first - second).abs().max()) for first, second in zip(weights, other_weights, strict=True)]
    differences += [abs(first - second) for first, second in zip(losses, other_losses, strict=True)]
    difference = largest(differences)
    detail = f"{STEPS} steps twice, largest difference of weights and losses: {format_deviation(difference)}"
    return difference == 0, detail


def _first_steps(
    settings: RunSettings, vocabulary: Vocabulary, task: Task, global_seed: int
) -> tuple[list[float], list[torch.Tensor]]:
    torch.manual_seed(global_seed)
    model = build_model(settings, vocabulary.sizes)
    training = TrainingStep(model, task, settings.train)
    losses: list[float] = []
    for step in range(STEPS):
        nats, count, *_ = training.gradients(step)
        training.update()
        losses.append(nats / count)
    return losses, [parameter.detach() for parameter in model.parameters()]


@check("training carries its state")
@torch.inference_mode()
def carried_state(task: TextTask, model: TokenModel) -> tuple[bool | None, str]:
    """The loss of the second stream batch equals that of one pass over the first and the second."""
    device = next(model.parameters()).device
    first, second = (cast(TextBatch, task.batch("train", 0, index)).to(device) for index in (0, 1))
    if second.fresh:
        return None, "every batch starts with a fresh state"

    def measure(model: TokenModel) -> float:
        carry = task.loss(model, first, None, 0).carry
        loss = task.loss(model, second, carry, 1)
        logits_BTV, _ = model(torch.cat([first.inputs_BT, second.inputs_BT], dim=1))
        expected = token_nats(logits_BTV[:, first.inputs_BT.shape[1] :], second.targets_BT, "sum")
        return abs(float(loss.total) - float(expected)) / second.targets_BT.numel()

    return within_tolerance(model, measure, MEAN_TOLERANCE)
