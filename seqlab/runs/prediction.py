"""What a run makes of texts: labels, tags, translations, or vectors. Texts and options are checked first."""

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from seqlab.errors import SeqlabWarning, UsageError, refuse_given
from seqlab.registry import TASKS

if TYPE_CHECKING:
    import numpy as np

    from seqlab.data.examples.encoded import ExampleSplit
    from seqlab.runs.run import Run
    from seqlab.tasks.predictions import Prediction

FIRST = ("first example: ", "first tokens: ")
TRANSLATOR_OPTIONS = ("beam", "length_penalty", "n_best", "max_length")


def predict(run: "Run", texts: str | Sequence[str | Sequence[str]], options: dict[str, Any]) -> "list[Prediction]":
    from seqlab.tasks.examples import ExampleTask

    task = TASKS.load(run.settings.task.name)
    if not issubclass(task, ExampleTask):
        raise UsageError(f"'{run.path}' is a {task.model_kind}: it predicts no labels or texts. {use_instead(run)}")
    inputs = _checked(texts, task.name, task.can_read)
    if unknown := options.keys() - {*TRANSLATOR_OPTIONS, "weights"}:
        known = ", ".join((*TRANSLATOR_OPTIONS, "weights"))
        raise UsageError(f"predict has no option {' and '.join(sorted(unknown))}: it takes {known}.")
    if task.name != "translate":
        refuse_given({name: options.get(name) for name in TRANSLATOR_OPTIONS}, f"for a {task.model_kind}")
    predictions = list(task.predict(run.model, inputs, run.vocabulary, run.settings, **options))
    if options.get("weights") and predictions and not predictions[0].has_attention:
        raise UsageError(f"'{run.path}' has no attention to show.")
    _warn([*_unknown_notes(run, inputs), *_cut_notes(predictions)])
    return predictions


def first_reading(run: "Run", texts: Sequence[str | Sequence[str]]) -> str:
    """The first of these texts as the run reads it; nothing if it cannot."""
    from seqlab.tasks.as_read import first_example
    from seqlab.tasks.examples import ExampleTask

    task = TASKS.load(run.settings.task.name)
    if not issubclass(task, ExampleTask) or not task.can_read(texts[0]):
        return ""
    return first_example(_as_read(run, texts[:1]), run.vocabulary)


def _as_read(run: "Run", texts: Sequence[Any]) -> "ExampleSplit":
    task: Any = TASKS.load(run.settings.task.name)
    return task.encode(task.without_answers(texts, run.vocabulary), run.vocabulary, run.settings)


def _unknown_notes(run: "Run", texts: Sequence[Any]) -> list[str]:
    """What is unknown to the run, of many texts and of all of one."""
    from seqlab.tasks.as_read import all_unknown, unknown_note

    if not texts or not (run.tokenizer.has_unknown or run.vocabulary.char_tokenizer):
        return []
    split, vocabulary = _as_read(run, texts), run.vocabulary
    notes = [unknown_note({"given": split}, vocabulary)]
    if 0 < (found := len(all_unknown(split, vocabulary))) < len(split):
        notes.append(f"texts without any token that training had: {found:,} of {len(split):,}")
    return [note for note in notes if note]


def _cut_notes(predictions: "Sequence[Prediction]") -> list[str]:
    cut = sum(getattr(prediction, "truncated", False) for prediction in predictions)
    longest = "were cut off at their longest allowed length; max_length (--max-length) allows more"
    return [f"{cut:,} of {len(predictions):,} translations {longest}"] if cut else []


def said_of(notes: Sequence[str], own: bool) -> tuple[str, ...]:
    """The notes on data that is scored; what they say besides its first example is a warning, unless the data is the
    run's own, of which training has said it."""
    _warn([note for note in notes if not own and not note.startswith(FIRST)])
    return tuple(notes)


def _warn(notes: Sequence[str]) -> None:
    """Say it to who called a method of the run; the command line shows it as a note."""
    for note in notes:
        warnings.warn(note, SeqlabWarning, stacklevel=4)


def embed(run: "Run", texts: str | Sequence[str]) -> "np.ndarray":
    from seqlab.tasks.embed import EmbedTask

    task = TASKS.load(run.settings.task.name)
    if not issubclass(task, EmbedTask):
        raise UsageError(
            f"'{run.path}' is a {task.model_kind}: it was not trained to make vectors of texts, as with --task embed."
        )
    inputs = _checked(texts, task.name, lambda text: isinstance(text, str) and bool(text.strip()))
    _warn(task.embed_notes(inputs, run.vocabulary, run.settings))
    return task.embed(run.model, inputs, run.vocabulary, run.settings)


def use_instead(run: "Run") -> str:
    """A sentence about what the run can do."""
    command = TASKS.load(run.settings.task.name).command
    return f"Use seqlab {command}." if command else "It was trained to fill gaps."


def _checked(texts: Any, verb: str, can_read: Callable[[Any], bool]) -> Sequence[Any]:
    inputs = [texts] if isinstance(texts, str) else texts
    if not isinstance(inputs, Sequence):
        raise UsageError(f"{texts!r} is not a text: expected a text or a list of texts to {verb}.")
    if wrong := next((number for number, text in enumerate(inputs, 1) if not can_read(text)), 0):
        raise UsageError(f"text {wrong} is {inputs[wrong - 1]!r}: expected words to {verb}.")
    return inputs
