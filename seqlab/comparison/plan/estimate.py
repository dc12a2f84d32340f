"""How long a comparison will take: training, evaluations, and what every run, worker and report adds."""

from collections.abc import Mapping

from seqlab.comparison.plan.data import ComparisonData
from seqlab.comparison.plan.request import ComparisonRequest
from seqlab.comparison.plan.timing import ModelTiming
from seqlab.comparison.plan.trials import trial_count, trial_share
from seqlab.distributed.world import launched
from seqlab.threads import available_cores, default_threads
from seqlab.training.evaluations import evaluation_count
from seqlab.training.timing import BASELINE_SECONDS, EVALUATION_SECONDS, RUN_SECONDS, STARTUP_SECONDS

SLOWDOWN = 1.25  # of runs that share the machine
TRIAL_SECONDS = 0.8  # the files of a trial
# after all runs, in seconds of one core
ENTRANT_SECONDS = 4.5  # its audit, samples and speed of generation
REPORT_SECONDS = 4.0  # figures, table and report


def estimate_seconds(
    request: ComparisonRequest, data: ComparisonData, timed: Mapping[str, ModelTiming], steps: Mapping[str, int]
) -> float:
    """Seconds for all trials and runs, from the first worker to the report."""
    trials = trial_count(request.comparison)
    work, share = 0.0, trial_share(steps.values())
    for name, timing in timed.items():
        training = steps[name] * timing.step_seconds
        train = data.models[name].train
        evaluations = timing.evaluation_seconds(train, steps[name]) + EVALUATION_SECONDS * evaluation_count(
            train, steps[name]
        )
        work += request.comparison.seeds * (training + evaluations + RUN_SECONDS)
        work += trials * (share * training + timing.trial_seconds + TRIAL_SECONDS)
    jobs = jobs_of(request)
    collecting = sum(ENTRANT_SECONDS + timing.compile_seconds for timing in timed.values())
    alone = STARTUP_SECONDS + collecting + REPORT_SECONDS + BASELINE_SECONDS * data.tokens("train")
    return work * (SLOWDOWN if jobs > 1 else 1.0) / jobs + alone


def jobs_of(request: ComparisonRequest) -> int:
    """Parallel runs: one per core of all machines, at most as many as there are runs."""
    return request.comparison.jobs or min(_all_cores(), len(request.models) * request.comparison.seeds)


def own_jobs(request: ComparisonRequest) -> int:
    """Those that this process runs at once; torchrun may have started others."""
    return max(1, len(launched().part(range(jobs_of(request)))))


def _all_cores() -> int:
    """Of all machines, taken to be as large as this one."""
    world = launched()
    return available_cores() * (world.size // world.local_size)


def threads_of(request: ComparisonRequest) -> int:
    """The cores of this machine for the runs that share it; one thread on a cluster, whose nodes may be smaller."""
    if request.comparison.launcher == "ray":
        return 1
    return max(1, min(default_threads(), _all_cores() // jobs_of(request)))
