"""Times at which a training is saved, and its end."""

import pytest

from bncc.interrupts import StopRequest
from bncc.train.checkpoint import callbacks
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.gradient.engine import Passed

PASSED = Passed(loss=0.5, error=0.125)


class Clock:
    """Clock that a test advances."""

    def __init__(self, monkeypatch, writing=0.0):
        self.now, self.writing = 1000.0, writing
        self.kept = []
        monkeypatch.setattr(callbacks, "monotonic", lambda: self.now)

    def keep(self, moment):
        self.kept.append(moment)
        self.now += self.writing


def kept_epochs(clock, seconds_each, n=100, **options):
    given = Callbacks(keep=clock.keep, **options)
    for epoch in range(1, n + 1):
        clock.now += seconds_each
        given.goes_on(epoch, n, PASSED, lambda epoch=epoch: epoch)
    return clock.kept


def test_the_first_epoch_is_kept_and_then_one_every_few_seconds(monkeypatch):
    assert kept_epochs(Clock(monkeypatch), 1.0, n=20) == [1, 6, 11, 16]
    assert kept_epochs(Clock(monkeypatch), 60.0, n=3) == [1, 2, 3]


def test_writing_takes_a_small_part_of_the_time(monkeypatch):
    clock = Clock(monkeypatch, writing=2.0)
    kept = kept_epochs(clock, 1.0)
    assert kept == [1, 41, 81]


def test_nothing_is_taken_down_that_is_not_kept():
    given = Callbacks()
    assert given.goes_on(1, 2, PASSED, lambda: pytest.fail("taken down"))


def test_an_epoch_is_told_of():
    told = []
    Callbacks(lambda *report: told.append(report)).goes_on(3, 4, PASSED, lambda: None)
    assert told == [(0.75, "loss 0.5000, training error 12.5 %")]


@pytest.mark.parametrize(
    ("epoch", "is_last", "stopped_after"), [(4, True, 4), (9, True, None), (9, False, 9)]
)
def test_an_early_end_is_kept_and_comes_early_unless_all_is_done(
    monkeypatch, epoch, is_last, stopped_after
):
    clock, stop = Clock(monkeypatch), StopRequest()
    given = Callbacks(keep=clock.keep, stop=stop, is_last=is_last)
    assert given.goes_on(1, 9, PASSED, lambda: 1)
    assert stop.is_armed
    stop.signal = 2
    assert not given.goes_on(epoch, 9, PASSED, lambda: epoch)
    assert given.stopped_after == stopped_after
    assert clock.kept == [1, epoch]
