"""`seqlab embed`: the vectors of all documents as a file, with the ids and offsets of their passages beside it."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.passages import Passage
from seqlab.distributed.group import from_writer, wait_for_all
from seqlab.distributed.world import joined
from seqlab.errors import UsageError
from seqlab.retrieval.corpus_vectors import FIT_VECTORS, Embedding, Source, VectorSettings, fit, prepare
from seqlab.retrieval.directory import FITTED, locked_folder, npz_bytes, write_file
from seqlab.retrieval.progress import WorkProgress
from seqlab.retrieval.shards import Shard, embed_blocks, remove_shards
from seqlab.retrieval.shared_blocks import embed_share
from seqlab.runs import manifest
from seqlab.runs.lock import LOCK
from seqlab.runs.run import Run
from seqlab.storage import as_bytes, sha256, storage_errors, to_json, write_atomic, write_atomic_parts

VectorFormat = Literal["npy", "safetensors"]
FORMAT = "seqlab-vectors"
SHARDS, FACTS, ROWS = "shards", "embedding.json", "passages.jsonl"


@dataclass(frozen=True)
class EmbeddedCorpus:
    """What was written. `continued`: passages that a call which was stopped had embedded."""

    vectors: Path
    documents: int
    passages: int
    dimensions: int
    continued: int
    notes: list[str]
    done: bool = False  # it was there, made of the same documents in the same way


def embed_corpus(
    run: Run, source: Source, out: Path, settings: VectorSettings, format: VectorFormat, progress: WorkProgress
) -> EmbeddedCorpus:
    """Embed all documents into the folder `out`; the same call continues one that was stopped."""
    if not joined().is_writer:
        return _help(run, source, out, settings, format)
    done = _finished(run, source, out, settings, format)
    if from_writer(done is not None):
        assert done is not None
        return done
    _begin(out, format)
    with locked_folder(out):
        return _embed(run, source, out, settings, format, progress)


def _help(run: Run, source: Source, out: Path, settings: VectorSettings, format: VectorFormat) -> EmbeddedCorpus:
    """What a process does that is not the writer: it embeds its share of the blocks, and waits for the rest."""
    if not from_writer(None):
        embedding = prepare(run, source.documents, settings)
        embed_share(embedding, source.documents, out / SHARDS)
        wait_for_all()
    done = _finished(run, source, out, settings, format)
    assert done is not None, "the writer has written it"
    return done


def _embed(
    run: Run, source: Source, out: Path, settings: VectorSettings, format: VectorFormat, progress: WorkProgress
) -> EmbeddedCorpus:
    fixes = DocumentFixes()
    documents = sum(1 for _ in source.documents(fixes))  # errors come before the work
    embedding = prepare(run, source.documents, settings)
    total, content = _count(embedding.passages(source.documents()))
    progress.begin("embedding", total, "passages")
    new = embed_share(embedding, source.documents, out / SHARDS)  # with several processes
    shards: list[Shard] = []
    continued = 0

    def rows() -> Iterator[bytes]:
        nonlocal continued
        embed = embedding.embedder.embed
        pieces = embedding.passages(source.documents())
        blocks = embed_blocks(
            pieces, lambda block: embed([piece.with_title for piece in block]), out / SHARDS, embedding.fingerprint
        )
        for shard in blocks:
            yield b"".join(map(_row, shard.passages))
            shards.append(shard.without_texts())
            continued += shard.rows if shard.continued else 0
            progress.advance(shard.rows)

    files = {ROWS: write_atomic_parts(out / ROWS, rows(), 0)}
    progress.end()
    total = sum(shard.rows for shard in shards)
    reduction = fit(shards, total, settings)
    path = out / f"vectors.{format}"
    blocks = (reduction.apply(shard.vectors()) for shard in shards)
    files[path.name] = write_vectors(path, blocks, total, reduction.dimensions)
    files[FITTED] = write_file(out, FITTED, npz_bytes(embedding.fitted(reduction)))
    notes = [*fixes.notes(), *embedding.embedder.seen.notes(embedding.embedder.limit)]
    if settings.fitted and total > FIT_VECTORS:
        notes.append(f"the reduction was fitted to at most {FIT_VECTORS:,} of the {total:,} vectors, evenly spaced")
    facts: dict[str, Any] = {
        "run": str(run.path),
        **_way(embedding),
        "passage": {"characters": embedding.length, "overlap": settings.overlap},
        "documents": documents,
        "content": content,
        "shape": [total, reduction.dimensions],
        "notes": notes,
    }
    files[FACTS] = write_file(out, FACTS, to_json(facts))
    write_atomic(
        out / manifest.NAME, manifest.manifest({name: [digest] for name, digest in files.items()}, {"format": FORMAT})
    )
    remove_shards(out / SHARDS)
    wait_for_all()
    return EmbeddedCorpus(path, documents, total, reduction.dimensions, continued - new, notes)


def _way(embedding: Embedding) -> dict[str, Any]:
    """What the vectors of the same passages depend on."""
    return {"fingerprint": sha256(embedding.fingerprint.encode()), "settings": asdict(embedding.settings)}


def _count(pieces: Iterable[Passage]) -> tuple[int, str]:
    """The number of passages, and the SHA-256 of their rows and texts."""
    total, digest = 0, hashlib.sha256()
    for piece in pieces:
        total += 1
        digest.update(_row(piece) + as_bytes(f"{len(piece.text)} {piece.text}\n"))
    return total, digest.hexdigest()


def _finished(
    run: Run, source: Source, out: Path, settings: VectorSettings, format: VectorFormat
) -> EmbeddedCorpus | None:
    """The vectors that are there, if this call would make the same ones again."""
    path = out / f"vectors.{format}"
    if not (out / manifest.NAME).is_file() or not path.is_file():
        return None
    files, about = manifest.read_manifest(out)
    if about.get("format") != FORMAT or not {FACTS, path.name} <= files.keys():
        return None
    facts: dict[str, Any] = json.loads(manifest.read_verified(out, FACTS))
    embedding = prepare(run, source.documents, settings)
    made = {**_way(embedding), "content": _count(embedding.passages(source.documents()))[1]}
    if any(facts.get(name) != value for name, value in made.items()):
        return None
    manifest.read_verified(out, path.name)
    passages, dimensions = facts["shape"]
    return EmbeddedCorpus(path, facts["documents"], passages, dimensions, 0, facts["notes"], done=True)


def _begin(out: Path, format: VectorFormat) -> None:
    """UsageError unless the folder is new, or one that a stopped call left."""
    if format not in ("npy", "safetensors"):
        raise UsageError(f"there is no format '{format}': expected npy or safetensors.")
    if (out / manifest.NAME).exists():
        raise UsageError(f"'{out}' already has the vectors of a corpus or a run: choose another --out, or remove it.")
    with storage_errors(out, 0):
        inside = list(out.iterdir()) if out.is_dir() else []
        others = [item.name for item in inside if item.name not in (SHARDS, FACTS, ROWS, FITTED, LOCK)]
        others = [name for name in others if not name.startswith(("vectors.", "."))]
    if others:
        raise UsageError(f"'{out}' is not empty ({others[0]} is in it): choose another --out.")


def _row(passage: Passage) -> bytes:
    row = {"document": passage.document.id, "title": passage.document.title, "start": passage.start, "end": passage.end}
    return as_bytes(json.dumps(row, ensure_ascii=False) + "\n")


def write_vectors(path: Path, blocks: Iterable[np.ndarray], count: int, dimensions: int) -> str:
    """Write blocks of vectors as one array, .npy or .safetensors by the name; returns the SHA-256."""
    shape, size = (count, dimensions), 4 * count * dimensions
    if path.suffix == ".npy":
        stream = BytesIO()
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
        head = stream.getvalue()
    else:
        header = json.dumps({"vectors": {"dtype": "F32", "shape": list(shape), "data_offsets": [0, size]}}).encode()
        header += b" " * (-len(header) % 8)
        head = len(header).to_bytes(8, "little") + header

    def parts() -> Iterator[bytes]:
        yield head
        for block_ND in blocks:
            yield np.ascontiguousarray(block_ND, "<f4").tobytes()

    return write_atomic_parts(path, parts(), size)
