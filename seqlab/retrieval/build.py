"""Building an index, or bringing one up to date: what has not changed keeps its vectors, the BM25 table is made anew.

A call that is stopped leaves the index as it was; the next one goes on with the vectors that were finished.
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.baselines.bm25 import Bm25
from seqlab.baselines.terms import has_word
from seqlab.data.documents.document import Document
from seqlab.data.documents.fixes import DocumentFixes
from seqlab.data.documents.passages import LENGTH, Passage
from seqlab.data.examples.lines import quote_list
from seqlab.errors import MissingInput
from seqlab.retrieval.corpus_vectors import Embedding, Source, VectorSettings, fit, prepare
from seqlab.retrieval.directory import (
    BM25,
    DOCUMENTS,
    FITTED,
    PASSAGES,
    VECTORS,
    IndexDirectory,
    locked_index,
    npz_bytes,
    write_file,
)  # fmt: skip
from seqlab.retrieval.embedding import TextEmbedder
from seqlab.retrieval.index import Index, existing_index
from seqlab.retrieval.own_run import train_embedder
from seqlab.retrieval.progress import WorkProgress
from seqlab.retrieval.shards import Shard, embed_blocks
from seqlab.retrieval.snapshot import Snapshot, digest_of, load_snapshot, write_snapshot
from seqlab.retrieval.upkeep import changes, kept_settings, refuse_other_sources, update_notes
from seqlab.retrieval.vector_files import write_vectors
from seqlab.runs import manifest
from seqlab.runs.directory import CONFIG, LABELS, TOKENIZER, WEIGHTS, begin_run
from seqlab.runs.run import Run
from seqlab.storage import read_bytes, refuse_link, sha256, storage_errors
from seqlab.wording import counted

NEEDED = (CONFIG, TOKENIZER, LABELS, WEIGHTS)  # files of a run that embeds texts


@dataclass(frozen=True)
class IndexReport:
    """What a call of `build_index` did."""

    index: Index
    added: int  # documents
    changed: int
    removed: int
    embedded: int  # passages; the others kept their vectors
    seconds: float
    notes: list[str]


def build_index(
    source: Source,
    out: Path,
    run: Run | None,
    settings: VectorSettings | None,
    progress: WorkProgress,
    vectors: bool = True,
    overwrite: bool = False,
) -> IndexReport:
    """Make the index at `out` one of these documents. vectors: False for words alone. run and settings: None for those
    of the index which is there; without one, an embedder that is trained first, and the usual settings. overwrite: also
    if the index is one of other documents, which it then loses."""
    began = time.monotonic()
    with locked_index(out) as directory:
        notes: list[str] = []
        old = existing_index(out, notes)
        if old is not None and not overwrite:
            refuse_other_sources(old, source)
        if vectors and run is None:
            if old is not None and old.has_vectors:
                run = old.embedder.run
            else:
                run = train_embedder(source, directory.building / "own", progress, notes)
        if settings is None and old is not None:
            settings = old.settings
            notes += kept_settings(settings, run is not None)
        settings = settings or VectorSettings()
        return _Builder(source, directory, old, run, settings, progress).build(notes, began)


class _Builder:
    def __init__(
        self,
        source: Source,
        directory: IndexDirectory,
        old: Index | None,
        run: Run | None,
        settings: VectorSettings,
        progress: WorkProgress,
    ):
        self.source, self.directory, self.old, self.settings = source, directory, old, settings
        self.run, self.progress = run, progress
        self.fixes = DocumentFixes()
        self.embedded = 0

    def build(self, notes: list[str], began: float) -> IndexReport:
        # errors come before the work
        wordless = [document.id for document in self.source.documents(self.fixes) if not has_word(document.with_title)]
        if wordless:
            number = counted(len(wordless), "document")
            notes.append(f"no search by words finds {number} without any word, such as {quote_list(wordless, 3)}")
        embedding = self._embedding()
        generation = self._begin()
        length = (self.settings.length or LENGTH) if embedding is None else embedding.length
        hashes = write_snapshot(self.source.documents(), generation, length, self.settings.overlap)
        snapshot = load_snapshot(lambda name: read_bytes(generation / name), generation)
        facts: dict[str, Any] = {
            "data": generation.name,
            "model": None,
            "run": None if self.run is None else str(self.run.path),
            "sources": list(self.source.paths),
            "columns": dict(self.source.columns),
            "settings": asdict(self.settings),
            "length": length,
            "documents": snapshot.documents,
            "passages": snapshot.passages,
            "dimensions": None,
            "fingerprint": None if embedding is None else sha256(embedding.fingerprint.encode()),
        }
        if self._unchanged(hashes, facts):
            assert self.old is not None
            shutil.rmtree(generation)
            return IndexReport(self.old, 0, 0, 0, 0, time.monotonic() - began, [*notes, *self.fixes.notes()])
        hashes[BM25] = write_file(generation, BM25, npz_bytes(Bm25.fit(map(_as_document, snapshot.pieces())).arrays()))
        hashes = {f"{generation.name}/{name}": digest for name, digest in hashes.items()}
        if self.old is not None:
            notes += update_notes(self.old, facts, snapshot)
        if embedding is not None:
            self._take_over_weight(facts, notes)
            hashes |= self._vectors(embedding, snapshot, generation, facts)
            hashes |= self._model(embedding, facts)
            notes += embedding.embedder.seen.notes(embedding.embedder.limit)
        self.directory.commit(hashes, facts)
        counts = changes(None if self.old is None else self.old.documents, snapshot)
        seconds = time.monotonic() - began
        return IndexReport(Index(self.directory.path), *counts, self.embedded, seconds, [*notes, *self.fixes.notes()])

    # --- steps --------------------------------------------------------------------------------------------------------

    def _embedding(self) -> Embedding | None:
        """How texts are embedded: as in the old index if its run and settings are the same, weights included."""
        if self.run is None:
            return None
        if self.old is not None and self.old.has_vectors and self.old.settings == self.settings:
            shares_V = self.old.fitted.get("shares")
            kept = Embedding(
                self.settings,
                TextEmbedder(self.run, self.settings.pooled, shares_V),
                self.old.facts["length"],
                shares_V,
            )
            if sha256(kept.fingerprint.encode()) == self.old.facts["fingerprint"]:
                return kept
        return prepare(self.run, self.source.documents, self.settings)

    def _begin(self) -> Path:
        """The folder of the new generation, empty."""
        number = 1 if self.old is None else int(self.old.facts["data"].removeprefix("data-"), 16) + 1
        folder = self.directory.path / f"data-{number:04x}"
        refuse_link(folder)
        with storage_errors(folder, 0):
            self.directory.building.mkdir(exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        return folder

    def _unchanged(self, hashes: dict[str, str], facts: dict[str, Any]) -> bool:
        if self.old is None or self.old.facts["fingerprint"] != facts["fingerprint"]:
            return False
        files, _ = manifest.read_manifest(self.directory.path)
        data = self.old.facts["data"]
        same = all(files.get(f"{data}/{name}") == [hashes[name]] for name in (DOCUMENTS, PASSAGES))
        return same and self.old.facts["settings"] == facts["settings"]

    def _take_over_weight(self, facts: dict[str, Any], notes: list[str]) -> None:
        """A weight that was kept fits as long as the vectors are made in the same way."""
        if self.old is None or self.old.weight is None:
            return
        if self.old.facts["fingerprint"] == facts["fingerprint"] and self.old.facts["settings"] == facts["settings"]:
            facts["weight"] = self.old.weight
        else:
            notes.append(f"the weight of {self.old.weight:.2f} that was kept is dropped: it was for other vectors")

    def _vectors(
        self, embedding: Embedding, snapshot: Snapshot, generation: Path, facts: dict[str, Any]
    ) -> dict[str, str]:
        """Embed the passages that the old index has not, by shards; returns hashes by name."""
        old = self.old if self.old is not None and self.old.facts["fingerprint"] == facts["fingerprint"] else None
        known = {} if old is None else {row.tobytes(): place for place, row in enumerate(old.documents.digests_N)}
        kept_ND = None if old is None else old.exact.vectors_ND.numpy()

        def embed(block: Sequence[Passage]) -> np.ndarray:
            places = [known.get(digest_of(piece)) for piece in block]
            missing = [piece.with_title for piece, place in zip(block, places, strict=True) if place is None]
            self.embedded += len(missing)
            new_ND = embedding.embedder.embed(missing) if missing else np.zeros((0, 0), np.float32)
            if old is None or kept_ND is None:
                return new_ND
            vectors_ND = np.empty((len(block), kept_ND.shape[1]), np.float32)
            is_new = np.array([place is None for place in places])
            vectors_ND[~is_new] = kept_ND[[place for place in places if place is not None]]
            if missing:
                vectors_ND[is_new] = old.reduction.apply(new_ND)
            return vectors_ND

        self.progress.begin("embedding", snapshot.passages, "passages")
        shards: list[Shard] = []
        state = "raw" if old is None else f"reduced {old.facts['data']}"
        for shard in embed_blocks(
            snapshot.pieces(), embed, self.directory.building / "shards", f"{embedding.fingerprint} {state}"
        ):
            shards.append(shard.without_texts())
            self.progress.advance(shard.rows)
        self.progress.end()
        reduction = old.reduction if old is not None else fit(shards, snapshot.passages, self.settings)
        blocks = (shard.vectors() if old is not None else reduction.apply(shard.vectors()) for shard in shards)
        facts["dimensions"] = reduction.dimensions
        vectors = write_vectors(generation / VECTORS, blocks, snapshot.passages, reduction.dimensions)
        fitted = write_file(generation, FITTED, npz_bytes(embedding.fitted(reduction)))
        return {f"{generation.name}/{VECTORS}": vectors, f"{generation.name}/{FITTED}": fitted}

    def _model(self, embedding: Embedding, facts: dict[str, Any]) -> dict[str, str]:
        """A copy of what the run needs to embed queries; returns hashes by name."""
        run = embedding.embedder.run
        name = f"model-{sha256(embedding.embedder.fingerprint.encode())[:12]}"
        facts["model"] = name
        folder = self.directory.path / name
        if run.path.resolve() != folder.resolve():
            refuse_link(folder)
            shutil.rmtree(folder, ignore_errors=True)
            with storage_errors(folder, 0):
                folder.mkdir()
            copy = begin_run(folder, overwrite=True)
            for file in [file for file in manifest.read_manifest(run.path)[0] if file in NEEDED]:
                copy.write_file(file, manifest.read_verified(run.path, file))
        elif not folder.is_dir():
            raise MissingInput(f"the copy of the run, '{folder}', is gone: give the run again, --run RUN.")
        files = [path for path in sorted(folder.iterdir()) if path.is_file()]
        return {f"{name}/{path.name}": sha256(read_bytes(path)) for path in files}


def _as_document(piece: Passage) -> Document:
    return Document("", piece.text, piece.document.title)
