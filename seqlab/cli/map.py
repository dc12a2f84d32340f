"""seqlab map: the documents of an index on a plane, and the neighbors of one of them."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from seqlab.cli import options

EXAMPLES = (
    "seqlab map notes.index",
    "seqlab map notes.index --out map.html",
    'seqlab map notes.index --neighbors "gradient" -k 5',
)


def map(
    index: Annotated[Path, Argument(help="Folder of the index.")],
    out: Annotated[
        Path | None, Option(help="File that ends in .html, .png, .svg or .pdf; default a page and a picture.")
    ] = None,
    method: Annotated[
        str | None, Option(help="pca (the default) or tsne, which keeps neighbors together and takes longer.")
    ] = None,
    neighbors: Annotated[
        str | None, Option(help="Print the nearest neighbors of a document (its id or title) or of a word instead.")
    ] = None,
    k: Annotated[int | None, Option("-k", help="Number of neighbors; default 10.")] = None,
    as_json: options.Json = False,
) -> None:
    """Draw the documents of an index as a map, or list the neighbors of a document or word."""
    from dataclasses import asdict

    from seqlab.cli.show import console, table
    from seqlab.errors import refuse_given
    from seqlab.plotting import refuse_foreign
    from seqlab.retrieval.index import open_index
    from seqlab.retrieval.map import map_index, write_map
    from seqlab.retrieval.map import neighbors as find_neighbors

    opened = open_index(index)
    if neighbors is None:
        refuse_given({"-k": k, "--json": as_json or None}, "without --neighbors")
        names = [index.with_name(f"{index.name}-map.{kind}") for kind in ("html", "png")] if out is None else [out]
        for name in names:
            refuse_foreign(name)
        found = map_index(opened, method or "pca")
        for name in names:
            write_map(found, name)
        console.print(found.sentence)
        console.print(f"Map: {', '.join(str(name) for name in names)}", markup=False, soft_wrap=True)
        return
    refuse_given({"--out": out, "--method": method}, "with --neighbors")
    near = find_neighbors(opened, neighbors, 10 if k is None else k)
    if as_json:
        console.print_json(data=asdict(near))
        return
    rows = [[title or name, name, f"{cosine:.3f}"] for cosine, title, name in near.documents]
    table(f"nearest documents of {near.what}", ["title", "id", "cosine"], rows, texts=2)
    if near.words:
        console.print()
        left_out = near.words_compared < near.words_in_all
        among = f" among the {near.words_compared:,} most frequent of {near.words_in_all:,}" if left_out else ""
        table(f"nearest words{among}", ["word", "cosine"], [[word, f"{cosine:.3f}"] for cosine, word in near.words])
