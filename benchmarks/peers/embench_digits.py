"""
MNIST in the form of Embench's task `xgboost`: images of 8 x 8 pixels, and the task's own 128 rows.

Embench does not describe the conversion. The one below gives all but one of the 8,192 pixels of its
128 images, which are the first of MNIST's test set; that pixel differs by 1. Embench's trees then
have the accuracy on the 10,000 test images that its history states, 95.82 %.
"""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.errors import DataError

PARTS = {"train": 60000, "t10k": 10000}
"""Training and test part of MNIST, with their numbers of images."""
SIDE, WHOLE, BORDER, STEP, REACH = 8, 28, 2, 3, 4
"""Pixels per side after and before the conversion, border cut off, distance of the pixels kept, and
reach of the filter, whose standard deviation is a pixel."""
TASK = Path("src") / "xgboost"


@dataclass(frozen=True, eq=False)
class Digits:
    """Images of one part."""

    X: IntArray  # (n, 64) uint8: Pixels, row by row
    y: IntArray  # (n,) uint8: Digits


def digits(folder: Path, part: str) -> Digits:
    """Read one part of MNIST from its two files and convert the images."""
    n = PARTS[part]
    pixels = _content(folder / f"{part}-images-idx3-ubyte.gz", 16, n * WHOLE * WHOLE)
    labels = _content(folder / f"{part}-labels-idx1-ubyte.gz", 8, n)
    return Digits(small(pixels.reshape(n, WHOLE, WHOLE)), labels)


def small(images: IntArray) -> IntArray:
    """
    Convert images of 28 x 28 pixels.

    A Gaussian filter smooths the inner 24 x 24 pixels, the middle of each block of 3 x 3 is kept,
    and 0 .. 255 becomes 0 .. 1 in steps of 1/256.

    Shapes: `images` (n, 28, 28) uint8; returns (n, 64) uint8.
    """
    inner = images[:, BORDER:-BORDER, BORDER:-BORDER].astype(np.float64)
    smooth = _smoothed(_smoothed(inner, 1), 2)
    levels = np.minimum(np.floor(smooth * 256 / 255), 255)
    return levels.astype(np.uint8).reshape(len(images), SIDE * SIDE)


def _smoothed(images: FloatArray, axis: int) -> FloatArray:
    """Filter along an axis, with a mirrored border, at the pixels that are kept."""
    weights = np.exp(-(np.arange(-REACH, REACH + 1) ** 2) / 2)
    lines = np.moveaxis(images, axis, -1)
    padded = np.pad(lines, ((0, 0), (0, 0), (REACH, REACH)), mode="reflect")
    starts = STEP * np.arange(SIDE) + STEP // 2
    kept = sum(w * padded[..., starts + k] for k, w in enumerate(weights / weights.sum()))
    return np.moveaxis(np.asarray(kept), -1, axis)


def _content(path: Path, head: int, size: int) -> IntArray:
    """Return the bytes of a compressed file behind its head."""
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise DataError(f"'{path}' cannot be read ({error}); see --mnist") from None
    if len(data) != head + size:
        raise DataError(f"'{path}' has {len(data):,} bytes, not {head + size:,}; download it again")
    return np.frombuffer(data, np.uint8, offset=head)


def write_archive(train: Digits, test: Digits, path: Path) -> None:
    """Write both parts as fold 1 of an archive for ``bncc train --fold 1``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = np.arange(len(train.y) + len(test.y))
    np.savez(
        path,
        x=np.concatenate([train.X, test.X]),
        t=np.concatenate([train.y, test.y]),
        idx_tr_fold1=rows[: len(train.y)],
        idx_te_fold1=rows[len(train.y) :],
    )


def task_files(embench: Path) -> Mapping[str, str]:
    """Return the files of the task in a copy of Embench, by name."""
    names = ("xgboost.c", "xgboost.h", "testbench.c")
    try:
        return {name: (embench / TASK / name).read_text("utf-8") for name in names}
    except OSError as error:
        raise DataError(f"'{embench / TASK}' cannot be read ({error}); see --embench") from None


def task_rows(source: str) -> Digits:
    """Return the images and labels in the task's ``xgboost.c``."""
    _, _, images = source.partition("X_test[SAMPLES_IN_FILE][SAMPLE_SIZE] =")
    images, _, labels = images.partition("Y_test[SAMPLES_IN_FILE] =")
    X, y = (np.array(re.findall(r"\b\d+", text), dtype=np.uint8) for text in (images, labels))
    if not len(y) or len(X) != SIDE * SIDE * len(y):
        raise DataError("Embench's xgboost.c has no rows of 64 pixels with a label each")
    return Digits(X.reshape(len(y), SIDE * SIDE), y)


def with_rows(files: Mapping[str, str], rows: Digits) -> Mapping[str, str]:
    """Return the files of the task with other images and labels."""
    source, _, _ = files["xgboost.c"].partition("const uint8_t X_test[")
    images = ",\n".join(f"{{{','.join(map(str, row))}}}" for row in rows.X.tolist())
    labels = ",".join(map(str, rows.y.tolist()))
    source += f"const uint8_t X_test[SAMPLES_IN_FILE][SAMPLE_SIZE] = {{\n{images}\n}};\n"
    source += f"const uint8_t Y_test[SAMPLES_IN_FILE] = {{{labels}}};\n"
    size = f"#define SAMPLES_IN_FILE {len(rows.y)}"
    header = re.sub(r"#define SAMPLES_IN_FILE \d+", size, files["xgboost.h"])
    return {**files, "xgboost.c": source, "xgboost.h": header}
