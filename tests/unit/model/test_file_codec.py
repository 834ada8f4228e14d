"""Entries and documents not written by bncc are refused, with any content."""

import json
from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import BnccError, ModelError, ModelFileError
from bncc.model import file as codec
from bncc.model.archive import npy, with_sums
from bncc.model.file import DOCUMENT, PRIOR, TABLES, decode, encode, read_document
from tests import models as hand

ENTRIES = with_sums(encode(hand.tan_float()))
GOOD = read_document(ENTRIES)


def _text(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def _changed(path, value):
    """Return the good document with one place changed; ... removes the place."""
    document = json.loads(json.dumps(GOOD))
    *way, last = path
    place = document
    for key in way:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document


def test_the_document_is_readable_ascii_with_sorted_keys():
    text = ENTRIES[DOCUMENT].decode("ascii")
    assert text.startswith('{"classes":["c0","c1"],"features":[{"categories":[],"fallback":0,')
    assert text.endswith('"training":{"seed":0,"structure":"by hand"}}\n')


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"not json",
        b"null\n",
        b"[]\n",
        b'{"format":1}',
        b' {"format":1}\n',
        b'{"format": 1}\n',
        b'{"format":1,"format":1}\n',
        b'{"a":1,"format":1}\n\n',
        b'{"format":1,"a":1}\n',
        b'{"a":NaN}\n',
        b'{"a":Infinity}\n',
        b'{"a":1e999}\n',
        b'{"a":' + b"9" * 10_000 + b"}\n",
        b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
        b'{"a":1.50}\n',
        b'{"a":"\\u0061"}\n',
        '{"a":"\u00e9"}\n'.encode(),
    ],
)
def test_a_document_that_is_no_canonical_json_is_refused(text):
    with pytest.raises(ModelFileError, match=DOCUMENT):
        read_document({DOCUMENT: text})


def test_a_missing_or_too_large_document_is_refused(monkeypatch):
    with pytest.raises(ModelFileError, match=r"holds no model\.json"):
        read_document({})
    monkeypatch.setattr(codec, "MAX_DOCUMENT", 10)
    with pytest.raises(ModelFileError, match="at most 10 bytes"):
        read_document(ENTRIES)
    with pytest.raises(ModelError, match="larger than 10 bytes"):
        encode(hand.ties())


FEATURE = ("features", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("surplus",), 1),
        (("training",), ...),
        (("training",), []),
        (("training",), None),
        (("classes",), "ab"),
        (("classes",), ["a", 1]),
        (("classes",), ["a"]),
        (("classes",), ["a", "a"]),
        (("classes",), ["a", "b", "c"]),
        (("classes",), [str(c) for c in range(256)]),
        (("features",), {}),
        (("features",), [1, 2, 3]),
        (("features",), []),
        ((*FEATURE, "name"), 1),
        ((*FEATURE, "name"), "x1"),
        ((*FEATURE, "name"), "\ud800"),
        ((*FEATURE, "kind"), None),
        ((*FEATURE, "kind"), "int64"),
        ((*FEATURE, "kind"), "int16"),
        ((*FEATURE, "surplus"), 1),
        ((*FEATURE, "fallback"), ...),
        ((*FEATURE, "fallback"), 2),
        ((*FEATURE, "fallback"), -1),
        ((*FEATURE, "fallback"), False),
        ((*FEATURE, "n_states"), 2.0),
        ((*FEATURE, "n_states"), True),
        ((*FEATURE, "n_states"), 0),
        ((*FEATURE, "n_states"), -2),
        ((*FEATURE, "n_states"), 10**9),
        ((*FEATURE, "n_states"), 2**31),
        ((*FEATURE, "n_states"), 10**400),
        ((*FEATURE, "thresholds"), 0.5),
        ((*FEATURE, "thresholds"), ["0.5"]),
        ((*FEATURE, "thresholds"), [True]),
        ((*FEATURE, "thresholds"), [1]),
        ((*FEATURE, "thresholds"), [-0.0]),
        ((*FEATURE, "thresholds"), [0.1]),
        ((*FEATURE, "thresholds"), [1e300]),
        ((*FEATURE, "thresholds"), [0.5, 0.5]),
        ((*FEATURE, "thresholds"), []),
        ((*FEATURE, "categories"), ["a", "b"]),
        ((*FEATURE, "categories"), [None]),
        (("q_format",), None),
        (("q_format", "int_bits"), 3.0),
        (("q_format", "int_bits"), 40),
        (("q_format", "int_bits"), 6),
        (("q_format", "int_bits"), 10**6),
        (("q_format",), {"int_bits": 2 - 10**6, "frac_bits": 10**6}),
        (("structure",), []),
        (("structure", "parents"), [[], [], []]),
        (("structure", "parents"), [[], [0]]),
        (("structure", "parents"), [[2], [0], [1]]),
        (("structure", "parents"), [[0], [0], [1]]),
        (("structure", "parents"), [[], [1], [1]]),
        (("structure", "parents"), [[], [0], [2, 1]]),
        (("structure", "parents"), [[], [0, 0], [1]]),
        (("structure", "parents"), [[], [3], [1]]),
        (("structure", "parents"), [[], [-1], [1]]),
        (("structure", "parents"), [[], [0.0], [1]]),
        (("structure", "parents"), [[], [False], [1]]),
        (("structure", "parents"), [[], 0, [1]]),
        (("structure", "class_is_parent"), [True, True]),
        (("structure", "class_is_parent"), [1, 1, 1]),
        (("structure", "class_is_parent"), [False, True, True]),
    ],
)
def test_a_document_with_one_wrong_value_is_refused(path, value):
    document = _changed(path, value)
    with pytest.raises((BnccError, ValueError)):
        decode(document, {**ENTRIES, DOCUMENT: _text(document)})


def test_arcs_that_form_cycles_are_read():
    model = hand.pseudo_tan()
    entries = with_sums(encode(model))
    read = decode(read_document(entries), entries)
    assert read.structure == model.structure
    assert all(map(np.array_equal, read.tables, model.tables))


def test_a_feature_that_is_its_own_parent_is_refused_though_its_table_fits():
    entries = with_sums(encode(hand.one_state_feature()))
    document = read_document(entries)
    decode(document, entries)
    document["structure"]["parents"] = [[0]]
    with pytest.raises(ValueError, match="its own parent"):
        decode(document, entries)


def test_the_good_document_passes_the_same_way():
    assert decode(_changed(("classes",), ["c0", "c1"]), ENTRIES).classes == ("c0", "c1")


def test_the_numbers_of_features_and_of_parents_must_agree():
    document = _changed(("structure",), {"parents": [[]], "class_is_parent": [True]})
    with pytest.raises(ModelFileError, match="disagree in number"):
        decode(document, ENTRIES)


def test_a_product_of_many_states_is_refused_before_it_is_formed():
    document = _changed((*FEATURE, "n_states"), 2**30)
    with pytest.raises(ModelFileError, match="a table beyond all bounds"):
        decode(document, ENTRIES)


def test_many_large_tables_are_refused_before_an_array_is_read(monkeypatch):
    monkeypatch.setattr(codec, "MAX_TABLE_ENTRIES", 27)
    with pytest.raises(ModelFileError, match="tables beyond all bounds"):
        decode(GOOD, ENTRIES)


def test_too_many_features_are_refused_before_their_graph_is_searched(monkeypatch):
    monkeypatch.setattr(codec, "MAX_FEATURES", 2)
    with pytest.raises(ModelFileError, match="too many features"):
        decode(GOOD, ENTRIES)


@pytest.mark.parametrize(
    "change",
    [
        {"../../etc/passwd": b""},
        {"table.npy": b""},
        {PRIOR: npy(np.zeros(3, dtype=np.int64), 6)},
        {PRIOR: npy(np.array([0, 64]), 8)},
        {TABLES: npy(np.zeros(27, dtype=np.int64), 6)},
        {TABLES: npy(np.full(28, 64), 8)},
        {TABLES: b""},
    ],
)
def test_superfluous_or_wrong_entries_are_refused(change):
    with pytest.raises((ModelFileError, ModelError)):
        decode(GOOD, {**ENTRIES, **change})


@pytest.mark.parametrize("name", list(ENTRIES))
def test_a_missing_entry_is_refused(name):
    fewer = {key: content for key, content in ENTRIES.items() if key != name}
    with pytest.raises(ModelFileError, match="missing or superfluous"):
        decode(GOOD, fewer)


def test_entries_in_another_order_are_refused():
    with pytest.raises(ModelFileError, match="missing or superfluous"):
        decode(GOOD, dict(reversed(ENTRIES.items())))


def test_a_model_that_is_not_whole_is_not_encoded():
    with pytest.raises(ModelError, match=r"outside UQ2\.1"):
        encode(replace(hand.ties(), prior=np.array([8, 0, 0])))


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}, {1: 2, "a": 3}])
def test_a_training_record_that_is_no_json_is_not_encoded(value):
    with pytest.raises(ModelError, match="training record is not JSON"):
        encode(replace(hand.ties(), training={"key": value}))


def test_a_training_record_without_end_is_not_encoded():
    endless = {}
    endless["self"] = endless
    with pytest.raises(ModelError, match="training record is not JSON"):
        encode(replace(hand.ties(), training=endless))


def test_grids_of_different_lengths_are_refused():
    entries = encode(hand.sum_of_tables())
    document = json.loads(entries["model.json"])
    document["structure"]["cuts"].pop()
    with pytest.raises(ModelFileError, match="the grids of its tables is malformed"):
        decode(document, with_sums(entries))


GENERAL = with_sums(encode(hand.class_with_parents()))


def test_a_class_with_parents_has_a_format_of_its_own():
    assert (GOOD["format"], read_document(GENERAL)["format"]) == (1, 3)
    again = decode(read_document(GENERAL), GENERAL)
    assert again.structure == hand.class_with_parents().structure


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"class_parents": [], "given": []}, "a network of format 1 in another is malformed"),
        ({"class_parents": [3, 9]}, "out of range|beyond|unknown"),
        ({"class_parents": [True]}, "a list of int is malformed"),
        ({"class_parents": [2, 0]}, "cycle"),
        ({"given": [1, 2, 3]}, "given and has parents"),
        ({"given": [0, 1, 3]}, "table 0 holds a cost, and its feature is given"),
        ({"class_parents": []}, "vector of"),
    ],
)
def test_a_general_network_that_is_none_is_refused(change, words):
    document = json.loads(json.dumps(read_document(GENERAL)))
    document["structure"] |= change
    with pytest.raises((BnccError, ValueError), match=words):
        decode(document, GENERAL)
