"""How long a step and the evaluations of each model take: alone on the machine, the models in turn."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from seqlab.comparison.plan.data import ComparisonData
from seqlab.config import TrainSettings
from seqlab.contracts import Scores
from seqlab.threads import compute_threads
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_count
from seqlab.training.step import TrainingStep

ROUNDS = 9
VALIDATED = 20_000  # tokens that are scored to time an evaluation during training
SCORED = 2_000  # and to time a full score, which for a translation is a beam search
FULL_SCORES = 3  # of a run: the best weights on validation, and the test split twice


@dataclass(frozen=True)
class ModelTiming:
    """Seconds of a training step, of an evaluation during training and of a full score."""

    step_seconds: float
    validation_seconds: float
    score_seconds: float

    def evaluation_seconds(self, train: TrainSettings, steps: int) -> float:
        """What all evaluations of a run take."""
        return evaluation_count(train, steps) * self.validation_seconds + FULL_SCORES * self.score_seconds

    @property
    def trial_seconds(self) -> float:
        """What the evaluations of a tuning trial take: it evaluates once, after its last step."""
        return self.validation_seconds + self.score_seconds


def time_all(data: ComparisonData, threads: int) -> dict[str, ModelTiming]:
    """The median over rounds, in each of which every model takes a step: a disturbance hits all of them."""
    with compute_threads(threads):
        models = {name: _training_step(data, name) for name in data.models}
        for training in models.values():
            _seconds_of_step(training, 0)  # compiles, allocates
        rounds = [
            {name: _seconds_of_step(training, number) for name, training in models.items()}
            for number in range(1, ROUNDS + 1)
        ]
        return {
            name: ModelTiming(statistics.median(times[name] for times in rounds), *_evaluations(data, training))
            for name, training in models.items()
        }


def _training_step(data: ComparisonData, name: str) -> TrainingStep:
    settings = data.models[name]
    model = data.model(settings).to(settings.train.device)
    return TrainingStep(model, data.task(settings), settings.train)


def _seconds_of_step(training: TrainingStep, number: int) -> float:
    began = time.perf_counter()
    training.gradients(number)
    training.update()
    return time.perf_counter() - began


def _evaluations(data: ComparisonData, training: TrainingStep) -> tuple[float, float]:
    """Seconds of an evaluation and of a full score of the validation split, extrapolated from its beginning."""
    task, model = training.task, training.model.eval()
    validation = _extrapolated(data, lambda: task.validate(model, VALIDATED), VALIDATED)
    return validation, _extrapolated(data, lambda: task.score(model, "validation", limit=SCORED), SCORED)


def _extrapolated(data: ComparisonData, evaluate: Callable[[], Scores], limit: int) -> float:
    tokens = min(data.tokens("validation"), EVALUATED_TOKENS)
    began = time.perf_counter()
    evaluate()
    return (time.perf_counter() - began) * max(1.0, tokens / limit)
