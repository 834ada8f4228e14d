"""Models that read differences: their rule, their checks, their file."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature, missing_of, states_of
from bncc.discretize.readings import (
    is_array,
    probe_values,
    raw_dtypes,
    raw_of_table,
    states_of_raw,
    with_difference,
)
from bncc.errors import ModelError, ModelFileError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.checked import limits_of, predict_checked
from bncc.model.file import DIFFERENCE_FORMAT, DOCUMENT, load_model, save_model, to_bytes
from bncc.model.model import Model, check_model
from bncc.model.ranges import READINGS, readings_record
from bncc.model.reference import predict
from bncc.model.used import with_used_inputs
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from bncc.structure.graph import forest
from tests.models import DIFFERENCES, products_of_differences
from tests.ranged import ranged

WORDS = (
    Feature("a", "int16", 2, (3,)),
    Feature("b", "int16", 1),
    Feature("b - a", "int32", 3, (-5, 40000), difference=(1, 0)),
)


def table_of(a, b, missing=()):
    a, b = np.array(a), np.array(b)
    is_missing = np.isin(np.arange(len(a)), missing)
    return Table(
        (
            Column("b", "integer", b, np.zeros(len(b), bool)),
            Column("a", "integer", a, is_missing),
        )
    )


def test_states_are_those_of_the_exact_difference():
    table = table_of([0, 0, -30000, 5], [-5, -4, 30000, 5])
    assert states_of(WORDS, table)[:, 2].tolist() == [0, 1, 2, 1]
    assert states_of_raw(WORDS, raw_of_table(WORDS, table)).tolist() == (
        states_of(WORDS, table).tolist()
    )


def test_a_missing_reading_counts_as_its_marker():
    """The least int16: the difference from it is above a threshold of 40000 from 7233 on."""
    table = table_of([1, 1, 1], [7232, 7233, 0], missing=(0, 1, 2))
    assert states_of(WORDS, table)[:, 2].tolist() == [1, 2, 1]
    assert missing_of(WORDS, table).tolist() == [[True, False, False]] * 3


def test_readings_beyond_the_type_are_saturated_before_they_are_subtracted():
    table = table_of([-(10**6)], [10**6])
    assert raw_of_table(WORDS, table).tolist() == [[-32767, 32767]]
    assert states_of(WORDS, table)[0, 2] == 2


def test_differences_are_no_raw_inputs():
    assert raw_dtypes(WORDS) == (np.dtype(np.int16),) * 2
    assert is_array(WORDS)


def test_readings_are_found_for_any_difference_that_the_type_has():
    rng = np.random.default_rng(0)
    wanted = probe_values(WORDS[2])
    R = with_difference(WORDS, WORDS[2], rng.integers(-99, 99, (len(wanted), 2)) * 1.0, wanted)
    assert np.abs(R).max() <= 2**15
    found = R[:, 1] - R[:, 0]
    assert (found == np.clip(wanted, -65535, 65535)).all()


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_file_holds_them(tmp_path, name):
    model = ranged(DIFFERENCES[name]())
    path = tmp_path / "m.bncc"
    save_model(model, path)
    again = load_model(path)
    assert again.features == model.features
    assert again.structure == model.structure
    assert to_bytes(again) == path.read_bytes()
    document = json.loads(unpack(path.read_bytes())[DOCUMENT])
    assert document["format"] == DIFFERENCE_FORMAT


def changed(tmp_path, change):
    path = tmp_path / "m.bncc"
    save_model(DIFFERENCES["differences_of_bytes"](), path)
    entries = unpack(path.read_bytes())
    del entries["SHA256SUMS"]
    document = json.loads(entries[DOCUMENT])
    change(document)
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    entries[DOCUMENT] = text.encode() + b"\n"
    path.write_bytes(pack(with_sums(entries)))
    with pytest.raises(ModelFileError) as refused:
        load_model(path)
    return str(refused.value)


def test_a_file_of_another_format_has_none(tmp_path):
    def other(document):
        document["format"] = 4

    assert "a feature is malformed" in changed(tmp_path, other)


@pytest.mark.parametrize("pair", [[0], [0, 1, 2], [0, True], "01", None])
def test_a_malformed_difference_is_refused(tmp_path, pair):
    def other(document):
        document["features"][-1]["difference"] = pair

    assert "is malformed" in changed(tmp_path, other)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ((WORDS[0], WORDS[2], WORDS[1]), "'b' comes after a difference"),
        ((*WORDS[:2], replace(WORDS[2], difference=(1, 1))), "not the difference of two readings"),
        ((*WORDS[:2], replace(WORDS[2], difference=(0, 2))), "not the difference of two readings"),
        ((*WORDS[:2], replace(WORDS[2], difference=(-1, 0))), "not the difference of two readings"),
        (
            (*WORDS[:2], replace(WORDS[2], kind="int16", thresholds=(1, 2))),
            "of kind int16 does not hold the difference",
        ),
        (
            (WORDS[0], Feature("b", "int8", 1), WORDS[2]),
            "of kind int32 does not hold the difference",
        ),
        ((*WORDS[:2], replace(WORDS[2], missing_state=1)), "is a difference, which is never"),
        (
            (*WORDS[:2], replace(WORDS[2], n_states=4, missing_state=3)),
            "has no value for a missing",
        ),
    ],
)
def test_wrong_differences_are_refused(features, words):
    whole = products_of_differences(("int16",))
    with pytest.raises(ModelError, match=words):
        check_model(replace(whole, features=features))


def test_a_network_reads_none():
    model = Model(
        WORDS,
        ("x", "y"),
        forest([None] * 3),
        products_of_differences(("int16",)).q_format,
        np.zeros(2, np.int64),
        tuple(np.zeros((n, 2), np.int64) for n in (2, 1, 3)),
    )
    with pytest.raises(ModelError, match="is a network, which cannot read differences"):
        check_model(model)


def test_only_inputs_have_recorded_ranges_and_limits():
    model = ranged(DIFFERENCES["differences_of_bytes"]())
    assert len(limits_of(model)) == len(model.inputs) == 2
    R = np.array([[0.0, 0.0], [255.0, 255.0]])
    assert len(predict_checked(model, limits_of(model), R)) == 2
    record = readings_record(WORDS, table_of([1, 2], [3, 4]), {})
    assert record.keys() == {"a", "b"}


def test_a_model_of_used_inputs_keeps_those_that_are_subtracted():
    """Two of five inputs and one of two differences remain where that difference alone is used."""
    features = tuple(Feature(f"x{k}", "uint8", 2, (9,)) for k in range(5))
    pairs = ((0, 1), (4, 2))
    features += tuple(Feature(f"d{k}", "int16", 2, (1,), difference=p) for k, p in enumerate(pairs))
    structure = TableEnsemble((DecisionTable((6,), ((0,),)),))
    model = replace(
        products_of_differences(("int16",), n_classes=2),
        features=features,
        structure=structure,
        tables=(np.array([[0, 3], [3, 0]]),),
        prior=np.zeros(2, np.int64),
        training={READINGS: {f"x{k}": {"min": 0, "max": 9} for k in range(5)}},
    )
    smaller = with_used_inputs(model)
    check_model(smaller)
    assert [f.name for f in smaller.features] == ["x2", "x4", "d1"]
    assert smaller.features[2].difference == (1, 0)
    assert smaller.training[READINGS].keys() == {"x2", "x4"}
    R = np.random.default_rng(1).integers(0, 256, (50, 5)) * 1.0
    assert np.array_equal(
        predict(model, states_of_raw(features, R)),
        predict(smaller, states_of_raw(smaller.features, R[:, [2, 4]])),
    )
