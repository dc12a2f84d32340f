"""seqlab compare: which architecture to use on a text, what it costs, and how sure that is."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from seqlab.registry import BACKBONES, CORPORA, TASKS, TOKENIZERS

if TYPE_CHECKING:
    from seqlab.comparison.compare import Comparison

EXAMPLES = (
    "seqlab compare my.txt",
    "seqlab compare my.txt --archs lstm,transformer --seeds 5 --minutes 30",
    "seqlab compare --recipe demo --out runs/demo",
)

Fair = partial(Option, rich_help_panel="Comparison")
Data = partial(Option, rich_help_panel="Data")
Model = partial(Option, rich_help_panel="All models")
Settings = partial(Option, rich_help_panel="Settings and output")


def compare(
    source: Annotated[
        list[str] | None, Argument(help=f"Files, a folder, - for standard input, or one of {', '.join(CORPORA)}.")
    ] = None,
    archs: Annotated[
        str | None, Fair(help=f"Some of {', '.join(BACKBONES)}, or models of the recipe.", metavar="NAME,NAME")
    ] = None,
    seeds: Annotated[int | None, Fair(help="Runs per model; default 3.")] = None,
    match: Annotated[
        str | None,
        Fair(
            help="Equal size: params=N or flops=N (per token), or none; omit =N to match the first architecture.",
            metavar="KIND=N",
        ),
    ] = None,
    budget: Annotated[
        str | None, Fair(help="Equal training budget: steps=N, tokens=N, flops=N or seconds=N.", metavar="KIND=N")
    ] = None,
    minutes: Annotated[float | None, Fair(help="Time for everything if there is no budget; default 15.")] = None,
    tune: Annotated[int | None, Fair(help="Short tuning trials per model; default 3, 0 for none.")] = None,
    tune_over: Annotated[
        str | None, Fair(help="Settings to tune: lr, batch_size, layers; default lr.", metavar="NAME,NAME")
    ] = None,
    negligible: Annotated[
        float | None,
        Fair(help="Largest difference that does not matter; default 0.01 nats/char, 0.2 % accuracy or 0.3 BLEU."),
    ] = None,
    jobs: Annotated[int | None, Fair(help="Runs in parallel; default one per core.")] = None,
    task: Annotated[str | None, Data(help=f"{', '.join(TASKS)}; inferred from the file when unambiguous.")] = None,
    validation: Annotated[
        list[str] | None, Data(help="File of validation examples; give it twice for parallel text.")
    ] = None,
    test: Annotated[list[str] | None, Data(help="File of test examples, which the verdicts are based on.")] = None,
    split_ratios: Annotated[str | None, Data(help="80/10/10, or 90/10 with verdicts on the validation split.")] = None,
    documents: Annotated[str | None, Data(help="stream: one running text; lines: every line is a document.")] = None,
    difficulty: Annotated[int | None, Data(help="Difficulty of a generated corpus.")] = None,
    tokenizer: Annotated[str | None, Data(help=f"{', '.join(TOKENIZERS)}; the default depends on the task.")] = None,
    vocab_size: Annotated[int | None, Data(help="Vocabulary size of a word or bpe tokenizer.")] = None,
    layers: Annotated[int | None, Model(help="Number of layers.")] = None,
    embedding: Annotated[int | None, Model(help="Embedding size.")] = None,
    dropout: Annotated[float | None, Model(help="Dropout on embeddings, between layers and before the output.")] = None,
    batch_size: Annotated[int | None, Model(help="Sequences per batch.")] = None,
    batch_tokens: Annotated[int | None, Model(help="Tokens per batch with padding, not sequences.")] = None,
    window: Annotated[int | None, Model(help="Tokens per training window.")] = None,
    out: Annotated[
        Path | None, Settings(help="Folder of the comparison; the same command continues one that was stopped.")
    ] = None,
    recipe: Annotated[str | None, Settings(help="Models and settings by name. See: seqlab list recipes.")] = None,
    config: Annotated[Path | None, Settings(help="Read settings from a TOML file.")] = None,
    assignments: Annotated[
        list[str] | None, Settings("--set", metavar="SECTION.KEY=VALUE", help="Any setting of all models.")
    ] = None,
) -> None:
    """Compare architectures under equal budgets and several seeds: verdicts, a report, and the best model to use."""
    named = ("source", "out", "recipe", "config", "assignments")
    options = {name: value for name, value in locals().items() if name not in (*named, "named") and value is not None}
    from seqlab import api
    from seqlab.cli.settings import read_settings
    from seqlab.cli.show import next_steps, using_command

    comparison = api.compare(
        source or None,
        out=out,
        recipe=recipe,
        settings=read_settings(config, assignments),
        command=shlex.join(["seqlab", *sys.argv[1:]]),
        **options,
    )
    if not comparison.results.entrants:
        finished_shows(comparison)
        return
    finished_comparison(comparison)
    folder = shlex.quote(str(comparison.directory))
    next_steps(
        f"seqlab generate {folder}" if comparison.results.samples else using_command(comparison.best, folder),
        f"seqlab train --from {folder}",
        f"seqlab audit {folder}",
    )


def finished_comparison(comparison: "Comparison") -> None:
    """Print the table, the recommendation, the verdicts and where the report is."""
    from seqlab.cli.show import out as console
    from seqlab.comparison.judgment.verdicts import baseline_sentence

    results = comparison.results
    console.print()
    console.print(comparison.table(), markup=False, soft_wrap=True)
    for title, sentences in (
        ("Recommendation", [advice.sentence for advice in results.recommendation]),
        ("Verdicts", comparison.verdicts),
        (
            "Baseline",
            [baseline_sentence(results.baseline_pairs, results.baselines, results.metric)]
            if results.baseline_pairs
            else [],
        ),
        ("Caveats", results.warnings),
    ):
        if sentences:
            console.print(f"\n[bold]{title}[/]")
            for sentence in sentences:
                console.print(f"  {sentence}", markup=False, soft_wrap=True)
    failed = [f"{audit.name}: {check.name}" for audit in results.audits for check in audit.checks if not check.passed]
    console.print(f"\nAudit: {'FAILED: ' + '; '.join(failed) if failed else 'all checks passed'}", markup=False)
    console.print(f"Report: {comparison.directory / 'report.html'}", markup=False)


def finished_shows(comparison: "Comparison") -> None:
    """The results of a recipe that trains nothing."""
    from seqlab.cli.show import out as console

    for name, show in comparison.results.shows.items():
        console.print(f"\n[bold]{name}[/]")
        console.print(show.failure or show.text, markup=False)
    console.print(f"Report: {comparison.directory / 'report.html'}", markup=False)


def print_sample(comparison: "Comparison") -> None:
    """Print a sample of the best model."""
    from seqlab.cli.show import out as console

    for sample in comparison.results.samples:
        if sample.name == comparison.results.best.name:
            console.print(f"\n[bold]A sample of {sample.name} at temperature {sample.temperature}[/]")
            console.print(sample.prompt + sample.text, markup=False, style="dim")
