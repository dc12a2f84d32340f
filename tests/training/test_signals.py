"""Ctrl-C and termination while training: noted, and given back afterwards. tests/reliability has whole processes."""

import os
import signal
import threading

import pytest

from seqlab.training.signals import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted(number: int) -> None:
    before = signal.getsignal(number)
    with Interrupts() as interrupts:
        assert interrupts.received is None
        os.kill(os.getpid(), number)
        assert interrupts.received == number
    assert signal.getsignal(number) == before


def test_handlers_are_given_back_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), Interrupts():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) == before


def test_in_another_thread_the_program_keeps_its_own() -> None:
    seen: list[bool] = []

    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with Interrupts() as interrupts:
            seen.append(signal.getsignal(signal.SIGINT) == before and interrupts.received is None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
