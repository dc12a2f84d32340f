"""R1 and R11: after `kill -9` at any instant the newest checkpoint loads and the log can be read.

kill_at_random.py does the killing. Its runs save after every step, so that one save interval is one step.
"""

from typing import Any

import pytest
from reliability_runs import run_script


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_script("kill_at_random.py", tmp_path_factory.mktemp("killed"), "8", "1")


def assert_promises_are_kept(report: dict[str, Any], kills: int) -> None:
    result = report["found"]
    assert len(result) == kills
    saved = [kill for kill in result if kill["saved"] is not None]
    assert len(saved) >= kills / 2, "most kills should come while there is something to lose"
    for kill in saved:
        assert kill["error"] is None and kill["equal"], kill
        assert kill["reached"] - 1 <= kill["saved"] <= kill["reached"], "more than one save interval is lost"
        assert kill["log_is_right"] and kill["log_equal"], kill
        assert kill["leftovers"] <= 1, "what a killed save leaves is removed by the next"
    assert not [kill for kill in result if kill["saved"] is None and kill["reached"]], "steps without a checkpoint"
    assert report["equal"] == report["rounds"], "a run that was killed and resumed ends differently"


def test_the_newest_checkpoint_loads_and_no_step_is_logged_twice(killed: dict[str, Any]) -> None:
    assert_promises_are_kept(killed, 8)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_kills(tmp_path_factory: pytest.TempPathFactory) -> None:
    report = run_script("kill_at_random.py", tmp_path_factory.mktemp("killed"), "200", "2", timeout=1100)
    assert_promises_are_kept(report, 200)
