"""R6: crafted tensors and JSON are refused, quickly and without the memory that they ask for.

hostile_tensors.py and hostile_json.py have the cases; whoever made them has computed the hashes that fit.
"""

from typing import Any

import pytest
from reliability_runs import run_script

MOST_SECONDS, MOST_GROWTH = 2.0, 64 << 20
NO_CONFIG = ("endless: config.json", "pipe: config.json")  # a folder without a config is not a run


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_script("hostile_runs.py", tmp_path_factory.mktemp("hostile"))


def test_hostile_files_are_refused_by_name(opened: dict[str, Any]) -> None:
    assert len(opened) > 150
    wrong = {
        name: (answer["error"], answer["message"])
        for name, answer in opened.items()
        if answer["error"] != ("MissingInput" if name in NO_CONFIG else "DataError")
        # what is too large is named by the file that is too small for it
        or not any(str(path) in answer["message"] for path in (answer["file"], answer["file"].rpartition("/")[0]))
    }
    assert not wrong


def test_within_two_seconds_and_twice_the_file(opened: dict[str, Any]) -> None:
    slow = {name: answer["seconds"] for name, answer in opened.items() if answer["seconds"] > MOST_SECONDS}
    assert not slow
    large = {
        name: answer["growth"]
        for name, answer in opened.items()
        if answer["growth"] is not None and answer["growth"] > 2 * answer["size"] + MOST_GROWTH
    }
    assert not large
