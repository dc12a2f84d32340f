"""The public interface: everything that `import seqlab` offers. Commands that train, use or compare models call it."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from seqlab.config import DataSource, VocabSizes, build_settings, expand_short_names, source_items
from seqlab.distributed.world import launched, refuse_several
from seqlab.errors import UsageError
from seqlab.models.parameter_count import refuse_absurd, refuse_unfit
from seqlab.recipes import recipe as read_recipe
from seqlab.registry import BACKBONES
from seqlab.retrieval.interface import embed as embed
from seqlab.retrieval.interface import evaluate_index as evaluate_index
from seqlab.retrieval.interface import index as index
from seqlab.retrieval.interface import search as search
from seqlab.runs.evaluation import EvaluationResult
from seqlab.runs.run import Run, run_path
from seqlab.runs.run import load as load
from seqlab.scale.interface import plan as plan
from seqlab.training.memory_limit import read_limit
from seqlab.training.request import least_sizes, settings_from_request, settings_of

if TYPE_CHECKING:
    from seqlab.comparison.compare import Comparison
    from seqlab.comparison.execution.progress import ProgressView
    from seqlab.exporters.quantize import QuantizedRun
    from seqlab.models.model import Model
    from seqlab.speedruns.speedrun import Speedrun
    from seqlab.training.progress import Reporter

ExportFormat = Literal["onnx", "transformers"]


def train(
    source: DataSource | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    init: str | Path | Run | None = None,
    like: str | Path | Run | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    reporter: "Reporter | None" = None,
    **short: Any,
) -> Run:
    """Train a model and return the finished run.

    source: a file, several files, a folder or a built-in corpus (`seqlab list corpora`).
    out: the folder of the run; runs/<corpus>-<arch>-<n> if not given. `overwrite` replaces a run that is there.
    init: a run whose tokenizer and weights are the starting point.
    like: a run, or a comparison, whose settings are used.
    recipe: a recipe with one model, or RECIPE/MODEL; a name (`seqlab list recipes`) or the path of a TOML file.
    settings: any setting, as {"train.lr": 0.003} or as nested tables like those of a TOML file.
    short: common settings by one word: arch, task, tokenizer, hidden, layers, steps, epochs, seconds, lr, ...
    `fit=True` divides the batch until training fits into the free memory, `fit="2GB"` into so much.

    >>> run = seqlab.train("my.txt", arch="gru", hidden=256, seconds=60)
    """
    if like and (recipe or init):
        raise UsageError(
            "--from (like=... in Python) takes all settings from a run: do not combine it with --recipe or --init."
        )
    if not isinstance(overwrite, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"overwrite is {overwrite!r}: expected True or False.")
    if overwrite and not out:
        raise UsageError(
            "overwrite does nothing without 'out', since a new folder is made: name the folder to replace."
        )
    _check_recipe(recipe)
    limit = read_limit(short.pop("fit", None))
    base = settings_of(run_path(like)) if like else read_recipe(recipe) if recipe else {}
    start = run_path(init) if init else None
    messages: list[str] = []
    resolved = settings_from_request(source, base, settings or {}, short, start, messages.append)
    refuse_unfit(resolved)
    resolved.task.settings.refuse_untrainable(resolved)
    refuse_absurd(resolved, least_sizes(resolved))

    from seqlab.training.session import train as train_run

    reporter = _reporter(reporter)
    for message in messages:
        reporter.log(message)
    return train_run(resolved, _folder(out), overwrite, reporter, start, limit)


def _folder(out: str | Path | None) -> Path | None:
    """The folder that a caller named, if any; UsageError if it is not a path."""
    return _required_folder(out) if out is not None and out != "" else None


def _required_folder(out: str | Path) -> Path:
    if not isinstance(out, str | Path) or "\0" in str(out):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"out is {out!r}: expected the path of a folder.")
    return Path(out)


def _check_recipe(recipe: str | None) -> None:
    if recipe is not None and not isinstance(recipe, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"recipe is {recipe!r}: expected the name of a recipe or the path of its TOML file.")


def _reporter(reporter: "Reporter | None") -> "Reporter":
    """The caller's reporter, or the one for standard error."""
    from seqlab.training.progress import Reporter, reporter_for_stderr

    if reporter is not None and not isinstance(reporter, Reporter):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"reporter is {reporter!r}: expected a seqlab.training.progress.Reporter.")
    if reporter is None and not launched().is_writer:
        return Reporter()  # of several processes one reports
    return reporter or reporter_for_stderr()


def resume(run: str | Path | Run, more: int | None = None, reporter: "Reporter | None" = None) -> Run:
    """Continue an interrupted run, or train a finished run for `more` steps; return the finished run.

    A resumed run ends with the same weights, bit by bit, as one that was never interrupted.

    >>> run = seqlab.resume("runs/my-gru-1", more=1000)
    """
    from seqlab.training.session import resume as resume_run

    return resume_run(run_path(run), more, _reporter(reporter))


def evaluate(
    run: str | Path | Run, data: DataSource | None = None, *, split: str | None = None, mode: str | None = None
) -> EvaluationResult:
    """Score a run on a split of its own data, or on all of `data`, files of the same kind.

    Other data is compared with the training data first: `trained_share`, and a warning, say how much was trained on.
    split: train, validation (if not given) or test; for the run's own data only.
    mode: for text, "window" (every window starts with a fresh state) or "carry" (the state runs through the text).

    >>> seqlab.evaluate("runs/my-gru-1", split="test").metrics["bits_per_char"]
    """
    from seqlab.distributed.group import share_work
    from seqlab.threads import compute_threads

    loaded = load(run)
    with share_work() as world, compute_threads(None) if world.size > 1 else nullcontext():
        result = loaded.evaluate(data, split=split, mode=mode)
    if data is None:
        return result
    from seqlab.analysis.trained_on import trained_on

    share, note = trained_on(loaded, source_items(data))
    return replace(result, trained_share=share, trained_note=note)


def compare(
    source: DataSource | None = None,
    *,
    out: str | Path | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    command: str | None = None,
    view: "ProgressView | None" = None,
    **options: Any,
) -> "Comparison":
    """Train several architectures under one plan (equal size, equal budget, several seeds) and say which to use.

    The same call with the same `out` continues a comparison that was stopped.
    recipe: models, measures and settings; a name (`seqlab list recipes`) or the path of a TOML file.
    settings: settings of all models, as in `train`.
    options: archs, seeds, match, budget, minutes, tune, tune_over, jobs, launcher, address, negligible, and the
    one-word settings of `train` for all models.
    command: how the report says that it can be repeated; this call if not given.
    view: receives the progress of all runs; shows it on standard error if not given.

    >>> comparison = seqlab.compare("my.txt", archs=["lstm", "transformer"], budget="steps=2000", seeds=3)
    >>> print(comparison.table())
    """
    from seqlab.comparison.compare import default_directory, python_call, run_comparison
    from seqlab.comparison.execution.progress import view_for_stderr
    from seqlab.comparison.plan.request import build_request

    _check_recipe(recipe)
    view = view or view_for_stderr()
    request = build_request(source, recipe, settings or {}, options, view.log)
    if command is None:
        arguments = {"out": out and str(out), "recipe": recipe, "settings": settings and dict(settings), **options}
        command = python_call("compare", [] if source is None else [source], arguments)
    return run_comparison(request, _folder(out) or default_directory(request), command, view)


def speedrun(
    source: DataSource | None = None,
    *,
    minutes: int = 5,
    seeds: int | None = None,
    first_seed: int = 0,
    out: str | Path | None = None,
    reporter: "Reporter | None" = None,
) -> "Speedrun":
    """Make the best language model of a text within 5, 20 or 60 minutes, from raw text to result.

    Without a source, tiny-shakespeare with three seeds, each with a clock of its own; otherwise one seed.

    >>> seqlab.speedrun("my.txt").attempts[0].path
    """
    from seqlab.speedruns.speedrun import speedrun as run_speedrun

    refuse_several("speedrun")
    items = None if source is None else source_items(source)
    return run_speedrun(items, minutes, seeds, first_seed, _folder(out), _reporter(reporter))


def distill(
    teacher: str | Path | Run,
    source: DataSource | None = None,
    *,
    arch: str = "gru",
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    command: str | None = None,
    **options: Any,
) -> "Comparison":
    """Train a student on a text and on a teacher's predicted distribution, and compare it with the same student alone.

    teacher: a finished language model. source: the teacher's own data if not given.
    options: teacher_weight and temperature, and those of `compare`; split, window and tokenizer are the teacher's.

    >>> comparison = seqlab.distill("runs/my-transformer-1", arch="gru", budget="steps=2000")
    """
    from seqlab.comparison.distill import distill as run_distillation

    refuse_several("distill")
    path = run_path(teacher)
    return run_distillation(path, source, arch=arch, out=out, settings=settings, command=command, **options)


def quantize(run: str | Path | Run, out: str | Path, *, overwrite: bool = False) -> "QuantizedRun":
    """Write a copy of a run with int8 weight matrices, about a quarter of the size, and score both.

    >>> seqlab.quantize("runs/my-gru-1", "runs/my-gru-int8").bytes
    """
    from seqlab.exporters.quantize import quantize as write

    return write(run_path(run), _required_folder(out), overwrite)


def export(run: str | Path | Run, out: str | Path, *, format: ExportFormat = "onnx") -> list[Path]:
    """Write a run for other programs into the empty folder `out`, check that it computes the same; return the files.

    format: "onnx" (graphs and an example program) or "transformers" (for the library of that name).

    >>> seqlab.export("runs/my-gru-1", "exported", format="onnx")
    """
    if format not in get_args(ExportFormat):
        raise UsageError(f"unknown format '{format}': expected {' or '.join(get_args(ExportFormat))}.")
    out = _required_folder(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"'{out}' is not empty: choose an empty folder.")
    try:
        if format == "onnx":
            from seqlab.exporters.onnx.write import write_onnx as write
        else:
            from seqlab.exporters.transformers import write_transformers as write
    except ImportError as error:
        raise UsageError(f"this needs the package '{error.name}': pip install 'seqlab[onnx]'.") from None
    return write(load(run), out)


def build(
    arch: str = "lstm",
    *,
    vocab_size: int,
    target_vocab_size: int | None = None,
    labels: int = 2,
    characters: int = 256,
    **short: Any,
) -> "Model":
    """Build an untrained model: a language model, unless `task` names another task.

    `model(ids)` returns logits and state. The other tasks need the number of labels (classify, tag), characters (tag)
    or target tokens (translate). `short`: settings of the architecture and the one-word settings of `train`.

    >>> model = seqlab.build("lstm", vocab_size=2000, hidden=256, layers=2)
    >>> logits, state = model(torch.randint(0, 2000, (8, 64)))
    """
    target_vocab_size = vocab_size if target_vocab_size is None else target_vocab_size
    counts = {"vocab_size": vocab_size, "target_vocab_size": target_vocab_size, "labels": labels}
    for name, count in {**counts, "characters": characters}.items():
        if not isinstance(count, int) or count < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{name} is {count!r}: expected a whole number, at least 1.")
    fields = BACKBONES.settings(BACKBONES.canonical(arch)).model_fields
    changes = [(f"backbone.{word}", value) for word, value in short.items() if word in fields]
    changes += expand_short_names({"arch": arch} | {word: value for word, value in short.items() if word not in fields})
    settings = build_settings({"corpus": {"source": ["none"]}}, changes)
    refuse_unfit(settings)
    sizes = VocabSizes(vocab_size, target_vocab_size, characters, labels)
    refuse_absurd(settings, sizes)

    from seqlab.runs.load import build_model

    return build_model(settings, sizes)
