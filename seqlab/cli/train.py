"""seqlab train: text or labeled examples in, a trained model out."""

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Option

from seqlab.cli import options
from seqlab.cli.options import Data, Model, Optimization, Settings
from seqlab.registry import BACKBONES

EXAMPLES = (
    "seqlab train my.txt --arch gru --seconds 120",
    "seqlab train reviews.csv --task classify --arch lstm --epochs 5",
    "seqlab train train.txt --validation valid.txt --test test.txt",
)

Budget = partial(Option, rich_help_panel="Budget")


def train(
    source: options.Source = None,
    task: options.Task = None,
    validation: options.Validation = None,
    test: Annotated[list[str] | None, Data(help="File to test on: seqlab evaluate RUN --split test.")] = None,
    split_ratios: Annotated[str | None, Data(help="90/10; with a test split 80/10/10, or 90/5/5 of the bytes.")] = None,
    split: Annotated[
        str | None, Data(help="contiguous: held-out text at the end (default); scattered: stretches all over the text.")
    ] = None,
    documents: options.Documents = None,
    difficulty: options.Difficulty = None,
    tokenizer: options.Tokenizer = None,
    vocab_size: options.VocabSize = None,
    arch: Annotated[
        str | None, Model(help=f"{', '.join(BACKBONES)}; default lstm.", autocompletion=lambda: [*BACKBONES])
    ] = None,
    encoder: Annotated[str | None, Model(help="Encoder architecture (translation); --arch sets both sides.")] = None,
    decoder: Annotated[str | None, Model(help="Decoder architecture (translation).")] = None,
    hidden: Annotated[int | None, Model(help="Hidden size.")] = None,
    layers: options.Layers = None,
    embedding: options.Embedding = None,
    dropout: options.Dropout = None,
    mix: Annotated[str | None, Model(help="counts: predict together with the n-grams of the training text.")] = None,
    mix_size: Annotated[float | None, Model(metavar="MB", help="Most megabytes of the counts; default 64.")] = None,
    steps: Annotated[int | None, Budget(help="Number of training steps.")] = None,
    epochs: Annotated[float | None, Budget(help="Number of passes over the training data, instead of steps.")] = None,
    seconds: Annotated[float | None, Budget(help="Approximate training time, instead of steps.")] = None,
    patience: Annotated[int | None, Budget(help="Stop after this many evaluations without improvement.")] = None,
    evaluate_every: Annotated[int | None, Budget(help="Steps between evaluations; default a tenth of the run.")] = None,
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
    window: options.Window = None,
    batching: Annotated[
        str | None, Optimization(help="windows: random windows; stream: consecutive ones with carried state.")
    ] = None,
    optimizer: Annotated[str | None, Optimization(help="adam, adamw, muon, sgd or rmsprop.")] = None,
    lr: Annotated[float | None, Optimization(help="Peak learning rate.")] = None,
    schedule: Annotated[str | None, Optimization(help="constant, cosine, linear, plateau or decay.")] = None,
    precision: options.Precision = None,
    seed: Annotated[int | None, Optimization(help="Seed of initialization, batches and dropout.")] = None,
    threads: Annotated[int | None, Optimization(help="CPU threads; default OMP_NUM_THREADS, or all cores.")] = None,
    fit: Annotated[
        bool, Optimization("--fit", help="Divide the batch, or recompute layers, to fit into memory.")
    ] = False,
    memory: Annotated[str | None, Optimization(help="The limit of --fit, such as 2GB; default what is free.")] = None,
    out: Annotated[Path | None, Settings(help="Folder of the run; default runs/<corpus>-<arch>-<n>.")] = None,
    overwrite: Annotated[bool, Settings("--overwrite", help="Replace the run in that folder.")] = False,
    init: Annotated[Path | None, Settings(help="Start from the tokenizer and weights of this run.")] = None,
    like: Annotated[
        Path | None, Settings("--from", help="Use the settings of this run or of a comparison's best, split 90/10.")
    ] = None,
    recipe: Annotated[
        str | None, Settings(help="Use the model of a recipe: NAME or NAME/MODEL. See: seqlab list recipes.")
    ] = None,
    config: options.Config = None,
    assignments: options.Assignments = None,
) -> None:
    """Train a model on text or on labeled examples. For the best model of a text without choices: seqlab speedrun."""
    named = {"source", "fit", "memory", "out", "overwrite", "init", "like", "recipe", "config", "assignments"}
    short = {name: value for name, value in locals().items() if name not in {*named, "named"}}
    from seqlab import api
    from seqlab.errors import refuse_given

    if not fit:
        refuse_given({"--memory": memory}, "without --fit")

    run = api.train(
        source or None,
        out=out,
        overwrite=overwrite,
        init=init,
        like=like,
        recipe=recipe,
        settings=options.read_settings(config, assignments),
        fit=memory if memory is not None else fit,
        **short,
    )
    from seqlab.cli.show import next_steps, print_run, speedrun_command, using_command

    print_run(run)
    folder = shlex.quote(str(run.path))
    more = "" if run.results and run.results.caution else f"seqlab resume {folder} --more 1000"
    commands = (using_command(run), f"seqlab evaluate {folder}", f"seqlab audit {folder}", more)
    next_steps(*commands, speedrun_command(run))
