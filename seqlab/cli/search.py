"""seqlab search: what an index finds for a query."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from seqlab.cli import options

if TYPE_CHECKING:
    from seqlab.retrieval.search import Hit

EXAMPLES = (
    'seqlab search notes.index "how do I resume a run"',
    'seqlab search notes.index "beam search" -k 3 --explain',
    'seqlab search notes.index "beam search" --by bm25 --json',
)


def search(
    index: Annotated[Path, Argument(help="Folder of the index.")],
    query: Annotated[str, Argument(help="A question or a few words; - reads it from standard input.")],
    k: Annotated[int, Option("-k", help="Number of results.")] = 10,
    by: Annotated[
        str | None, Option(help="bm25 (words), dense (vectors) or hybrid; default hybrid if there are vectors.")
    ] = None,
    weight: Annotated[
        float | None, Option(help="Weight of the vectors in a hybrid, 0 to 1; default that of the index, else 0.3.")
    ] = None,
    engine: Annotated[str, Option(help="How dense finds vectors: exact, or hnsw or ivf of faiss.")] = "exact",
    explain: Annotated[bool, Option("--explain", help="Show what each part of a score was.")] = False,
    as_json: options.Json = False,
) -> None:
    """Search an index: rank, score, title and the passage with the words that matter."""
    from rich.text import Text

    from seqlab import api
    from seqlab.cli.show import console
    from seqlab.errors import refuse_given
    from seqlab.wording import counted, ended

    if as_json:
        refuse_given({"--explain": explain or None}, "with --json, which has the parts of every score")
    if query == "-":
        query = sys.stdin.read()
    result = api.search(index, query, k, by=by, weight=weight, engine=engine)
    if as_json:
        console.print_json(data=result.as_dict())
        return
    for hit in result.hits:
        line = Text(f"{hit.rank:>3}  {hit.score:.3f}  ")
        line.append(hit.title or hit.id, style="bold")
        console.print(line, soft_wrap=True)
        shown = Text(hit.snippet.text)
        for start, end in hit.snippet.marked:
            shown.stylize("bold yellow", start, end)
        console.print(Text("     ") + shown, soft_wrap=not console.is_terminal)
        where = f"     {hit.id}, characters {hit.start:,} to {hit.end:,} of its text"
        console.print(where, style="dim", markup=False, soft_wrap=True)
        if explain:
            for sentence in explanation(hit, result.kept_weight):
                console.print(f"     {sentence}", markup=False, soft_wrap=True)
    for note in result.notes:
        console.print(f"Note: {ended(note)}", markup=False, soft_wrap=True)
    each = "by its best passage" if len(result.hits) == 1 else "each by its best passage"
    found = f"{counted(len(result.hits), 'document')}, {each}" if result.hits else "Nothing found"
    console.print(f"{found}, with {result.by}, in {result.milliseconds:.1f} ms.")


def explanation(hit: "Hit", kept_weight: bool = False) -> list[str]:
    """What each part of a score was, in words."""
    parts: dict[str, Any] = hit.parts
    lines = []
    if "bm25" in parts:
        words = sorted(parts["bm25"]["words"].items(), key=lambda item: -item[1])
        added = " + ".join(f"{word} {score:.2f}" for word, score in words) or "no word of the query"
        lines.append(f"words (BM25): {parts['bm25']['score']:.3f} = {added}")
    if "dense" in parts:
        lines.append(f"vectors: {parts['dense']['score']:.3f}")
    if "weight" in parts:
        weight, bm25, dense = parts["weight"], parts["bm25"]["scaled"], parts["dense"]["scaled"]
        lines.append(
            f"score: {hit.score:.3f} = {1 - weight:.2f} x {bm25:.3f} (words) + {weight:.2f} x {dense:.3f} (vectors), "
            f"each from 0 for the lowest to 1 for the best passage"
            f"{'; the weight is the one that the index keeps' if kept_weight else ''}"
        )
    return lines
