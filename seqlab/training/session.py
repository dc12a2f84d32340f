"""From settings to a finished run: open the data, build the model, train it, write the results.

`train` begins a run, `resume` continues one. budget.py sets the number of steps, start.py writes the config, loop.py
trains, finish.py writes the results.
"""

import shlex
import shutil
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seqlab.config import RunSettings
from seqlab.data.text.corpus import open_corpus
from seqlab.data.text.given_splits import with_training_corpus
from seqlab.decode.sampling import SamplingSettings
from seqlab.decode.text_generator import TextGenerator
from seqlab.distributed.group import ProcessLost, from_writer, same_weights, share_work
from seqlab.distributed.world import joined, restarts
from seqlab.errors import DataError, TrainingFailed, UsageError
from seqlab.models.language_model import LanguageModel
from seqlab.models.model import Model
from seqlab.registry import TASKS
from seqlab.runs.checkpoint import WEIGHTS, checkpoints, load_weights, step_of, weights_of
from seqlab.runs.directory import RunDirectory, best_run_path, comparison_of, free_run_path, new_run
from seqlab.runs.load import build_model, load_parts, load_run
from seqlab.runs.lock import is_own_launch, locked_run
from seqlab.runs.origins import origins
from seqlab.runs.reopen import make_task, reopen, teacher_path, teacher_vocabulary
from seqlab.runs.results import read_results
from seqlab.runs.run import Run
from seqlab.runs.seen_before import seen_before_notes
from seqlab.storage import storage_errors, to_json
from seqlab.tasks.as_read import borrowed_note
from seqlab.tasks.dataset import AnyDataset, KeptNotes
from seqlab.threads import compute_threads, default_threads
from seqlab.training.budget import budget_in_steps, budget_notes, check_trainable
from seqlab.training.dropout import with_default_dropout
from seqlab.training.finish import finish
from seqlab.training.fit import fit_memory, memory_errors, of_process
from seqlab.training.loop import Trainer, TrainingProgress
from seqlab.training.memory_limit import UNLIMITED, MemoryLimit
from seqlab.training.precision import with_measured_precision
from seqlab.training.processes import check_processes, check_recompute, refuse_idle_shard
from seqlab.training.progress import Reporter
from seqlab.training.resuming import newest_checkpoint
from seqlab.training.start import TrainingSession, check_out, plan_summary, run_config
from seqlab.wording import counted


def train(
    settings: RunSettings,
    out: Path | None,
    overwrite: bool,
    reporter: Reporter,
    init: Path | None = None,
    memory: MemoryLimit = UNLIMITED,
) -> Run:
    """Train a new run; `init` is a run whose vocabulary and weights it starts from."""
    with share_work(), ExitStack() as held:
        check_trainable(settings)
        check_processes(settings, out)
        refuse_idle_shard(settings)
        if out is not None and from_writer(is_own_launch(out)):
            if from_writer(bool(checkpoints(RunDirectory(out).checkpoints))):
                reporter.log(f"torchrun has started the processes again ({restarts()}): resuming '{out}'")
                return resume(out, None, reporter)
            overwrite = True  # stopped before there was a checkpoint
        held.enter_context(compute_threads(settings.train.threads))
        session = _open_session(settings, out, overwrite, reporter, init, held, memory)
        return _run(session, make_trainer(session, reporter), reporter)


def _run(session: TrainingSession, trainer: Trainer, reporter: Reporter) -> Run:
    with memory_errors(session.settings, session.dataset, str(session.directory.checkpoints)):
        try:
            return finish(session, trainer.run(), reporter.log)
        except ProcessLost as lost:
            if not checkpoints(session.directory.checkpoints):
                raise
            path = shlex.quote(str(session.directory.path))
            raise TrainingFailed(
                f"{lost} The run continues from its last checkpoint: start 'seqlab resume {path}' with torchrun, or "
                f"give torchrun --max-restarts."
            ) from lost


def _open_session(
    settings: RunSettings,
    out: Path | None,
    overwrite: bool,
    reporter: Reporter,
    init: Path | None,
    held: ExitStack,
    memory: MemoryLimit,
) -> TrainingSession:
    """A new run and everything to train it; `held` keeps the lock of its folder."""
    if out is not None and joined().is_writer:  # the others may come when it has begun
        check_out(settings, out, overwrite, init)
    source = load_run(init) if init is not None else None
    if source is not None:
        _check_vocabulary(settings, source)
    vocabulary = source.vocabulary if source is not None else teacher_vocabulary(settings)
    task, said = TASKS.load(settings.task.name), KeptNotes(reporter.log)
    dataset = task.open_dataset(settings, said, vocabulary)
    if vocabulary is not None:
        lender, option = (str(source.path), "--init") if source is not None else (teacher_path(settings), "a teacher")
        said.all(borrowed_note(dataset.splits, vocabulary, lender, option))
    try:
        said.all(seen_before_notes(origins(settings, source), dataset))
        settings = task.fit_settings(settings, dataset, said)
        dataset = replace(dataset, notes=tuple(said.notes))
        settings = fit_memory(settings, dataset, of_process(memory, settings), reporter.log)
        return _new_session(settings, dataset, out, overwrite, reporter, source, held)
    finally:
        if dataset.stdin_copy is not None:  # a copy of standard input, which the run now has
            dataset.stdin_copy.unlink(missing_ok=True)


def _check_vocabulary(settings: RunSettings, source: Run) -> None:
    """UsageError if the run that training starts from lacks labels, or a target side."""
    ours, theirs = (
        (one.task.settings.vocabulary_files(one.tokenizer.name), one.task.settings.shares_vocabulary)
        for one in (settings, source.settings)
    )
    if ours != theirs:
        there, here = (TASKS.load(one.task.name).model_kind for one in (source.settings, settings))
        raise UsageError(
            f"--init '{source.path}' is a {there}, whose vocabulary a {here} cannot use: start from a run of the same "
            f"task."
        )


def _new_session(
    settings: RunSettings,
    dataset: AnyDataset,
    out: Path | None,
    overwrite: bool,
    reporter: Reporter,
    source: Run | None,
    held: ExitStack,
) -> TrainingSession:
    model = _new_model(settings, dataset, source)
    check_recompute(settings, model)
    task = make_task(settings, dataset)
    settings = with_measured_precision(settings, model, task, reporter.log)
    out = out or Path(from_writer(str(free_run_path(dataset.name, settings.backbone.name))))
    writes = joined().is_writer
    directory = held.enter_context(new_run(out, overwrite)) if writes else RunDirectory(out)
    if dataset.stdin_copy is not None:
        with storage_errors(directory.stdin_copy, dataset.stdin_copy.stat().st_size):
            shutil.copyfile(dataset.stdin_copy, directory.stdin_copy)
        corpus = open_corpus(settings.corpus.source, directory.stdin_copy, settings.corpus.layout)
        dataset = replace(dataset, data=with_training_corpus(dataset.data, corpus))
    budget, asked_threads = settings.train.budget, settings.train.threads
    settings = settings.with_values(**from_writer(budget_in_steps(settings, model, task, reporter)))
    settings = with_default_dropout(settings, dataset.vocabulary.sizes, len(dataset.splits["train"]), reporter.log)
    model = _new_model(settings, dataset, source)
    config = run_config(settings, dataset, budget, asked_threads, source)
    if writes:
        directory.write_vocabulary(dataset.vocabulary)
        directory.write_config(config)
    for name, content in task.prepare(reporter.log).items():
        if writes:
            directory.write_file(name, to_json(content))
    session = TrainingSession(directory, settings, config, dataset, task, model)
    reporter.log(plan_summary(session))
    for note in budget_notes(settings.train, task.steps_per_epoch / settings.train.accumulate):
        reporter.log(note)
    return session


def _new_model(settings: RunSettings, dataset: AnyDataset, source: Run | None) -> Model:
    """A model with the weights of `source`, or untrained."""
    model = build_model(settings, dataset.vocabulary.sizes).to(settings.train.device)
    task = TASKS.load(settings.task.name)
    first = task.first_weights(model, settings, dataset, source.model if source is not None else None)
    load_weights(model, weights_of(model) | first)
    same_weights(model)
    return model


def resume(path: Path, more: int | None, reporter: Reporter) -> Run:
    """Continue an interrupted run, or train a finished one for `more` steps."""
    if more is not None and (not isinstance(more, int) or more < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"cannot train for {more!r} more steps: expected a whole number, at least 1.")
    _refuse_comparison(path, more)
    RunDirectory(path).config()  # a lock is put into a run only
    with share_work() as world, locked_run(path) if world.is_writer else nullcontext():
        return _resume(path, more, reporter)


def _refuse_comparison(path: Path, more: int | None) -> None:
    """UsageError if more training would make the results of a comparison untrue."""
    comparison = comparison_of(path)
    if comparison is None or (more is None and best_run_path(path) == path):
        return
    best, copy = shlex.quote(str(best_run_path(path))), shlex.quote(f"{path.name}-further")
    raise UsageError(
        f"'{path}' is a comparison or a run of one: training a run further would contradict the report. Repeat the "
        f"'seqlab compare' command to continue a comparison. To train the run further, copy it: "
        f"cp -r {best} {copy} && seqlab resume {copy} --more STEPS"
    )


def _resume(path: Path, more: int | None, reporter: Reporter) -> Run:
    directory, config, settings, vocabulary = load_parts(path)
    with compute_threads(_threads(settings, config, reporter)):
        check_trainable(settings)
        check_processes(settings, path)
        if settings.train.shard and joined().size == 1:  # another number of processes may continue a run
            reporter.log("one process has the whole model: train.shard does nothing here")
        checkpoint = newest_checkpoint(directory, settings.train.start_step, reporter.log)
        dataset = reopen(directory, config, settings, vocabulary)
        task = make_task(settings, dataset)
        model = build_model(settings, vocabulary.sizes, checkpoint / WEIGHTS).to(settings.train.device)
        session = TrainingSession(directory, settings, config, dataset, task, model)
        trainer = make_trainer(session, reporter)
        trainer.restore(checkpoint)
        done = trainer.progress
        if done.finished and settings.train.start_step == done.step:
            trainer.reopen()  # --more was stopped before its first checkpoint
        elif done.finished:
            return _resume_finished(session, checkpoint, done, more, reporter)
        if more is not None:
            at = f"step {done.step} of {trainer.steps}"
            raise UsageError(f"'{path}' is not finished ({at}): resume it without --more first.")
        reporter.log(f"resuming after step {done.step} of {trainer.steps}")
        return _run(session, trainer, reporter)


def _threads(settings: RunSettings, config: dict[str, Any], reporter: Reporter) -> int | None:
    """Those of the run; with another number of processes, those that were asked for, or what each of them gets."""
    before, now = config.get("processes", 1), joined().size
    if before == now:
        return settings.train.threads
    asked = config.get("asked_threads")
    threads = asked or default_threads()
    each, why = " each" * (now > 1), ", as the run was given" if asked else ""
    begun = f"begun by {counted(before, 'process', 'processes')}"
    reporter.log(f"{begun}, continued by {now} on {counted(threads, 'thread')}{each}{why}")
    return threads


def _resume_finished(
    session: TrainingSession, checkpoint: Path, done: TrainingProgress, more: int | None, reporter: Reporter
) -> Run:
    if more is not None:
        return _train_further(session, checkpoint, more, reporter)
    results = read_results(session.directory)
    if results is None or results.steps != done.step:  # stopped while they were being written
        return finish(session, done, reporter.log)
    reporter.log(f"'{session.directory.path}' is finished: {done.finished}. Train it further with --more STEPS.")
    return load_run(session.directory.path)


def _train_further(session: TrainingSession, checkpoint: Path, more: int, reporter: Reporter) -> Run:
    done = step_of(checkpoint)
    settings = session.settings.with_values(
        **{"train.steps": done + more, "train.start_step": done, "train.replan": False, "train.seconds": None}
    )
    config = {**session.config, "settings": settings.resolved()}
    if joined().is_writer:
        session.directory.write_config(config)
    session = replace(session, settings=settings, config=config)
    trainer = make_trainer(session, reporter)
    trainer.restore(checkpoint)
    trainer.reopen()
    warmup = f"the learning rate warms up again to {settings.train.lr:g}"
    reporter.log(f"{counted(more, 'more step')} from step {done}: {warmup}")
    return _run(session, trainer, reporter)


def make_trainer(session: TrainingSession, reporter: Reporter) -> Trainer:
    train = session.settings.train

    def sample(model: Model) -> str:
        if not (train.sample_tokens and isinstance(model, LanguageModel)):
            return ""
        generator = TextGenerator(model, session.dataset.vocabulary.tokenizer)
        sampling = SamplingSettings(temperature=0.8, seed=train.seed)
        try:
            # the plain engine generates the same text on every machine
            return str(generator.generate([""], train.sample_tokens, sampling, engine="plain"))
        except DataError:  # logits that are not finite: the loop handles them
            return ""

    build = partial(build_model, session.settings, session.dataset.vocabulary.sizes)
    return Trainer(session.directory, train, session.model, session.task, reporter, sample, build)
