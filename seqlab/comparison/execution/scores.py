"""scores.json in a run: its sums for each unit of the deciding split. Written once, after training."""

from dataclasses import asdict, dataclass

from seqlab.contracts import TextScores
from seqlab.runs.directory import RunDirectory
from seqlab.runs.manifest import read_verified
from seqlab.runs.run import Run
from seqlab.storage import from_json, to_json, validated

NAME = "scores.json"
MOST_TOKENS = 2_000_000  # the rest of a longer split is not scored: it would not narrow the interval


@dataclass(frozen=True)
class RunScores:
    split: str
    metrics: dict[str, float]
    carried: float | None  # the loss with the state carried through the text
    sums_UK: list[list[float]]  # the sums of the task's metric for each unit
    tokens_U: list[int]
    loss_by_position: list[float]
    peak_memory: int | None


def score(run: Run, split: str, peak_memory: int | None) -> RunScores:
    task = run.task()
    by_mode = {
        mode: task.score(run.model, split, mode, MOST_TOKENS) for mode in dict.fromkeys([task.mode, *task.modes[1:]])
    }
    scores = by_mode[task.mode]
    units = task.unit_sums(scores)
    return RunScores(
        split=split,
        metrics=task.metrics(scores),
        carried=by_mode["carry"].loss if "carry" in by_mode else None,
        sums_UK=units.sums_UK.tolist(),
        tokens_U=units.tokens_U.tolist(),
        loss_by_position=(scores.nats_by_position_T / scores.tokens_by_position_T).tolist()
        if isinstance(scores, TextScores) and scores.mode == "window"
        else [],
        peak_memory=peak_memory,
    )


def write_scores(run: RunDirectory, scores: RunScores) -> None:
    run.write_file(NAME, to_json(asdict(scores)))


def is_scored(run: RunDirectory) -> bool:
    return (run.path / NAME).is_file()


def read_scores(run: RunDirectory) -> RunScores:
    path = run.path / NAME
    return validated(RunScores, from_json(read_verified(run.path, NAME), path), path)
