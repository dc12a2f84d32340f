"""scores.json in a run: its sums on the deciding split, unit by unit. Written once, after training."""

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from seqlab.contracts import TextScores
from seqlab.runs.directory import RunDirectory
from seqlab.runs.manifest import read_verified
from seqlab.runs.run import Run
from seqlab.storage import from_json, to_json, unreadable_file

NAME = "scores.json"
MOST_TOKENS = 2_000_000  # of a longer split only the beginning is scored: more text would not narrow the interval


@dataclass(frozen=True)
class RunScores:
    """`sums_UK` holds the sums of the task's metric for each unit, `tokens_U` its tokens."""

    split: str
    metrics: dict[str, float]
    carried: float | None
    sums_UK: list[list[float]]
    tokens_U: list[int]
    loss_by_position: list[float]
    peak_memory: int | None


def score(run: Run, split: str, peak_memory: int | None) -> RunScores:
    task = run.task()
    scores, *others = (task.score(run.model, split, mode, MOST_TOKENS) for mode in task.modes)
    units = task.unit_sums(scores)
    by_position = []
    if isinstance(scores, TextScores):
        by_position = (scores.nats_by_position_T / scores.tokens_by_position_T).tolist()
    return RunScores(
        split=split,
        metrics=task.metrics(scores),
        carried=others[0].loss if others else None,
        sums_UK=units.sums_UK.tolist(),
        tokens_U=units.tokens_U.tolist(),
        loss_by_position=by_position,
        peak_memory=peak_memory,
    )


def write_scores(run: RunDirectory, scores: RunScores) -> None:
    run.write_file(NAME, to_json(asdict(scores)))


def is_scored(run: RunDirectory) -> bool:
    return (run.path / NAME).is_file()


def read_scores(run: RunDirectory) -> RunScores:
    path = run.path / NAME
    try:
        return TypeAdapter(RunScores).validate_python(from_json(read_verified(run.path, NAME), path))
    except ValidationError as error:
        raise unreadable_file(path, error) from None
