"""From training rows to features: kinds, thresholds, categories, missing cells, limits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bncc.data.columns import column_of_text
from bncc.data.dataset import Column, ColumnKind, Table
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import METHODS, fit_features, float32_thresholds
from bncc.errors import DataError, OptionError


def _fit(
    cells: list[str], y: list[int] | None = None, method: str = "mdl", **options: Any
) -> Feature:
    column = column_of_text("a", cells)
    labels = np.zeros(len(cells), dtype=np.int64) if y is None else np.array(y)
    return fit_features(Table((column,)), labels, method, **options)[0]


def _column(kind: ColumnKind, values: np.ndarray) -> Column:
    return Column("a", kind, values, np.zeros(len(values), dtype=np.bool_))


def test_whole_readings_get_whole_thresholds() -> None:
    """The cut 2.5 becomes the threshold 2: ``x > 2`` is ``x > 2.5`` for integers."""
    feature = _fit(["1"] * 10 + ["4"] * 10, [0] * 10 + [1] * 10)
    assert feature == Feature("a", "int16", 2, (2,), (), 0)
    assert all(type(t) is int for t in feature.thresholds)


def test_negative_cuts_are_rounded_down() -> None:
    """The cut -2.5 becomes -3, not -2."""
    feature = _fit(["-4"] * 10 + ["-1"] * 10, [0] * 10 + [1] * 10)
    assert feature.thresholds == (-3,)


@pytest.mark.parametrize(
    ("largest", "kind"), [("32767", "int16"), ("32768", "int32"), ("-32768", "int32")]
)
def test_the_training_rows_decide_the_width_of_integers(largest: str, kind: str) -> None:
    """-32768 is the mark of a missing int16, so it needs int32."""
    assert _fit(["0", largest]).kind == kind


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["0", "255"], "uint8"),
        (["0", "127", "?"], "int8"),
        (["-127", "127"], "int8"),
        (["-128", "0"], "int16"),
        (["-1", "128"], "int16"),
        (["0", "256"], "int16"),
        (["0", "200", "?"], "int16"),
        (["0", "32768"], "int32"),
        (["0", "0.5"], "float32"),
    ],
)
def test_the_smallest_type_holds_all_training_readings(cells: list[str], kind: str) -> None:
    """-128 is the mark of a missing int8; a uint8 has none."""
    assert _fit(cells, readings="smallest").kind == kind


@pytest.mark.parametrize(
    ("cells", "kind", "problem"),
    [
        (["0", "256"], "uint8", "contains 256, and uint8 holds 0 .. 255"),
        (["3", "-1"], "uint8", "contains -1, and uint8 holds 0 .. 255"),
        (["3", "?"], "uint8", "is missing in row 2, for which uint8 has no value"),
        (["3", "-128"], "int8", "contains -128, and int8 holds -127 .. 127"),
        (["3", "40000"], "int16", "contains 40000, and int16 holds -32767 .. 32767"),
        (["16777217"], "float32", "contains 16777217, and float32 holds -16777216 .. 16777216"),
    ],
)
def test_a_type_that_is_too_small_is_refused(cells: list[str], kind: str, problem: str) -> None:
    """The message names the column, the value and the remedy."""
    with pytest.raises(DataError) as error:
        _fit(cells, readings=kind)
    assert str(error.value).startswith(f"column 'a' {problem}; choose --readings smallest")


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "float32"])
def test_a_named_type_is_that_of_integers_and_leaves_fractions(kind: str) -> None:
    """Thresholds have the values of the type, and mean the same."""
    feature = _fit(["1"] * 10 + ["4"] * 10, [0] * 10 + [1] * 10, readings=kind)
    assert feature.kind == kind
    cells = column_of_text("a", ["2", "3"])
    assert feature.states(cells).tolist() == [0, 1]
    assert _fit(["1.5", "4"], readings=kind).kind == "float32"


def test_a_part_of_a_column_with_missing_cells_is_no_uint8() -> None:
    """Validation rows of the column may be missing."""
    column = column_of_text("a", ["1", "?", "2"]).take(np.array([0, 2])).take(np.array([1]))
    (feature,) = fit_features(Table((column,)), np.array([0]), readings="smallest")
    assert feature.kind == "int8"


def test_fractions_get_thresholds_of_float32() -> None:
    """The threshold is the largest float32 that is not above the cut."""
    feature = _fit(["0.1"] * 10 + ["0.2"] * 10, [0] * 10 + [1] * 10)
    (threshold,) = feature.thresholds
    assert feature.kind == "float32"
    assert float(np.float32(threshold)) == threshold
    assert threshold <= (float(np.float32(0.1)) + float(np.float32(0.2))) / 2 < 0.15 + 1e-7


def test_readings_that_float32_cannot_tell_apart_are_one_value() -> None:
    """A cut between them would be none on the device."""
    feature = _fit(["0.1"] * 10 + ["0.1000000001"] * 10, [0] * 10 + [1] * 10)
    assert feature.n_states == 1


def test_neighboring_float32_readings_are_told_apart() -> None:
    """The threshold then is the lower of the two."""
    low = np.float32(1.0)
    high = np.nextafter(low, np.float32(2.0))
    values = np.array([low] * 10 + [high] * 10, dtype=np.float64)
    y = np.array([0] * 10 + [1] * 10)
    (feature,) = fit_features(Table((_column("float", values),)), y)
    assert feature.thresholds == (1.0,)
    assert feature.states(_column("float", values)).tolist() == y.tolist()


def test_a_number_beyond_float32_is_refused() -> None:
    """1e39 overflows; the message shows the number."""
    with pytest.raises(DataError, match="'a' contains 1e\\+39, which is out of range for float32"):
        _fit(["1e39", "0.5"])


def test_thresholds_at_zero_are_positive_zero() -> None:
    """-0.0 never reaches the C; cuts that float32 joins are one threshold."""
    thresholds = float32_thresholds(np.array([-0.0, 1e-46, 1e-45, 5.0]))
    assert str(thresholds[0]) == "0.0"
    assert thresholds == (0.0, 5.0)
    assert float32_thresholds(np.array([-1e-46])) == (-1.401298464324817e-45,)


def test_cuts_beyond_float32_become_its_edge() -> None:
    """No float32 exceeds a cut of 1e39, and none exceeds the largest float32."""
    assert float32_thresholds(np.array([1e39])) == (3.4028234663852886e38,)


def test_categories_are_the_sorted_labels_of_training() -> None:
    """Missing readings have the most frequent one, the smallest on ties."""
    feature = _fit(["b", "a", "c", "b", "c"])
    assert feature == Feature("a", "category", 3, (), ("a", "b", "c"), 1)


@pytest.mark.parametrize("method", METHODS)
def test_missing_cells_have_a_last_state_of_their_own(method: str) -> None:
    """It is the state of missing readings, and it comes with every method."""
    feature = _fit(["1", "?", "2", "3"], [0, 1, 0, 1], method)
    states = feature.states(column_of_text("a", ["?", "1"]))
    assert feature.missing_state == feature.n_states - 1
    assert states[0] == feature.missing_state
    assert states[1] != feature.missing_state


def test_missing_labels_have_a_last_state_of_their_own() -> None:
    """A missing cell is not a label."""
    feature = _fit(["b", "?", "a"])
    assert feature == Feature("a", "category", 3, (), ("a", "b"), 2)


def test_missing_readings_do_not_move_the_cuts() -> None:
    """The zeros under missing cells are no readings."""
    feature = _fit(["5"] * 10 + ["?"] * 30 + ["9"] * 10, [0] * 10 + [1] * 30 + [1] * 10)
    assert feature.thresholds == (7,)


@pytest.mark.parametrize("kind", ["integer", "float", "category", "state"])
@pytest.mark.parametrize("method", METHODS)
def test_a_column_without_any_cell_has_one_state(kind: ColumnKind, method: str) -> None:
    """A column of any kind: it is uninformative, and nothing crashes."""
    values = {"category": np.array(["", ""], dtype=object), "float": np.zeros(2)}.get(
        kind, np.zeros(2, dtype=np.int64)
    )
    column = Column("a", kind, values, np.ones(2, dtype=np.bool_))
    (feature,) = fit_features(Table((column,)), np.array([0, 1]), method)
    assert (feature.n_states, feature.missing_state, feature.thresholds) == (1, 0, ())
    assert feature.states(column).tolist() == [0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_no_rows_give_features_of_one_state(method: str) -> None:
    """A table of no rows is refused elsewhere; here it does no harm."""
    column = _column("integer", np.zeros(0, dtype=np.int64))
    (feature,) = fit_features(Table((column,)), np.zeros(0, dtype=np.int64), method)
    assert feature.n_states == 1
    assert feature.states(column).shape == (0,)


@pytest.mark.parametrize("method", ["mdl", "quantile", "width", "median"])
def test_a_constant_column_has_one_state(method: str) -> None:
    """And no threshold."""
    assert _fit(["7", "7", "7"], [0, 1, 0], method) == Feature("a", "int16", 1)


def test_bins_are_as_many_as_asked_for() -> None:
    """``n_bins`` reaches quantile and width."""
    cells = [str(i) for i in range(40)]
    assert _fit(cells, method="quantile", n_bins=5).thresholds == (7, 15, 23, 31)
    assert _fit(cells, method="width", n_bins=3).thresholds == (13, 26)
    assert _fit(cells, method="median").thresholds == (19,)


def test_whole_cuts_that_coincide_are_one() -> None:
    """Eight bins over 0 and 1 are two states."""
    assert _fit(["0", "1"], method="width", n_bins=8).thresholds == (0,)


def test_none_takes_numbers_as_states() -> None:
    """The largest training state decides how many there are."""
    assert _fit(["0", "3", "3"], method="none") == Feature("a", "state", 4, missing_state=3)


@pytest.mark.parametrize("cell", ["-1", "1.5"])
def test_none_refuses_what_is_no_state(cell: str) -> None:
    """The message shows the number and names the remedy."""
    with pytest.raises(DataError, match=f"'a' contains {cell}, which is not a state; use integers"):
        _fit(["0", cell], method="none")


def test_states_stay_as_they_are_unless_asked() -> None:
    """The papers' archives are binned already; ``rebin_states`` cuts them again."""
    table = Table((_column("state", np.arange(20)),))
    y = np.array([0] * 10 + [1] * 10)
    assert fit_features(table, y)[0] == Feature("a", "state", 20)
    rebinned = fit_features(table, y, rebin_states=True)[0]
    assert (rebinned.kind, rebinned.thresholds) == ("int16", (9,))


@pytest.mark.parametrize(
    "column",
    [
        _column("state", np.array([0, 65535])),
        _column("category", np.array([str(i) for i in range(65536)], dtype=object)),
    ],
    ids=["state", "category"],
)
def test_more_states_than_sixteen_bits_count_are_refused(column: Column) -> None:
    """65,535 is the limit."""
    y = np.zeros(len(column.values), dtype=np.int64)
    with pytest.raises(DataError, match="would have 65536 states, more than 65535"):
        fit_features(Table((column,)), y)


def test_unknown_options_list_the_known() -> None:
    """Method and bins are checked first."""
    with pytest.raises(
        OptionError, match="unknown discretization 'magic'; choose one of mdl, quantile"
    ):
        _fit(["1"], method="magic")
    with pytest.raises(OptionError, match="1 bins are not supported; choose 2"):
        _fit(["1"], method="width", n_bins=1)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "n_equal"), [("letter", 14), ("satimage", 36)])
def test_states_equal_the_authors(name: str, n_equal: int, shared_data: Path) -> None:
    """
    Our MDL on raw readings gives the papers' bins.

    On fold 1 of satimage for every feature; for letter's x2bar and yegvx the authors decide one
    borderline cut each otherwise than we and Orange do.
    """
    rows = np.load(shared_data / "paper" / "splits.npz")[f"{name}_tr_fold1"].astype(np.int64)
    dataset = dataset_of(read_table(shared_data / "raw" / f"{name}.csv.gz")).take(rows)
    ours = states_of(fit_features(dataset.table, dataset.y), dataset.table)
    paper = read_table(shared_data / "paper" / f"{name}.npz", fold=1)
    theirs = np.stack([c.values[: len(rows)] for c in paper.columns[:-1]], axis=1)
    assert int((ours == theirs).all(axis=0).sum()) == n_equal
