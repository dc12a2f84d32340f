"""From settings to a finished run: read the text, learn the tokenizer, build the model, train, write down the results.

`start` begins a run, `go_on` continues one. The loop itself is in loop.py, what comes before it in prepare.py, what
comes after it in finish.py.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from seqlab.config import RunSettings
from seqlab.data.corpus import Corpus, open_corpus
from seqlab.data.splits import split_text
from seqlab.data.tokens import encode_split
from seqlab.decode.sampling import SamplingSettings
from seqlab.decode.writer import Writer
from seqlab.errors import DataError, UsageError
from seqlab.models.language import LanguageModel
from seqlab.runs.checkpoint import WEIGHTS, put_weights, weights_of
from seqlab.runs.layout import RunDirectory, begin_run, next_name
from seqlab.runs.load import build_model, load_parts, load_run
from seqlab.runs.results import read_results
from seqlab.runs.storage import storage_errors
from seqlab.training.finish import Session, describe, finish, plan_in_words
from seqlab.training.loop import Progress, Trainer, newest_checkpoint
from seqlab.training.prepare import (
    check_device,
    computing,
    fitted,
    in_steps,
    learn_tokenizer,
    make_task,
    reopen,
    tell_oddities,
)
from seqlab.training.progress import Reporter


def start(
    settings: RunSettings, out: Path | None, overwrite: bool, reporter: Reporter, init: Path | None = None
) -> RunDirectory:
    """Train a new run to the end of its budget; `init` is a run whose tokenizer and weights it starts from."""
    with computing(settings.train.threads):
        check_device(settings)
        corpus = open_corpus(settings.corpus.source)
        try:
            session = _begin(settings, corpus, out, overwrite, reporter, init)
        finally:
            if corpus.kept is not None:  # standard input, by now copied into the run
                corpus.kept.unlink(missing_ok=True)
        trainer = make_trainer(session, reporter)
        return finish(session, trainer.run())


def _begin(
    settings: RunSettings, corpus: Corpus, out: Path | None, overwrite: bool, reporter: Reporter, init: Path | None
) -> Session:
    split = split_text(corpus, settings.corpus)
    tell_oddities(corpus, reporter)
    source = load_run(init) if init is not None else None
    tokenizer = source.tokenizer if source else learn_tokenizer(split, settings)
    if tokenizer.documents != split.by_lines:
        raise UsageError("--init takes over the tokenizer, so --documents must be as it was in that run.")
    parts = encode_split(split, tokenizer)
    settings = fitted(settings, parts["train"], reporter)
    model = build_model(settings, tokenizer.vocabulary).to(settings.train.device)
    if source is not None:
        put_weights(model, weights_of(source.model))
    task = make_task(settings, parts, tokenizer)
    out = out or next_name(corpus.name, settings.backbone.name)
    if any(Path(item).resolve().is_relative_to(out.resolve()) for item in settings.corpus.source):
        raise UsageError(f"'{out}' holds the text to be trained on: choose another --out.")
    directory = begin_run(out, overwrite)
    if corpus.kept is not None:
        with storage_errors(directory.kept_input, corpus.kept.stat().st_size):
            shutil.copyfile(corpus.kept, directory.kept_input)
        split = replace(split, corpus=open_corpus(settings.corpus.source, kept=directory.kept_input))
    budget = settings.train.budget
    settings = settings.with_values(**in_steps(directory, settings, model, task, reporter))
    config = describe(settings, split, tokenizer, budget)
    directory.put_tokenizer(tokenizer)
    directory.put_config(config)
    reporter.say(plan_in_words(settings, config, parts, task, directory))
    return Session(directory, settings, config, split, tokenizer, task, model)


def go_on(path: Path, more: int | None, reporter: Reporter) -> RunDirectory:
    """Continue an interrupted run, or train a finished one for `more` steps."""
    if more is not None and more < 1:
        raise UsageError(f"{more} steps more are no training: expected at least 1.")
    directory, config, settings, tokenizer = load_parts(path)
    with computing(settings.train.threads):
        check_device(settings)
        weights = newest_checkpoint(directory) / WEIGHTS
        split = reopen(directory, config, settings)
        parts = encode_split(split, tokenizer)
        task = make_task(settings, parts, tokenizer)
        model = build_model(settings, tokenizer.vocabulary, weights).to(settings.train.device)
        session = Session(directory, settings, config, split, tokenizer, task, model)
        trainer = make_trainer(session, reporter)
        trainer.restore()
        done = trainer.progress
        if done.finished and settings.train.from_step == done.step:
            trainer.reopen()  # --more was asked for and stopped before its first checkpoint
        elif done.finished:
            return _after_the_end(session, done, more, reporter)
        if more is not None:
            at = f"step {done.step} of {settings.train.steps}"
            raise UsageError(f"'{path}' is not finished ({at}): resume it without --more first.")
        reporter.say(f"going on after step {done.step} of {settings.train.steps}")
        return finish(session, trainer.run())


def _after_the_end(session: Session, done: Progress, more: int | None, reporter: Reporter) -> RunDirectory:
    if more is not None:
        return _train_further(session, done, more, reporter)
    results = read_results(session.directory)
    if results is None or results.steps != done.step:  # it was stopped while they were being written
        return finish(session, done)
    reporter.say(f"'{session.directory.path}' is finished: {done.finished}. Train it further with --more STEPS.")
    return session.directory


def _train_further(session: Session, done: Progress, more: int, reporter: Reporter) -> RunDirectory:
    settings = session.settings.with_values(**{"train.steps": done.step + more, "train.from_step": done.step})
    config = {**session.config, "settings": settings.resolved()}
    session.directory.put_config(config)
    session = replace(session, settings=settings, config=config)
    trainer = make_trainer(session, reporter)
    trainer.restore()
    trainer.reopen()
    warmed = f"the learning rate warms up again to {settings.train.lr:g}"
    reporter.say(f"{more:,} steps more from step {done.step}: {warmed}")
    return finish(session, trainer.run())


def make_trainer(session: Session, reporter: Reporter) -> Trainer:
    train = session.settings.train

    def sample() -> str:
        if not (train.sample and isinstance(session.model, LanguageModel)):
            return ""
        writer = Writer(session.model, session.tokenizer)
        try:
            return str(writer.write([""], train.sample, SamplingSettings(temperature=0.8, seed=train.seed)))
        except DataError:  # logits that are not finite: the loop itself sees to that
            return ""

    return Trainer(session.directory, train, session.model, session.task, reporter, sample)
