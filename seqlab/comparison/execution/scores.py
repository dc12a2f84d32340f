"""scored.json in a run: its sums on the part that decides, unit by unit. Written once, when training has ended."""

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from seqlab.contracts import TextScores
from seqlab.runs.directory import RunDirectory
from seqlab.runs.manifest import read_verified
from seqlab.runs.run import Run
from seqlab.storage import from_json, to_json, unreadable_file

NAME = "scored.json"
MOST_TOKENS = 2_000_000  # of a longer part the beginning decides: its text is no longer what is uncertain


@dataclass(frozen=True)
class Scored:
    """`sums_UK` are those of the task's metric for each unit; `tokens_U` says how many tokens it has."""

    part: str
    metrics: dict[str, float]
    carried: float | None
    sums_UK: list[list[float]]
    tokens_U: list[int]
    loss_by_position: list[float]
    peak_memory: int | None


def score(run: Run, part: str, peak_memory: int | None) -> Scored:
    task = run.task()
    found, *others = (task.score(run.model, part, mode, MOST_TOKENS) for mode in task.modes)
    units = task.unit_sums(found)
    by_position = []
    if isinstance(found, TextScores):
        by_position = (found.nats_by_position_T / found.tokens_by_position_T).tolist()
    return Scored(
        part=part,
        metrics=task.metrics(found),
        carried=others[0].loss if others else None,
        sums_UK=units.sums_UK.tolist(),
        tokens_U=units.tokens_U.tolist(),
        loss_by_position=by_position,
        peak_memory=peak_memory,
    )


def write_scored(run: RunDirectory, scored: Scored) -> None:
    run.write_file(NAME, to_json(asdict(scored)))


def is_scored(run: RunDirectory) -> bool:
    return (run.path / NAME).is_file()


def read_scored(run: RunDirectory) -> Scored:
    path = run.path / NAME
    try:
        return TypeAdapter(Scored).validate_python(from_json(read_verified(run.path, NAME), path))
    except ValidationError as error:
        raise unreadable_file(path, error) from None
