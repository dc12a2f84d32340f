"""seqlab embed: the vectors of documents as a file."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab embed runs/my-gru-1 notes --out vectors",
    "seqlab embed runs/my-gru-1 a.jsonl --out v --pooling sif --dimensions 64",
    "seqlab embed runs/my-gru-1 a.csv --column text=abstract --out v",
)


def embed(
    run: options.RunFolder,
    source: Annotated[
        list[str], Argument(help="Folders, text files, pages, JSON lines, tables, or a built-in collection.")
    ],
    out: Annotated[Path, Option(help="Folder of the vectors; the same command continues one that was stopped.")],
    pooling: options.Pooling = None,
    layer: options.Layer = None,
    dimensions: options.Dimensions = None,
    reduce: options.Reduce = None,
    normalize: Annotated[bool, Option(help="Vectors of length 1, so that products are cosines.")] = True,
    passage: options.PassageLength = None,
    overlap: options.PassageOverlap = None,
    column: options.DocumentColumns = None,
    format: Annotated[str, Option(help="npy or safetensors.")] = "npy",
) -> None:
    """Embed documents: one vector for each passage, with its document and offsets."""
    from seqlab import api
    from seqlab.cli.show import console
    from seqlab.errors import refuse_given
    from seqlab.wording import counted, ended

    if dimensions is None:
        refuse_given({"--reduce": reduce}, "without --dimensions")
    written = api.embed(
        run,
        source,
        out,
        format=format,  # pyright: ignore[reportArgumentType]
        columns=options.document_columns(column),
        pooling=pooling,
        layer=layer,
        dimensions=dimensions,
        reduce=reduce,
        normalize=normalize,
        passage=passage,
        overlap=overlap,
    )
    for note in written.notes:
        console.print(f"Note: {ended(note)}", markup=False, soft_wrap=True)
    if written.continued:
        console.print(f"Continued: {counted(written.continued, 'passage')} had been embedded before.")
    amounts = f"{counted(written.documents, 'document')}, {counted(written.passages, 'passage')}"
    if written.done:
        console.print("Already done: the documents, the run and the settings are the same. Nothing was written.")
    console.print(f"{amounts}, {written.dimensions:,} dimensions: {written.vectors}", markup=False, soft_wrap=True)
    console.print(
        f"Documents and offsets in their texts (below the title), row by row: {out / 'passages.jsonl'}",
        markup=False,
        soft_wrap=True,
    )
