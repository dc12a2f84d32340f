"""Times a training step and the evaluations of each model, one model at a time."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from seqlab.comparison.plan.data import ComparisonData
from seqlab.config import TrainSettings
from seqlab.threads import compute_threads
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_count
from seqlab.training.step import TrainingStep

ROUNDS = 9
VALIDATED = 20_000  # tokens scored to time an evaluation during training
SCORED = 2_000  # tokens scored to time a full score, which for translation is a beam search
FULL_SCORES = 3  # per run: the best weights on validation, and the test split twice


@dataclass(frozen=True)
class ModelTiming:
    """Seconds of a training step, of an evaluation during training and of a full score."""

    step_seconds: float
    validation_seconds: float
    score_seconds: float

    def evaluation_seconds(self, train: TrainSettings, steps: int) -> float:
        """All evaluations of a run."""
        return evaluation_count(train, steps) * self.validation_seconds + FULL_SCORES * self.score_seconds

    @property
    def trial_seconds(self) -> float:
        """The evaluations of a tuning trial: one, after its last step."""
        return self.validation_seconds + self.score_seconds


def time_all(data: ComparisonData, threads: int) -> dict[str, ModelTiming]:
    """Medians over rounds in which every model takes one step, so that a disturbance hits all models."""
    with compute_threads(threads):
        steps = {
            name: TrainingStep(data.model(settings).to(settings.train.device), data.task(settings), settings.train)
            for name, settings in data.models.items()
        }
        rounds = [
            {name: _seconds(_take, step, number) for name, step in steps.items()} for number in range(ROUNDS + 1)
        ][1:]  # the first step compiles and allocates
        return {
            name: ModelTiming(statistics.median(times[name] for times in rounds), *_evaluation_seconds(data, step))
            for name, step in steps.items()
        }


def _take(step: TrainingStep, number: int) -> None:
    step.gradients(number)
    step.update()


def _evaluation_seconds(data: ComparisonData, step: TrainingStep) -> tuple[float, float]:
    """Seconds of an evaluation and of a full score of the validation split, extrapolated from its beginning."""
    task, model = step.task, step.model.eval()
    tokens = min(data.tokens("validation"), EVALUATED_TOKENS)
    validation = _seconds(task.validate, model, VALIDATED) * max(1.0, tokens / VALIDATED)
    score = _seconds(task.score, model, "validation", None, SCORED) * max(1.0, tokens / SCORED)
    return validation, score


def _seconds(function: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - began
