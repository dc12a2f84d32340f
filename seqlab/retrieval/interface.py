"""The public functions of retrieval, which `seqlab.api` offers: embed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seqlab.config import DataSource, source_items
from seqlab.errors import UsageError
from seqlab.runs.run import Run, load

if TYPE_CHECKING:
    from seqlab.retrieval.corpus_vectors import VectorSettings
    from seqlab.retrieval.progress import WorkProgress
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
    from seqlab.retrieval.corpus_vectors import Source
    from seqlab.retrieval.progress import progress_for_stderr
    from seqlab.retrieval.vector_files import embed_corpus

    settings = vector_settings(options)
    paths = Source(tuple(source_items(source)), columns or {})
    return embed_corpus(load(run), paths, Path(out), settings, format, progress or progress_for_stderr())


def vector_settings(options: Mapping[str, Any]) -> "VectorSettings":
    """The settings of vectors from the options that were given; UsageError for an unknown one."""
    from seqlab.retrieval.corpus_vectors import VectorSettings
    from seqlab.retrieval.embedding import Pooled

    if unknown := options.keys() - {*VECTOR_OPTIONS}:
        raise UsageError(f"there is no option {' and '.join(sorted(unknown))}: expected {', '.join(VECTOR_OPTIONS)}.")
    given = {name: value for name, value in options.items() if value is not None}
    pooled = Pooled(given.pop("pooling", None), given.pop("layer", None))
    renamed = {"reduce": "method", "passage": "length"}
    return VectorSettings(pooled, **{renamed.get(name, name): value for name, value in given.items()})
