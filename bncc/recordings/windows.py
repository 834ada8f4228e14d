"""Windows of samples, in panes of one hop: contributions of samples become values of windows."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bncc._types import IntArray
from bncc.errors import OptionError

Merge = Literal["add", "min", "max"]

_UFUNCS = {"add": np.add, "min": np.minimum, "max": np.maximum}
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(s|ms)?")
_PER_SECOND = {"s": 1, "ms": 1000}
LONGEST = 2**20
"""Most samples of a window."""


@dataclass(frozen=True)
class Windows:
    """Windows of `length` samples, one every `hop` samples; a window is a whole number of panes."""

    length: int
    hop: int

    @property
    def n_panes(self) -> int:
        """Panes of a window."""
        return self.length // self.hop

    def count(self, n_samples: int) -> int:
        """Return how many windows a gapless segment has."""
        return max(0, n_samples // self.hop - self.n_panes + 1)


def windows_of(length: int, hop: int) -> Windows:
    """Return windows, or refuse a length that is no multiple of the hop."""
    if not 0 < hop <= length <= LONGEST:
        raise OptionError(
            f"a window of {length} samples every {hop} samples is not possible; choose "
            f"1 <= --hop <= --window <= {LONGEST}"
        )
    if length % hop:
        near_length, near_hop = _nearest(length, hop)
        raise OptionError(
            f"a window of {length} samples is no multiple of a hop of {hop}; the nearest pair is "
            f"--window {near_length} --hop {near_hop}"
        )
    return Windows(length, hop)


def _nearest(length: int, hop: int) -> tuple[int, int]:
    """Return the pair with the least sum of both changes; on a tie, that of the nearest length."""
    hops = np.arange(1, length + 1)
    lengths = np.maximum(1, (2 * length + hops) // (2 * hops)) * hops
    changes = np.abs(lengths - length)
    k = np.lexsort((changes, changes + np.abs(hops - hop)))[0]
    return int(lengths[k]), int(hops[k])


def samples_of(text: str, rate: Fraction | None, option: str) -> int:
    """Parse a number of samples, or a duration such as ``2s`` or ``500ms`` at a rate."""
    match = _SPAN.fullmatch(text)
    if match is None or (match[2] is None and "." in text):
        raise OptionError(
            f"{option} {text!r} is no number of samples or duration; write 128, 2s or 500ms"
        )
    if match[2] is None:
        return int(match[1])
    if rate is None:
        raise OptionError(
            f"{option} {text} is a duration, but the rate is unknown; pass --rate or --time, or "
            "a number of samples"
        )
    # Half a sample more, rounded down: the nearest number of samples.
    return int(Fraction(match[1]) / _PER_SECOND[match[2]] * rate + Fraction(1, 2))


def panes_of(contributions: IntArray, windows: Windows, merge: Merge) -> IntArray:
    """
    Reduce contributions by pane; return the panes of each window, from the oldest.

    Shapes: `contributions` (n,) int64 of one segment; the result (windows.count(n),
    windows.n_panes) int64.
    """
    n_panes = len(contributions) // windows.hop
    panes = contributions[: n_panes * windows.hop].reshape(n_panes, windows.hop)
    values = _UFUNCS[merge].reduce(panes, axis=1)
    if n_panes < windows.n_panes:
        return np.empty((0, windows.n_panes), dtype=np.int64)
    return np.asarray(sliding_window_view(values, windows.n_panes))


def merged_panes(panes: IntArray, merge: Merge) -> IntArray:
    """Merge the panes of windows, (n_windows, n_panes), to values (n_windows,) int64."""
    return np.asarray(_UFUNCS[merge].reduce(panes, axis=1))


def merged(contributions: IntArray, windows: Windows, merge: Merge) -> IntArray:
    """
    Reduce contributions by pane, then merge the panes of each window.

    Shapes: `contributions` (n,) int64 of one segment; the result (windows.count(n),) int64.
    """
    return merged_panes(panes_of(contributions, windows, merge), merge)


def common_labels(labels: IntArray, windows: Windows, purity: float = 1.0) -> IntArray:
    """
    Return the label that all samples of a window have, or at least a share of them, or -1.

    Shapes: `labels` (n,) int64 of one segment, -1 for none; the result (windows.count(n),) int64.
    """
    if not 0.5 < purity <= 1:
        raise OptionError(f"a purity of {purity:g} is not possible; choose 0.5 < --purity <= 1")
    found = np.full(windows.count(len(labels)), -1, dtype=np.int64)
    for label in np.unique(labels[labels >= 0]).tolist():
        count = merged((labels == label).astype(np.int64), windows, "add")
        found[count >= purity * windows.length] = label
    return found
