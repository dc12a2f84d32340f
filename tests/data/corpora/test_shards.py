"""Shards: equal to encoding in one pass, whatever the tokenizer and the pieces; continued after a kill; checked."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from corpus_files import encode, in_one_pass, large_text, learned, set_sizes, shard_records, some_texts, write_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seqlab.cache as cache_module
from seqlab.data.corpora.faults import CUT, Faults
from seqlab.data.corpora.plan import Span, divide, read_spans, read_stripe
from seqlab.data.text.batches import PermutedWindows, choose_batches
from seqlab.errors import SeqlabWarning
from seqlab.registry import TOKENIZERS

SLOW_ENCODING = """
import sys, time
from pathlib import Path
from corpus_files import encode, large_text, set_sizes
import pytest
from seqlab.data.corpora import worker
set_sizes(pytest.MonkeyPatch(), 400, 100, 4)
quick = worker.encode_shard
def slow(*arguments):
    time.sleep(0.05)
    return quick(*arguments)
worker.encode_shard = slow
encode(large_text(*sys.argv[1:]))
"""


def cache() -> Path:
    return Path(os.environ["SEQLAB_CACHE"])


def mixed_corpus(folder: Path) -> list[Path]:
    """Text, packed text and rows, each large enough to be divided when pieces are small."""
    import zstandard

    folder.mkdir(exist_ok=True)
    plain, packed, frames = folder / "a.txt", folder / "b.txt.gz", folder / "c.txt.zst"
    plain.write_text("".join(some_texts(120)) + "no newline at the end", encoding="utf-8")
    packed.write_bytes(gzip.compress("".join(some_texts(120, 200)).encode()))
    frames.write_bytes(b"".join(zstandard.compress(text.encode()) for text in some_texts(60, 400)))
    rows = write_rows(folder / "d.jsonl", some_texts(80, 600), id=1)
    packed_rows = write_rows(folder / "e.jsonl.zst", some_texts(80, 800))
    return [plain, packed, frames, rows, packed_rows]


@pytest.mark.parametrize("name", [*TOKENIZERS])
def test_shards_are_the_text_encoded_in_one_pass(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, 400, 100, 4)
    text = large_text(*mixed_corpus(tmp_path / "corpus"))
    tokenizer = learned(text, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeqlabWarning)  # some held-out words are unknown
        splits = encode(text, tokenizer)
        for split, tokens in splits.items():
            expected = in_one_pass(text, split, tokenizer)
            assert np.array_equal(tokens.read(0, len(tokens)), expected)
            positions = np.random.default_rng(0).integers(0, len(tokens), (5, 7))
            assert np.array_equal(tokens.read_positions(positions), expected[positions])
    assert len([*shard_records(cache())]) > 10
    texts = [document for split in text.splits for document in text.lines(split)]
    assert sorted(texts) == sorted(text.corpus.blocks())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.integers(60, 900), st.integers(1, 60), st.integers(1, 5), st.integers(1, 4))
def test_pieces_and_workers_change_nothing(tmp_path: Path, stretch: int, near: int, stretches: int, step: int) -> None:
    """Rows are the same documents whatever the size of pieces, and however many workers share a packed file."""
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, stretch, near, stretches)
        sources = large_text(*mixed_corpus(tmp_path / "corpus")).parts["train"].sources
        whole = {n: [d.text for d in read_spans(sources, [Span(n)], Faults())] for n in range(len(sources))}
        found: dict[int, list[str]] = {number: [] for number in whole}
        for unit in divide(sources):
            if not unit.striped:
                for span in unit.spans:
                    found[span.source] += [d.text for d in read_spans(sources, [span], Faults())]
                continue
            pieces: dict[int, list[str]] = {}
            for first in range(step):
                for piece, documents in read_stripe(sources, unit, first, step, Faults()):
                    pieces[piece] = [document.text for document in documents]
            found[unit.spans[0].source] += [text for piece in sorted(pieces) for text in pieces[piece]]
        assert found == whole


def test_documents_stay_in_their_split(tmp_path: Path) -> None:
    """Equal documents are in one split, in whichever file they are; the shares are those asked for."""
    texts = some_texts(2000)
    one = large_text(write_rows(tmp_path / "a.jsonl", texts), split_ratios="80/10/10")
    again = large_text(
        write_rows(tmp_path / "b.jsonl.gz", texts[::-1]),
        write_rows(tmp_path / "c.jsonl", texts[:500]),
        split_ratios="80/10/10",
    )
    for split, share in (("train", 0.8), ("validation", 0.1), ("test", 0.1)):
        assert {*one.lines(split)} == {*again.lines(split)}
        assert abs(len([*one.lines(split)]) / 2000 - share) < 0.03


def test_a_kill_at_any_time_loses_no_finished_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = mixed_corpus(tmp_path / "corpus")
    program = [sys.executable, "-c", SLOW_ENCODING, *map(str, sources)]
    path = os.pathsep.join([*sys.path, str(Path(__file__).parent)])
    process = subprocess.Popen(program, env={**os.environ, "PYTHONPATH": path})
    while len(written := [*shard_records(cache())]) < 5 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = {record: record.stat().st_mtime_ns for record in written}
    set_sizes(monkeypatch, 400, 100, 4)
    said: list[str] = []
    text = large_text(*sources)
    continued = encode(replace(text, log=said.append))
    assert any("are encoded already" in line for line in said)
    assert {record: record.stat().st_mtime_ns for record in written} == before
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "fresh"))
    fresh = encode(text)
    for split, tokens in continued.items():
        assert np.array_equal(tokens.read(0, len(tokens)), fresh[split].read(0, len(fresh[split])))


@pytest.mark.parametrize("end", ["ids", "json", "job"])
def test_damage_is_seen_and_made_again(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, 400, 100, 4)
    text = large_text(*mixed_corpus(tmp_path / "corpus"))
    before = {split: tokens.read(0, len(tokens)) for split, tokens in encode(text).items()}
    files = sorted(cache().glob(f"tokens/*/0*.{end}"))
    damaged, kept = files[2], files[5]
    raw, stamp = bytearray(damaged.read_bytes()), kept.stat().st_mtime_ns
    raw[len(raw) // 2] ^= 1
    damaged.write_bytes(raw)
    if end != "ids":  # it is read only where the manifest is missing
        next(cache().glob("tokens/*/shards.json")).unlink()
        after = encode(text)
    else:
        with pytest.warns(SeqlabWarning, match="the cache is damaged and made anew"):
            after = encode(text)
    assert {split: tokens.read(0, len(tokens)).tolist() for split, tokens in after.items()} == {
        split: ids.tolist() for split, ids in before.items()
    }
    assert kept.stat().st_mtime_ns == stamp
    assert damaged.read_bytes() != raw


def test_shards_are_read_once_for_their_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then their size and times say that nothing changed; a shard that did is read, and made again."""
    set_sizes(monkeypatch, 400, 100, 4)
    text = large_text(*mixed_corpus(tmp_path / "corpus"))
    encode(text)
    files = sorted(cache().glob("tokens/*/0*.ids"))
    read: list[Path] = []
    digest = cache_module.cached_digest
    monkeypatch.setattr(cache_module, "cached_digest", lambda path: (read.append(path), digest(path))[1])
    monkeypatch.setattr(cache_module, "CLOCK", 3600.0)  # so young that they could change and keep their time
    for _ in range(2):
        encode(text)
        assert sorted(read) == files
        read.clear()
    monkeypatch.setattr(cache_module, "CLOCK", -60.0)  # as if they were old
    encode(text)
    assert sorted(read) == files
    read.clear()
    encode(text)
    assert not read
    raw = files[2].read_bytes()
    stamp = files[2].stat().st_mtime_ns
    files[2].write_bytes(bytes([raw[0] ^ 1]) + raw[1:])
    os.utime(files[2], ns=(stamp, stamp))
    with pytest.warns(SeqlabWarning, match="the cache is damaged and made anew"):
        encode(text)
    assert files[2].read_bytes() == raw


def test_the_key_has_the_tokenizer_and_the_files(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", some_texts(100))
    for tokenizer in ("byte", "char", "byte"):
        encode(large_text(path), tokenizer)
    assert len([*cache().glob("tokens/*")]) == 2
    write_rows(path, some_texts(101))
    encode(large_text(path))
    assert len([*cache().glob("tokens/*")]) == 3


def test_windows_in_a_keyed_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each window once in an epoch, whatever the batch size; a batch depends on its number alone."""
    set_sizes(monkeypatch, 400, 100, 4)
    tokens = encode(large_text(write_rows(tmp_path / "a.jsonl", some_texts(200))))["train"]
    batches = choose_batches(tokens, "windows", 4, 16)
    assert isinstance(batches, PermutedWindows)
    numbered = tokens.read(0, len(tokens))
    firsts = [numbered[at : at + 16].tobytes() for at in range(0, len(numbered) - 16, 16)]
    count = batches.windows
    assert count == len(firsts)
    rows = [row for index in range(-(-2 * count // 4)) for row in batches.rows(3, index).inputs_BT]
    assert sorted(row.tobytes() for row in rows[:count]) == sorted(firsts)
    assert sorted(row.tobytes() for row in rows[count : 2 * count]) == sorted(firsts)
    other = choose_batches(tokens, "windows", 8, 16)
    assert np.array_equal(np.concatenate([other.rows(3, index).inputs_BT for index in range(4)]), rows[:32])
    assert np.array_equal(batches.rows(3, 17).targets_BT, batches.rows(3, 17).targets_BT)
    assert not np.array_equal(batches.rows(4, 0).inputs_BT, batches.rows(3, 0).inputs_BT)


def test_a_truncated_file_is_used_up_to_its_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, 400, 100, 4)
    whole = mixed_corpus(tmp_path / "corpus")[:3]
    for path in whole[1:]:
        path.write_bytes(path.read_bytes()[:-300])
    text = large_text(*whole)
    with pytest.warns(SeqlabWarning, match=r"used 2 packed files only up to where they are damaged in 2 files"):
        splits = encode(text)
    assert sum(map(len, splits.values())) > 10_000
    assert CUT in json.loads(next(cache().glob("tokens/*/shards.json")).read_bytes())["content"]["faults"]
