"""Times a training step and the evaluations of each model, one model at a time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from seqlab.comparison.plan.data import ComparisonData
from seqlab.config import TrainSettings
from seqlab.decode.engines.selection import EngineSelector
from seqlab.tasks.task import Task
from seqlab.threads import compute_threads
from seqlab.training.evaluations import EVALUATED_TOKENS, evaluation_count
from seqlab.training.matmul import with_measured_matmul
from seqlab.training.precision import with_measured_precision
from seqlab.training.step import TrainingStep
from seqlab.training.timing import WARMED_TOKENS, seconds_of, take_step, time_rounds

VALIDATED = 20_000  # tokens scored to time an evaluation during training
SCORED = 2_000  # tokens scored to time a full score, which for translation is a beam search
FULL_SCORES = 3  # per run: the best weights on validation, and the test split twice


@dataclass(frozen=True)
class ModelTiming:
    """Seconds of a training step, of an evaluation during training and of a full score."""

    step_seconds: float
    validation_seconds: float
    score_seconds: float
    spread: float = 0.0  # of the step, as a share
    compile_seconds: float = 0.0  # until its fast engine can generate

    def evaluation_seconds(self, train: TrainSettings, steps: int) -> float:
        """All evaluations of a run."""
        return evaluation_count(train, steps) * self.validation_seconds + FULL_SCORES * self.score_seconds

    @property
    def trial_seconds(self) -> float:
        """The evaluations of a tuning trial: one, after its last step."""
        return self.validation_seconds + self.score_seconds


def time_all(data: ComparisonData, threads: int) -> dict[str, ModelTiming]:
    """The time of a step and of the evaluations of every model, one model at a time."""
    with compute_threads(threads):
        steps = {
            name: TrainingStep(data.model(settings).to(settings.train.device), data.task(settings), settings.train)
            for name, settings in data.models.items()
        }
        timed = time_rounds({name: lambda number, step=step: take_step(step, number) for name, step in steps.items()})
        return {
            name: ModelTiming(
                timed[name].seconds,
                *_evaluation_seconds(data, step),
                timed[name].spread,
                _compile_seconds(step.model),
            )
            for name, step in steps.items()
        }


def decide_precisions(data: ComparisonData, threads: int, log: Callable[[str], None]) -> ComparisonData:
    """The models with one precision each, and what multiplies their matrices (training/precision.py, matmul.py)."""
    notes: dict[str, None] = {}
    with compute_threads(threads):
        models = {
            name: with_measured_matmul(settings, lambda note: notes.update({note: None}))
            for name, settings in data.models.items()
        }
        for note in notes:
            log(note)
        decided = {
            name: with_measured_precision(
                settings, data.model(settings).to(settings.train.device), data.task(settings), log, name
            )
            if settings.train.precision != "float32" or settings.train.optimizer == "muon"
            else settings
            for name, settings in models.items()
        }
    return replace(data, models=decided)


def _compile_seconds(model: Any) -> float:
    """Until the fast engine of a model that generates is ready."""
    return EngineSelector(model).seconds_until_ready


def _evaluation_seconds(data: ComparisonData, step: TrainingStep) -> tuple[float, float]:
    """Seconds of an evaluation and of a full score of the validation split, extrapolated from its beginning."""
    task, model = step.task, step.model.eval()
    tokens = min(data.tokens("validation"), EVALUATED_TOKENS)
    task.validate(model, WARMED_TOKENS)
    validation = seconds_of(task.validate, model, VALIDATED) * max(1.0, tokens / VALIDATED)
    if type(task).validate is Task.validate:  # an evaluation is a full score
        return validation, validation
    return validation, seconds_of(task.score, model, "validation", None, SCORED) * max(1.0, tokens / SCORED)
