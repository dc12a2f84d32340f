"""A process that encodes: jobs arrive as lines of JSON on standard input, events leave so on standard output.

The first line describes the corpus. A worker never forks, and ends at once when its parent is gone. As long as it
lives, it holds a lock, so that the next command waits until nobody else writes into the folder.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from seqlab.cache import VerifiedFiles, write_sealed
from seqlab.data.corpora.documents import CorpusDocument
from seqlab.data.corpora.faults import Faults
from seqlab.data.corpora.plan import EncodingJob, Span, WorkUnit, read_spans, read_stripe
from seqlab.data.corpora.shard import encode_shard, intact
from seqlab.data.corpora.source import TextSource
from seqlab.errors import SeqlabError
from seqlab.tokenization.tokenizer import Tokenizer, load_tokenizer

Send = Callable[..., None]
TOKENIZER = "tokenizer.json"
LOOK = 0.2  # seconds between two looks for the parent


@dataclass(frozen=True)
class CorpusPart:
    """Sources whose documents are divided among splits in the same way."""

    sources: Sequence[TextSource]
    ends: Mapping[str, int]  # the percent at which each split ends


def run_job(folder: Path, part: CorpusPart, tokenizer: Tokenizer, job: EncodingJob, send: Send) -> None:
    """Encode the shards of a job that are not there yet, and write down which ones they are."""
    names: list[str] = []
    faults, verified = Faults(), VerifiedFiles(folder)
    for piece, documents in _pieces(part, job, faults):
        name = job.unit.shard(piece)
        record = intact(name, verified)
        if record is None:
            record = encode_shard(folder, name, documents, tokenizer, part.ends, faults)
            faults.counts.clear()  # the record has them
        names.append(name)
        send("shard", bytes=sum(split.bytes for split in record.splits.values()))
    write_sealed(folder / f"{job.name}.job", {"shards": names, "faults": faults.counts})


def _pieces(part: CorpusPart, job: EncodingJob, faults: Faults) -> Iterator[tuple[int, Iterator[CorpusDocument]]]:
    if job.unit.striped:
        return read_stripe(part.sources, job.unit, job.first, job.step, faults)
    return iter([(0, read_spans(part.sources, job.unit.spans, faults))])


def main() -> None:
    """Run jobs until standard input ends."""
    output = sys.stdout
    sys.stdout = sys.stderr

    def send(kind: str, **details: Any) -> None:
        try:
            print(json.dumps({"kind": kind, **details}), file=output, flush=True)
        except BrokenPipeError:
            os._exit(1)

    about = json.loads(sys.stdin.readline())
    lock = FileLock(about["lock"])
    lock.acquire()  # it is released when the process ends
    if os.getppid() != about["parent"]:  # lost before the lock was held: another command may write already
        os._exit(1)
    threading.Thread(target=_end_with, args=[about["parent"]], daemon=True).start()
    folder = Path(about["folder"])
    parts = [CorpusPart([TextSource(**source) for source in part["sources"]], part["ends"]) for part in about["parts"]]
    try:
        tokenizer = load_tokenizer(folder / TOKENIZER)
        for line in sys.stdin:
            part, job = parse_job(json.loads(line))
            run_job(folder, parts[part], tokenizer, job, send)
            send("done")
    except SeqlabError as error:
        send("failed", message=str(error), code=error.exit_code)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)  # a shard without its record is made again


def describe_job(part: int, job: EncodingJob) -> str:
    return json.dumps({"part": part, "unit": asdict(job.unit), "first": job.first, "step": job.step})


def parse_job(content: dict[str, Any]) -> tuple[int, EncodingJob]:
    unit = content["unit"]
    spans = tuple(Span(*span) for span in unit["spans"])
    return content["part"], EncodingJob(
        WorkUnit(unit["number"], spans, unit["striped"]), content["first"], content["step"]
    )
