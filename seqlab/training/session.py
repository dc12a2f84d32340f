"""From settings to a finished run: read the data, learn its symbols, build the model, train, write down the results.

`start` begins a run, `go_on` continues one. The loop itself is in loop.py, what comes before it in prepare.py, what
comes after it in finish.py.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from seqlab.config import RunSettings
from seqlab.data.text.corpus import open_corpus
from seqlab.decode.sampling import SamplingSettings
from seqlab.decode.text_generator import TextGenerator
from seqlab.errors import DataError, UsageError
from seqlab.models.language_model import LanguageModel
from seqlab.registry import CORPORA, TASKS
from seqlab.runs.checkpoint import WEIGHTS, put_weights, weights_of
from seqlab.runs.directory import RunDirectory, begin_run, next_name
from seqlab.runs.load import Loaded, build_model, load_parts, load_run
from seqlab.runs.reopen import make_task, reopen, teacher_vocabulary
from seqlab.runs.results import read_results
from seqlab.storage import storage_errors
from seqlab.tasks.dataset import Dataset
from seqlab.threads import compute_threads
from seqlab.training.budget import check_trainable, in_steps
from seqlab.training.finish import Session, describe, finish, plan_in_words
from seqlab.training.loop import Progress, Trainer, newest_checkpoint
from seqlab.training.progress import Reporter


def start(
    settings: RunSettings, out: Path | None, overwrite: bool, reporter: Reporter, init: Path | None = None
) -> RunDirectory:
    """Train a new run to the end of its budget; `init` is a run whose symbols and weights it starts from."""
    with compute_threads(settings.train.threads):
        check_trainable(settings)
        session = _begin(settings, out, overwrite, reporter, init)
        trainer = make_trainer(session, reporter)
        return finish(session, trainer.run())


def _begin(settings: RunSettings, out: Path | None, overwrite: bool, reporter: Reporter, init: Path | None) -> Session:
    source = load_run(init) if init is not None else None
    vocabulary = source.vocabulary if source is not None else teacher_vocabulary(settings)
    dataset = TASKS.load(settings.task.name).open(settings, reporter.log, vocabulary)
    try:
        return _begun(settings, dataset, out, overwrite, reporter, source)
    finally:
        if dataset.kept is not None:  # standard input, by now copied into the run
            dataset.kept.unlink(missing_ok=True)


def _begun(
    settings: RunSettings,
    dataset: Dataset,
    out: Path | None,
    overwrite: bool,
    reporter: Reporter,
    source: Loaded | None,
) -> Session:
    settings = TASKS.load(settings.task.name).fitted(settings, dataset, reporter.log)
    model = build_model(settings, dataset.vocabulary.sizes).to(settings.train.device)
    if source is not None:
        put_weights(model, weights_of(source.model))
    task = make_task(settings, dataset)
    out = out or next_name(dataset.name, settings.backbone.name)
    files = [Path(item) for item in settings.corpus.source if item not in CORPORA]
    if any(file.resolve().is_relative_to(out.resolve()) for file in files):
        raise UsageError(f"'{out}' holds the text to be trained on: choose another --out.")
    directory = begin_run(out, overwrite)
    if dataset.kept is not None:
        with storage_errors(directory.kept_input, dataset.kept.stat().st_size):
            shutil.copyfile(dataset.kept, directory.kept_input)
        corpus = open_corpus(settings.corpus.source, kept=directory.kept_input)
        dataset = replace(dataset, data=replace(dataset.data, corpus=corpus))
    budget = settings.train.budget
    settings = settings.with_values(**in_steps(directory, settings, model, task, reporter))
    config = describe(settings, dataset, budget)
    directory.write_vocabulary(dataset.vocabulary)
    directory.put_config(config)
    reporter.log(plan_in_words(settings, config, dataset, task, directory))
    return Session(directory, settings, config, dataset, task, model)


def go_on(path: Path, more: int | None, reporter: Reporter) -> RunDirectory:
    """Continue an interrupted run, or train a finished one for `more` steps."""
    if more is not None and more < 1:
        raise UsageError(f"{more} steps more are no training: expected at least 1.")
    directory, config, settings, vocabulary = load_parts(path)
    with compute_threads(settings.train.threads):
        check_trainable(settings)
        weights = newest_checkpoint(directory) / WEIGHTS
        dataset = reopen(directory, config, settings, vocabulary)
        task = make_task(settings, dataset)
        model = build_model(settings, vocabulary.sizes, weights).to(settings.train.device)
        session = Session(directory, settings, config, dataset, task, model)
        trainer = make_trainer(session, reporter)
        trainer.restore()
        done = trainer.progress
        if done.finished and settings.train.start_step == done.step:
            trainer.reopen()  # --more was asked for and stopped before its first checkpoint
        elif done.finished:
            return _after_the_end(session, done, more, reporter)
        if more is not None:
            at = f"step {done.step} of {settings.train.steps}"
            raise UsageError(f"'{path}' is not finished ({at}): resume it without --more first.")
        reporter.log(f"going on after step {done.step} of {settings.train.steps}")
        return finish(session, trainer.run())


def _after_the_end(session: Session, done: Progress, more: int | None, reporter: Reporter) -> RunDirectory:
    if more is not None:
        return _train_further(session, done, more, reporter)
    results = read_results(session.directory)
    if results is None or results.steps != done.step:  # it was stopped while they were being written
        return finish(session, done)
    reporter.log(f"'{session.directory.path}' is finished: {done.finished}. Train it further with --more STEPS.")
    return session.directory


def _train_further(session: Session, done: Progress, more: int, reporter: Reporter) -> RunDirectory:
    settings = session.settings.with_values(**{"train.steps": done.step + more, "train.start_step": done.step})
    config = {**session.config, "settings": settings.resolved()}
    session.directory.put_config(config)
    session = replace(session, settings=settings, config=config)
    trainer = make_trainer(session, reporter)
    trainer.restore()
    trainer.reopen()
    warmed = f"the learning rate warms up again to {settings.train.lr:g}"
    reporter.log(f"{more:,} steps more from step {done.step}: {warmed}")
    return finish(session, trainer.run())


def make_trainer(session: Session, reporter: Reporter) -> Trainer:
    train = session.settings.train

    def sample() -> str:
        if not (train.sample_tokens and isinstance(session.model, LanguageModel)):
            return ""
        writer = TextGenerator(session.model, session.dataset.vocabulary.tokenizer)
        try:
            sampling = SamplingSettings(temperature=0.8, seed=train.seed)
            return str(
                writer.write([""], train.sample_tokens, sampling, engine="plain")
            )  # the same text on every machine
        except DataError:  # logits that are not finite: the loop itself sees to that
            return ""

    return Trainer(session.directory, train, session.model, session.task, reporter, sample)
