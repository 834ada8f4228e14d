"""Entropy cuts: hand-made cases, and equality with Orange3 on five data sets."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.discretize.binning import mdl_cuts
from tests.counted import calls

FIXTURE = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "mdl_orange.json").read_text(encoding="utf-8")
)


@pytest.mark.shared
@pytest.mark.parametrize("name", FIXTURE["sets"])
def test_cut_points_equal_those_of_orange(name: str, shared_data: Path) -> None:
    """Every list of cut points is Orange's EntropyMDL(force=False) to the last bit."""
    expected = FIXTURE["sets"][name]["cuts"]
    dataset = dataset_of(read_table(shared_data / FIXTURE["sets"][name]["file"]))
    n_classes = len(dataset.classes)
    found = {
        column.name: mdl_cuts(column.values.astype(np.float64), dataset.y, n_classes).tolist()
        for column in dataset.table.columns
        if column.kind in ("integer", "float")
    }
    assert found == expected


def test_two_pure_halves_are_cut_in_the_middle_of_their_gap() -> None:
    """The cut is the midpoint between the consecutive distinct values around it."""
    values = np.array([1.0] * 10 + [4.0] * 10)
    y = np.array([0] * 10 + [1] * 10)
    assert mdl_cuts(values, y, 2).tolist() == [2.5]


def test_row_order_does_not_matter() -> None:
    """Shuffled rows have the same cuts."""
    rng = np.random.default_rng(3)
    values = np.round(rng.normal(size=300), 1)
    y = (values > 0.3).astype(int) + (values > 1.0)
    cuts = mdl_cuts(values, y, 3)
    order = rng.permutation(300)
    assert len(cuts) == 2
    assert mdl_cuts(values[order], y[order], 3).tolist() == cuts.tolist()


@pytest.mark.parametrize(
    ("values", "y"),
    [
        ([], []),
        ([1.0], [0]),
        ([2.0] * 6, [0, 1, 0, 1, 0, 1]),
        ([1.0, 2.0, 3.0], [0, 0, 0]),
        ([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1]),
    ],
    ids=["no rows", "one row", "one value", "one class", "noise"],
)
def test_no_cut_where_none_pays(values: list[float], y: list[int]) -> None:
    """Constant columns, pure columns and noise stay whole."""
    assert mdl_cuts(np.array(values), np.array(y, dtype=np.int64), 2).size == 0


def test_of_two_equal_cuts_the_lower_is_tried_first() -> None:
    """The first cut leaves a half that is cut in turn, so both ends of the hump are found."""
    y = np.array([0] * 40 + [1] * 20 + [0] * 40)
    assert mdl_cuts(np.arange(100), y, 2).tolist() == [39.5, 59.5]


def test_acceptance_is_the_inequality_of_fayyad_and_irani() -> None:
    """Brute force over all cuts, entropies spelled out, gives the same first cut or none."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        values = rng.integers(0, 6, size=40)
        y = (values + rng.integers(0, 6, size=40) > 6).astype(np.int64) + (rng.random(40) < 0.05)
        found = mdl_cuts(values, y, 3)
        best = _best_cut(values, y)
        assert (best is None) == (found.size == 0)
        assert best is None or best in found


@pytest.mark.parametrize(("low", "high", "cuts"), [((4, 0), (1, 4), [0.5]), ((7, 0), (1, 3), [])])
def test_borderline_cuts_are_judged_to_a_twentieth_of_a_bit(
    low: tuple[int, int], high: tuple[int, int], cuts: list[float]
) -> None:
    """The first pays by 0.041 bits, the second fails by 0.007 (worked out by hand)."""
    values = np.repeat([0, 0, 1, 1], [*low, *high])
    y = np.repeat([0, 1, 0, 1], [*low, *high])
    assert mdl_cuts(values, y, 2).tolist() == cuts


def _entropy(y: np.ndarray) -> float:
    p = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(p * np.log2(p)).sum())


def _best_cut(values: np.ndarray, y: np.ndarray) -> float | None:
    distinct = np.unique(values)
    options = []
    for low, high in pairwise(distinct):
        left, right = y[values <= low], y[values > low]
        entropy = (len(left) * _entropy(left) + len(right) * _entropy(right)) / len(y)
        options.append((round(entropy, 12), (low + high) / 2, left, right))
    entropy, cut, left, right = min(options, key=lambda option: option[:2])
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    delta = np.log2(3**k - 2) - (k * _entropy(y) - k1 * _entropy(left) - k2 * _entropy(right))
    gain = _entropy(y) - entropy
    return cut if gain > (np.log2(len(y) - 1) + delta) / len(y) else None


def test_hundreds_of_classes_do_not_overflow() -> None:
    """3**k of the criterion is never formed."""
    y = np.repeat(np.arange(2), 2000)
    y[::7] = np.arange(len(y[::7])) % 900
    assert mdl_cuts(np.arange(4000), y, 900).tolist() == pytest.approx([1999.5])


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 3)), min_size=1, max_size=60),
    st.integers(1, 9),
)
def test_cuts_lie_between_neighboring_values_and_do_not_depend_on_scale(
    cells: list[tuple[int, int]], scale: int
) -> None:
    """Cuts are midpoints; multiplying the readings multiplies the cuts."""
    values, y = (np.array(part, dtype=np.int64) for part in zip(*cells, strict=True))
    cuts = mdl_cuts(values, y, 4)
    distinct = np.unique(values)
    assert set(cuts) <= set((distinct[:-1] + distinct[1:]) / 2)
    assert (np.diff(cuts) > 0).all()
    assert mdl_cuts(values * scale, y, 4).tolist() == (cuts * scale).tolist()


@pytest.mark.shared
def test_no_row_is_looked_at_in_python(shared_data: Path) -> None:
    """16 columns of 20,000 rows and 26 classes take a few calls for each cut."""
    dataset = dataset_of(read_table(shared_data / "raw" / "letter.csv.gz"))
    for column in dataset.table.columns:
        assert calls(mdl_cuts, column.values, dataset.y, 26) < 2000
