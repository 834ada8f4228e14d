"""The options: their ranges, and what depends on sizes."""

import pytest

from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.errors import OptionError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_tables": 0}, "^tables is 0; choose 1 to 4096"),
        ({"rows": 1}, "rows is 1; choose 2 to 4096"),
        ({"features": 17}, "features is 17"),
        ({"leaves": 1}, "leaves is 1; choose 2 to 1024, or 0"),
        ({"front": 1}, "front is 1; choose 2 to 256, or 0 for no front"),
        ({"front": 257}, "front is 257"),
        ({"depth": 65}, "depth is 65; choose 0 to 64"),
        ({"bits": 9}, "bits is 9; choose 1 to 8"),
        ({"frac_bits": -9}, "frac_bits is -9"),
        ({"eta": 0.0}, "rate is 0.0; choose a number above 0"),
        ({"feature_share": 1.5}, "feature_share is 1.5"),
        ({"l2": 0.0}, "l2 is 0.0; it must be a positive number"),
        ({"lr": float("inf")}, "lr is inf"),
        ({"size_exponent": -1.0}, "size_exponent is -1.0"),
        ({"weight_decay": float("nan")}, "decay is nan"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"dictionary": -1}, "dictionary is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"engine": "torch"}, "unknown engine 'torch'; choose native or numpy"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        BoostSettings(**options)


@pytest.mark.parametrize(
    ("n_tables", "bits", "frac_bits"),
    [(20, 2, 0), (50, 2, 1), (50, 3, 1), (99, 4, 2), (100, 3, 2), (100, 1, -1)],
)
def test_the_unit_depends_on_bits_and_tables(n_tables, bits, frac_bits):
    settings = BoostSettings(n_tables=n_tables, bits=bits)
    assert recipe_of(settings, 16, 10).frac_bits == frac_bits


def test_few_tables_are_corrected_and_many_shrunk():
    few, many = (recipe_of(BoostSettings(n_tables=n), 16, 10) for n in (10, 50))
    assert few.is_corrective
    assert not many.is_corrective
    assert few.eta > many.eta


def test_few_tables_for_many_classes_are_hardly_left_out():
    n_tables = (4, 10, 50)
    few = [recipe_of(BoostSettings(n_tables=n), 16, 10).dropout for n in n_tables]
    assert few == pytest.approx([0.04, 0.1, 0.2])
    assert recipe_of(BoostSettings(n_tables=26), 16, 26).dropout == pytest.approx(0.1)


def test_what_is_given_is_kept():
    given = {
        "frac_bits": 3, "eta": 0.2, "size_exponent": 0.1, "feature_share": 0.3,
        "is_corrective": True, "dropout": 0.4,
    }  # fmt: skip
    assert vars(recipe_of(BoostSettings(**given), 16, 10)) == given


@pytest.mark.parametrize(("leaves", "depth"), [(8, 5), (16, 6), (32, 7), (64, 8), (100, 9)])
def test_the_depth_of_trees_depends_on_their_leaves(leaves, depth):
    assert BoostSettings(leaves=leaves).most_depth == depth
    assert BoostSettings(leaves=leaves, depth=3).most_depth == 3


def test_one_table_with_leaves_is_a_classification_tree():
    forms = [{"leaves": 8}, {"n_tables": 1}, {"n_tables": 1, "leaves": 8}]
    assert [BoostSettings(**form).is_single_tree for form in forms] == [False, False, True]
