"""seqlab compare: which architecture to use on a text, what it costs, and how sure that is."""

import shlex
import sys
from typing import Annotated

from seqlab.cli import options
from seqlab.cli.options import Data, Protocol, Settings
from seqlab.registry import BACKBONES

EXAMPLES = (
    "seqlab compare my.txt",
    "seqlab compare my.txt --archs lstm,transformer --seeds 5 --minutes 30",
    "seqlab compare --recipe demo --out runs/demo",
    "seqlab compare my.txt --launcher ray --address 192.168.0.10:6379   # on many machines: docs/scale.md",
)


def compare(
    source: options.Source = None,
    archs: Annotated[
        str | None, Protocol(help=f"Some of {', '.join(BACKBONES)}, or models of the recipe.", metavar="NAME,NAME")
    ] = None,
    seeds: options.Seeds = None,
    match: Annotated[
        str | None,
        Protocol(
            help="Equal size: params=N (core), total=N, non-embedding=N, flops=N (per token), or none; omit =N to "
            "match the first architecture.",
            metavar="KIND=N",
        ),
    ] = None,
    budget: Annotated[
        str | None, Protocol(help="Equal training budget: steps=N, tokens=N, flops=N or seconds=N.", metavar="KIND=N")
    ] = None,
    minutes: options.Minutes = None,
    tune: options.Trials = None,
    tune_over: Annotated[
        str | None, Protocol(help="Settings to tune: lr, batch_size, layers; default lr.", metavar="NAME,NAME")
    ] = None,
    negligible: Annotated[
        float | None,
        Protocol(help="Largest difference that does not matter; default 0.01 nats/char, 0.2% accuracy or 0.3 BLEU."),
    ] = None,
    jobs: options.Jobs = None,
    launcher: Annotated[
        str | None,
        Protocol(
            help="Where runs are: local (default), or ray, a Ray cluster, which runs as many as its CPUs allow.",
            autocompletion=lambda: ["local", "ray"],
        ),
    ] = None,
    address: Annotated[
        str | None,
        Protocol(help="Of the Ray cluster, such as 192.168.0.10:6379; default a Ray on this machine alone."),
    ] = None,
    task: options.Task = None,
    validation: options.Validation = None,
    test: Annotated[list[str] | None, Data(help="File to test on, which the verdicts are based on.")] = None,
    split_ratios: Annotated[str | None, Data(help="80/10/10, or 90/10 with verdicts on the validation split.")] = None,
    split: Annotated[
        str | None,
        Data(help="scattered: held-out stretches all over a running text (default without a recipe); or contiguous."),
    ] = None,
    documents: options.Documents = None,
    difficulty: options.Difficulty = None,
    tokenizer: options.Tokenizer = None,
    vocab_size: options.VocabSize = None,
    layers: options.Layers = None,
    embedding: options.Embedding = None,
    dropout: options.Dropout = None,
    batch_size: options.BatchSize = None,
    batch_tokens: options.BatchTokens = None,
    window: options.Window = None,
    precision: options.Precision = None,
    out: options.ComparisonFolder = None,
    recipe: Annotated[str | None, Settings(help="Models and settings by name. See: seqlab list recipes.")] = None,
    config: options.Config = None,
    assignments: options.Assignments = None,
) -> None:
    """Compare architectures under equal budgets and several seeds: verdicts, a report, and the best model to use."""
    named = {"source", "out", "recipe", "config", "assignments"}
    choices = {name: value for name, value in locals().items() if name not in {*named, "named"} and value is not None}
    from seqlab import api
    from seqlab.cli.show import next_steps, print_comparison, print_shows, using_command

    comparison = api.compare(
        source or None,
        out=out,
        recipe=recipe,
        settings=options.read_settings(config, assignments),
        command=shlex.join(["seqlab", *sys.argv[1:]]),
        **choices,
    )
    if not comparison.results.entrants:
        print_shows(comparison)
        return
    print_comparison(comparison)
    folder = shlex.quote(str(comparison.directory))
    next_steps(
        using_command(comparison.best, folder),
        f"seqlab train --from {folder}",
        f"seqlab audit {folder}",
    )
