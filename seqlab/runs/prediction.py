"""What a run makes of texts: labels, tags, translations, or vectors. Texts and options are checked first."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from seqlab.errors import UsageError, refuse_given
from seqlab.registry import TASKS

if TYPE_CHECKING:
    import numpy as np

    from seqlab.runs.run import Run
    from seqlab.tasks.predictions import Prediction

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
    return predictions


def reading_of(run: "Run", texts: Sequence[str | Sequence[str]], first: bool) -> list[str]:
    """Notes on what is unknown to the run, after the `first` of these texts as it reads it."""
    from seqlab.tasks.as_read import all_unknown, first_example, unknown_note
    from seqlab.tasks.examples import ExampleTask

    task, vocabulary = TASKS.load(run.settings.task.name), run.vocabulary
    if not issubclass(task, ExampleTask) or not all(map(task.can_read, texts)):
        return []
    split = task.encode(task.without_answers(texts, vocabulary), vocabulary, run.settings)
    notes = [first_example(split, vocabulary) if first else "", unknown_note({"given": split}, vocabulary)]
    if 0 < (found := len(all_unknown(split, vocabulary))) < len(split):
        notes.append(f"texts without any token that training had: {found:,} of {len(split):,}")
    return [note for note in notes if note]


def embed(run: "Run", texts: str | Sequence[str]) -> "np.ndarray":
    from seqlab.tasks.embed import EmbedTask

    task = TASKS.load(run.settings.task.name)
    if not issubclass(task, EmbedTask):
        raise UsageError(
            f"'{run.path}' is a {task.model_kind}: it was not trained to make vectors of texts, as with --task embed."
        )
    inputs = _checked(texts, task.name, lambda text: isinstance(text, str) and bool(text.strip()))
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
