"""Descriptions of layouts by kernels, and names of families."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.lower.kernels.families import FAMILIES
from bncc.program.ir import Program
from tests.unit.lower.by_hand import program, table


def naive(n_features: int, n_classes: int, most: int, prior: int = 0) -> Program:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, most + 1, (n_features, 4, n_classes))
    rows[:, 0, 0] = most
    rows[:, 3] = rows[:, 2]  # so that there are rows to store once
    tables = [table([f], rows[f].tolist(), 8) for f in range(n_features)]
    return program([4] * n_features, [prior, *[0] * (n_classes - 1)], tables)


@pytest.mark.parametrize(
    ("family", "some", "summary"),
    [
        ("plain", naive(3, 5, 15), "rows of 5 costs of 8 bits, summed one by one"),
        ("lanes", naive(3, 5, 1), "1 word of up to 5 costs, lanes of 6 bits"),
        ("lanes", naive(3, 26, 1), "1 word of up to 26 costs, lanes of 1 bits, widened to 2"),
        ("lanes", naive(3, 26, 1), "4 words of up to 7 costs, lanes of 4 bits"),
        ("bit-slice", naive(3, 26, 1), "words with one bit of 26 costs, sums of 2 bits"),
        ("bit-slice", naive(3, 5, 3), "words with two bits of 5 costs, sums of 4 bits"),
        ("bytes", naive(3, 5, 15), "3 bytes of up to 2 costs, lanes of 4 bits, widened to 8"),
        (
            "planes",
            naive(3, 5, 15),
            "4 costs of 4 bits in 16 and 8, 2 planes, summed row by row in lanes of 8 bits",
        ),
        (
            "columns",
            naive(3, 9, 15),
            "4 costs of 4 bits in 16 and 8, 3 planes, summed plane by plane in lanes of 8 bits",
        ),
        ("packed", naive(3, 5, 15), "2 costs of 4 bits in a byte"),
        ("packed", naive(3, 5, 15), "8 costs of 4 bits in a word of 32 bits"),
        ("packed", naive(3, 5, 15), "2 costs of 4 bits in a byte, 9 different rows for 12"),
        ("packed", naive(3, 5, 200, 9), "one cost of 8 bits in a byte, a prior apart"),
    ],
)
def test_a_layout_in_words(family: str, some: Program, summary: str) -> None:
    assert summary in {kernel.summary for kernel in FAMILIES[family](some)}


def test_a_layout_of_another_family_or_class_is_refused() -> None:
    for given in ({"name": "other"}, {"kernel": dict}):
        with pytest.raises(RuntimeError, match="yields a PlainKernel of family 'plain'; set"):
            next(replace(FAMILIES["plain"], **given)(naive(1, 2, 1)))
