"""A corpus to shards of ids, in a cache keyed by its files, the rule of its splits and the tokenizer.

Encoding continues where it was stopped. The manifest is written when all shards are complete.
"""

import hashlib
import json
import shutil
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from seqlab.cache import VerifiedFiles, cache_directory, read_sealed, warn_of_damage, write_sealed
from seqlab.data.corpora.faults import BROKEN, Faults
from seqlab.data.corpora.plan import EncodingJob, divide, jobs_of
from seqlab.data.corpora.pool import EncodingPool, Log, PlacedJob
from seqlab.data.corpora.shard import ShardRecord, ShardSplit, check_shard, intact
from seqlab.data.corpora.sharded_tokens import ShardedTokens, ShardFile
from seqlab.data.corpora.worker import TOKENIZER, CorpusPart
from seqlab.data.text.corpus import CorpusStats
from seqlab.data.text.tokens import SplitStats, cache_key
from seqlab.errors import DataError, SeqlabError, SeqlabWarning
from seqlab.registry import TOKENIZERS
from seqlab.storage import storage_errors, validated, write_atomic
from seqlab.tokenization.tokenizer import Tokenizer, tokenizer_bytes
from seqlab.wording import counted

MANIFEST = "shards.json"
LAYOUT = "shards of documents, sealed, 1"
MOST_SAID = 5  # warnings of unknown text
READERS = 4  # threads that check the SHA-256 of shards
_warned_of: set[str] = set()


@dataclass(frozen=True)
class EncodedCorpus:
    """The shards of a corpus, in its order, and what reading it met."""

    folder: Path
    shards: Mapping[str, Mapping[str, ShardSplit]]
    faults: Mapping[str, Any]
    warnings: Sequence[str]
    tokenizer_sample: Mapping[str, Any] | None = None  # what the tokenizer was learned from, if it was made for this

    @property
    def stats(self) -> CorpusStats:
        """Totals; the fingerprint is a SHA-256 of those of the documents, in the order of shards and splits."""
        counts = [split for splits in self.shards.values() for split in splits.values()]
        characters, size, lines = (sum(getattr(one, key) for one in counts) for key in ("characters", "bytes", "lines"))
        return CorpusStats(characters, size, lines, _join(one.text for one in counts))

    def fingerprint(self, split: str) -> str:
        """SHA-256 of one split alone."""
        return _join(splits[split].text for splits in self.shards.values() if split in splits)

    def documents(self) -> int:
        return sum(split.documents for splits in self.shards.values() for split in splits.values())

    def tokens(self, split: str, tokenizer: Tokenizer) -> ShardedTokens:
        counts = {name: splits[split] for name, splits in self.shards.items() if split in splits}
        files = [ShardFile(self.folder / f"{name}.{split}", one.tokens, one.unknown) for name, one in counts.items()]
        first = next((one for one in counts.values() if one.tokens), ShardSplit())
        tokens, characters, size, unknown = (
            sum(getattr(one, key) for one in counts.values()) for key in ("tokens", "characters", "bytes", "unknown")
        )
        scored = characters - first.first_characters, size - first.first_bytes
        stats = SplitStats(tokens, 1, characters, size, *scored, unknown, tokens)
        return ShardedTokens(files, np.dtype(tokenizer.dtype), stats, tokenizer.unknown)


def _join(digests: Any) -> str:
    return hashlib.sha256("\n".join(filter(None, digests)).encode()).hexdigest()


def encode_corpus(
    parts: Sequence[CorpusPart],
    tokenizer: Tokenizer,
    workers: int,
    skip_limit: float,
    log: Log,
    sample: Mapping[str, Any] | None = None,
) -> EncodedCorpus:
    """The shards of a corpus, from the cache or encoded now in `workers` processes, or in this one if that is 0."""
    identity = [[[source.identity for source in part.sources], [*part.ends.items()]] for part in parts]
    key = cache_key(LAYOUT, json.dumps(identity), tokenizer.fingerprint)
    folder = cache_directory("tokens", key)
    with storage_errors(folder, 0):
        lock = FileLock(cache_directory("locks") / key)
        held = lock.acquire()
    with held:
        encoded = _read_manifest(folder)
        if encoded is None:
            pool = EncodingPool(folder, Path(lock.lock_file), parts, log)
            pool.wait_for_others()
            write_atomic(folder / TOKENIZER, tokenizer_bytes(tokenizer))
            jobs = _plan(parts, workers)
            _encode(pool, jobs, tokenizer, workers)
            encoded = _finish(folder, jobs, sample)
            log(_summary(encoded))
    faults = Faults(encoded.faults)
    refuse_broken(faults, encoded.documents(), skip_limit)
    if added := faults.added_note():
        log(added)
    if key not in _warned_of:
        _warned_of.add(key)
        for message in (*faults.notes(), *encoded.warnings):
            warnings.warn(message, SeqlabWarning, stacklevel=2)
    return encoded


def _plan(parts: Sequence[CorpusPart], workers: int) -> list[PlacedJob]:
    jobs: list[PlacedJob] = []
    units = 0
    for number, part in enumerate(parts):
        divided = divide(part.sources, units)
        units += len(divided)
        jobs += [(number, job) for job in jobs_of(divided, workers)]
    return jobs


def _encode(pool: EncodingPool, jobs: Sequence[PlacedJob], tokenizer: Tokenizer, workers: int) -> None:
    folder, parts, log = pool.folder, pool.parts, pool.log
    verified = VerifiedFiles(folder)
    with ThreadPoolExecutor(READERS) as readers:
        finished = [*readers.map(lambda placed: _is_finished(verified, placed[1]), jobs)]
    verified.keep()
    missing = [job for job, done in zip(jobs, finished, strict=True) if not done]
    if len(missing) < len(jobs):
        log(f"continuing: {len(jobs) - len(missing):,} of {counted(len(jobs), 'part')} are encoded already")
    stored = sum(source.size for part in parts for source in part.sources)
    files = sum(len(part.sources) for part in parts)
    if missing:
        processes = f"in {counted(workers, 'process', 'processes')}" if workers else "in this process"
        log(f"encoding {counted(files, 'file')} ({stored / 1e6:,.1f} MB) {processes}, into '{folder}'")
    # a tokenizer that is named by its class may only be known here, and so may a store in memory
    here = ":" in tokenizer.name and tokenizer.name not in TOKENIZERS
    here |= any(source.name.startswith("memory://") for part in parts for source in part.sources)
    pool.run(missing, 0 if here else workers, tokenizer)


def _is_finished(verified: VerifiedFiles, job: EncodingJob) -> bool:
    """Whether the job wrote down what it did, and all its shards are intact."""
    path = verified.folder / f"{job.name}.job"
    try:
        names = read_sealed(path)["shards"] if path.is_file() else None
    except SeqlabError:
        return False
    return names is not None and all(intact(name, verified) for name in names)


def _finish(folder: Path, jobs: Sequence[PlacedJob], sample: Mapping[str, Any] | None) -> EncodedCorpus:
    """Write the manifest: all shards in the order of the corpus."""
    faults, said, names = Faults(), dict[str, None](), list[str]()
    for _, job in jobs:
        record = read_sealed(folder / f"{job.name}.job")
        names += record["shards"]
        faults.merge(Faults(record["faults"]))
    shards: dict[str, Mapping[str, ShardSplit]] = {}
    for name in sorted(names):
        record = validated(ShardRecord, read_sealed(folder / f"{name}.json"), folder / f"{name}.json")
        shards[name] = record.splits
        faults.merge(Faults(record.faults))
        said |= dict.fromkeys(record.warnings)
    more = [f"and {counted(len(said) - MOST_SAID, 'more warning')} of unknown text"] * (len(said) > MOST_SAID)
    encoded = EncodedCorpus(folder, shards, faults.counts, [*[*said][:MOST_SAID], *more], sample)
    content = {key: value for key, value in asdict(encoded).items() if key != "folder"}
    write_sealed(folder / MANIFEST, content)
    return encoded


def _read_manifest(folder: Path) -> EncodedCorpus | None:
    """The corpus as it was encoded; None if it is not complete. Damaged shards are said, and made again."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        encoded = validated(EncodedCorpus, {**read_sealed(path), "folder": folder}, path)
        verified = VerifiedFiles(folder)
        with ThreadPoolExecutor(READERS) as readers:
            for checked in [readers.submit(check_shard, *shard, verified) for shard in encoded.shards.items()]:
                checked.result()
        verified.keep()
        return encoded
    except SeqlabError as error:
        warn_of_damage(error)
        path.unlink(missing_ok=True)
        return None


def _summary(encoded: EncodedCorpus) -> str:
    stats, tokens = encoded.stats, sum(one.tokens for splits in encoded.shards.values() for one in splits.values())
    documents = counted(encoded.documents(), "document")
    size = f"{stats.characters:,} characters in {documents}, {tokens:,} tokens"
    free = shutil.disk_usage(encoded.folder).free
    return f"encoded: {size}, {counted(len(encoded.shards), 'shard')} ({free / 1e9:,.1f} GB of the disk are free)"


def refuse_broken(faults: Faults, documents: int, skip_limit: float) -> None:
    """DataError if more rows cannot be read than the user allows, or if there is no text at all."""
    if not documents:
        found = " ".join(f"{note[0].upper()}{note[1:]}." for note in faults.notes())
        raise DataError(f"the corpus has no document with a text. {found}")
    broken = faults.total(BROKEN)
    rows = broken + documents
    if broken > skip_limit * rows:
        raise DataError(
            f"{broken:,} of {counted(rows, 'row')} cannot be read, and at most {skip_limit:.0%} may be skipped "
            f"(corpus.skip_limit). The first: {faults.first(BROKEN)}. Correct them, or allow more."
        )
