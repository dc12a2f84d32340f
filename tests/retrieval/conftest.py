"""What the tests of retrieval share: one small run, and documents."""

from pathlib import Path

import pytest
from search_cases import write_documents
from small_runs import small_run

from seqlab import api


@pytest.fixture(scope="session")
def language_run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    return small_run(tmp_path_factory.mktemp("language"))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "documents.jsonl")
