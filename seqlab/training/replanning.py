"""Planning the number of steps again while they run, so that training ends in time on a machine whose load changes."""

from collections import deque

from seqlab.config import TrainSettings
from seqlab.config.sections import MOST

INTERVAL_SHARE = 0.02  # of the seconds: so often the plan is made again
INTERVALS = 5  # the last ones, whose steps say how long the next will take


class Replanning:
    """Counts steps and seconds; says how many steps fit into the budget of seconds."""

    def __init__(self, settings: TrainSettings, most: int = MOST):
        """`most`: the largest number of steps, however long the seconds are."""
        assert settings.seconds is not None, "replan has a budget in seconds"
        self.seconds, self.most = settings.seconds, most
        self._marks: deque[tuple[int, float]] = deque(maxlen=INTERVALS + 1)  # a step, and the seconds until it ended

    def steps(self, step: int, planned: int, elapsed: float) -> int:
        """The number of steps after `step` of them took `elapsed` seconds; `planned` until an interval has passed."""
        if not self._marks:  # the first step warms up
            self._marks.append((step, elapsed))
        if elapsed - self._marks[-1][1] < INTERVAL_SHARE * self.seconds:
            return planned
        self._marks.append((step, elapsed))
        first_step, first_elapsed = self._marks[0]
        step_seconds = (elapsed - first_elapsed) / (step - first_step)
        return min(self.most, step + max(1, int((self.seconds - elapsed) / step_seconds)))
