"""A trained run, ready to use, and how well it does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from seqlab.api.wanted import Source
from seqlab.config import checked
from seqlab.errors import UsageError
from seqlab.metrics.likelihood import Likelihood, of_scores
from seqlab.metrics.words import in_words
from seqlab.registry import TASKS

if TYPE_CHECKING:
    from seqlab.contracts import Generator, Scores, TextScores
    from seqlab.decode.writer import Found, Written
    from seqlab.runs.load import Loaded
    from seqlab.runs.results import FloorResult, Results
    from seqlab.tasks.material import Material
    from seqlab.tasks.predictions import Prediction
    from seqlab.tasks.task import Task


@dataclass(frozen=True)
class Evaluated:
    """How well a run does on held-out data; `figures` are by name."""

    figures: dict[str, float]
    scores: "Scores"
    split: str
    context: str
    window: int | None  # tokens of a window; None where examples are scored
    floor: "FloorResult | None" = None
    signature: str | None = None  # of BLEU: how sacrebleu counted

    def __str__(self) -> str:
        return in_words(self.figures, self.floor and (self.floor.name, self.floor.figures))

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
        found = {**self.figures, "split": self.split, "context": self.context, "sentence": str(self)}
        found |= {"signature": self.signature} if self.signature else {}
        if self.window is None:
            return found
        scores = cast("TextScores", self.scores)
        unknown = scores.unknown_tokens
        return {
            **found,
            "characters": scores.characters,
            "bytes": scores.bytes,
            "window": self.window,
            "unknown_share": unknown / scores.tokens,
            "unknown_nats_per_token": scores.unknown_nats / unknown if unknown else None,
            "loss_by_position": self.by_position,
        }


class Run:
    """A trained model with its tokenizer, ready to use."""

    def __init__(self, loaded: "Loaded"):
        self._loaded = loaded
        self.directory = loaded.directory
        self.path = loaded.directory.path
        self.settings = loaded.settings
        self.config = loaded.config
        self.lexicon = loaded.lexicon
        self.tokenizer = loaded.lexicon.text
        self.model = loaded.model

    def __repr__(self) -> str:
        return f"Run('{self.path}': {self.settings.backbone.name} on {self.config['corpus']['name']})"

    @property
    def writes(self) -> bool:
        """Whether it continues a text."""
        return TASKS.load(self.settings.task.name).writes

    def task(self) -> "Task":
        """What it was trained on: batches, loss and scores."""
        from seqlab.training.prepare import make_task

        return make_task(self.settings, self.material())

    def material(self) -> "Material":
        """The data that it was trained on, if it is still the same."""
        from seqlab.analysis.evaluation import own_material

        return own_material(self._loaded)

    def text(self, part: str = "train", limit: int | None = None) -> str:
        """A part of the text that it was trained on, or its first `limit` characters."""
        return self.material().data.text(part, limit)

    @cached_property
    def results(self) -> "Results | None":
        """What it achieved on validation when it finished."""
        from seqlab.runs.results import read_results

        return read_results(self._loaded.directory)

    def evaluate(
        self, text: Source | None = None, *, split: str = "validation", context: str | None = None
    ) -> Evaluated:
        """Score a part of the run's corpus, or all of other data of the same kind."""
        from seqlab.analysis.evaluation import evaluate

        task, scores = evaluate(self._loaded, text, split, context)
        floor = self.results.counting if self.results and text is None and split == "validation" else None
        window = getattr(scores, "context", None) and task.settings.window
        where = split if text is None else str(text)
        how = context or task.contexts[0]
        return Evaluated(task.figures(scores), scores, where, how, window, floor, task.signature)

    def predict(self, texts: str | Sequence[str], **how: Any) -> "list[Prediction]":
        """Labels with probabilities, tags of words, or translations, by what it was trained for.

        `how`: of a translator beam, alpha and best (how many translations of each), weights (what it looked at)."""
        task = TASKS.load(self.settings.task.name)
        if not hasattr(task, "predict"):
            raise UsageError(f"'{self.path}' is a {task.kind}: it writes. Use generate instead of predict.")
        given = [texts] if isinstance(texts, str) else list(texts)
        for number, text in enumerate(given, 1):
            if not isinstance(text, str) or not text.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"text {number} is {text!r}: expected words to {task.name}.")
        refused = [name for name in ("beam", "alpha", "best") if how.get(name) not in (None, 1)]
        if refused and task.name != "translate":
            raise UsageError(f"'{self.path}' is a {task.kind}: {' and '.join(refused)} are for translators.")
        return task.predict(self.model, given, self._loaded.lexicon, self.settings, **how)

    def generate(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        samples: int = 1,
        stop: Sequence[str] = (),
        engine: str = "auto",
        **sampling: Any,
    ) -> "Written":
        """Write after a prompt, given as text or ids.

        `engine`: plain, compiled, or auto for what is done sooner. `sampling`: temperature, top_k, top_p,
        repetition_penalty, seed."""
        return self._writer.write([prompt] * samples, length, _sampling(sampling), stop, engine)

    def go_on(self, written: "Written", length: int = 200) -> "Written":
        """Take up what `generate` wrote where it ended, as if it had been asked for at once."""
        return self._writer.go_on(written, length)

    def stream(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        stop: Sequence[str] = (),
        engine: str = "auto",
        **sampling: Any,
    ) -> Iterator[str]:
        """What `generate` writes, in bits as soon as they are certain."""
        return self._writer.stream(prompt, length, _sampling(sampling), stop, engine)

    def search(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        width: int = 5,
        alpha: float = 0.0,
        best: int = 1,
        engine: str = "auto",
    ) -> "list[Found]":
        """Beam search: the most probable continuations, best first."""
        return self._writer.search(prompt, length, width, alpha, best, engine)

    @property
    def engine(self) -> str:
        """What writes long texts: compiled, or plain where its architecture has no compiled loop."""
        return "plain" if self._writer.ways.name is None else "compiled"

    def standing(self, length: int, engine: str = "auto") -> "Written":
        """Some text of so many tokens, to be gone on from: for measuring what the next ones cost."""
        return self._writer.standing(length, engine)

    def known(self, texts: Sequence[str]) -> list[bool]:
        """Which of these lines stand in the training text."""
        from seqlab.analysis.evaluation import known_lines

        return known_lines(self._loaded, texts)

    @cached_property
    def _writer(self) -> Any:
        from seqlab.decode.writer import Writer

        if not self.writes:
            raise UsageError(_cannot_write(self))
        return Writer(cast("Generator", self.model), self.tokenizer)


def _cannot_write(run: Run) -> str:
    """Why a run does not continue a text, and what it does instead."""
    task = TASKS.load(run.settings.task.name)
    if run.settings.task.settings.reads == "both sides":  # pyright: ignore[reportAttributeAccessIssue]
        return f"'{run.path}' was trained to fill gaps, not to go on: it cannot write."
    return f"'{run.path}' is a {task.kind}, not a language model: it cannot go on with a text. Use seqlab predict."


def _sampling(given: Mapping[str, Any]) -> Any:
    from seqlab.decode.sampling import SamplingSettings

    return checked(SamplingSettings, given, "sampling")
