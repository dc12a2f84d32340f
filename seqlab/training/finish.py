"""After training: score the best weights and the baselines, draw the loss curves, write the model card."""

from dataclasses import replace

from seqlab.contracts import TextScores
from seqlab.errors import TrainingFailed
from seqlab.runs.curves import draw_curves
from seqlab.runs.load import load_run
from seqlab.runs.log import read_log
from seqlab.runs.loss_gap import final_gap, loss_caution
from seqlab.runs.results import RunResults, main_baseline, timestamp, write_card, write_results
from seqlab.runs.run import Run
from seqlab.tasks.as_read import unknown_share
from seqlab.training.baselines import measure_baselines
from seqlab.training.evaluations import FINAL_TOKENS
from seqlab.training.loop import TrainingProgress
from seqlab.training.start import TrainingSession


def finish(session: TrainingSession, progress: TrainingProgress) -> Run:
    """Score the best weights, score the baselines, draw the curves and write the card; return the run."""
    directory, settings = session.directory, session.settings
    if progress.best_loss is None:
        raise TrainingFailed(
            f"no evaluation of '{directory.path}' had a finite loss, so there are no best weights. "
            f"Train again with a lower learning rate (train.lr={settings.train.lr / 3:.1g})."
        )
    run = load_run(directory.path)
    model = run.model.to(settings.train.device)
    task = session.task
    scores = task.score(model, "validation", limit=FINAL_TOKENS)
    is_text = isinstance(scores, TextScores)
    unknown = unknown_share(session.dataset.splits["validation"], session.dataset.vocabulary) or 0.0
    metrics = {key: float(value) for key, value in task.metrics(scores).items()}
    baselines = measure_baselines(settings, session.dataset, task, task.unit_sums(scores))
    main = main_baseline(baselines)
    results = RunResults(
        validation=metrics,
        headline_metric=task.headline_metric,
        sentence=task.result_sentence(metrics, main and (main.name, main.metrics)),
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
    log = read_log(directory.metrics)
    gap = final_gap(log)
    if gap is not None:
        lower_rate = f"Train again with a lower --lr than {settings.train.lr:g}."
        results = replace(results, caution=loss_caution("The model", gap, lower_rate))
    write_results(directory, results)
    title = f"{settings.backbone.name} on {session.dataset.name}"
    draw_curves(log, title, directory.path / "curves.png")
    write_card(directory, settings, session.config, results)
    run.model.cpu()
    return run
