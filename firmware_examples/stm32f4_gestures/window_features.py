"""
Compute the features of recorded windows, as window_features.c does on the board, bit for bit.

    window_features.py WINDOWS.csv.gz -o FEATURES.csv

It needs Python's standard library only.
"""

import argparse
import csv
import gzip
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

AXES = ("x", "y", "z")
FEATURES = ("mean", "range", "travel", "crossings")
INT16_MAX = 32767


def axis_features(axis: Sequence[int]) -> list[int]:
    """Return the features of one axis; window_features.h says what they are."""
    total = sum(axis)
    mean = abs(total) // len(axis) * (1 if total >= 0 else -1)
    travel = sum(abs(b - a) for a, b in pairwise(axis)) // len(axis)
    crossings = sum((a < mean) != (b < mean) for a, b in pairwise(axis))
    return [mean, (max(axis) - min(axis)) // 4, min(travel, INT16_MAX), crossings]


def window_features(window: Sequence[int]) -> list[int]:
    """Return the features of all axes of a window, which holds one axis after the other."""
    length = len(window) // len(AXES)
    axes = (window[k * length : (k + 1) * length] for k in range(len(AXES)))
    return [feature for axis in axes for feature in axis_features(axis)]


def main() -> None:
    """Read windows, write features; the label stays the last column."""
    parser = argparse.ArgumentParser(description="Compute the features of recorded windows.")
    parser.add_argument("windows", type=Path)
    parser.add_argument("-o", dest="to", type=Path, required=True)
    options = parser.parse_args()
    with gzip.open(options.windows, "rt") as file:
        (*_, label), *rows = csv.reader(file)
    with options.to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(f"{axis}_{feature}" for axis in AXES for feature in FEATURES), label])
        writer.writerows([*window_features([int(v) for v in row[:-1]]), row[-1]] for row in rows)


if __name__ == "__main__":
    main()
