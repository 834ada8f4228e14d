"""
Write labeled recordings as a C header, with the decisions of Python on their windows.

    recordings.py NAME N LENGTH RECORDINGS MODEL.json ANSWERS.csv -o FILE.h

RECORDINGS is a CSV file (.gz too) with the column `recording` and, as the last one, the label of
each sample. MODEL.json is what `bncc inspect --json` prints, ANSWERS.csv what `bncc predict`
writes for the same recordings. N recordings are taken, at equal distances, and the first LENGTH
samples of each. It needs Python's standard library only.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rows import arguments, read_rows, wrapped

RECORDING = "recording"
NO_LABEL = "RECORDED_NO_LABEL"


@dataclass(frozen=True)
class Window:
    """The number of a window's last sample in the image, its class in Python, its label or None."""

    end: int
    answer: int
    label: int | None


def centers(n: int, n_chosen: int) -> list[int]:
    """Return the indices in the middles of equal parts."""
    return [(2 * k + 1) * n // (2 * n_chosen) for k in range(n_chosen)]


def label_of(rows: Sequence[dict[str, str]], classes: Sequence[str], column: str) -> int | None:
    """Return the label of a window if all its samples have the same one."""
    labels = {row[column] for row in rows}
    return classes.index(labels.pop()) if len(labels) == 1 and "" not in labels else None


def windows_of(
    start: int,
    rows: Sequence[dict[str, str]],
    answers: Sequence[dict[str, str]],
    classes: Sequence[str],
) -> Iterator[Window]:
    """Yield the windows of a recording that begins at a sample of the image."""
    *_, column = rows[0]
    for answer in answers:
        first, last = int(answer["start"]), int(answer["end"])
        if last < len(rows):
            label = label_of(rows[first : last + 1], classes, column)
            yield Window(start + last, classes.index(answer["prediction"]), label)


def array(declaration: str, constants: Sequence[str]) -> str:
    """Return an array in flash."""
    return f"static const {declaration}[{len(constants)}] ROM = {{\n    {wrapped(constants)}\n}};"


def header(
    name: str, samples: Sequence[Sequence[str]], lengths: Sequence[int], windows: Sequence[Window]
) -> str:
    """Return the header."""
    upper = name.upper()
    labels = [NO_LABEL if each.label is None else f"{each.label}U" for each in windows]
    right = sum(each.answer == each.label for each in windows)
    arrays = "\n\n".join(
        (
            array(f"int16_t {name}_samples", [value for row in samples for value in row]),
            array(f"uint16_t {name}_lengths", [f"{length}U" for length in lengths]),
            array(f"uint16_t {name}_ends", [f"{each.end}U" for each in windows]),
            array(f"uint8_t {name}_answers", [f"{each.answer}U" for each in windows]),
            array(f"uint8_t {name}_labels", labels),
        )
    )
    return f"""\
/* {name}_recordings.h -- recordings that the model was not trained on. Written by recordings.py. */
#ifndef {upper}_RECORDINGS_H
#define {upper}_RECORDINGS_H

#include "{name}.h"
#include "recorded.h"
#include "rom.h"

{arrays}

static const struct recorded {name}_recorded = {{
    {name}_samples, {name}_lengths, {name}_ends, {name}_answers, {name}_labels,
    {len(samples)}U, {len(windows)}U, {right}U, {upper}_NO_DECISION, {upper}_N_CHANNELS
}};

#endif
"""


def main() -> None:
    """Write the header."""
    options = arguments("Write labeled recordings as a C header.", "n", "length")
    model = json.loads(options.model.read_text("utf-8"))
    channels = model["front_end"]["channels"]
    recordings = [
        (key, list(rows))
        for key, rows in groupby(read_rows(options.data), lambda row: row[RECORDING])
    ]
    answers = read_rows(options.answers)
    samples: list[list[str]] = []
    lengths, windows = [], []
    for k in centers(len(recordings), min(options.n, len(recordings))):
        key, rows = recordings[k][0], recordings[k][1][: options.length]
        of = [answer for answer in answers if answer[RECORDING] == key]
        windows += windows_of(len(samples), rows, of, model["classes"])
        lengths.append(len(rows))
        samples += [[row[channel] for channel in channels] for row in rows]
    options.to.write_text(header(options.name, samples, lengths, windows), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
