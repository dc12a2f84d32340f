"""Corpora at addresses: a local server over HTTP, with and without ranges, and a store in memory."""

import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from corpus_files import encode, large_text, some_texts, write_rows

from seqlab.errors import MissingInput, StorageError, UsageError
from seqlab.tokenization.byte import ByteTokenizer


class RangeHandler(SimpleHTTPRequestHandler):
    """Files of a folder, whole or in ranges, as an object store serves them."""

    ranges: list[str]

    def log_message(self, format: str, *args: object) -> None: ...

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not path.is_file() or not wanted:
            return super().do_GET()
        raw, (first, last) = path.read_bytes(), map(int, wanted.groups())
        part = raw[first : last + 1]
        self.ranges.append(wanted[0])
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(raw)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def end_headers(self) -> None:
        self.send_header("Accept-Ranges", "bytes")
        super().end_headers()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    write_rows(folder / "a.jsonl", some_texts(300))
    write_rows(folder / "b.jsonl.zst", some_texts(300, 1000))
    (folder / "c.txt").write_text("".join(some_texts(300, 2000)))
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    RangeHandler.ranges = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(RangeHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_address_is_read_as_a_file_is(workers: int, server: str, folder: Path) -> None:
    """The same documents in the same order; large files in ranges."""
    names = ("a.jsonl", "b.jsonl.zst", "c.txt")
    there = encode(large_text(*(f"{server}/{name}" for name in names)), workers=workers)
    here = encode(large_text(*(folder / name for name in names)))
    for split, tokens in here.items():
        assert np.array_equal(there[split].read(0, len(tokens)), tokens.read(0, len(tokens)))
    assert RangeHandler.ranges


def test_missing_and_unreachable_addresses_are_said(server: str) -> None:
    with pytest.raises(MissingInput, match=f"there is no '{server}/missing.txt'"):
        large_text(f"{server}/missing.txt")
    with pytest.raises(MissingInput, match=r"there is no 'http://127.0.0.1:9/a.txt', or it cannot be reached"):
        large_text("http://127.0.0.1:9/a.txt")
    with pytest.raises((UsageError, StorageError), match=r"'nonsense://a' cannot be read"):
        large_text("nonsense://a")


def test_a_store_in_memory_with_a_pattern() -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    for number in range(3):
        rows = (json.dumps({"text": text}) + "\n" for text in some_texts(50, 100 * number))
        store.pipe(f"/corpus/{number}.jsonl", "".join(rows).encode())
    text = large_text("memory://corpus/*.jsonl")
    assert len(text.parts["train"].sources) == 3
    encoded = text.encode(ByteTokenizer(), 1)
    assert sum(map(len, encoded[1].values())) == sum(len("".join(some_texts(50, 100 * n))) for n in range(3))
