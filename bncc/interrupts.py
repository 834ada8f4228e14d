"""Delayed signals: until an import is done, or an epoch."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_DEFERRED = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_deferred(tell: Callable[[], None] | None = None) -> Iterator[None]:
    """
    Delay Ctrl-C and SIGTERM until the block ends.

    An exception that a signal raises in the middle of an import of torch may be lost there, or
    pass through C++ that aborts the process; in a function called by C it is printed and lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    caught: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        if tell is not None:
            tell()

    # An ignored signal, as in background jobs of a shell, stays ignored; None represents a C
    # handler, which cannot be restored.
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
    """A request to end early, made by a signal."""

    def __init__(self) -> None:
        self.is_armed = False
        self.signal: int | None = None

    @property
    def is_wanted(self) -> bool:
        """True once the end is requested."""
        return self.signal is not None


@contextmanager
def first_signal_noted(tell: Callable[[], None] | None = None) -> Iterator[StopRequest]:
    """Treat the first Ctrl-C or SIGTERM as a request, once that is armed; raise the second."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread is interrupted
        return
    # An ignored signal, as in background jobs of a shell, stays ignored.
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
