"""What a step of each entrant takes, alone on the machine, one after the other in turn."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seqlab.comparison.plan.prepared import Prepared
from seqlab.contracts import Scores
from seqlab.runs.directory import RunDirectory
from seqlab.threads import compute_threads
from seqlab.training.loop import EVALUATED_TOKENS, Trainer
from seqlab.training.progress import NullReporter

ROUNDS = 9
SCORED = 20_000  # tokens that are scored to know what an evaluation takes
FULLY = 2_000  # and that are scored as a result is, which for a translation is a search
GLANCES = 11 / 14  # of the evaluations of a run


@dataclass(frozen=True)
class Timed:
    step_seconds: float
    evaluation_seconds: float


def time_all(prepared: Prepared, threads: int) -> dict[str, Timed]:
    """The median over rounds, in each of which every entrant takes a step: what disturbs one disturbs all."""
    with compute_threads(threads):
        trainers = {name: _trainer(prepared, name) for name in prepared.models}
        for trainer in trainers.values():
            _step(trainer, 0)  # compiles, allocates
        rounds = [
            {name: _step(trainer, number) for name, trainer in trainers.items()} for number in range(1, ROUNDS + 1)
        ]
        return {
            name: Timed(statistics.median(times[name] for times in rounds), _evaluation(prepared, trainer))
            for name, trainer in trainers.items()
        }


def _trainer(prepared: Prepared, name: str) -> Trainer:
    settings = prepared.models[name]
    train = settings.train.model_copy(update={"steps": ROUNDS + 1, "epochs": None, "seconds": None})
    model = prepared.model(settings).to(train.device)
    nowhere = RunDirectory(Path())  # nothing is saved
    return Trainer(nowhere, train, model, prepared.task(settings), NullReporter(), lambda: "")


def _step(trainer: Trainer, number: int) -> float:
    began = time.perf_counter()
    trainer.gradients(number)
    trainer.optimizer.step()
    return time.perf_counter() - began


def _evaluation(prepared: Prepared, trainer: Trainer) -> float:
    """Seconds of one look at the validation part, from a short stretch of it; some are looks at the whole result."""
    validate = _extrapolated(prepared, lambda: trainer.task.validate(trainer.model.eval(), SCORED), SCORED)
    score = _extrapolated(prepared, lambda: trainer.task.score(trainer.model.eval(), "validation", limit=FULLY), FULLY)
    return GLANCES * validate + (1 - GLANCES) * score


def _extrapolated(prepared: Prepared, look: Callable[[], Scores], limit: int) -> float:
    tokens = min(prepared.tokens("validation"), EVALUATED_TOKENS)
    began = time.perf_counter()
    look()
    return (time.perf_counter() - began) * max(1.0, tokens / limit)
