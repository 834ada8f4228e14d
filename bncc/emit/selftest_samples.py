"""Samples of a self-test: drawn by a generator that the C repeats, with the expected decisions."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.c99 import counted, wrap
from bncc.lower.sample_stream import sample_type_of
from bncc.model.model import Model
from bncc.model.reference import predict_filtered_samples, predict_samples
from bncc.recordings.front_end import FrontEnd

MOST_WINDOWS = 16
"""Windows of a self-test."""
FEW_SAMPLES = 4096
"""Samples that a self-test draws, unless a window has more."""
SEEDS = 64
"""Seeds of which that with the most classes is taken."""
MOST_DRAWS = 2**19
"""Numbers that are drawn for the choice of a seed, at most."""
_PERIOD = 2**16 - 1
_MIDDLE = 2**15


@dataclass(frozen=True)
class SampleVectors:
    """Template data for the samples of a self-test."""

    seed: int
    n_panes: int  # Panes drawn, one after the other
    classes: tuple[str, ...]  # Initializer of the class of each window
    n_windows: int
    shift: int  # Bits by which a drawn number is shifted down, ...
    least: int  # ... before this is added to give a sample
    coverage: str


def sample_vectors(
    model: Model, most_windows: int = MOST_WINDOWS, *, is_filtered: bool = False
) -> SampleVectors:
    """Choose samples for the self-test of a model with a front end, and with its filter if any."""
    decide = predict_filtered_samples if is_filtered else predict_samples
    front_end = model.front_end
    assert front_end is not None
    windows = front_end.windows
    n_fit = max(1, (FEW_SAMPLES - windows.length) // windows.hop + 1)
    n_windows = min(MOST_WINDOWS, most_windows, n_fit)
    lag = model.filter.lag if is_filtered and model.filter is not None else 0
    n_panes = windows.n_panes + lag + n_windows - 1
    n_draws = n_panes * (2 + windows.hop * len(front_end.channels))
    n_seeds = min(max(1, MOST_DRAWS // n_draws), SEEDS)
    tried = []
    for k in range(n_seeds):
        seed = k * _PERIOD // n_seeds
        classes = decide(model, drawn_samples(front_end, seed, n_panes))[lag:]
        counts = np.bincount(classes, minlength=model.n_classes)
        tried.append((np.count_nonzero(counts), -int(counts.max()), -k, seed, classes))
    n_classes, _, _, seed, classes = max(tried, key=lambda each: each[:3])
    samples = counted(n_panes * windows.hop, "sample")
    of_classes = f"{n_classes} of {model.n_classes} classes"
    return SampleVectors(
        int(_cycle()[seed]),
        n_panes,
        tuple(wrap(classes.tolist())),
        n_windows,
        16 - _bits(front_end),
        front_end.form.least,
        f"{samples}, drawn, with {counted(n_windows, 'window')} of {of_classes}",
    )


def drawn_samples(front_end: FrontEnd, position: int, n_panes: int) -> IntArray:
    """
    Return samples as the C draws them after the number at a position of the cycle.

    A pane has noise around a level. The first number that is drawn for a pane has the shifts of
    both and how long a sample is kept, the second the level; each sample takes one for each
    channel.

    Shapes: the result (n_panes * hop, n_channels) int64.
    """
    hop, n_channels = front_end.windows.hop, len(front_end.channels)
    n_draws = n_panes * (2 + hop * n_channels)
    drawn = _cycle()[(position + 1 + np.arange(n_draws)) % _PERIOD].reshape(n_panes, -1)
    first, level = drawn[:, 0, None, None], drawn[:, 1, None, None]
    noise = drawn[:, 2:].reshape(n_panes, hop, n_channels)
    kept = np.arange(hop) & ~((1 << (first[:, :, 0] >> 4 & 3)) - 1)
    noise = np.take_along_axis(noise, kept[:, :, None], axis=1)
    values = _MIDDLE + _centered(level, 1 + (first >> 8 & 15)) + _centered(noise, 1 + (first & 15))
    values = values >> (16 - _bits(front_end))
    return (values + front_end.form.least).reshape(n_panes * hop, n_channels)


def _centered(values: IntArray, shift: IntArray) -> IntArray:
    """Return numbers of 16 bits, shifted down, minus what their middle becomes."""
    return np.asarray((values >> shift) - (_MIDDLE >> shift))


def _bits(front_end: FrontEnd) -> int:
    """Return the bits of a drawn sample, so that it is within the type of samples."""
    form = front_end.form
    largest = np.iinfo(sample_type_of(form).removesuffix("_t")).max
    bits = form.width.bit_length()
    return bits if form.least + 2**bits - 1 <= largest else bits - 1


@cache
def _cycle() -> IntArray:
    """Return the numbers of a xorshift generator of 16 bits, one after the other."""
    x, found = 1, []
    for _ in range(_PERIOD):
        found.append(x)
        x ^= x << 7 & 0xFFFF
        x ^= x >> 9
        x ^= x << 8 & 0xFFFF
    return np.array(found, dtype=np.int64)
