"""Signals: channels, and jerk, sums and differences of channels, sample by sample."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.recordings.recording import SampleFormat

_JERK = re.compile(r"jerk\((.+)\)")


@dataclass(frozen=True)
class SignalKind:
    """A way to combine channels to one signal."""

    # (n, k) int64 samples minus the least one, and the width of the format, to (n,) int64 values
    # minus the least value
    combine: Callable[[IntArray, int], IntArray]
    # Sample format and number of channels to the least value and the largest
    bounds: Callable[[SampleFormat, int], tuple[int, int]]
    text: str
    # The same value minus the least in C: expressions of the channels' offsets and of those of
    # the sample before, the width of the format, and the unsigned type of the result
    expression: Callable[[Sequence[str], Sequence[str], int, str], str]
    uses_before: bool = False


def distance(a: str, b: str, c_type: str) -> str:
    """Return a C expression of the absolute difference of two unsigned numbers."""
    return f"({a} < {b}) ? ({c_type})({b} - {a}) : ({c_type})({a} - {b})"


def first_differences(u: IntArray, before: IntArray | int) -> IntArray:
    """Return the absolute difference of each sample to the one before, or to a first one."""
    return np.abs(np.diff(u, axis=0, prepend=before))


KINDS = {
    "channel": SignalKind(
        lambda u, width: u[:, 0],
        lambda f, k: (f.least, f.largest),
        "the samples of a channel",
        lambda u, before, width, c_type: u[0],
    ),
    "jerk": SignalKind(
        lambda u, width: first_differences(u, u[:1]).sum(axis=1),
        lambda f, k: (0, k * f.width),
        "sum over channels of the absolute difference to the sample before",
        lambda u, before, width, c_type: " + ".join(
            f"({distance(a, b, c_type)})" for a, b in zip(u, before, strict=True)
        ),
        uses_before=True,
    ),
    "sum": SignalKind(
        lambda u, width: u[:, 0] + u[:, 1],
        lambda f, k: (2 * f.least, 2 * f.largest),
        "sum of two channels",
        lambda u, before, width, c_type: f"({c_type}){u[0]} + {u[1]}",
    ),
    "difference": SignalKind(
        lambda u, width: u[:, 0] - u[:, 1] + width,
        lambda f, k: (-f.width, f.width),
        "difference of two channels",
        lambda u, before, width, c_type: f"({c_type}){u[0]} + {width}U - {u[1]}",
    ),
}
"""All kinds of signals."""


@dataclass(frozen=True)
class Signal:
    """One integer a sample, computed from the sample and the one before."""

    name: str
    kind: str
    channels: tuple[int, ...]

    def bounds(self, samples: SampleFormat) -> tuple[int, int]:
        """Return the least value and the largest."""
        return KINDS[self.kind].bounds(samples, len(self.channels))

    def offsets(self, samples: IntArray, form: SampleFormat) -> IntArray:
        """
        Return the values minus the least one.

        Shapes: `samples` (n, n_channels) int of one segment; the result (n,) int64.
        """
        u = samples[:, list(self.channels)].astype(np.int64) - form.least
        return KINDS[self.kind].combine(u, form.width)


def split_list(text: str) -> list[str]:
    """Split a list at its commas outside parentheses."""
    return [item.strip() for item in re.split(r",(?![^(]*\))", text)]


def signal_of(text: str, channels: Sequence[str]) -> Signal:
    """Parse a signal: ``a``, ``jerk(a,b,c)``, ``a+b`` or ``a-b``, with names of channels."""
    for kind, names in _readings(text):
        if all(name in channels for name in names):
            return Signal(text, kind, tuple(channels.index(name) for name in names))
    listed = ", ".join(channels[:8])
    raise OptionError(
        f"{text!r} is no signal; write a channel, jerk(A,B,...), A+B or A-B with the channels "
        f"{listed}{', ...' if len(channels) > 8 else ''}"
    )


def _readings(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield what a text may mean; names of channels may contain any sign."""
    yield "channel", [text]
    if match := _JERK.fullmatch(text):
        yield "jerk", [name.strip() for name in match[1].split(",")]
    for k, sign in enumerate(text):
        if sign in "+-":
            kind = "sum" if sign == "+" else "difference"
            yield kind, [text[:k].strip(), text[k + 1 :].strip()]


def signals_of(text: str | None, channels: Sequence[str]) -> list[Signal]:
    """Parse a list of signals; the default is every channel."""
    names = channels if text is None else split_list(text)
    found = [signal_of(name, channels) for name in names]
    if len({signal.name for signal in found}) < len(found):
        raise OptionError("a signal is named twice in --signals; name each once")
    return found
