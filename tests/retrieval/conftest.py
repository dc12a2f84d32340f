"""What the tests of retrieval share: one small run, and documents."""

import json
from pathlib import Path

import pytest

from seqlab import api
from tests.small_runs import small_run

WORDS = ["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "ran", "to", "the", "sea"]


@pytest.fixture(scope="session")
def language_run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    return small_run(tmp_path_factory.mktemp("language"))


def write_documents(path: Path, count: int = 40) -> Path:
    """JSON lines of texts of different lengths, some of them several passages long."""
    rows = []
    for number in range(count):
        words = [WORDS[(number * 7 + place * (number + 1)) % len(WORDS)] for place in range(1 + 37 * number % 211)]
        rows.append({"_id": f"d{number}", "title": f"Document {number}", "text": " ".join(words)})
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "documents.jsonl")
