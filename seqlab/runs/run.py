"""A trained run, ready to use: generate, predict, evaluate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqlab.config import DataSource, checked
from seqlab.errors import UsageError
from seqlab.metrics.likelihood import Likelihood, of_scores
from seqlab.metrics.metric import Metric
from seqlab.registry import TASKS

if TYPE_CHECKING:
    from seqlab.contracts import AutoregressiveModel, Scores, TextScores
    from seqlab.decode.text_generator import BeamResult, GeneratedText, TextGenerator
    from seqlab.runs.load import LoadedRun
    from seqlab.runs.results import RunResults, ValidationBaseline
    from seqlab.tasks.dataset import Dataset
    from seqlab.tasks.predictions import Prediction
    from seqlab.tasks.task import Task


@dataclass(frozen=True)
class EvaluationResult:
    """How well a run does on held-out data; `figures` are by name."""

    metrics: dict[str, float]
    scores: "Scores"
    split: str
    mode: str
    window: int | None  # tokens of a window; None where examples are scored
    headline_metric: Metric
    sentence: str  # the result in words
    baseline: "ValidationBaseline | None" = None
    signature: str | None = None  # how sacrebleu computed BLEU

    def __str__(self) -> str:
        return self.sentence

    @property
    def likelihood(self) -> Likelihood:
        """Of a running text."""
        return of_scores(cast("TextScores", self.scores))

    @property
    def by_position(self) -> list[float]:
        """Of a running text: the mean loss at the first, second, ... position of a window."""
        scores = cast("TextScores", self.scores)
        return (scores.nats_by_position_T / scores.tokens_by_position_T).tolist()

    def as_dict(self) -> dict[str, Any]:
        content = {**self.metrics, "split": self.split, "mode": self.mode, "sentence": str(self)}
        content |= {"signature": self.signature} if self.signature else {}
        if self.window is None:
            return content
        scores = cast("TextScores", self.scores)
        unknown = scores.unknown_tokens
        return {
            **content,
            "characters": scores.characters,
            "bytes": scores.bytes,
            "window": self.window,
            "unknown_share": unknown / scores.tokens,
            "unknown_nats_per_token": scores.unknown_nats / unknown if unknown else None,
            "loss_by_position": self.by_position,
        }


class Run:
    """A trained model with its tokenizer, ready to use."""

    def __init__(self, loaded: "LoadedRun"):
        self._loaded = loaded
        self.directory = loaded.directory
        self.path = loaded.directory.path
        self.settings = loaded.settings
        self.config = loaded.config
        self.vocabulary = loaded.vocabulary
        self.tokenizer = loaded.vocabulary.tokenizer
        self.model = loaded.model

    def __repr__(self) -> str:
        return f"Run('{self.path}': {self.settings.backbone.name} on {self.config['corpus']['name']})"

    @property
    def generates(self) -> bool:
        """Whether it continues a text."""
        return TASKS.load(self.settings.task.name).generates

    def task(self) -> "Task":
        """What it was trained on: batches, loss and scores."""
        from seqlab.runs.reopen import make_task

        return make_task(self.settings, self.dataset())

    def dataset(self) -> "Dataset":
        """The data that it was trained on, if it is still the same."""
        from seqlab.runs.evaluation import own_dataset

        return own_dataset(self._loaded)

    def text(self, split: str = "train", limit: int | None = None) -> str:
        """A split of the text that it was trained on, or the first `limit` characters of it."""
        return self.dataset().data.text(split, limit)

    @cached_property
    def results(self) -> "RunResults | None":
        """What it achieved on validation when it finished."""
        from seqlab.runs.results import read_results

        return read_results(self._loaded.directory)

    def evaluate(
        self, text: DataSource | None = None, *, split: str = "validation", mode: str | None = None
    ) -> EvaluationResult:
        """Score a split of the run's own data, or all of other data of the same kind."""
        from seqlab.runs.evaluation import evaluate

        task, scores = evaluate(self._loaded, text, split, mode)
        baseline = self.results.main_baseline if self.results and text is None and split == "validation" else None
        window = getattr(scores, "mode", None) and task.settings.window
        where = split if text is None else str(text)
        metrics, mode = task.metrics(scores), mode or task.modes[0]
        sentence = task.result_sentence(metrics, baseline and (baseline.name, baseline.metrics))
        headline, signature = task.headline_metric, task.signature
        return EvaluationResult(metrics, scores, where, mode, window, headline, sentence, baseline, signature)

    def predict(self, texts: str | Sequence[str], **options: Any) -> "list[Prediction]":
        """Labels with probabilities, tags of words, or translations, by what it was trained for.

        `options`, for translators: beam, length_penalty, n_best (translations per text), weights (return attention)."""
        task = TASKS.load(self.settings.task.name)
        if not hasattr(task, "predict"):
            raise UsageError(f"'{self.path}' is a {task.model_kind}: it writes. Use generate instead of predict.")
        inputs = [texts] if isinstance(texts, str) else list(texts)
        for number, text in enumerate(inputs, 1):
            if not isinstance(text, str) or not text.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"text {number} is {text!r}: expected words to {task.name}.")
        refused = [name for name in ("beam", "length_penalty", "n_best") if options.get(name) not in (None, 1)]
        if refused and task.name != "translate":
            raise UsageError(f"'{self.path}' is a {task.model_kind}: {' and '.join(refused)} are for translators.")
        return task.predict(self.model, inputs, self._loaded.vocabulary, self.settings, **options)

    def generate(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        samples: int = 1,
        stop: Sequence[str] = (),
        engine: str = "auto",
        **sampling: Any,
    ) -> "GeneratedText":
        """Continue a prompt, given as text or token ids, by at most `length` tokens.

        `sampling`: temperature, top_k, top_p, repetition_penalty, seed. `engine`: plain, compiled, or auto for the one
        that finishes sooner. One engine gives the same text for the same seed; see docs/generation.md for both."""
        return self._generator.generate([prompt] * samples, length, _sampling(sampling), stop, engine)

    def continue_from(self, previous: "GeneratedText", length: int = 200) -> "GeneratedText":
        """Continue a generated text, with the same tokens as in one call of `generate`."""
        return self._generator.continue_from(previous, length)

    def stream(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        stop: Sequence[str] = (),
        engine: str = "auto",
        **sampling: Any,
    ) -> Iterator[str]:
        """The text of `generate`, piece by piece as soon as it is final."""
        return self._generator.stream(prompt, length, _sampling(sampling), stop, engine)

    def search(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        width: int = 5,
        length_penalty: float = 0.0,
        n_best: int = 1,
        engine: str = "auto",
    ) -> "list[BeamResult]":
        """Beam search: the `n_best` most probable continuations of `width` hypotheses, best first."""
        return self._generator.search(prompt, length, width, length_penalty, n_best, engine)

    @property
    def engine(self) -> str:
        """The engine for long texts: compiled, or plain if the model has no compiled engine."""
        return "compiled" if self._generator.selector.missing is None else "plain"

    def dummy_context(self, length: int, engine: str = "auto") -> "GeneratedText":
        """A text of `length` arbitrary tokens to continue from, for timing generation at that context length."""
        return self._generator.dummy_context(length, engine)

    def known(self, texts: Sequence[str]) -> list[bool]:
        """Which of these lines stand in the training text."""
        from seqlab.runs.evaluation import known_lines

        return known_lines(self._loaded, texts)

    @cached_property
    def _generator(self) -> "TextGenerator":
        from seqlab.decode.text_generator import TextGenerator

        if not self.generates:
            raise UsageError(_cannot_write(self))
        return TextGenerator(cast("AutoregressiveModel", self.model), self.tokenizer)


def _cannot_write(run: Run) -> str:
    """Why a run does not continue a text, and what it does instead."""
    task = TASKS.load(run.settings.task.name)
    if run.settings.task.settings.reads == "both sides":
        return f"'{run.path}' was trained to fill gaps, not to go on: it cannot write."
    return (
        f"'{run.path}' is a {task.model_kind}, not a language model: it cannot go on with a text. Use seqlab predict."
    )


def _sampling(options: Mapping[str, Any]) -> Any:
    from seqlab.decode.sampling import SamplingSettings

    return checked(SamplingSettings, options, "sampling")


def run_path(run: str | Path | Run) -> Path:
    """The folder of a run, given as a path or as the run itself; UsageError for anything else."""
    if isinstance(run, Run):
        return run.path
    if not isinstance(run, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{run!r} is not a run: expected the path of its folder, or a Run.")
    return Path(run)


def load(run: str | Path | Run) -> Run:
    """Load a finished run, or the best run of a comparison, from its folder.

    >>> run = seqlab.load("runs/my-gru-1")
    >>> print(run.generate("The ", 200, temperature=0.8))
    """
    from seqlab.runs.load import load_run

    return run if isinstance(run, Run) else Run(load_run(run_path(run)))
