"""
Write labeled rows as a C header, with the classes that Python decided.

    rows.py NAME N READINGS MODEL.json ANSWERS.csv -o FILE.h

READINGS is a CSV file (.gz too) whose last column is the label, MODEL.json what `bncc inspect
--json` prints, ANSWERS.csv what `bncc predict` writes for the same rows. N rows are taken at equal
distances; of their columns those that the model takes, or all where the board makes features of
them first. An empty cell becomes the least number of its type. It needs Python's standard library
only.
"""

import argparse
import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PER_LINE = 16
RANGES = {"uint8_t": (0, 255), "int16_t": (-32767, 32767), "int32_t": (-(2**31) + 1, 2**31 - 1)}


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, columns by name in their order."""
    read = gzip.decompress if path.suffix == ".gz" else bytes
    return list(csv.DictReader(read(path.read_bytes()).decode("utf-8").splitlines()))


def spread(n_rows: int, n: int) -> list[int]:
    """Return n indices at equal distances, the first of them 0."""
    return [k * n_rows // n for k in range(n)]


def type_of(readings: Sequence[Sequence[str]]) -> str:
    """Return the smallest C type of all readings; one of signed numbers where some are missing."""
    cells = [value for row in readings for value in row]
    try:
        numbers = [int(value) for value in cells if value] + [-1] * ("" in cells)
    except ValueError:
        return "float"
    fitting = (
        name for name, (low, high) in RANGES.items() if low <= min(numbers) and max(numbers) <= high
    )
    return next(fitting)


def literal(value: str, type_name: str) -> str:
    """Return a reading as a constant of a type."""
    if not value:
        return '__builtin_nanf("")' if type_name == "float" else f"{type_name[:-2].upper()}_MIN"
    if type_name == "float":
        return f"{float(value)!r}f"
    return f"{value}U" if type_name.startswith("u") else value


def wrapped(constants: Sequence[str]) -> str:
    """Return constants with commas, some per line."""
    lines = (constants[k : k + PER_LINE] for k in range(0, len(constants), PER_LINE))
    return ",\n    ".join(", ".join(line) for line in lines)


def header(
    name: str, readings: Sequence[Sequence[str]], labels: Sequence[int], answers: Sequence[int]
) -> str:
    """Return the header."""
    upper = name.upper()
    kind = type_of(readings)
    rows = ",\n".join(
        "    {" + wrapped([literal(value, kind) for value in row]) + "}" for row in readings
    )
    right = sum(label == answer for label, answer in zip(labels, answers, strict=True))
    return f"""\
/* {name}_rows.h -- labeled rows that the model was not trained on. Written by rows.py. */
#ifndef {upper}_ROWS_H
#define {upper}_ROWS_H

#include "rom.h"

#define {upper}_N_ROWS {len(readings)}U
#define {upper}_ROW_LENGTH {len(readings[0])}U

/* So many labels Python gets right. */
#define {upper}_ROWS_RIGHT {right}U

static const {kind} {name}_rows[{len(readings)}][{len(readings[0])}] ROM = {{
{rows}
}};

static const uint8_t {name}_labels[{len(labels)}] ROM = {{
    {wrapped([f"{label}U" for label in labels])}
}};

/* The class that Python decided. */
static const uint8_t {name}_answers[{len(answers)}] ROM = {{
    {wrapped([f"{answer}U" for answer in answers])}
}};

#endif
"""


def arguments(text: str, *counts: str) -> Any:
    """Return the command line's, with some numbers after the name."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("name")
    for count in counts:
        parser.add_argument(count, type=int)
    for path in ("data", "model", "answers"):
        parser.add_argument(path, type=Path)
    parser.add_argument("-o", dest="to", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    """Write the header."""
    options = arguments("Write labeled rows as a C header.", "n")
    model = json.loads(options.model.read_text("utf-8"))
    rows = read_rows(options.data)
    *columns, label = rows[0]
    if set(model["features"]) <= set(columns):
        columns = model["features"]
    answers = [row["prediction"] for row in read_rows(options.answers)]
    chosen = spread(len(rows), min(options.n, len(rows)))
    text = header(
        options.name,
        [[rows[k][column] for column in columns] for k in chosen],
        [model["classes"].index(rows[k][label]) for k in chosen],
        [model["classes"].index(answers[k]) for k in chosen],
    )
    options.to.write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
