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

Fair = partial(Option, rich_help_panel="Comparison")
Model = partial(Option, rich_help_panel="All models")
Data = partial(Option, rich_help_panel="Labelled examples")
Where = partial(Option, rich_help_panel="Where")


def compare(
    text: Annotated[list[str] | None, Argument(help=f"Files, a folder, - or: {', '.join(CORPORA)}.")] = None,
    archs: Annotated[
        str | None, Fair(help=f"Some of {', '.join(BACKBONES)}, or models of the recipe.", metavar="NAME,NAME")
    ] = None,
    seeds: Annotated[int | None, Fair(help="Runs of each; 3 if not given.")] = None,
    match: Annotated[
        str | None,
        Fair(help="Equal size: params=N, flops=N (per token) or none; without =N as the first.", metavar="KIND=N"),
    ] = None,
    budget: Annotated[
        str | None, Fair(help="Equal training: steps=, tokens=, flops= or seconds=N.", metavar="KIND=N")
    ] = None,
    minutes: Annotated[float | None, Fair(help="Without a budget, how long all may take; 15 if not given.")] = None,
    tune: Annotated[int | None, Fair(help="Short trials of each; 3 if not given, 0 for none.")] = None,
    tune_over: Annotated[str | None, Fair(help="What is tried: lr, batch, layers.", metavar="NAME,NAME")] = None,
    negligible: Annotated[
        float | None, Fair(help="A difference that does not matter; 0.01 nats/char, 0.2 % accuracy, 0.3 BLEU.")
    ] = None,
    jobs: Annotated[int | None, Fair(help="Runs at a time; one a core if not given.")] = None,
    task: Annotated[str | None, Model(help=f"{', '.join(TASKS)}; by the file where that is safe.")] = None,
    tokenizer: Annotated[str | None, Model(help=f"{', '.join(TOKENIZERS)}; by the task if not given.")] = None,
    vocab_size: Annotated[int | None, Model(help="Symbols of a word or bpe tokenizer.")] = None,
    layers: Annotated[int | None, Model(help="How many are stacked.")] = None,
    embedding: Annotated[int | None, Model(help="Width of the embedding.")] = None,
    dropout: Annotated[float | None, Model(help="On the embedding, between layers, before the output.")] = None,
    validation: Annotated[list[str] | None, Data(help="File of held-out examples; two of parallel text.")] = None,
    test: Annotated[list[str] | None, Data(help="File of examples on which verdicts are given.")] = None,
    difficulty: Annotated[int | None, Data(help="Of a generated corpus.")] = None,
    batch_size: Annotated[int | None, Model(help="Sequences per step.")] = None,
    batch_tokens: Annotated[int | None, Model(help="Or tokens per step, with padding.")] = None,
    window: Annotated[int | None, Model(help="Tokens per sequence.")] = None,
    documents: Annotated[str | None, Model(help="stream, or lines: every line by itself.")] = None,
    split_ratios: Annotated[str | None, Model(help="80/10/10, or 90/10 with verdicts on validation.")] = None,
    out: Annotated[Path | None, Where(help="The comparison's folder; the same command goes on there.")] = None,
    recipe: Annotated[str | None, Where(help="Models and settings by name: seqlab list recipes.")] = None,
    config: Annotated[Path | None, Where(help="Settings from a TOML file.")] = None,
    assignments: Annotated[
        list[str] | None, Where("--set", metavar="SECTION.KEY=VALUE", help="Any setting of all models.")
    ] = None,
) -> None:
    """Compare architectures on a text or on examples: equal budgets, several seeds, a verdict, the winner to use."""
    options = {
        name: value
        for name, value in locals().items()
        if name not in ("text", "out", "recipe", "config", "assignments") and value is not None
    }
    from seqlab.cli.show import next_steps, using_command
    from seqlab.comparison.compare import compare as run_comparison
    from seqlab.config import parse_assignment, read_toml

    settings = {**(read_toml(config) if config else {}), **dict(map(parse_assignment, assignments or []))}
    done = run_comparison(
        text or None,
        out=out,
        recipe=recipe,
        settings=settings,
        command=shlex.join(["seqlab", *sys.argv[1:]]),
        **options,
    )
    finished_comparison(done)
    place = shlex.quote(str(done.directory))
    next_steps(
        f"seqlab generate {place}" if done.results.samples else using_command(done.best, place),
        f"seqlab train --from {place}",
        f"seqlab audit {place}",
    )


def finished_comparison(done: "Comparison") -> None:
    """Table, recommendation, verdicts, and where the report is."""
    from seqlab.cli.show import out as console
    from seqlab.comparison.judgment.verdicts import baseline_sentence

    results = done.results
    console.print()
    console.print(done.table(), markup=False, soft_wrap=True)
    for title, sentences in (
        ("Recommendation", [advice.sentence for advice in results.recommendation]),
        ("Verdicts", done.verdicts),
        (
            "Baseline",
            [baseline_sentence(results.baseline_pairs, results.baselines, results.metric)]
            if results.baseline_pairs
            else [],
        ),
        ("Mind", results.warnings),
    ):
        if sentences:
            console.print(f"\n[bold]{title}[/]")
            for sentence in sentences:
                console.print(f"  {sentence}", markup=False, soft_wrap=True)
    failed = [f"{one.name}: {check.name}" for one in results.audits for check in one.checks if not check.passed]
    console.print(f"\nAudit: {'FAILED: ' + '; '.join(failed) if failed else 'every check passed'}", markup=False)
    console.print(f"Report: {done.directory / 'report.html'}", markup=False)


def shown_sample(done: "Comparison") -> None:
    """What the best wrote."""
    from seqlab.cli.show import out as console

    for one in done.results.samples:
        if one.name == done.results.best.name:
            console.print(f"\n[bold]What {one.name} writes at temperature {one.temperature}[/]")
            console.print(one.prompt + one.text, markup=False, style="dim")
