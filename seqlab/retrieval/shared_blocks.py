"""The blocks of a corpus divided among processes: each embeds some, and one of them then finds all of them there."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from seqlab.data.documents.document import Document
from seqlab.distributed.group import gather_json, wait_for_all
from seqlab.distributed.world import joined
from seqlab.retrieval.corpus_vectors import Embedding
from seqlab.retrieval.shards import embed_blocks
from seqlab.tasks.read_counts import ReadCounts


def embed_share(embedding: Embedding, documents: Callable[[], Iterable[Document]], folder: Path) -> int:
    """With several processes: embed every n-th block, and wait until the others have embedded theirs.

    Returns the number of passages that were not there before. What reading met is counted for all of them."""
    world = joined()
    if world.size == 1:
        return 0
    wait_for_all()  # until the writer has the folder
    embedder = embedding.embedder
    blocks = embed_blocks(
        embedding.passages(documents()),
        lambda block: embedder.embed([piece.with_title for piece in block]),
        folder,
        embedding.fingerprint,
        lambda number: number % world.size == world.rank,
    )
    new = sum(shard.rows for shard in blocks if not shard.continued)
    wait_for_all()
    parts = gather_json({"new": new, "seen": asdict(embedder.seen)})
    embedder.seen = ReadCounts(**{name: sum(part["seen"][name] for part in parts) for name in parts[0]["seen"]})
    return sum(part["new"] for part in parts)
