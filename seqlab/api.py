"""Train, go on, load, build."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.config import Source, VocabSizes, expand_short_names, gather
from seqlab.errors import UsageError
from seqlab.models.parameter_count import refuse_absurd, refuse_unfit
from seqlab.recipes import recipe as read_recipe
from seqlab.registry import BACKBONES
from seqlab.runs.run import Run
from seqlab.runs.run import load as load
from seqlab.training.request import least_sizes, settings_from_request, settings_of

if TYPE_CHECKING:
    from seqlab.training.progress import Reporter


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
) -> Run:
    """Train a model on a text and return the run.

    `source` is a file, several, a folder or a built-in corpus. `short` are the usual settings by one word (arch,
    steps, hidden, lr, ...), `settings` any setting by its dotted name or nested tables as in a TOML file. `init` is a
    run whose weights and tokenizer are the start; `like` is a run or a comparison whose settings are taken."""
    base = settings_of(Path(like)) if like else read_recipe(recipe) if recipe else {}
    if like and (recipe or init):
        raise UsageError("a run is trained like another, from a recipe or from weights: give one of them.")
    said: list[str] = []
    wanted = settings_from_request(source, base, settings or {}, short, Path(init) if init else None, said.append)
    refuse_unfit(wanted)
    refuse_absurd(wanted, least_sizes(wanted))

    from seqlab.training.progress import reporter_for_stderr
    from seqlab.training.session import train as train_run

    reporter = reporter or reporter_for_stderr()
    for words in said:
        reporter.log(words)
    loaded = train_run(wanted, Path(out) if out else None, overwrite, reporter, Path(init) if init else None)
    return Run(loaded)


def resume(path: str | Path, more: int | None = None, reporter: "Reporter | None" = None) -> Run:
    """Go on with an interrupted run, or train a finished one for `more` steps."""
    from seqlab.training.progress import reporter_for_stderr
    from seqlab.training.session import resume as resume_run

    return Run(resume_run(Path(path), more, reporter or reporter_for_stderr()))


def export(path: str | Path, out: str | Path, *, form: str = "onnx") -> list[Path]:
    """Write a run for other programs, as `onnx` or `transformers`; the files that were written."""
    if form not in ("onnx", "transformers"):
        raise UsageError(f"the format is '{form}': known are onnx and transformers.")
    out = Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"'{out}' holds something already: choose an empty folder.")
    from seqlab.runs.load import load_run

    try:
        if form == "onnx":
            from seqlab.exporters.onnx.write import write_onnx as write
        else:
            from seqlab.exporters.transformers import write_transformers as write
    except ImportError as error:
        raise UsageError(f"this needs the package '{error.name}': pip install 'seqlab[onnx]'.") from None
    return write(load_run(Path(path)), out)


def quantize(path: str | Path, out: str | Path, *, overwrite: bool = False) -> Any:
    """A run whose matrices are int8, from a finished one: `bytes` and `figures` before and after."""
    from seqlab.exporters.quantize import quantize as write

    return write(Path(path), Path(out), overwrite)


def build(
    arch: str = "lstm", *, vocab_size: int, target: int = 0, labels: int = 2, characters: int = 256, **short: Any
) -> Any:
    """An untrained model, a language model unless `task` says otherwise: `model(ids)` gives logits and state.

    Other tasks need to know how many labels, characters or target symbols there are."""
    if vocab_size < 1:
        raise UsageError(f"vocabulary is {vocab_size}: expected at least 1.")
    own = {word: value for word, value in short.items() if word in BACKBONES.settings(arch).model_fields}
    changes = [(f"backbone.{word}", value) for word, value in own.items()]
    changes += expand_short_names({"arch": arch, **{word: value for word, value in short.items() if word not in own}})
    settings = gather({"corpus": {"source": ["none"]}}, changes)
    refuse_unfit(settings)
    sizes = VocabSizes(vocab_size, target or vocab_size, characters, labels)
    refuse_absurd(settings, sizes)

    from seqlab.runs.load import build_model

    return build_model(settings, sizes)
