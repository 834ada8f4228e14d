"""
Write what failing sensors deliver, and where the node should find that they fail.

    failing.py TEST.csv.gz FOLDER

240 rows of TEST are taken at equal distances. For 120 of them the CO2 sensor repeats its last
reading, for 120 the humidity sensor reads 119 %; 30 are in both. ``delivered.csv.gz`` has these
readings, ``failing.csv.gz`` the same with an empty cell for each that main.c should not use. It
needs Python's standard library only.
"""

import csv
import gzip
import io
import sys
from collections.abc import Sequence
from pathlib import Path

N_ROWS = 240
FROZEN = range(15, 135)
TOO_HUMID = range(105, 225)
NO_HUMIDITY = 11900
BOUNDS = {
    "temperature": (-4000, 8500, 20),
    "humidity": (0, 10000, 20),
    "light": (0, 32000, 255),
    "co2": (300, 5000, 4),
}
"""Least and greatest reading, and how many in a row may be equal; 255 for any number."""

Rows = list[dict[str, str]]


def delivered(rows: Sequence[dict[str, str]]) -> Rows:
    """Return rows at equal distances as sensors deliver them two of which fail."""
    chosen = [dict(rows[k * len(rows) // N_ROWS]) for k in range(N_ROWS)]
    for k in FROZEN:
        chosen[k]["co2"] = chosen[k - 1]["co2"]
    for k in TOO_HUMID:
        chosen[k]["humidity"] = str(NO_HUMIDITY)
    return chosen


def with_gaps(rows: Sequence[dict[str, str]]) -> Rows:
    """Return rows without readings that are out of range or have been the same for too long."""
    n_equal = dict.fromkeys(BOUNDS, 0)
    before: dict[str, str] = {}
    found = []
    for row in rows:
        new = dict(row)
        for name, (low, high, most_equal) in BOUNDS.items():
            is_equal = before.get(name) == row[name]
            n_equal[name] = min(n_equal[name] + 1, 255) if is_equal else 1
            if not low <= int(row[name]) <= high or n_equal[name] > most_equal:
                new[name] = ""
        before = row
        found.append(new)
    return found


def write(path: Path, rows: Rows) -> None:
    """Write rows as a compressed CSV file; the same rows give the same bytes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(gzip.compress(text.getvalue().encode("utf-8"), mtime=0))


def main() -> None:
    """Write both files."""
    test, folder = map(Path, sys.argv[1:])
    with gzip.open(test, "rt", encoding="utf-8") as file:
        rows = delivered(list(csv.DictReader(file)))
    write(folder / "delivered.csv.gz", rows)
    write(folder / "failing.csv.gz", with_gaps(rows))


if __name__ == "__main__":
    main()
