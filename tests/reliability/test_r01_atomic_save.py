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
    saved = [one for one in result if one["saved"] is not None]
    assert len(saved) >= kills / 2, "most kills should come while there is something to lose"
    for one in saved:
        assert one["error"] is None and one["equal"], one
        assert one["reached"] - 1 <= one["saved"] <= one["reached"], "more than one save interval is lost"
        assert one["log_is_right"] and one["log_equal"], one
        assert one["leftovers"] <= 1, "what a killed save leaves is removed by the next"
    assert not [one for one in result if one["saved"] is None and one["reached"]], "steps without a checkpoint"
    assert report["equal"] == report["rounds"], "a run that was killed and resumed ends differently"


def test_the_newest_checkpoint_loads_and_no_step_is_logged_twice(killed: dict[str, Any]) -> None:
    assert_promises_are_kept(killed, 8)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_kills(tmp_path_factory: pytest.TempPathFactory) -> None:
    report = run_script("kill_at_random.py", tmp_path_factory.mktemp("killed"), "200", "2", timeout=1100)
    assert_promises_are_kept(report, 200)
