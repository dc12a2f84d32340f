"""The first losses of small runs are those in losses.json: a change that is meant to change nothing changes nothing.

Tolerances hold on every CPU; see golden_runs.py. Where a change is meant, record anew, and say why in the commit.
"""

from itertools import product

import pytest
from golden_cases import CASES, DATA, STEPS
from golden_runs import ARCHITECTURES, TASK_NAMES, TOLERANCE, can_do, differences, losses_of, measured_as, recorded

RECORD = "python -m tests.golden.record"
ADD_ONE = f"Add one to tests/golden/golden_cases.py, then run '{RECORD}'."
ROUNDED_STEPS = 4
COVERED = {(case.arch, case.task) for case in CASES.values()}


@pytest.mark.parametrize("name", CASES)
def test_losses_are_those_recorded(name: str) -> None:
    expected = recorded().get(name)
    assert expected, f"the losses of '{name}' were never recorded: run '{RECORD}'."
    assert len(expected) == STEPS, f"'{name}' has {len(expected)} recorded losses, not {STEPS}: run '{RECORD}'."
    losses = losses_of(CASES[name], DATA[CASES[name].task], STEPS)
    apart = differences(losses, expected)
    wrong = [step for step, difference in enumerate(apart) if not difference <= TOLERANCE]
    first = wrong[0] if wrong else 0
    assert not wrong, (
        f"'{name}' trains differently: at step {first + 1} its loss is {losses[first]:.6g}, recorded is "
        f"{expected[first]:.6g}; the largest relative difference of all steps is {max(apart):.1e}, allowed are "
        f"{TOLERANCE:.0e}. If the change is meant, run '{RECORD}' and say in the commit why losses change."
    )


@pytest.mark.parametrize("name", CASES)
def test_in_bf16_the_first_losses_are_nearly_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task and every option with code of its own: rounding to 8 bits changes a loss by a few percent at most."""
    measured_as(monkeypatch, 2.0)
    losses = losses_of(CASES[name], DATA[CASES[name].task], ROUNDED_STEPS, precision="bf16")
    assert max(differences(losses, recorded()[name][:ROUNDED_STEPS])) < 0.03
    assert losses != recorded()[name][:ROUNDED_STEPS]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_architecture_has_a_case(arch: str) -> None:
    assert any(arch == known for known, _ in COVERED), f"the architecture '{arch}' has no golden case. {ADD_ONE}"


@pytest.mark.parametrize("task", TASK_NAMES)
def test_every_task_has_a_case(task: str) -> None:
    assert task in DATA, f"the task '{task}' has no golden data: add some to DATA. {ADD_ONE}"
    assert any(task == known for _, known in COVERED), f"the task '{task}' has no golden case. {ADD_ONE}"


@pytest.mark.parametrize(("arch", "task"), sorted({*product(ARCHITECTURES, TASK_NAMES)} - COVERED))
def test_what_has_no_case_is_refused(arch: str, task: str) -> None:
    able = task in DATA and can_do(arch, task, DATA[task])
    assert not able, f"'{arch}' can do the task '{task}' and has no golden case for it. {ADD_ONE}"


def test_nothing_is_recorded_in_vain() -> None:
    gone = recorded().keys() - CASES.keys()
    assert not gone, f"losses.json has cases that are not in golden_cases.py: {sorted(gone)}. Run '{RECORD}'."
