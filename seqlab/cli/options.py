"""The arguments and options that several commands share, and how --config and --set are read."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from seqlab.errors import UsageError
from seqlab.registry import CORPORA, TASKS, TOKENIZERS

Data = partial(Option, rich_help_panel="Data")
Model = partial(Option, rich_help_panel="Model")
Optimization = partial(Option, rich_help_panel="Optimization")
Protocol = partial(Option, rich_help_panel="Comparison")
Settings = partial(Option, rich_help_panel="Settings and output")

RunFolder = Annotated[Path, Argument(help="Folder of the run.")]
Json = Annotated[bool, Option("--json", help="Print JSON.")]
Source = Annotated[
    list[str] | None, Argument(help=f"Files, a folder, - for standard input, or one of {', '.join(CORPORA)}.")
]
Documents = Annotated[str | None, Data(help="stream: one running text; lines: every line is a document.")]
Task = Annotated[
    str | None,
    Data(
        help=f"{', '.join(TASKS)}; inferred from the file when unambiguous, otherwise language.",
        autocompletion=lambda: [*TASKS],
    ),
]
Validation = Annotated[list[str] | None, Data(help="File to validate on; give it twice for parallel text.")]
Difficulty = Annotated[int | None, Data(help="Difficulty of a generated corpus.")]
Tokenizer = Annotated[
    str | None,
    Data(help=f"{', '.join(TOKENIZERS)}; the default depends on the task.", autocompletion=lambda: [*TOKENIZERS]),
]
VocabSize = Annotated[
    int | None, Data(help="Words, or bytes and merges, of a word or bpe tokenizer; special tokens add to it.")
]
Layers = Annotated[int | None, Model(help="Number of layers.")]
Embedding = Annotated[int | None, Model(help="Embedding size.")]
Dropout = Annotated[
    float | None, Model(help="Dropout on embeddings, before the output, and between layers if there are several.")
]
BatchSize = Annotated[int | None, Optimization(help="Sequences per batch.")]
BatchTokens = Annotated[int | None, Optimization(help="Tokens per batch with padding, not sequences.")]
Window = Annotated[int | None, Optimization(help="Tokens per training window.")]
Precision = Annotated[
    str | None,
    Optimization(help="float32 (default), bf16, or auto: bf16 where it is measured to be 1.15 times as fast."),
]
Seeds = Annotated[int | None, Protocol(help="Runs per model; default 3.")]
Minutes = Annotated[float | None, Protocol(help="Time for everything if there is no budget; default 15.")]
Trials = Annotated[int | None, Protocol(help="Short tuning trials per model; default 3, 0 for none.")]
Jobs = Annotated[int | None, Protocol(help="Runs in parallel; default one per core.")]
ComparisonFolder = Annotated[
    Path | None, Settings(help="Folder of the comparison; the same command continues one that was stopped.")
]
Config = Annotated[Path | None, Settings(help="Read settings from a TOML file.")]
Assignments = Annotated[
    list[str] | None, Settings("--set", metavar="SECTION.KEY=VALUE", help="Any setting; may be repeated.")
]
Pooling = Annotated[
    str | None, Option(help="mean, last, max, attention or sif; default what the run has learned, else mean.")
]
Layer = Annotated[int | None, Option(help="Layer, 0 for the embedding; default the last output.")]
Dimensions = Annotated[int | None, Option(help="Dimensions of a vector; default all.")]
Reduce = Annotated[str | None, Option(help="How to get fewer: truncate (the default) or pca.")]
PassageLength = Annotated[
    int | None, Option(help="Characters of a passage; default 2000, or fewer if the model reads fewer.")
]
PassageOverlap = Annotated[int | None, Option(help="Characters that two passages share; default a tenth, at most 200.")]
DocumentColumns = Annotated[
    list[str] | None,
    Option(
        "--column",
        metavar="FIELD=NAME",
        help="Column of the id, title or text of documents, if unusual; its number without a header. Repeat it.",
    ),
]


def read_settings(config: Path | None, assignments: Sequence[str] | None) -> dict[str, Any]:
    """The tables of a TOML file, then `section.key=value`, which replaces a value of the file."""
    from seqlab.config import each_once, parse_assignment, read_toml

    tables = read_toml(config) if config else {}
    tables.pop("about", None)  # the file of a recipe has a description
    return {**tables, **each_once("--set", map(parse_assignment, assignments or []))}


def document_columns(given: Sequence[str] | None) -> dict[str, str]:
    """`--column text=abstract` as a table of fields and the columns that hold them."""
    from seqlab.config import each_once

    parts = {item: item.partition("=") for item in given or []}
    for item, (_, _, column) in parts.items():
        if not column:
            raise UsageError(f"--column {item}: expected id=, title= or text= and the name of a column.")
    return each_once("--column", ((name, column) for name, _, column in parts.values()))
