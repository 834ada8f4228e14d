"""Signals that wait until an import is done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_DEFERRED = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold back Ctrl-C and a polite kill until the block ends.

    An exception that a signal raises in the middle of an import of torch may be lost there, or
    pass through C++ that aborts the process.

    Yields
    ------
    None
        Once; the first signal that came in the meantime is raised afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    caught: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        caught.append(number)

    # None stands for a handler of C, which cannot be put back.
    usual = [(n, signal.getsignal(n)) for n in _DEFERRED if signal.getsignal(n) is not None]
    for number, _ in usual:
        signal.signal(number, remember)
    try:
        yield
    finally:
        for number, handler in usual:
            signal.signal(number, handler)
    if caught:
        signal.raise_signal(caught[0])
