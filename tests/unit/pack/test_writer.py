"""Models as blobs: the same decisions for any readings, or a refusal with a remedy."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.discretize.readings import probe_values, states_of_raw
from bncc.errors import ModelError
from bncc.model.reference import predict
from bncc.pack.blob import HEADER, MOST_FEATURES, read
from bncc.pack.writer import pack, reading_type, readings_of_raw
from tests import models as hand
from tests.front_ends import front_end
from tests.packed import FIVE, trained, tried

TOO_WIDE = {"sum_65535", "sum_65536"}
NOTHING = {"one_state_feature"}


def of_windows():
    """Return a model with a front end."""
    return replace(hand.naive_integer(), front_end=front_end())


MODELS = {
    **hand.NAMED,
    "products": lambda: hand.products_of_sensors(4, 6),
}


@pytest.mark.parametrize("name", sorted(MODELS.keys() - TOO_WIDE - NOTHING))
def test_a_blob_decides_as_the_model(name):
    """Next to every threshold, for missing readings and the extremes of each type."""
    model = MODELS[name]()
    x, y = tried(model, 400)
    assert np.array_equal(read(pack(model).content).decisions(x), y)


@pytest.mark.parametrize("name", FIVE)
def test_a_blob_of_a_trained_model_decides_as_the_model(name):
    """All types of readings, in tables of one and of two features."""
    model = trained(name)
    x, y = tried(model, 400)
    assert len(np.unique(y)) > 1
    assert np.array_equal(read(pack(model).content).decisions(x), y)


@pytest.mark.parametrize("name", FIVE)
def test_a_blob_takes_24_bytes_more_than_its_tables(name):
    """The ratio is at most 1.05 from 480 bytes of tables on."""
    packed = pack(trained(name))
    assert len(packed.content) == packed.table_bytes + 24
    assert packed.ratio <= 1.05 or packed.table_bytes < 480


def test_most_trained_models_have_480_bytes_of_tables():
    """So the bound above says something."""
    assert sum(pack(trained(name)).table_bytes >= 480 for name in FIVE) >= 4


def test_a_missing_state_of_any_place_has_a_level_of_its_own():
    """Whatever the state of missing readings is, the mark leads to its row."""
    for missing in range(4):
        feature = Feature("t", "int16", 4, thresholds=(-5, 0, 9), missing_state=missing)
        model = hand.model_of(
            [feature], hand.forest([None]), hand.QFormat(3, 1), [0, 0, 0, 0],
            [(7 - 7 * np.eye(4, dtype=int)).tolist()],
        )  # fmt: skip
        R = probe_values(feature)[:, None]
        expected = predict(model, states_of_raw([feature], R))
        decided = read(pack(model).content).decisions(readings_of_raw([feature], R))
        assert np.array_equal(decided, expected)
        assert decided[R[:, 0] == -(2**15)].tolist() == [missing]


def test_levels_that_are_equal_next_to_each_other_have_no_cut():
    """A table of three equal rows reads nothing, and is part of the prior."""
    features = [
        Feature("t", "int8", 3, thresholds=(0, 9)),
        Feature("u", "int8", 2, thresholds=(4,)),
    ]
    model = hand.model_of(
        features, hand.forest([None, None]), hand.QFormat(3, 1), [0, 4],
        [[[5, 1]] * 3, [[0, 7], [7, 0]]],
    )  # fmt: skip
    packed = pack(model)
    assert packed.n_tables == 1
    R = np.array([[0.0, 4.0], [9.0, 5.0], [-128.0, -128.0]])
    x = readings_of_raw(features, R)
    expected = predict(model, states_of_raw(features, R))
    assert np.array_equal(read(packed.content).decisions(x), expected)


def test_the_sequence_number_is_in_the_header():
    """It changes nothing else but the CRC."""
    model = hand.naive_integer()
    first, second = (pack(model, sequence).content for sequence in (0, 515))
    assert second[22:24] == b"\x03\x02"
    assert first[8:22] == second[8:22]
    assert first[24:] == second[24:]


def test_many_readings_have_entries_of_two_bytes():
    """A byte numbers 64."""
    for n, n_bytes in ((64, 1), (65, 2)):
        features = [Feature(f"f{i}", "int8", 2, thresholds=(i,)) for i in range(n)]
        model = hand.model_of(
            features, hand.forest([None] * n), hand.QFormat(3, 1), [0, 0], [[[0, 1], [1, 0]]] * n
        )
        header = read(pack(model).content, max_features=n).header
        assert (header.entry_bytes, header.n_features) == (n_bytes, n)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (hand.TREES["one_tree"], "train without leaves=N and front=N"),
        (hand.FRONTS["products_behind_a_front"], "train without leaves=N and front=N"),
        (hand.GATES["products_with_a_gate"], "train without gate=N"),
        (hand.DIFFERENCES["differences_of_bytes"], "train without differences"),
        (hand.NAMED["one_state_feature"], "train it with features that vary"),
        (hand.NAMED["sum_65535"], "train with fewer --bits"),
        (of_windows, "compute the features with `bncc features`"),
    ],
)
def test_a_model_without_a_blob_is_refused_with_a_remedy(model, message):
    """One sentence."""
    with pytest.raises(ModelError, match=message):
        pack(model())


def test_too_many_readings_are_refused():
    """Entries of two bytes number no more."""
    model = hand.naive_integer()
    many = MOST_FEATURES + 1 - model.n_features
    unread = tuple(Feature(f"u{i}", "int16", 1) for i in range(many))
    with pytest.raises(ModelError, match=f"at most {MOST_FEATURES} readings"):
        pack(replace(model, features=(*model.features, *unread)))


def test_the_type_of_readings_holds_every_reading():
    """16 bits if all are integers of at most 16, else 32."""
    assert reading_type(hand.naive_integer().features) == "int16_t"
    assert reading_type(hand.bytes_of_one_kind("uint8").features) == "int16_t"
    assert reading_type(hand.tan_float().features) == "int32_t"
    assert reading_type(hand.int32_thresholds().features) == "int32_t"
    assert HEADER.size == 24
