"""A finished run on a text: its own held-out part or another one."""

from collections.abc import Sequence
from pathlib import Path

from seqlab.config import CorpusSettings
from seqlab.contracts import Scores
from seqlab.data.corpus import open_corpus
from seqlab.data.splits import split_text
from seqlab.data.tokens import encode_split
from seqlab.errors import UsageError
from seqlab.registry import TASKS
from seqlab.runs.load import Loaded
from seqlab.tasks.text import TextTask
from seqlab.training.prepare import make_task, reopen


def evaluate(
    run: Loaded, text: str | Path | Sequence[str | Path] | None, split: str, context: str
) -> tuple[Scores, int]:
    """The scores, and the length of the windows."""
    known = TASKS.load(run.settings.task.name).contexts
    if context not in known:
        raise UsageError(f"unknown context '{context}': expected {' or '.join(known)}.")
    task, part = _own(run, split) if text is None else _other(run, text)
    return task.score(run.model, part, context), task.settings.window


def known_lines(run: Loaded, texts: Sequence[str]) -> list[bool]:
    """Which of these lines stand in the training part of the run's corpus."""
    wanted = set(texts)
    found = {line for line in reopen(run.directory, run.config, run.settings).lines("train") if line in wanted}
    return [text in found for text in texts]


def own_task(run: Loaded) -> TextTask:
    """The task that a run was trained on, if its corpus is still the same text."""
    split = reopen(run.directory, run.config, run.settings)
    return make_task(run.settings, encode_split(split, run.tokenizer), run.tokenizer)


def _own(run: Loaded, part: str) -> tuple[TextTask, str]:
    task = own_task(run)
    if part not in task.parts:
        raise UsageError(f"this run has no '{part}' part: its text was split into {', '.join(task.parts)}.")
    return task, part


def _other(run: Loaded, text: str | Path | Sequence[str | Path]) -> tuple[TextTask, str]:
    source = [text] if isinstance(text, str | Path) else text
    settings = CorpusSettings(
        source=tuple(str(item) for item in source), documents=run.settings.corpus.documents, split="whole"
    )
    corpus = open_corpus(settings.source)
    try:
        parts = encode_split(split_text(corpus, settings), run.tokenizer)
    finally:
        if corpus.kept is not None:  # standard input, by now encoded
            corpus.kept.unlink(missing_ok=True)
    return make_task(run.settings, parts, run.tokenizer), "whole"
