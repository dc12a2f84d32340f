"""seqlab train: a text, or labelled examples, to a trained model."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from seqlab.registry import BACKBONES, CORPORA, TASKS, TOKENIZERS

Model = partial(Option, rich_help_panel="Model")
Budget = partial(Option, rich_help_panel="Budget")
Data = partial(Option, rich_help_panel="Labelled examples")
Learning = partial(Option, rich_help_panel="Learning")
Where = partial(Option, rich_help_panel="Where")


def train(
    text: Annotated[list[str] | None, Argument(help=f"Files, a folder, - or: {', '.join(CORPORA)}.")] = None,
    task: Annotated[
        str | None,
        Model(
            help=f"{', '.join(TASKS)}; if not given, by the file where that is safe, else language.",
            autocompletion=lambda: list(TASKS),
        ),
    ] = None,
    arch: Annotated[
        str | None, Model(help=f"{', '.join(BACKBONES)}; lstm if not given.", autocompletion=lambda: list(BACKBONES))
    ] = None,
    encoder: Annotated[str | None, Model(help="Of a translator, what reads; --arch is for both sides.")] = None,
    decoder: Annotated[str | None, Model(help="Of a translator, what writes.")] = None,
    tokenizer: Annotated[
        str | None,
        Model(help=f"{', '.join(TOKENIZERS)}; by the task if not given.", autocompletion=lambda: list(TOKENIZERS)),
    ] = None,
    vocab_size: Annotated[int | None, Model(help="Symbols of a word or bpe tokenizer.")] = None,
    hidden: Annotated[int | None, Model(help="Width of the state.")] = None,
    layers: Annotated[int | None, Model(help="How many are stacked.")] = None,
    embedding: Annotated[int | None, Model(help="Width of the embedding.")] = None,
    dropout: Annotated[float | None, Model(help="On the embedding, between layers, before the output.")] = None,
    steps: Annotated[int | None, Budget(help="Train for this many steps.")] = None,
    epochs: Annotated[float | None, Budget(help="Or this many passes over the text.")] = None,
    seconds: Annotated[float | None, Budget(help="Or about this long.")] = None,
    patience: Annotated[int | None, Budget(help="Stop after this many evaluations without a new best.")] = None,
    evaluate_every: Annotated[int | None, Budget(help="Steps between evaluations.")] = None,
    validation: Annotated[list[str] | None, Data(help="File of held-out examples; two of parallel text.")] = None,
    test: Annotated[list[str] | None, Data(help="File of examples to be scored at the end.")] = None,
    difficulty: Annotated[int | None, Data(help="Of a generated corpus.")] = None,
    batch_size: Annotated[int | None, Learning(help="Sequences per step.")] = None,
    batch_tokens: Annotated[int | None, Learning(help="Or tokens per step, with padding.")] = None,
    window: Annotated[int | None, Learning(help="Tokens per sequence.")] = None,
    batching: Annotated[str | None, Learning(help="windows, or stream with carried state.")] = None,
    documents: Annotated[str | None, Learning(help="stream, or lines: every line by itself.")] = None,
    split_ratios: Annotated[str | None, Learning(help="90/10 or 80/10/10.")] = None,
    optimizer: Annotated[str | None, Learning(help="adam, adamw, sgd, rmsprop.")] = None,
    lr: Annotated[float | None, Learning(help="Peak learning rate.")] = None,
    schedule: Annotated[str | None, Learning(help="constant, cosine, linear, plateau.")] = None,
    seed: Annotated[int | None, Learning(help="Of everything random.")] = None,
    threads: Annotated[int | None, Learning(help="All cores if not given.")] = None,
    out: Annotated[Path | None, Where(help="The run's folder; runs/<text>-<arch>-<n> if not given.")] = None,
    overwrite: Annotated[bool, Where("--overwrite", help="Replace the run in that folder.")] = False,
    init: Annotated[Path | None, Where(help="Start from this run's tokenizer and weights.")] = None,
    like: Annotated[
        Path | None, Where("--from", help="Take the settings of this run, or of a comparison's best, on 90/10.")
    ] = None,
    recipe: Annotated[str | None, Where(help="Settings by name, or name/model: seqlab list recipes.")] = None,
    config: Annotated[Path | None, Where(help="Settings from a TOML file.")] = None,
    assignments: Annotated[
        list[str] | None, Where("--set", metavar="SECTION.KEY=VALUE", help="Any setting: --set train.clip_norm=0.5")
    ] = None,
) -> None:
    """Train a model on a text or on labelled examples, or all models of a recipe."""
    short = {
        name: value
        for name, value in locals().items()
        if name not in ("text", "out", "overwrite", "init", "like", "recipe", "config", "assignments")
    }
    from seqlab import api
    from seqlab.cli.show import finished_run, next_steps, using_command
    from seqlab.config import parse_assignment, read_toml
    from seqlab.recipes import is_study

    settings = {**(read_toml(config) if config else {}), **dict(map(parse_assignment, assignments or []))}
    settings.pop("about", None)
    if recipe and is_study(recipe):
        study(recipe, text, out, overwrite or init is not None, settings, short)
        return
    run = api.train(
        text or None,
        out=out,
        overwrite=overwrite,
        init=init,
        like=like,
        recipe=recipe,
        settings=settings,
        **short,
    )
    finished_run(run)
    next_steps(
        using_command(run),
        f"seqlab evaluate {run.path}",
        f"seqlab resume {run.path} --more 1000",
    )


def study(
    recipe: str,
    text: list[str] | None,
    out: Path | None,
    refused: bool,
    settings: dict[str, Any],
    short: dict[str, Any],
) -> None:
    """Every model of a recipe; what is there already is used, what was stopped goes on."""
    from seqlab.cli.show import finished_run, next_steps
    from seqlab.cli.show import out as console
    from seqlab.errors import UsageError
    from seqlab.studies.run import run_recipe

    if refused:
        raise UsageError("--overwrite and --init are for one model: name it as --recipe RECIPE/MODEL.")
    given = {name: value for name, value in short.items() if value is not None}
    folder = None
    for done in run_recipe(recipe, source=text or None, out=out, settings=settings, **given):
        console.rule(f"{recipe}: {done.model}")
        if done.run is not None:
            finished_run(done.run)
        for name, shown in done.measures.items():
            console.print(f"\n[bold]{name}[/]")
            console.print(shown.text, markup=False)
            for figure in shown.figures:
                console.print(f"Picture: {figure}")
        console.print(f"Record: {done.record}")
        folder = done.record.parent
    next_steps(f"seqlab results {folder}")
