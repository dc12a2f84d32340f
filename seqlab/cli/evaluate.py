"""seqlab evaluate: how well a run does on held-out data, or an index on judged queries."""

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab evaluate runs/my-gru-1",
    "seqlab evaluate runs/my-gru-1 other.txt --mode carry --json",
    "seqlab evaluate my.index --queries queries.jsonl --qrels qrels/test.tsv",
)
Index = partial(Option, rich_help_panel="Only for an index")
POSITIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # of a window, whose loss is printed


def evaluate(
    run: Annotated[Path, Argument(help="Folder of the run, or of an index.")],
    data: Annotated[
        list[str] | None, Argument(help="Other data of the same kind; default the run's own held-out data.")
    ] = None,
    split: Annotated[
        str | None, Option(help="Split of the run's own data: train, validation (the default) or test.")
    ] = None,
    mode: Annotated[
        str | None,
        Option(help="For text: window (every window starts with a fresh state) or carry (the state runs through)."),
    ] = None,
    queries: Annotated[
        Path | None,
        Index(help="Queries: JSON lines or a table with ids and texts; or a collection's folder or name."),
    ] = None,
    qrels: Annotated[
        Path | None, Index(help="Judgments, as in qrels/test.tsv; of a collection its split, default test.")
    ] = None,
    training: Annotated[
        Path | None, Index(help="Judgments of training queries; default train.tsv beside --qrels, if it is there.")
    ] = None,
    weight: Annotated[
        float | None, Index(help="Weight of the vectors in the hybrid, 0 to 1; default tuned on training queries.")
    ] = None,
    keep_weight: Annotated[
        bool, Index("--keep-weight", help="Keep that weight in the index, so that search uses it.")
    ] = False,
    baselines: Annotated[
        bool, Index(help="Also rank by static vectors, by LSA, and by what training queries asked for.")
    ] = True,
    as_json: options.Json = False,
) -> None:
    """Score a run on held-out data, or an index on judged queries, with what the numbers mean."""
    from seqlab import api
    from seqlab.analysis.trained_on import HARDER
    from seqlab.cli.show import console, metrics_table, scored_amount, table
    from seqlab.distributed.world import refuse_several
    from seqlab.errors import SeqlabWarning, UsageError, refuse_given
    from seqlab.retrieval.directory import IndexDirectory
    from seqlab.runs.prediction import FIRST

    ranking = {"--queries": queries, "--qrels": qrels, "--training": training, "--weight": weight}
    if IndexDirectory(run).is_index():
        refuse_several("evaluate of an index")
        refuse_given({"a file": data, "--split": split, "--mode": mode}, "for an index")
        if queries is None:
            raise UsageError(
                f"'{run}' is an index: name queries and the documents that answer them: --queries, --qrels"
            )
        from seqlab.cli.rankings import print_evaluation

        found = api.evaluate_index(
            run, queries, qrels, training, weight=weight, keep_weight=keep_weight, baselines=baselines
        )
        print_evaluation(found, as_json)
        return
    flags = {"--keep-weight": keep_weight or None, "--no-baselines": None if baselines else True}
    refuse_given({**ranking, **flags}, "for a run, only for an index")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{HARDER}", SeqlabWarning)  # the note stands above the result
        result = api.evaluate(run, data or None, split=split, mode=mode)
    content = result.as_dict()
    if as_json:
        console.print_json(data=content)
        return
    if result.trained_note:
        console.print(result.trained_note, markup=False, soft_wrap=True)
    for note in [note for note in result.reading if not data or note.startswith(FIRST)]:  # others were warnings
        console.print(note, markup=False, soft_wrap=True)
    name = ", ".join(data) if data else result.split
    how = f"windows of {result.window} tokens" if result.mode == "window" else "the state runs through"
    how = f"{how}, fresh for each line" if result.by_lines else how
    protocol = f", mode {result.mode} ({how})" if result.window else ""
    title = f"{name}: {scored_amount(result.metrics)}{protocol}"
    metrics_table(title, [(run.name, result.metrics)], [result.headline_metric])
    console.print(str(result)[0].upper() + str(result)[1:] + ".")
    if result.signature:
        console.print(f"BLEU signature (sacrebleu): {result.signature}", markup=False)
    if result.window and content.get("unknown_share"):
        loss = content["unknown_nats_per_token"]
        console.print(f"{content['unknown_share']:.2%} of the tokens are unknown, at {loss:.2f} nats each.")
    if result.mode == "window":
        positions = [position for position in POSITIONS if position <= len(result.by_position)]
        console.print("\nLoss by position in the window (nats):")
        losses = [f"{result.by_position[position - 1]:.3f}" for position in positions]
        table("", [str(position) for position in positions], [losses])
