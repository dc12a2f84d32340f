"""What the tests of the audit share."""

from pathlib import Path

import pytest
from audit_cases import new_text


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audited") / "text.txt"
    path.write_text(new_text(), encoding="utf-8")
    return path
