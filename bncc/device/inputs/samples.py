"""Samples to try emitted front ends on: hostile ones of every kind, and those of recordings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from bncc._types import IntArray
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import SampleFormat
from bncc.recordings.windows import Windows

HOSTILE_SAMPLES = 20_000
"""Hostile samples of a check, or more where windows are long."""
MOST_SAMPLES = 400_000
"""Most hostile samples of a check, if not of one segment; fewer kinds remain for long windows."""
METERED_SAMPLES = 4000
"""Samples of a measurement, or more where windows are long."""
_QUIETER = (4, 7, 9, 11)
"""Bits by which random samples are also shifted down."""


@dataclass(frozen=True, eq=False)
class Part:
    """A gapless segment of samples."""

    recording: str  # Name, for display
    samples: IntArray  # (n, n_channels) int
    start: int = 0  # Number of its first sample in the recording


def segments(
    form: SampleFormat, sample_type: str, n: int, n_channels: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Yield segments of n samples of every kind, within the format and beyond it."""
    kind = np.iinfo(sample_type)
    shape, low, high = (n, n_channels), form.least, form.largest
    t = np.arange(n)[:, None] + np.arange(n_channels)
    yield rng.integers(low, high + 1, shape)
    yield rng.integers(kind.min, kind.max + 1, shape)
    middle = (low + high) // 2
    near = [low, low + 1, middle - 1, middle, middle + 1, high - 1, high]
    yield rng.choice(near, shape)
    yield np.full(shape, low)
    yield np.full(shape, high)
    yield np.where(rng.integers(0, 2, shape), low, high)
    for odd in (0, 1):
        yield np.where(np.arange(n_channels) % 2 == odd, low, high) + np.zeros(shape, np.int64)
    for size in (1, 2, 4, 16):
        yield np.where(t // size % 2, low, high)
    yield np.where(t % 2, kind.min, kind.max)
    steps = np.cumsum(rng.integers(-(form.width // 20) - 1, form.width // 20 + 2, shape), axis=0)
    yield np.clip(steps + (low + high) // 2, kind.min, kind.max)


def quieter(
    form: SampleFormat, sample_type: str, n: int, n_channels: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Yield segments of n random samples of smaller and smaller amplitude."""
    for part in islice(segments(form, sample_type, n, n_channels, rng), 2):
        for bits in _QUIETER:
            yield part >> bits


def hostile_parts(
    front_end: FrontEnd, sample_type: str, seed: int = 0, n_samples: int = HOSTILE_SAMPLES
) -> list[Part]:
    """Return segments of every kind with several windows each, and some that end at any sample."""
    form, windows, n_channels = front_end.form, front_end.windows, len(front_end.channels)
    rng = np.random.default_rng(seed)

    def kinds(n: int) -> Iterator[IntArray]:
        yield from segments(form, sample_type, n, n_channels, rng)
        yield from quieter(form, sample_type, n, n_channels, rng)

    n_kinds = sum(1 for _ in kinds(1))
    n = max(n_samples // n_kinds, windows.length + 2 * windows.hop + 1)
    found = list(islice(kinds(n), max(1, MOST_SAMPLES // n)))
    if len(found) == n_kinds:
        ends = (1, windows.length - 1, windows.length, int(rng.integers(1, n)))
        found += [part[:end] for end in ends if end > 0 for part in islice(kinds(n), 2)]
    return [Part(f"hostile {k + 1}", samples) for k, samples in enumerate(found)]


def metered_parts(parts: Sequence[Part], windows: Windows) -> list[Part]:
    """Return some of the segments that have a window, and their first samples, for a meter."""
    whole = [part for part in parts if len(part.samples) >= windows.length]
    least = windows.length + 2 * windows.hop
    n = min(len(whole), max(1, METERED_SAMPLES // least))
    most = max(least, METERED_SAMPLES // n) if n else 0
    chosen = np.linspace(0, len(whole) - 1, n).astype(np.intp)
    return [replace(whole[k], samples=whole[k].samples[:most]) for k in chosen]
