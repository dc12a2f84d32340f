"""After training: score the best weights and the baselines, draw the loss curves, write the model card."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from seqlab.contracts import TextScores
from seqlab.distributed.group import wait_for_all
from seqlab.distributed.world import ALONE, joined, working_as
from seqlab.errors import TrainingFailed
from seqlab.models.language_model import LanguageModel
from seqlab.runs import tensors
from seqlab.runs.curves import draw_curves
from seqlab.runs.load import load_run
from seqlab.runs.log import read_log
from seqlab.runs.loss_gap import final_gap, loss_caution
from seqlab.runs.results import RunResults, ValidationBaseline, strongest_baseline, timestamp, write_card, write_results
from seqlab.runs.run import Run
from seqlab.tasks.as_read import unknown_share
from seqlab.tasks.task import Task
from seqlab.training.baselines import measure_baselines
from seqlab.training.evaluations import FINAL_TOKENS
from seqlab.training.loop import TrainingProgress
from seqlab.training.start import TrainingSession


def finish(session: TrainingSession, progress: TrainingProgress, log: Callable[[str], None]) -> Run:
    """Score the best weights, score the baselines, draw the curves and write the card; return the run."""
    directory, settings = session.directory, session.settings
    if progress.best_loss is None:
        raise TrainingFailed(
            f"no evaluation of '{directory.path}' had a finite loss, so there are no best weights. "
            f"Train again with a lower learning rate (train.lr={settings.train.lr / 3:.1g})."
        )
    run = _complete_run(session, log)
    scores = session.task.score(run.model, "validation", limit=FINAL_TOKENS)
    if not joined().is_writer:
        wait_for_all()
        return load_run(directory.path)
    with working_as(ALONE):
        _write(session, progress, run, scores)
    wait_for_all()
    return run


def _complete_run(session: TrainingSession, log: Callable[[str], None]) -> Run:
    """The best weights, and what the task adds to them: by one process, before the others load it."""
    directory, device = session.directory, session.settings.train.device
    if joined().is_writer:
        run = load_run(directory.path)
        run.model.to(device)
        with working_as(ALONE):
            for name, content in session.task.complete(run.model, log).items():
                directory.write_file(name, tensors.to_bytes(dict(content)))
        wait_for_all()
        return run
    wait_for_all()
    run = load_run(directory.path)
    run.model.to(device)
    return run


def _write(session: TrainingSession, progress: TrainingProgress, run: Run, scores: Any) -> None:
    """Results, curves and card."""
    directory, settings, task, model = session.directory, session.settings, session.task, run.model
    is_text = isinstance(scores, TextScores)
    unknown = unknown_share(session.dataset.splits["validation"], session.dataset.vocabulary) or 0.0
    metrics = {key: float(value) for key, value in task.metrics(scores).items()}
    baselines = measure_baselines(settings, session.dataset, task, task.unit_sums(scores))
    strongest = strongest_baseline(baselines, task.headline_metric, is_text)
    if isinstance(model, LanguageModel) and model.mixture is not None:
        baselines = [*baselines, _network_alone(task, model)]
    results = RunResults(
        validation=metrics,
        headline_metric=task.headline_metric,
        sentence=task.result_sentence(metrics, strongest and (strongest.name, strongest.metrics)),
        criterion=scores.criterion,
        mode=task.mode,
        window=task.settings.window if is_text else None,
        steps=progress.step,
        best_step=progress.best_step,
        stop_reason=progress.finished,
        seconds=round(progress.seconds, 1),
        unknown_share=scores.unknown_tokens / scores.tokens if is_text else unknown,
        baselines=baselines,
        date=timestamp(),
    )
    metrics_log = read_log(directory.metrics)
    gap = final_gap(metrics_log)
    if gap is not None:
        lower_rate = f"Train again with a lower --lr than {settings.train.lr:g}."
        results = replace(results, caution=loss_caution("The model", gap, lower_rate))
    write_results(directory, results)
    title = f"{settings.model_name} on {session.dataset.name}"
    draw_curves(metrics_log, title, directory.path / "curves.png")
    write_card(directory, settings, session.config, results)
    run.model.cpu()


def _network_alone(task: Task, model: LanguageModel) -> ValidationBaseline:
    """The network of a mixture without its counts, scored alike."""
    with model.without_mixture():
        metrics = task.metrics(task.score(model, "validation", limit=FINAL_TOKENS))
    values = {key: float(value) for key, value in metrics.items()}
    return ValidationBaseline("network alone", "this model without the counts", "reference", values)
