"""seqlab index: documents made ready for search."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab index notes --out notes.index",
    "seqlab index notes --run runs/my-gru-1 --out notes.index",
    "seqlab index a.csv --column text=abstract --no-vectors --out a.index",
)


def index(
    source: Annotated[
        list[str], Argument(help="Folders, text files, pages, JSON lines, tables, or a built-in collection.")
    ],
    out: Annotated[
        Path, Option(help="Folder of the index; the same command again takes over what was added, changed or deleted.")
    ],
    run: Annotated[
        Path | None,
        Option(help="Run that embeds the documents; default that of the index, else a small one is trained first."),
    ] = None,
    vectors: Annotated[bool, Option(help="Search by meaning as well, or by words alone.")] = True,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an index of other sources.")] = False,
    pooling: options.Pooling = None,
    layer: options.Layer = None,
    dimensions: options.Dimensions = None,
    reduce: options.Reduce = None,
    passage: options.PassageLength = None,
    overlap: options.PassageOverlap = None,
    column: options.DocumentColumns = None,
) -> None:
    """Index documents for search: by words (BM25), and by the vectors of a run."""
    import shlex

    from seqlab import api
    from seqlab.cli.show import console, next_steps
    from seqlab.errors import refuse_given
    from seqlab.wording import counted, ended

    if dimensions is None:
        refuse_given({"--reduce": reduce}, "without --dimensions")
    report = api.index(
        source,
        out,
        run=run,
        vectors=vectors,
        overwrite=overwrite,
        columns=options.document_columns(column),
        pooling=pooling,
        layer=layer,
        dimensions=dimensions,
        reduce=reduce,
        passage=passage,
        overlap=overlap,
    )
    for note in report.notes:
        console.print(f"Note: {ended(note)}", markup=False, soft_wrap=True)
    facts = report.index.facts
    amounts = f"{counted(facts['documents'], 'document')}, {counted(facts['passages'], 'passage')}"
    kind = f"BM25 and vectors of {facts['dimensions']:,} dimensions" if facts["dimensions"] else "BM25 alone"
    console.print(f"{out}: {amounts}, {kind}.", markup=False, soft_wrap=True)
    changes = f"{report.added:,} added, {report.changed:,} changed, {report.removed:,} removed"
    embedded = f"; {counted(report.embedded, 'passage')} embedded" if facts["dimensions"] else ""
    console.print(f"Documents: {changes}{embedded}; {report.seconds:.1f} s.", markup=False)
    next_steps(f'seqlab search {shlex.quote(str(out))} "a question or a few words"')
