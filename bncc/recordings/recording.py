"""Recordings: samples of several channels in time order, with labels, gaps and a sample format."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.errors import DataError, OptionError

_TYPES = {
    "int16": (-(2**15), 2**15 - 1),
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
}
_SPAN = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})")
RATE_TOLERANCE = 0.05
"""Largest relative difference between a given rate and that of the time steps."""


@dataclass(frozen=True)
class SampleFormat:
    """The values that a sample can have; others saturate to the nearest of them."""

    least: int
    largest: int

    @property
    def width(self) -> int:
        """Largest value of a sample minus the least."""
        return self.largest - self.least

    def saturated(self, samples: IntArray) -> IntArray:
        """Return samples within the format, of the same shape, as int32."""
        return np.clip(samples, self.least, self.largest).astype(np.int32)


def sample_format(text: str) -> SampleFormat:
    """Parse a sample format: an integer type such as ``int16``, or a range ``LEAST..LARGEST``."""
    match = _SPAN.fullmatch(text)
    if text not in _TYPES and match is None:
        raise OptionError(
            f"{text!r} is no sample type; choose {', '.join(_TYPES)}, or a range such as "
            "-2048..2047"
        )
    least, largest = _TYPES[text] if match is None else (int(match[1]), int(match[2]))
    holders = [low <= least and largest <= high for low, high in _TYPES.values()]
    if least >= largest or not any(holders):
        raise OptionError(
            f"no 16-bit type has the samples {text}; name a range LEAST..LARGEST within int16 or "
            "uint16"
        )
    return SampleFormat(least, largest)


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of one recording, in time order."""

    name: str
    group: str | None  # Person, device or session, which splits keep together
    samples: IntArray  # (n, n_channels) int32, within the sample format
    labels: IntArray  # (n,) int64: index of each sample's label; -1 for none
    # (n_segments + 1,) int64: a gapless segment begins at each but the last, which is n
    bounds: IntArray

    @property
    def segments(self) -> list[tuple[int, int]]:
        """First sample of each gapless segment, and the one after its last."""
        return list(pairwise(self.bounds.tolist()))


@dataclass(frozen=True, eq=False)
class Recordings:
    """Recordings with the same channels."""

    recordings: tuple[Recording, ...]
    channels: tuple[str, ...]
    sample_format: SampleFormat
    labels: tuple[str, ...]  # Labels in index order
    rate: Fraction | None  # Samples per second, if known
    recording_column: str  # Name of the column of recordings in a table of features
    group_column: str | None
    label_column: str
    n_saturated: int = 0  # Cells outside the sample format


def unbroken(n_samples: int) -> IntArray:
    """Return the bounds of a recording without gaps."""
    return np.array([0, n_samples], dtype=np.int64)


def bounds_of(times: FloatArray, unit: int, rate: Fraction) -> IntArray:
    """
    Return the bounds of segments, cut where a step is off the period by more than half of it.

    Shapes: `times` (n,) float64, of which `unit` are a second.
    """
    periods = np.diff(times) * (float(rate) / unit)
    # Half a period itself is no gap, whatever the rounding of times.
    gaps = np.flatnonzero(np.abs(periods - 1) > 0.5 + 1e-6) + 1
    return np.concatenate([[0], gaps, [len(times)]]).astype(np.int64)


def check_order(name: str, times: FloatArray) -> None:
    """Refuse times that decrease, of shape (n,)."""
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        raise DataError(
            f"the time of recording {name!r} decreases after its sample {back[0] + 1}; sort its "
            "rows, or name the column of recordings with --recording"
        )


def rate_of(times: Sequence[FloatArray], unit: int) -> Fraction:
    """Return the samples per second of recordings, from their time steps without the gaps."""
    steps = np.concatenate([np.diff(each) for each in times]) / unit
    positive = steps[steps > 0]
    if not len(positive):
        raise DataError("no time step is positive, so the rate is unknown; correct the times")
    median = float(np.median(positive))
    regular = positive[(positive >= 0.5 * median) & (positive <= 1.5 * median)]
    # Four digits hide the rounding of times.
    return Fraction(f"{1 / float(regular.mean()):.4g}")


def is_rate_of(found: Fraction, rate: Fraction) -> bool:
    """Return whether the rate of time steps is a given one, up to the tolerance."""
    return abs(found / rate - 1) <= RATE_TOLERANCE


def check_rate(times: Sequence[FloatArray], unit: int, rate: Fraction) -> None:
    """Refuse a rate that the time steps disagree with."""
    found = rate_of(times, unit)
    if not is_rate_of(found, rate):
        raise DataError(
            f"--rate is {float(rate):g} Hz, but the time steps are those of {float(found):g} Hz; "
            "correct --rate, or the unit with --time-unit"
        )
