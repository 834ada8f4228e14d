"""Signals that wait: until an import is done, or an epoch."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_DEFERRED = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_deferred(tell: Callable[[], None] | None = None) -> Iterator[None]:
    """
    Hold back Ctrl-C and a polite kill until the block ends.

    An exception that a signal raises in the middle of an import of torch may be lost there, or
    pass through C++ that aborts the process; in a function that C calls it is printed and lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    caught: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if tell is not None:
            tell()

    # A signal that is ignored, as in jobs of a shell's background, stays ignored; None stands for a
    # handler of C, which cannot be put back.
    left_alone = (signal.SIG_IGN, None)
    usual = [(n, h) for n in _DEFERRED if (h := signal.getsignal(n)) not in left_alone]
    for number, _ in usual:
        signal.signal(number, remember)
    try:
        yield
    finally:
        for number, handler in usual:
            signal.signal(number, handler)
    if caught:
        signal.raise_signal(caught[0])


class StopRequest:
    """Whether an early end was asked for."""

    def __init__(self) -> None:
        self.is_armed = False
        self.signal: int | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether the end is asked for."""
        return self.signal is not None


@contextmanager
def first_signal_noted(tell: Callable[[], None] | None = None) -> Iterator[StopRequest]:
    """Take the first Ctrl-C or polite kill as a request, once that is armed; raise the second."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread is interrupted
        return
    # A signal that is ignored, as in jobs of a shell's background, stays ignored.
    usual = {n: handler for n in _DEFERRED if callable(handler := signal.getsignal(n))}

    def note(number: int, frame: FrameType | None) -> None:
        if not request.is_armed or request.is_wanted:
            usual[signal.Signals(number)](number, frame)
            return
        request.signal = number
        if tell is not None:
            tell()

    for number in usual:
        signal.signal(number, note)
    try:
        yield request
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
