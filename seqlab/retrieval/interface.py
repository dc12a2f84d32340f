"""The public functions of retrieval, which `seqlab.api` offers: embed, index, search and evaluate_index."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seqlab.config import DataSource, source_items
from seqlab.errors import UsageError, refuse_given
from seqlab.runs.run import Run, load

if TYPE_CHECKING:
    from seqlab.retrieval.build import IndexReport
    from seqlab.retrieval.corpus_vectors import VectorSettings
    from seqlab.retrieval.evaluation import Evaluation
    from seqlab.retrieval.index import Index
    from seqlab.retrieval.progress import WorkProgress
    from seqlab.retrieval.search import SearchResult
    from seqlab.retrieval.vector_files import EmbeddedCorpus

VECTOR_OPTIONS = ("pooling", "layer", "dimensions", "reduce", "normalize", "passage", "overlap")


def embed(
    run: str | Path | Run,
    source: DataSource,
    out: str | Path,
    *,
    format: Literal["npy", "safetensors"] = "npy",
    columns: Mapping[str, str] | None = None,
    progress: "WorkProgress | None" = None,
    **options: Any,
) -> "EmbeddedCorpus":
    """Write the vectors of all documents, with the ids and offsets of their passages, into the folder `out`.

    The same call continues one that was stopped. source: folders, text files, JSON lines or tables; columns: the names
    of their columns "id", "title" and "text", if unusual.
    options: pooling (mean, last, max, attention, sif), layer, dimensions, reduce (truncate or pca), normalize,
    passage (characters) and overlap.

    >>> seqlab.embed("runs/my-gru-1", "notes", "vectors", dimensions=64, reduce="pca")
    """
    from seqlab.distributed.group import share_work
    from seqlab.retrieval.corpus_vectors import Source
    from seqlab.retrieval.progress import WorkProgress, progress_for_stderr
    from seqlab.retrieval.vector_files import embed_corpus

    settings = vector_settings(options)
    paths = Source(tuple(source_items(source)), columns or {})
    with share_work() as world:
        progress = progress or (progress_for_stderr() if world.is_writer else WorkProgress())
        return embed_corpus(load(run), paths, Path(out), settings, format, progress)


def index(
    source: DataSource,
    out: str | Path,
    *,
    run: str | Path | Run | None = None,
    vectors: bool = True,
    overwrite: bool = False,
    columns: Mapping[str, str] | None = None,
    progress: "WorkProgress | None" = None,
    **options: Any,
) -> "IndexReport":
    """Make the folder `out` an index of all documents, ready for `search`; call it again when they have changed.

    Documents that have not changed keep their vectors. The index has a copy of all it needs: documents and run may go.
    source, columns and options: as in `embed`. run: what embeds the documents; by default the run of the index that is
    there, else a small one is trained on the documents first. vectors: False to search by words alone. overwrite: True
    to replace an index of other sources.

    >>> seqlab.index("notes", "notes.index", run="runs/my-gru-1")
    """
    from seqlab.retrieval.build import build_index
    from seqlab.retrieval.corpus_vectors import Source
    from seqlab.retrieval.progress import progress_for_stderr

    given = {name: value for name, value in options.items() if value is not None}
    settings = vector_settings(given) if given else None
    paths = Source(tuple(source_items(source)), columns or {})
    loaded = None if run is None else load(run)
    if not vectors:
        without = {name: value for name, value in given.items() if name not in ("passage", "overlap")}
        refuse_given({"run": run, **without}, "in an index without vectors")
    return build_index(paths, Path(out), loaded, settings, progress or progress_for_stderr(), vectors, overwrite)


def search(index: "str | Path | Index", query: str, k: int = 10, **options: Any) -> "SearchResult":
    """The K documents of an index that answer a query best, each by its best passage.

    options: by ("hybrid", "bm25" or "dense"; hybrid if the index has vectors), weight (of the vectors in a hybrid, 0 to
    1), engine ("exact", or "hnsw" or "ivf" of faiss).

    >>> for hit in seqlab.search("notes.index", "how do I resume a run").hits: print(hit.title)
    """
    from seqlab.retrieval.search import search as find

    if unknown := options.keys() - {"by", "weight", "engine"}:
        raise UsageError(f"search has no option {' and '.join(sorted(unknown))}: it takes by, weight and engine.")
    return find(index, query, k, **options)


def evaluate_index(
    index: "str | Path | Index",
    queries: str | Path,
    qrels: str | Path | None = None,
    training: str | Path | None = None,
    **options: Any,
) -> "Evaluation":
    """How well an index answers judged queries, in the layout of BEIR: metrics, intervals, verdicts against BM25.

    queries: their ids and texts; qrels: the judgments to score; training: those of training queries, by default
    train.tsv beside `qrels`. Or queries: a collection, by its folder or name; qrels: its split, by default test.
    Figures are given on all queries, and on those whose documents were relevant in training or not.
    options: weight (of the vectors in the hybrid; by default tuned on training queries), keep_weight (True: keep it in
    the index, for `search`), baselines (False: only the ways to search the index).

    >>> found = seqlab.evaluate_index("my.index", "queries.jsonl", "qrels/test.tsv")
    >>> print(found.value("hybrid", part="unseen"), found.pairs[0].sentence)
    """
    from seqlab.retrieval.index_evaluation import evaluate_index as evaluate

    if unknown := options.keys() - {"weight", "keep_weight", "baselines"}:
        names = " and ".join(sorted(unknown))
        raise UsageError(f"there is no option {names}: expected weight, keep_weight or baselines.")
    return evaluate(index, queries, qrels, training, **options)


def vector_settings(options: Mapping[str, Any]) -> "VectorSettings":
    """The settings of vectors from the options that were given; UsageError for an unknown one."""
    from seqlab.data.documents.passages import default_overlap
    from seqlab.retrieval.corpus_vectors import VectorSettings
    from seqlab.retrieval.embedding import Pooled

    if unknown := options.keys() - {*VECTOR_OPTIONS}:
        raise UsageError(f"there is no option {' and '.join(sorted(unknown))}: expected {', '.join(VECTOR_OPTIONS)}.")
    given = {name: value for name, value in options.items() if value is not None}
    if "passage" in given:
        given = {"overlap": default_overlap(given["passage"]), **given}
    pooled = Pooled(given.pop("pooling", None), given.pop("layer", None))
    renamed = {"reduce": "method", "passage": "length"}
    return VectorSettings(pooled, **{renamed.get(name, name): value for name, value in given.items()})
