"""Boosted tables from readings: their options and the resulting model."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting.settings import SETTINGS
from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.discretize.feature import states_of
from bncc.errors import OptionError
from bncc.model.file import to_bytes
from bncc.model.front import front_of
from bncc.model.model import check_model
from bncc.model.reference import predict
from bncc.structure.catalog import SUM_KEYS
from bncc.structure.decision_tables import BranchingTable, TableEnsemble
from bncc.train.fit_tables import moved_tables
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import boost_settings_of, n_bins_of
from bncc.train.train_model import train_model
from bncc.train.unused_options import idle_notes

SMALL = TrainSettings(
    structure="tables", structure_options={"tables": "6", "rows": "8"}, epochs=6, validation=0.2
)


def test_settings_name_the_options_that_there_are():
    keys = {each.key for each in SETTINGS.values() if each.key}
    assert keys == set(SUM_KEYS) - {"cuts", "cut-bits", "differences", "shift"}  # of the features
    options = {each.option for each in SETTINGS.values() if each.option}
    assert options == {name for name, option in OPTIONS.items() if "boosting" in option.uses}


@pytest.fixture(scope="module")
def robot():
    return dataset_of(read_table(bundled_path("robot")))


def test_few_tables_tell_the_robots_moves_apart(robot):
    steps = []
    result = train_model(robot, SMALL, progress=lambda *step: steps.append(step))
    model = result.model
    check_model(model)
    assert isinstance(model.structure, TableEnsemble)
    assert len(model.tables) <= 6
    assert max(map(len, model.tables)) <= 8
    assert max(table.max() for table in model.tables) <= 7
    assert model.training["error_validation"] < 0.15
    assert model.training["parameters"] == "boosted"
    done = [step[0] for step in steps]
    assert done == sorted(done)
    assert done[-1] == 1.0
    assert steps[0][1] == "table 1 of 6"


def branching(**options: str) -> TrainSettings:
    return replace(SMALL, structure_options={"tables": "6", "leaves": "8", **options})


def test_few_trees_tell_the_robots_moves_apart(robot):
    model = train_model(robot, branching()).model
    check_model(model)
    assert all(isinstance(table, BranchingTable) for table in model.structure.tables)
    assert len(model.tables) == 6
    assert max(map(len, model.tables)) <= 8
    assert max(table.max() for table in model.tables) <= 15  # 4 bits by default
    assert model.training["error_validation"] < 0.05
    read = {
        (f, cut)
        for grid in model.structure.tables
        for f, cut in zip(grid.features, grid.cuts, strict=True)
    }
    asked = {(f, k) for f, one in enumerate(model.features) for k in range(len(one.thresholds))}
    assert read == asked


def test_a_single_tree_is_one_of_classification(robot):
    model = train_model(robot, branching(tables="1", leaves="24")).model
    check_model(model)
    (table,) = model.structure.tables
    assert isinstance(table, BranchingTable)
    assert table.n_rows <= 24
    assert not model.prior.any()
    assert model.training["error_validation"] < 0.03


@pytest.mark.parametrize("form", [{"rows": "8"}, {"leaves": "8"}])
def test_a_front_decides_most_rows_as_the_tables_do(robot, form):
    options = {"tables": "6", **form}
    plain, fronted = (
        train_model(robot, replace(SMALL, structure_options={**options, **front})).model
        for front in ({}, {"front": "32"})
    )
    check_model(fronted)
    assert fronted.features == plain.features  # no further threshold
    assert fronted.structure.tables[1:] == plain.structure.tables
    front, X = front_of(fronted), states_of(fronted.features, robot.table)
    found = front.decisions[front.tree.rows(X)]
    expected = np.where(found < 0, predict(plain, X), found)
    assert np.array_equal(predict(fronted, X), expected)
    record = fronted.training["front"]
    assert record["leaves"] == front.tree.n_rows <= 32
    assert record["sure"] == front.n_sure
    assert record["answers"] == round(float((found >= 0).mean()), 6) > 0.3
    assert 0 <= record["differing"] <= 0.005
    assert (predict(plain, X) != expected).mean() < 0.005
    assert "front" not in plain.training
    largest = max(int(table.max()) for table in fronted.tables)
    assert fronted.q_format.bits == largest.bit_length()
    assert fronted.q_format.frac_bits == plain.q_format.frac_bits


def test_a_front_that_is_nowhere_sure_is_left_out_with_a_note():
    rng = np.random.default_rng(0)
    table = Table((Column("a", "float", rng.normal(size=9), np.zeros(9, dtype=bool)),))
    few = Dataset(table, np.arange(9) % 2, ("n", "y"), "class")
    plain = {"tables": "3", "rows": "4"}
    results = [
        train_model(few, replace(SMALL, validation=0, structure_options={**plain, **front}))
        for front in ({}, {"front": "8"})
    ]
    assert "front" not in results[1].model.training
    assert results[1].model.structure == results[0].model.structure
    assert [any("front" in note for note in one.notes) for one in results] == [False, True]


def test_leaves_of_two_classes_have_finer_costs():
    settings = replace(SMALL, structure_options={"leaves": "8"})
    assert [boost_settings_of(settings, n).bits for n in (2, 3, None)] == [8, 4, 4]
    assert boost_settings_of(replace(settings, bits=2), 2).bits == 2
    product = replace(SMALL, structure_options={"leaves": "0"})
    assert boost_settings_of(product, 2).bits == boost_settings_of(product).bits == 3
    single = replace(SMALL, structure_options={"leaves": "8", "tables": "1"})
    assert boost_settings_of(single, 2).bits == 4
    assert boost_settings_of(replace(settings, int_bits=2), 2).frac_bits == 6


@pytest.mark.parametrize("leaves", ["0", "8"])
def test_high_bytes_decide_where_only_they_may(leaves):
    rng = np.random.default_rng(3)
    values = rng.integers(-30000, 30000, (600, 2))
    y = (values[:, 0] + values[:, 1] // 2 > 1000).astype(np.int64)
    present = np.zeros(600, dtype=bool)
    table = Table(tuple(Column(f"c{k}", "integer", values[:, k], present) for k in range(2)))
    options = {"tables": "8", "leaves": leaves, "cut-bits": "8"}
    model = train_model(
        Dataset(table, y, ("n", "y"), "class"), replace(SMALL, structure_options=options)
    ).model
    thresholds = [t for feature in model.features for t in feature.thresholds]
    assert thresholds
    assert all(t & 255 == 255 for t in thresholds)
    assert model.training["error_validation"] < 0.15


def test_features_have_the_thresholds_that_tables_ask_for(robot):
    model = train_model(robot, replace(SMALL, validation=0)).model
    used = {
        (f, cut)
        for grid in model.structure.tables
        for f, cuts in zip(grid.features, grid.cuts, strict=True)
        for cut in cuts
    }
    asked = {(f, k) for f, one in enumerate(model.features) for k in range(len(one.thresholds))}
    assert used == asked


def test_the_same_rows_and_options_give_the_same_bytes(robot):
    few = robot.take(np.arange(0, robot.n_rows, 7))
    first, second = (to_bytes(train_model(few, SMALL).model) for _ in range(2))
    assert first == second
    assert to_bytes(train_model(few, replace(SMALL, seed=1)).model) != first


def test_missing_cells_have_a_state_that_tables_can_ask_for():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    missing = (y == 1) & (rng.random(400) < 0.9)
    values = np.where(missing, 0.0, rng.normal(size=400))
    table = Table((Column("a", "float", values, missing),))
    model = train_model(Dataset(table, y, ("n", "y"), "class"), SMALL).model
    assert model.training["error_validation"] < 0.2


def test_with_too_few_rows_nothing_is_said_of_bits_that_nobody_chose():
    values, nothing_missing = np.array([1.0, 2.0]), np.zeros(2, dtype=bool)
    table = Table((Column("a", "float", values, nothing_missing),))
    result = train_model(Dataset(table, np.array([0, 1]), ("n", "y"), "class"), SMALL)
    assert result.notes == ("too few rows for a validation set: there is no validation error",)


def test_rows_that_alone_tell_the_classes_apart_are_not_held_out():
    """One row differs from all others; some of the seeds below would draw it for validation."""
    values = (np.arange(40) == 3).astype(np.float64)
    table = Table((Column("a", "float", values, np.zeros(40, dtype=bool)),))
    dataset = Dataset(table, np.arange(40) % 2, ("n", "y"), "class")
    held = {
        train_model(dataset, replace(SMALL, seed=seed, validation=0.5)).model.training[
            "n_validation"
        ]
        for seed in range(6)
    }
    assert held == {0, 20}


def test_a_rare_class_may_cost_more_than_tables_do():
    rng = np.random.default_rng(0)
    y = (np.arange(3000) % 1000 == 0).astype(np.int64)
    table = Table((Column("a", "float", rng.normal(size=3000), np.zeros(3000, dtype=bool)),))
    model = train_model(Dataset(table, y, ("n", "y"), "class"), replace(SMALL, validation=0)).model
    check_model(model)
    assert model.prior.max() > 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tables": "many"}, "tables=many is not an integer"),
        ({"rate": "quick"}, "rate=quick is not a number"),
        ({"height": "3"}, "unknown option 'height'"),
        ({"leaves": "1"}, "^leaves is 1; choose 2 to 1024, or 0 for"),
        ({"leaves": "1025"}, "^leaves is 1025; choose 2 to 1024"),
        ({"leaves": "8", "depth": "65"}, "^depth is 65; choose 0 to 64"),
        ({"depth": "3"}, "depth=3 limits trees; add leaves=16"),
        ({"leaves": "8", "rows": "8"}, "rows=8 does not apply to the trees of leaves=8"),
        ({"leaves": "8", "features": "2"}, "features=2 does not apply to the trees"),
        ({"leaves": "8", "dictionary": "0"}, "dictionary=0 does not apply to the trees"),
        ({"front": "1"}, "^front is 1; choose 2 to 256, or 0 for no front"),
        ({"front": "many"}, "front=many is not an integer"),
        ({"front": "-3"}, "^front is -3; choose 2 to 256, or 0 for no front"),
        ({"front-differing": "0.1"}, "front-differing=0.1 limits a front; add front=32, or leave"),
        ({"front": "0", "front-differing": "0.1"}, "front-differing=0.1 limits a front"),
        ({"rows": "-3"}, "^rows is -3; choose 2 to"),
        ({"leaves": "8", "tables": "1", "front": "8"}, "front=8 does not apply to a single tree"),
        ({"cut-bits": "7"}, "cut-bits=7 is unknown; choose 0, 8 or 16"),
        ({"rows": "1"}, "rows is 1; choose 2 to"),
        ({"tables": "0"}, "^tables is 0; choose 1 to"),
        ({"rate": "2"}, "^rate is 2.0; choose a number above 0"),
        ({"decay": "-1"}, "^decay is -1.0; it must be"),
        ({"shift": "16"}, "shift=16 is not a height and width; try shift=16x16"),
        ({"shift": "0x4"}, "shift=0x4 is not a height and width"),
    ],
)
def test_options_that_make_no_sense_are_refused_at_once(options, message):
    with pytest.raises(OptionError, match=message):
        TrainSettings(structure="tables", structure_options=options)


def test_what_a_sum_cannot_be_is_refused():
    for options, remedy in (
        ({"float_": True}, "leave out --float"),
        ({"parameters": "ml"}, "leave out --parameters"),
        ({"engine": "torch"}, "leave out --engine"),
    ):
        with pytest.raises(OptionError, match=remedy):
            TrainSettings(structure="tables", **options)


def test_what_has_no_effect_is_said():
    settings = replace(SMALL, gamma=2.0, jitter=0.1, device="cpu")
    assert idle_notes(settings) == tuple(
        f"--{name} has no effect with --structure tables" for name in ("gamma", "jitter", "device")
    )


def test_bins_without_a_discretization_have_no_effect_on_a_sum():
    (note,) = idle_notes(replace(SMALL, n_bins=5))
    assert note == "--n-bins has no effect with --structure tables alone"
    (note,) = idle_notes(replace(SMALL, n_bins=5, discretize="mdl"))
    assert note == "--n-bins has no effect with --discretize mdl"


def test_settings_reach_the_learner():
    options = {"tables": "9", "rows": "4", "features": "2", "dictionary": "64", "rate": "0.2"}
    settings = TrainSettings(
        structure="tables",
        structure_options={**options, "decay": "0.1", "cuts": "15"},
        bits=2,
        seed=5,
        lr=0.01,
        dropout=0.3,
        epochs=7,
        batch_size=64,
    )
    found = boost_settings_of(settings)
    assert (found.n_tables, found.rows, found.features, found.dictionary) == (9, 4, 2, 64)
    assert (found.eta, found.weight_decay, found.bits, found.seed) == (0.2, 0.1, 2, 5)
    assert (found.lr, found.dropout, found.quantized_epochs, found.batch_size) == (0.01, 0.3, 7, 64)
    assert n_bins_of(settings) == 16
    assert n_bins_of(replace(settings, structure_options=options)) == 256
    assert n_bins_of(replace(settings, structure_options=options, discretize="width")) == 8


def bars(rng, n: int = 300) -> Dataset:
    """Return images of 5 by 5 pixels with a bar through their middle, upright or lying."""
    y = rng.integers(0, 2, n)
    images = rng.normal(0.0, 0.2, (n, 5, 5))
    images[y == 0, 2, :] += 1.0
    images[y == 1, :, 2] += 1.0
    present = np.zeros(n, dtype=bool)
    pixels = enumerate(images.reshape(n, 25).T)
    table = Table(tuple(Column(f"p{i}", "float", pixel, present) for i, pixel in pixels))
    return Dataset(table, y, ("lying", "upright"), "class")


def test_moved_images_are_decided_alike_once_they_are_learned_from():
    rng = np.random.default_rng(0)
    given, other = bars(rng), bars(rng)
    options = {"tables": "12", "rows": "8"}
    errors = []
    for more in ({}, {"shift": "5x5"}):
        settings = TrainSettings(structure="tables", structure_options=options | more, validation=0)
        model = train_model(given, settings).model
        wrong = [
            predict(model, states_of(model.features, table)) != other.y
            for table in moved_tables(other.table, 5, 5)
        ]
        errors.append(np.mean(wrong, axis=1))
    assert errors[0].max() > 0.1
    assert errors[1].max() < 0.02


def test_epochs_are_fewer_where_rows_are_more():
    options = {"shift": "4x4"}
    few = boost_settings_of(TrainSettings(structure="tables", structure_options=options))
    assert (few.float_epochs, few.quantized_epochs) == (4, 12)
    asked = TrainSettings(structure="tables", structure_options=options, epochs=30)
    assert boost_settings_of(asked).quantized_epochs == 30


@pytest.mark.parametrize(
    ("bits", "frac_bits"),
    [
        ({"bits": 3}, None),
        ({"bits": 3, "int_bits": 1}, 2),
        ({"int_bits": 1}, 2),
        ({"frac_bits": 2}, 2),
        ({"int_bits": 3, "frac_bits": -1}, -1),
    ],
)
def test_either_side_of_the_binary_point_can_be_named(bits, frac_bits):
    assert boost_settings_of(TrainSettings(structure="tables", **bits)).frac_bits == frac_bits
