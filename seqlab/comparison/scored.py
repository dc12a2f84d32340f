"""scored.json in a run: its sums on the part that decides, unit by unit. Written once, when training has ended."""

from dataclasses import asdict, dataclass

import numpy as np
from pydantic import TypeAdapter, ValidationError

from seqlab.api import Run
from seqlab.contracts import Scores
from seqlab.metrics.likelihood import Likelihood, of_scores
from seqlab.runs.layout import RunDirectory
from seqlab.runs.manifest import verified
from seqlab.runs.storage import from_json, not_ours, to_json

NAME = "scored.json"
BLOCK = 1024  # characters of a unit of text
MOST_TOKENS = 2_000_000  # of a longer stream the beginning decides: its text is no longer what is uncertain


@dataclass(frozen=True)
class Scored:
    """`sums_UK` are nats and characters of each block of text; `tokens_U` says how many tokens it has."""

    part: str
    likelihood: Likelihood
    carried: float | None
    sums_UK: list[list[float]]
    tokens_U: list[int]
    loss_by_position: list[float]
    peak_memory: int | None


def score(run: Run, part: str, peak_memory: int | None) -> Scored:
    task = run.task()
    limit = MOST_TOKENS if task.parts[part].facts.documents == 1 else None
    found, *others = (task.score(run.model, part, context, limit) for context in task.contexts)
    sums_UK, tokens_U = blocks(found)
    return Scored(
        part=part,
        likelihood=of_scores(found),
        carried=others[0].nats / others[0].tokens if others else None,
        sums_UK=sums_UK.tolist(),
        tokens_U=tokens_U.tolist(),
        loss_by_position=(found.nats_by_position_T / found.tokens_by_position_T).tolist(),
        peak_memory=peak_memory,
    )


def blocks(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring windows or lines, put together to about 1,024 characters: nats and characters, and tokens."""
    per_token = scores.characters / scores.tokens
    characters_U = np.cumsum(scores.tokens_U) * per_token
    # a window belongs to the block in which its last character lies; a short rest joins the block before it
    count = max(1, round(characters_U[-1] / BLOCK))
    block_U = np.minimum(np.ceil(characters_U / BLOCK - 1e-9).astype(int) - 1, count - 1)
    firsts = np.flatnonzero(np.diff(block_U, prepend=-1))
    nats_N = np.add.reduceat(scores.nats_U, firsts)
    tokens_N = np.add.reduceat(scores.tokens_U, firsts)
    return np.stack([nats_N, tokens_N * per_token], 1), tokens_N


def write_scored(run: RunDirectory, scored: Scored) -> None:
    run.put(NAME, to_json(asdict(scored)))


def is_scored(run: RunDirectory) -> bool:
    return (run.path / NAME).is_file()


def read_scored(run: RunDirectory) -> Scored:
    path = run.path / NAME
    try:
        return TypeAdapter(Scored).validate_python(from_json(verified(run.path, NAME), path))
    except ValidationError as error:
        raise not_ours(path, error) from None
