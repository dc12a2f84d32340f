"""seqlab train: text or labeled examples in, a trained model out."""

from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.registry import BACKBONES, CORPORA, TASKS, TOKENIZERS

EXAMPLES = (
    "seqlab train my.txt --arch gru --seconds 120",
    "seqlab train reviews.csv --task classify --arch lstm --epochs 5",
    "seqlab train my.txt --arch transformer --set train.clip_norm=0.5",
)

Data = partial(Option, rich_help_panel="Data")
Model = partial(Option, rich_help_panel="Model")
Budget = partial(Option, rich_help_panel="Budget")
Optimization = partial(Option, rich_help_panel="Optimization")
Settings = partial(Option, rich_help_panel="Settings and output")


def train(
    source: Annotated[
        list[str] | None, Argument(help=f"Files, a folder, - for standard input, or one of {', '.join(CORPORA)}.")
    ] = None,
    task: Annotated[
        str | None,
        Data(
            help=f"{', '.join(TASKS)}; inferred from the file when unambiguous, otherwise language.",
            autocompletion=lambda: list(TASKS),
        ),
    ] = None,
    validation: Annotated[
        list[str] | None, Data(help="File of validation examples; give it twice for parallel text.")
    ] = None,
    test: Annotated[list[str] | None, Data(help="File of test examples, scored at the end.")] = None,
    split_ratios: Annotated[str | None, Data(help="90/10, or 80/10/10 with a test split.")] = None,
    documents: Annotated[str | None, Data(help="stream: one running text; lines: every line is a document.")] = None,
    difficulty: Annotated[int | None, Data(help="Difficulty of a generated corpus.")] = None,
    tokenizer: Annotated[
        str | None,
        Data(help=f"{', '.join(TOKENIZERS)}; the default depends on the task.", autocompletion=lambda: [*TOKENIZERS]),
    ] = None,
    vocab_size: Annotated[int | None, Data(help="Vocabulary size of a word or bpe tokenizer.")] = None,
    arch: Annotated[
        str | None, Model(help=f"{', '.join(BACKBONES)}; default lstm.", autocompletion=lambda: list(BACKBONES))
    ] = None,
    encoder: Annotated[str | None, Model(help="Encoder architecture (translation); --arch sets both sides.")] = None,
    decoder: Annotated[str | None, Model(help="Decoder architecture (translation).")] = None,
    hidden: Annotated[int | None, Model(help="Hidden size.")] = None,
    layers: Annotated[int | None, Model(help="Number of layers.")] = None,
    embedding: Annotated[int | None, Model(help="Embedding size.")] = None,
    dropout: Annotated[float | None, Model(help="Dropout on embeddings, between layers and before the output.")] = None,
    steps: Annotated[int | None, Budget(help="Number of training steps.")] = None,
    epochs: Annotated[float | None, Budget(help="Number of passes over the training data, instead of steps.")] = None,
    seconds: Annotated[float | None, Budget(help="Approximate training time, instead of steps.")] = None,
    patience: Annotated[int | None, Budget(help="Stop after this many evaluations without improvement.")] = None,
    evaluate_every: Annotated[int | None, Budget(help="Steps between evaluations; default a tenth of the run.")] = None,
    batch_size: Annotated[int | None, Optimization(help="Sequences per batch.")] = None,
    batch_tokens: Annotated[int | None, Optimization(help="Tokens per batch with padding, not sequences.")] = None,
    window: Annotated[int | None, Optimization(help="Tokens per training window.")] = None,
    batching: Annotated[
        str | None, Optimization(help="windows: random windows; stream: consecutive ones with carried state.")
    ] = None,
    optimizer: Annotated[str | None, Optimization(help="adam, adamw, sgd or rmsprop.")] = None,
    lr: Annotated[float | None, Optimization(help="Peak learning rate.")] = None,
    schedule: Annotated[str | None, Optimization(help="constant, cosine, linear or plateau.")] = None,
    seed: Annotated[int | None, Optimization(help="Seed of initialization, batches and dropout.")] = None,
    threads: Annotated[int | None, Optimization(help="CPU threads; default all cores.")] = None,
    out: Annotated[Path | None, Settings(help="Folder of the run; default runs/<corpus>-<arch>-<n>.")] = None,
    overwrite: Annotated[bool, Settings("--overwrite", help="Replace the run in that folder.")] = False,
    init: Annotated[Path | None, Settings(help="Start from the tokenizer and weights of this run.")] = None,
    like: Annotated[
        Path | None, Settings("--from", help="Use the settings of this run or of a comparison's best, split 90/10.")
    ] = None,
    recipe: Annotated[
        str | None, Settings(help="Use the model of a recipe: NAME or NAME/MODEL. See: seqlab list recipes.")
    ] = None,
    config: Annotated[Path | None, Settings(help="Read settings from a TOML file.")] = None,
    assignments: Annotated[
        list[str] | None, Settings("--set", metavar="SECTION.KEY=VALUE", help="Any setting; may be repeated.")
    ] = None,
) -> None:
    """Train a model on text or on labeled examples."""
    options = ("source", "out", "overwrite", "init", "like", "recipe", "config", "assignments")
    short = {name: value for name, value in locals().items() if name not in options and name != "options"}
    from seqlab import api
    from seqlab.cli.settings import read_settings
    from seqlab.cli.show import finished_run, next_steps, using_command

    run = api.train(
        source or None,
        out=out,
        overwrite=overwrite,
        init=init,
        like=like,
        recipe=recipe,
        settings=read_settings(config, assignments),
        **short,
    )
    finished_run(run)
    next_steps(using_command(run), f"seqlab evaluate {run.path}", f"seqlab resume {run.path} --more 1000")
