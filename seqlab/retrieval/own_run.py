"""An embedder of one's own documents, for an index without a run: trained on their passages before they are indexed.

The run lies in the folder where the index is being built, so that a stopped call goes on with its training.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqlab.data.documents.pairs import MIN_DOCUMENTS
from seqlab.data.documents.passages import passages
from seqlab.models.parameter_count import refuse_absurd, refuse_unfit
from seqlab.retrieval.corpus_vectors import Source
from seqlab.retrieval.progress import WorkProgress
from seqlab.runs.checkpoint import checkpoints
from seqlab.runs.directory import RunDirectory
from seqlab.runs.run import Run
from seqlab.storage import as_bytes, sha256, storage_errors, write_atomic_parts
from seqlab.training.request import least_sizes, settings_from_request
from seqlab.wording import counted

SECONDS = 60.0  # of training
LENGTH, OVERLAP = 900, 100  # characters of a passage: about as many as the encoder reads
SMALL: dict[str, Any] = {"task.name": "embed", "backbone.hidden": 64}  # most of it is static vectors
SINGLE = 1.5  # passages for each document, up to which a title belongs to one passage


def train_embedder(
    source: Source, folder: Path, progress: WorkProgress, notes: list[str], seconds: float = SECONDS
) -> Run | None:
    """Train an embedder in `folder`, or go on with one that is there; None if there are too few passages for it."""
    began = time.monotonic()
    documents = count = 0
    for document in source.documents():
        documents, count = documents + 1, count + sum(1 for _ in passages(document, LENGTH, OVERLAP))
    if count < MIN_DOCUMENTS:
        notes.append(
            f"{counted(count, 'passage')} are too few to train an embedder on ({MIN_DOCUMENTS} are needed), so the "
            f"index finds by words alone; --run takes an embedder that was trained elsewhere"
        )
        return None
    titled = count <= SINGLE * documents
    amount = f"{seconds:.0f} s of training steps, and about as long to prepare and score"
    progress.log(f"no run was given: an embedder is trained on {counted(count, 'passage')} first: {amount}")
    run = _train(source, titled, folder, progress, seconds)
    results = run.results
    score = "" if results is None else f"; {results.sentence.rstrip('.')}"
    notes.append(f"trained an embedder on these documents in {time.monotonic() - began:.0f} s{score}")
    return run


def _train(source: Source, titled: bool, folder: Path, progress: WorkProgress, seconds: float) -> Run:
    from seqlab.training.session import resume, train

    reporter, texts, out = progress.reporter(), folder / "passages.jsonl", folder / "run"
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)
    before = sha256(texts.read_bytes()) if texts.is_file() else None
    if write_atomic_parts(texts, _rows(source, titled), 0) == before and checkpoints(RunDirectory(out).checkpoints):
        return resume(out, None, reporter)
    pairs = ("title", "spans") if titled else ("spans",)
    settings = settings_from_request(
        str(texts), {}, {**SMALL, "task.pairs": pairs}, {"seconds": seconds}, None, reporter.log
    )
    refuse_unfit(settings)
    refuse_absurd(settings, least_sizes(settings))
    return train(settings, out, out.is_dir(), reporter)


def _rows(source: Source, titled: bool) -> Iterator[bytes]:
    """Every passage as a document; without a title if its document has several, which would all be the answer."""
    for document in source.documents():
        for number, piece in enumerate(passages(document, LENGTH, OVERLAP)):
            row = {"_id": f"{document.id} {number}", "title": document.title if titled else "", "text": piece.text}
            yield as_bytes(json.dumps(row, ensure_ascii=False) + "\n")
