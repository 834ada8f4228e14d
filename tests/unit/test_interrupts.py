"""Deferred signals: until the end of an import of torch, or once, of an epoch."""

import signal
import threading
from collections.abc import Iterator

import pytest

from bncc.interrupts import first_signal_noted, interrupts_deferred

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class StopError(Exception):
    """Error raised by the handler of these tests."""


def stop(number: int, frame: object) -> None:
    raise StopError(number)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Have both signals raise `StopError`, and put back what there was."""
    usual = {number: signal.signal(number, stop) for number in NUMBERS}
    yield
    for number, handler in usual.items():
        signal.signal(number, handler)


def deferred(*numbers: int, error: BaseException | None = None) -> list[str]:
    """Raise signals in a block and return what was reached; the block may end in an error."""
    reached = []
    try:
        with interrupts_deferred():
            for number in numbers:
                signal.raise_signal(number)
            reached.append("end of the block")
            if error is not None:
                raise error
    except StopError as stopped:
        reached.append(signal.Signals(stopped.args[0]).name)
    return reached


def test_a_signal_waits_for_the_end_of_the_block() -> None:
    assert deferred() == ["end of the block"]
    assert deferred(signal.SIGINT) == ["end of the block", "SIGINT"]
    assert deferred(signal.SIGTERM) == ["end of the block", "SIGTERM"]


def test_of_several_signals_the_first_counts() -> None:
    said = deferred(signal.SIGTERM, signal.SIGINT)
    assert said == ["end of the block", "SIGTERM"]


def test_afterwards_all_is_as_before() -> None:
    with interrupts_deferred():
        assert signal.getsignal(signal.SIGINT) is not stop
    assert [signal.getsignal(number) for number in NUMBERS] == [stop, stop]


def test_a_signal_that_is_ignored_ends_no_block() -> None:
    told: list[bool] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_deferred(lambda: told.append(True)):
        signal.raise_signal(signal.SIGINT)
    assert not told
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_error_is_not_hidden_by_a_signal() -> None:
    with pytest.raises(ImportError):
        deferred(signal.SIGINT, error=ImportError("no torch"))
    assert signal.getsignal(signal.SIGINT) is stop


def test_other_threads_need_nothing() -> None:
    """Python lets only the main thread set handlers, and interrupts no other."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with interrupts_deferred(), first_signal_noted():
                pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []


@pytest.mark.parametrize("number", NUMBERS)
def test_the_first_signal_is_noted_once_there_is_something_to_keep(
    number: signal.Signals,
) -> None:
    heard: list[str] = []
    with pytest.raises(StopError), first_signal_noted() as request:
        signal.raise_signal(number)
    assert not request.is_wanted
    with first_signal_noted(lambda: heard.append("told")) as request:
        request.is_armed = True
        signal.raise_signal(number)
        assert (request.signal, request.is_wanted, heard) == (number, True, ["told"])
        with pytest.raises(StopError):
            signal.raise_signal(number)
    assert heard == ["told"]
    assert [signal.getsignal(n) for n in NUMBERS] == [stop, stop]


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with first_signal_noted() as request:
            request.is_armed = True
            signal.raise_signal(signal.SIGINT)
            assert not request.is_wanted
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, usual)
