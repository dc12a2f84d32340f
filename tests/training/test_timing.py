"""Timings with their spread, and whether other programs use the machine."""

import subprocess
import sys
import time

import pytest

from seqlab.threads import available_cores
from seqlab.training import timing
from seqlab.training.timing import Duration, OtherPrograms, disturbance, duration, time_rounds, watch_other_programs


def test_the_median_and_half_the_range_of_the_middle_half() -> None:
    assert duration([1.0, 2.0, 3.0, 4.0, 5.0]) == Duration(3.0, 1 / 3, 1.0)
    assert duration([0.5]) == Duration(0.5, 0.0, 0.5)
    # one outlier changes nothing, a machine that is fast half the time does
    assert duration([1.0] * 8 + [99.0]) == Duration(1.0, 0.0, 1.0)
    assert duration([1.0] * 5 + [1.5] * 5).spread == pytest.approx(0.2)


def test_every_round_takes_one_repeat_of_each_and_the_first_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []
    monkeypatch.setattr(timing, "ENOUGH_SECONDS", 0.0)
    result = time_rounds({name: lambda number, name=name: seen.append((name, number)) for name in ("a", "b")}, 3)
    assert set(result) == {"a", "b"}
    assert seen == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 3), ("b", 3)]
    seen.clear()
    monkeypatch.setattr(timing, "ENOUGH_SECONDS", 1000.0)  # fast steps take more rounds, but not endlessly
    time_rounds({"a": lambda number: seen.append(("a", number))}, 3)
    assert len(seen) == 1 + 4 * 3


def test_a_busy_machine_is_noticed_and_said() -> None:
    cores = available_cores()
    assert disturbance(OtherPrograms(0.0), 0.0, cores) is None
    assert disturbance(OtherPrograms(None), 0.0, cores) is None
    said = disturbance(OtherPrograms(0.5), 0.0, cores)
    assert said and said.startswith(f"The machine is busy: other programs used about 0.5 of its {cores} core")
    assert disturbance(OtherPrograms(0.5), 0.0, cores - 1) is None  # there is room for both
    varies = disturbance(OtherPrograms(None), 0.25, cores)
    assert varies and varies.startswith("Step times vary by 25% on this machine")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell how busy their cores are")
def test_another_program_is_counted_and_this_one_is_not() -> None:
    """A process that computes for its life: on a full machine it may get less than a core, never nothing."""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.2)  # its start
        with watch_other_programs() as others:
            until = time.process_time() + 0.3
            while time.process_time() < until:
                pass
    finally:
        busy.kill()
        busy.wait()
    assert others.cores is not None and 0.1 < others.cores <= available_cores() + 0.1
