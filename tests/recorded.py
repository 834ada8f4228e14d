"""Recordings for tests: persons who are still, walk or run, with some noise."""

import numpy as np

from bncc._types import IntArray
from bncc.recordings.recording import Recording, Recordings, SampleFormat, unbroken
from bncc.recordings.signals import signals_of
from bncc.recordings.table import FeatureTable, columns_of, feature_table
from bncc.recordings.windows import Windows

LABELS = ("run", "still", "walk")
CHANNELS = ("x", "y")
FORM = SampleFormat(-2048, 2047)


def samples_of(label: int, n: int, rng: np.random.Generator) -> IntArray:
    """Return samples (n, 2): `x` depends on the label, `y` does not."""
    period, height = ((6, 900), (1, 0), (11, 500))[label]
    wave = height * (np.arange(n) // period % 2)
    x = wave + rng.integers(-150, 150, n)
    return np.column_stack([x, rng.integers(-100, 100, n)])


def recordings(n_persons: int = 5, n: int = 640) -> Recordings:
    """Return a recording of each person, a third of it with each label."""
    rng = np.random.default_rng(0)
    found = []
    for person in range(n_persons):
        parts = [samples_of(label, n, rng) for label in range(3)]
        y = np.repeat(np.arange(3), n)
        samples = FORM.saturated(np.concatenate(parts))
        found.append(Recording(f"r{person}", f"p{person}", samples, y, unbroken(3 * n)))
    return Recordings(tuple(found), CHANNELS, FORM, LABELS, None, "recording", "person", "state")


def windows_table(
    of: Recordings | None = None, length: int = 32, hop: int = 16, features: str | None = None
) -> FeatureTable:
    """Return features of windows of recordings."""
    of = of or recordings()
    windows = Windows(length, hop)
    columns = columns_of(features, signals_of(None, of.channels), of.channels, windows)
    return feature_table(of, columns, windows)
