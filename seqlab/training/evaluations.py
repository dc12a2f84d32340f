"""When a run evaluates: every `evaluate_every` steps (by default ten times), and after its last step."""

from seqlab.config import TrainSettings

DEFAULT_EVALUATIONS = 10
EVALUATED_TOKENS = 500_000  # of the validation split: what an evaluation during training scores at most
FINAL_TOKENS = 5_000_000  # of the validation split: what the results of a finished run score at most


def evaluation_interval(train: TrainSettings, steps: int) -> int:
    """Steps between two evaluations of a run of `steps` steps."""
    return train.evaluate_every or max(1, -(-steps // DEFAULT_EVALUATIONS))


def evaluation_count(train: TrainSettings, steps: int) -> int:
    """How many evaluations a run of `steps` steps makes while it trains, at most."""
    return DEFAULT_EVALUATIONS if train.evaluate_every is None else -(-steps // train.evaluate_every)


def steps_within(seconds: float, train: TrainSettings, step_seconds: float, evaluation_seconds: float) -> int:
    """The steps that fit into `seconds` together with their evaluations and the final one."""
    if train.evaluate_every is not None:
        step_seconds += evaluation_seconds / train.evaluate_every
        return int((seconds - evaluation_seconds) / step_seconds)
    return int((seconds - (DEFAULT_EVALUATIONS + 1) * evaluation_seconds) / step_seconds)
