"""What notebooks and commands call: train, load, resume, build, and the Run that comes out.

run = seqlab.train("my.txt", arch="lstm", steps=200)
print(run.generate("The ", temperature=0.8))
seqlab.load("runs/my-lstm-1").evaluate()
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqlab.config import RunSettings, checked, gather, spelt_out
from seqlab.errors import UsageError
from seqlab.metrics.likelihood import Likelihood, of_scores, sentence
from seqlab.models.sizes import refuse_absurd, refuse_unfit
from seqlab.recipes import recipe as read_recipe
from seqlab.registry import BACKBONES, TASKS

if TYPE_CHECKING:
    from seqlab.contracts import Generator, Scores
    from seqlab.decode.writer import Found, Written
    from seqlab.models.tokens import TokenModel
    from seqlab.runs.load import Loaded
    from seqlab.runs.results import Results
    from seqlab.tasks.text import TextTask
    from seqlab.training.progress import Reporter

Source = str | Path | Sequence[str | Path]


def train(
    source: Source | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    init: str | Path | None = None,
    like: str | Path | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    reporter: "Reporter | None" = None,
    **short: Any,
) -> "Run":
    """Train a model on a text and return the run.

    `source` is a file, several, a folder or a built-in corpus. `short` are the usual settings by one word (arch,
    steps, hidden, lr, ...), `settings` any setting by its dotted name or nested tables as in a TOML file. `init` is a
    run whose weights and tokenizer are the start; `like` is a run or a comparison whose settings are taken."""
    base = settings_of(Path(like)) if like else read_recipe(recipe) if recipe else {}
    if like and (recipe or init):
        raise UsageError("a run is trained like another, from a recipe or from weights: give one of them.")
    wanted = wanted_settings(source, base, settings or {}, short, Path(init) if init else None)
    refuse_unfit(wanted)
    refuse_absurd(wanted, getattr(wanted.tokenizer.settings, "size", 256))

    from seqlab.training.progress import reporter_for_stderr
    from seqlab.training.session import start

    directory = start(
        wanted,
        Path(out) if out else None,
        overwrite,
        reporter or reporter_for_stderr(),
        Path(init) if init else None,
    )
    return load(directory.path)


def resume(path: str | Path, more: int | None = None, reporter: "Reporter | None" = None) -> "Run":
    """Go on with an interrupted run, or train a finished one for `more` steps."""
    from seqlab.training.progress import reporter_for_stderr
    from seqlab.training.session import go_on

    return load(go_on(Path(path), more, reporter or reporter_for_stderr()).path)


def load(path: str | Path) -> "Run":
    """A run, from its directory alone."""
    from seqlab.runs.load import load_run

    return Run(load_run(Path(path)))


def build(arch: str = "lstm", *, vocabulary: int, **short: Any) -> "TokenModel":
    """An untrained model, a language model unless `task` says otherwise: `model(ids)` gives logits and state."""
    if vocabulary < 1:
        raise UsageError(f"vocabulary is {vocabulary}: expected at least 1.")
    own = {word: value for word, value in short.items() if word in BACKBONES.settings(arch).model_fields}
    changes = [(f"backbone.{word}", value) for word, value in own.items()]
    changes += spelt_out({"arch": arch, **{word: value for word, value in short.items() if word not in own}})
    settings = gather({"corpus": {"source": ["none"]}}, changes)
    refuse_unfit(settings)
    refuse_absurd(settings, vocabulary)

    from seqlab.runs.load import build_model

    return build_model(settings, vocabulary)


def settings_of(path: Path) -> dict[str, Any]:
    """The settings of a run, or of the one that a comparison recommends, to be trained on 90/10 from the start."""
    from seqlab.runs.load import load_parts

    found = load_parts(path)[2].resolved()
    train = {**found["train"], "seed": 0, "from_step": 0, "threads": None}
    return {**found, "corpus": {**found["corpus"], "split": "90/10"}, "train": train}


def wanted_settings(
    source: Source | None,
    base: Mapping[str, Any],
    settings: Mapping[str, Any],
    short: Mapping[str, Any],
    init: Path | None = None,
) -> RunSettings:
    """The tables of a recipe or a run, then tables and dotted settings, then one-word settings: the later wins."""
    changes: list[tuple[str, Any]] = []
    for key, value in settings.items():
        nested = isinstance(value, Mapping)
        changes += [(f"{key}.{inner}", v) for inner, v in value.items()] if nested else [(key, value)]
    changes += spelt_out({word: value for word, value in short.items() if value is not None})
    if source is not None:
        given = [source] if isinstance(source, str | Path) else source
        changes.append(("corpus.source", [str(item) for item in given]))
    for key, _ in changes:
        if key.count(".") != 1:
            raise UsageError(f"'{key}' is not a setting: write section.key, such as train.lr.")
    if init is not None:
        base = _from_init(dict(base), changes, init)
    if "source" not in base.get("corpus", {}) and not any(key == "corpus.source" for key, _ in changes):
        raise UsageError("no text was given. Name a file, a folder or a built-in corpus, such as python-docs.")
    return gather(base, changes)


def _from_init(base: dict[str, Any], changes: list[tuple[str, Any]], init: Path) -> dict[str, Any]:
    """The model and the tokenizer are those of the run that training starts from."""
    from seqlab.runs.load import load_parts

    taken = load_parts(init)[2].resolved()
    for key, value in changes:
        section, _, name = key.partition(".")
        if section in ("backbone", "model", "tokenizer") and taken[section].get(name) != value:
            own = f"{section}.{name} = {taken[section].get(name)!r}"
            raise UsageError(f"--init takes over {own}, and {value!r} contradicts it.")
    corpus = {"documents": taken["corpus"]["documents"], **base.get("corpus", {})}
    return {**base, "corpus": corpus, **{section: taken[section] for section in ("backbone", "model", "tokenizer")}}


@dataclass(frozen=True)
class Evaluated:
    """How well a run predicts a text."""

    likelihood: Likelihood
    scores: "Scores"
    split: str
    window: int
    counting: Likelihood | None = None

    def __str__(self) -> str:
        return sentence(self.likelihood, self.counting)

    @property
    def by_position(self) -> list[float]:
        """The mean loss at the first, second, ... position of a window."""
        return (self.scores.nats_by_position_T / self.scores.tokens_by_position_T).tolist()

    def as_dict(self) -> dict[str, Any]:
        unknown = self.scores.unknown_tokens
        return {
            **asdict(self.likelihood),
            "characters": self.scores.characters,
            "bytes": self.scores.bytes,
            "split": self.split,
            "context": self.scores.context,
            "window": self.window,
            "unknown_share": unknown / self.scores.tokens,
            "unknown_nats_per_token": self.scores.unknown_nats / unknown if unknown else None,
            "loss_by_position": self.by_position,
            "sentence": str(self),
        }


class Run:
    """A trained model with its tokenizer, ready to use."""

    def __init__(self, loaded: "Loaded"):
        self._loaded = loaded
        self.directory = loaded.directory
        self.path = loaded.directory.path
        self.settings = loaded.settings
        self.config = loaded.config
        self.tokenizer = loaded.tokenizer
        self.model = loaded.model

    def __repr__(self) -> str:
        return f"Run('{self.path}': {self.settings.backbone.name} on {self.config['corpus']['name']})"

    @property
    def writes(self) -> bool:
        """Whether it continues a text."""
        return TASKS.load(self.settings.task.name).writes

    def task(self) -> "TextTask":
        """What it was trained on: batches, loss and scores."""
        from seqlab.analysis.evaluation import own_task

        return own_task(self._loaded)

    def text(self, part: str = "train", limit: int | None = None) -> str:
        """A part of the corpus that it was trained on, or its first `limit` characters."""
        from seqlab.training.prepare import reopen

        return reopen(self.directory, self.config, self.settings).text(part, limit)

    @cached_property
    def results(self) -> "Results | None":
        """What it achieved on validation when it finished."""
        from seqlab.runs.results import read_results

        return read_results(self._loaded.directory)

    def evaluate(self, text: Source | None = None, *, split: str = "validation", context: str = "window") -> Evaluated:
        """Score a part of the run's corpus, or all of another text."""
        from seqlab.analysis.evaluation import evaluate

        scores, window = evaluate(self._loaded, text, split, context)
        counting = self.results.counting if self.results and text is None and split == "validation" else None
        return Evaluated(of_scores(scores), scores, split if text is None else str(text), window, counting)

    def generate(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        samples: int = 1,
        stop: Sequence[str] = (),
        **sampling: Any,
    ) -> "Written":
        """Write after a prompt, given as text or ids.

        `sampling`: temperature, top_k, top_p, repetition_penalty, seed."""
        return self._writer.write([prompt] * samples, length, _sampling(sampling), stop)

    def go_on(self, written: "Written", length: int = 200) -> "Written":
        """Take up what `generate` wrote where it ended, as if it had been asked for at once."""
        return self._writer.go_on(written, length)

    def stream(
        self, prompt: "str | Sequence[int]" = "", length: int = 200, *, stop: Sequence[str] = (), **sampling: Any
    ) -> Iterator[str]:
        """What `generate` writes, in bits as soon as they are certain."""
        return self._writer.stream(prompt, length, _sampling(sampling), stop)

    def search(
        self,
        prompt: "str | Sequence[int]" = "",
        length: int = 200,
        *,
        width: int = 5,
        alpha: float = 0.0,
        best: int = 1,
    ) -> "list[Found]":
        """Beam search: the most probable continuations, best first."""
        return self._writer.search(prompt, length, width, alpha, best)

    def known(self, texts: Sequence[str]) -> list[bool]:
        """Which of these lines stand in the training text."""
        from seqlab.analysis.evaluation import known_lines

        return known_lines(self._loaded, texts)

    @cached_property
    def _writer(self) -> Any:
        from seqlab.decode.writer import Writer

        if not self.writes:
            raise UsageError(f"'{self.path}' was trained to fill gaps, not to go on: it cannot write.")
        return Writer(cast("Generator", self.model), self.tokenizer)


def _sampling(given: Mapping[str, Any]) -> Any:
    from seqlab.decode.sampling import SamplingSettings

    return checked(SamplingSettings, given, "sampling")
