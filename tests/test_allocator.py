"""Memory stays with the process from step to step, unless the user has tuned the C library."""

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tunes GNU's C library only")

# the pages of one array of 16 MB are 4,096; each is a fault if the system has to map it
FAULTS = """
import resource
from seqlab.allocator import tune_allocator

kept = tune_allocator(keep=True)
for step in range(12):
    if step == 2:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    b"x" * 16_000_000
print(kept, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


STEP_FAULTS = """
import resource
from benchmarks.training import our_step

step = our_step("lstm")
for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def printed(script: str, **tuned: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment | tuned, check=True, capture_output=True, text=True).stdout.split()


def kept_and_faults(**tuned: str) -> tuple[bool, int]:
    kept, faults = printed(FAULTS, **tuned)
    return kept == "True", int(faults)


def test_the_next_array_gets_the_pages_of_the_last():
    kept, faults = kept_and_faults()
    assert kept
    assert faults < 500


@pytest.mark.parametrize(
    "tuned", [{"MALLOC_MMAP_THRESHOLD_": "65536"}, {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=65536"}]
)
def test_a_tuned_library_stays_as_it_is(tuned: dict[str, str]):
    kept, faults = kept_and_faults(**tuned)
    assert not kept
    assert faults > 10 * 3_900


def test_training_steps_keep_their_memory():
    """A step of this LSTM frees some 60 MB: mapped anew, they would be thousands of faults."""
    assert int(printed(STEP_FAULTS)[-1]) < 2_000
    assert int(printed(STEP_FAULTS, MALLOC_MMAP_THRESHOLD_="65536")[-1]) > 5_000


def test_memory_is_returned_at_once_where_it_is_asked_for():
    returning = FAULTS.replace("keep=True", "keep=False")
    tuned, faults = printed(returning)
    assert tuned == "True" and int(faults) > 10 * 3_900
