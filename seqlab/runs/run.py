"""A trained run, ready to use: generate, predict, evaluate."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqlab.config import DataSource, RunSettings, checked, source_items
from seqlab.decode.limits import MAX_SAMPLES, require_between
from seqlab.distributed.world import joined
from seqlab.errors import UsageError, refuse_given
from seqlab.registry import TASKS
from seqlab.runs import prediction
from seqlab.runs.evaluation import EvaluationResult

if TYPE_CHECKING:
    import numpy as np

    from seqlab.contracts import AutoregressiveModel
    from seqlab.data.text.split import SplitText
    from seqlab.decode.text_generator import BeamResult, GeneratedText, TextGenerator
    from seqlab.inspection.inspection import Inspection
    from seqlab.models.model import Model
    from seqlab.runs.directory import RunDirectory
    from seqlab.runs.results import RunResults
    from seqlab.tasks.dataset import AnyDataset
    from seqlab.tasks.predictions import Prediction
    from seqlab.tasks.task import Task
    from seqlab.tokenization.tokenizer import Tokenizer
    from seqlab.tokenization.vocabulary import Vocabulary


@dataclass(eq=False, repr=False)
class Run:
    """A trained model with its tokenizer, ready to use."""

    directory: "RunDirectory"
    config: dict[str, Any]  # the content of config.json
    settings: RunSettings
    vocabulary: "Vocabulary"
    model: Any

    def __repr__(self) -> str:
        return f"Run('{self.path}': {self.settings.model_name} on {self.config['corpus']['name']})"

    @property
    def path(self) -> Path:
        return self.directory.path

    @property
    def tokenizer(self) -> "Tokenizer":
        return self.vocabulary.tokenizer

    @property
    def generates(self) -> bool:
        """Whether it continues a text."""
        return TASKS.load(self.settings.task.name).generates

    @property
    def starts_untrained(self) -> bool:
        """Whether it began with random weights, not with those of another run."""
        return not any(origin["role"] == "init" for origin in self.config.get("origins", [])[:1])

    def untrained(self) -> "Model":
        """The model as it was before its first step, from the settings and the seed."""
        from seqlab.runs.load import build_model

        if not self.starts_untrained:
            origin = self.config["origins"][0]["path"]
            raise UsageError(f"'{self.path}' began with the weights of '{origin}': look at that run instead.")
        return build_model(self.settings, self.vocabulary.sizes).eval()

    def task(self) -> "Task":
        """The task that it was trained for, on its own data: batches, loss and scores."""
        from seqlab.runs.reopen import make_task

        return make_task(self.settings, self.dataset())

    def dataset(self) -> "AnyDataset":
        """The data that it was trained on; DataError if it has changed."""
        from seqlab.runs.reopen import reopen

        return reopen(self.directory, self.config, self.settings, self.vocabulary)

    def text(self, split: str = "train", limit: int | None = None) -> str:
        """A split of the text that it was trained on, or the first `limit` characters of it."""
        if limit is not None:
            require_between("the limit", limit, 0, sys.maxsize)
        return self._own_text(split).text(split, limit)

    def _own_text(self, split: str) -> "SplitText":
        """The text that it was trained on; UsageError if there is none, or if it has no such split."""
        if self.settings.task.settings.examples is not None:
            raise UsageError(f"'{self.path}' was trained on examples, not on a running text: see dataset().data.")
        text = self.dataset().data
        if split not in text.splits:
            raise UsageError(f"this run has no {split!r} split: its data was split into {', '.join(text.splits)}.")
        return text

    @cached_property
    def results(self) -> "RunResults | None":
        """Its results on the validation split; None while it is not finished."""
        from seqlab.runs.results import read_results

        return read_results(self.directory)

    def evaluate(
        self, data: DataSource | None = None, *, split: str | None = None, mode: str | None = None
    ) -> EvaluationResult:
        """Score a split of the run's own data (validation if not given), or all of `data`, files of the same kind."""
        from seqlab.contracts import TextScores
        from seqlab.runs.looks import record_evaluation, tested_part
        from seqlab.runs.reopen import make_task, open_other
        from seqlab.tasks.as_read import unknown_share

        task_class = TASKS.load(self.settings.task.name)
        if self.settings.task.settings.examples is not None:
            refuse_given({"mode": mode}, f"for a {task_class.model_kind}, which scores example by example")
        if mode is not None and mode not in task_class.modes:
            choices = " or ".join(task_class.modes)
            raise UsageError(f"a {task_class.model_kind} has no mode '{mode}': expected {choices}.")
        if data is not None and split is not None:
            raise UsageError(f"'{split}' is a split of the run's own data; all of other data is scored: leave it out.")
        split, items, skipped = split or "validation", [] if data is None else source_items(data), None
        if data is None:
            dataset, scored = self.dataset(), split
        else:
            dataset, scored = open_other(self.config, self.settings, self.vocabulary, items), "whole"
            skipped = getattr(dataset.data, "skipped", None)
        task = make_task(self.settings, dataset)
        if scored not in list(task.splits):
            raise UsageError(f"this run has no {split!r} split: its data was split into {', '.join(task.splits)}.")
        scores = task.score(self.model, scored, mode)
        if joined().is_writer and (part := tested_part(self.config, dataset.data, scored, items)):
            record_evaluation(self.path, part)
        metrics, used_mode = task.metrics(scores), mode or task.mode
        baseline = self.results.strongest_baseline if self.results and data is None and split == "validation" else None
        baseline = baseline and baseline.in_mode(used_mode, task.mode)
        return EvaluationResult(
            metrics=metrics,
            scores=scores,
            split=split if data is None else ", ".join(items),
            mode=used_mode,
            window=task.settings.window if isinstance(scores, TextScores) else None,
            headline_metric=task.headline_metric,
            sentence=task.result_sentence(metrics, baseline and (baseline.name, baseline.metrics)),
            baseline=baseline,
            signature=task.signature,
            unknown_share=unknown_share(task.splits[scored], self.vocabulary),
            skipped_rows=skipped,
            by_lines=self.settings.corpus.documents == "lines",
            reading=prediction.said_of(task.notes_on(scored, "given" if data else split, used_mode), data is None),
        )

    def inspect(
        self,
        text: str,
        view: str | None = None,
        *,
        target: str | None = None,
        against: "Run | Sequence[Run]" = (),
        **options: Any,
    ) -> "Inspection":
        """Look inside as it reads a text: one view (`seqlab list views`), or all that apply.

        The result displays itself in a notebook; `print` it, or `write` it. `target`: instead of the model's own
        translation, tags or label. `against`: runs to compare with. `options`: those of the view (docs/inspect.md).

        >>> run.inspect("To be, or not to be", "surprise").write("surprise.html")
        """
        from seqlab.inspection.inspection import inspect

        return inspect([self, *([against] if isinstance(against, Run) else against)], text, view, options, target)

    def predict(self, texts: str | Sequence[str | Sequence[str]], **options: Any) -> "list[Prediction]":
        """Labels with probabilities, tags of words, or translations, depending on its task. A sentence to tag may also
        be a list of its words.

        `options`, for translators: beam, length_penalty, n_best (translations per text), max_length (tokens of a
        translation). `weights`: return attention."""
        return prediction.predict(self, texts, options)

    def embed(self, texts: str | Sequence[str]) -> "np.ndarray":
        """A vector of length 1 for each text, in the rows of one array; near texts have a high dot product."""
        return prediction.embed(self, texts)

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
        require_between("the number of texts", samples, 1, MAX_SAMPLES)
        settings = _sampling(sampling)
        if samples > 1 and (settings.temperature == 0 or settings.top_k == 1):
            greedy = "at temperature 0" if settings.temperature == 0 else "with top_k=1"
            raise UsageError(f"{greedy} all {samples} texts would be the same: leave out the number of texts.")
        return self._generator.generate([prompt] * samples, length, settings, stop, engine)

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
        """Which of these lines are in the training split."""
        if isinstance(texts, str) or not isinstance(texts, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{texts!r} is not a list of lines.")
        queries = set(texts)
        known = {line for line in self._own_text("train").lines("train") if line in queries}
        return [text in known for text in texts]

    @cached_property
    def _generator(self) -> "TextGenerator":
        from seqlab.decode.text_generator import TextGenerator

        if not self.generates:
            model_kind = TASKS.load(self.settings.task.name).model_kind
            raise UsageError(
                f"'{self.path}' is a {model_kind}: it cannot continue a text. {prediction.use_instead(self)}"
            )
        return TextGenerator(cast("AutoregressiveModel", self.model), self.tokenizer)


def _sampling(options: Mapping[str, Any]) -> Any:
    from seqlab.decode.sampling import SamplingSettings

    settings = checked(SamplingSettings, options, "sampling")
    if settings.temperature == 0:
        drawn = {name: options.get(name) for name in ("top_k", "top_p", "seed")}
        refuse_given(drawn, "at temperature 0, which takes the most probable token")
    elif settings.top_k == 1:
        drawn = {name: options.get(name) for name in ("temperature", "top_p", "seed")}
        refuse_given(drawn, "with top_k=1, which takes the most probable token")
    return settings


def run_path(run: str | Path | Run) -> Path:
    """The folder of a run, given as a path or as the run itself; UsageError for anything else."""
    if isinstance(run, Run):
        return run.path
    if not isinstance(run, str | Path) or "\0" in str(run):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{run!r} is not a run: expected the path of its folder, or a Run.")
    return Path(run)


def load(run: str | Path | Run) -> Run:
    """Load a finished run, or the best run of a comparison, from its folder (`seqlab.Comparison.load`: all of it).

    >>> run = seqlab.load("runs/my-gru-1")
    >>> print(run.generate("The ", 200, temperature=0.8))
    """
    from seqlab.runs.load import load_for_use

    return run if isinstance(run, Run) else load_for_use(run_path(run))
