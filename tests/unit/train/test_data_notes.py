"""Notes on columns: a first line of numbers, texts among numbers, names of rows, dead features."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.splits import SplitRule
from bncc.train.data_notes import _stray_texts, data_notes, is_number, silent_features
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand

N_ROWS = 300
NONE = np.zeros(N_ROWS, dtype=np.bool_)
ML = TrainSettings(structure="naive", parameters="ml")
Y = np.arange(N_ROWS) % 3
RANDOM = SplitRule()


def texts(name, cells):
    """Return a column of texts."""
    return Column(name, "category", np.array(cells, dtype=object), NONE)


def telling(name="a"):
    """Return a column that determines the class."""
    return Column(name, "integer", Y * 4, NONE)


def notes_of(*columns, split=RANDOM):
    """Return the notes on columns with a class of three values."""
    dataset = Dataset(Table(columns), Y, ("x", "y", "z"), "class", split=split)
    return data_notes(train_model(dataset, ML).model, dataset)


def test_plain_readings_have_no_note():
    assert notes_of(telling(), texts("b", np.where(Y > 0, "lo", "hi"))) == ()


@pytest.mark.parametrize(("n_names", "noted"), [(150, False), (151, True)])
def test_a_column_of_names_is_noted(n_names, noted):
    """More different texts than half of the rows: the name of a row, not a reading."""
    name = texts("serial", [f"unit {k % n_names}" for k in range(N_ROWS)])
    notes = notes_of(telling(), name)
    assert [note for note in notes if "'serial' has 151 different texts" in note] == list(notes)
    assert bool(notes) == noted


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (Y, "3 classes occur ('x', 'y', 'z') in one group of 'person' only, so "),
        (
            np.where(Y == 1, 7, np.arange(N_ROWS) // 100),
            "class 'y' occurs in one group of 'person' only, so either",
        ),
        (np.arange(N_ROWS) // 100, None),
        (None, None),
    ],
)
def test_a_class_of_one_group_is_noted(groups, words):
    """Each such class is unknown to the training rows that its validation rows leave."""
    notes = notes_of(telling(), split=SplitRule(groups=groups, column="person"))
    assert len(notes) == (words is not None)
    assert words is None or words in notes[0]


def test_a_text_among_numbers_is_noted_and_not_taken_for_the_name_of_a_row():
    stray = texts("b", [str(k) for k in range(299)] + ["N/A"])
    plain = texts("c", np.where(Y > 0, "lo", "7"))
    absent = Column("d", "category", np.full(N_ROWS, "", dtype=object), ~NONE)
    stray_note, silent = notes_of(telling(), stray, plain, absent)
    assert stray_note == (
        "column 'b' contains numbers but is treated as text because of 'N/A'; write ? for missing "
        "readings"
    )
    assert silent.startswith(
        "1 of 4 features are unused and carry no information about the class in these rows: d; "
    )


@pytest.mark.parametrize(
    ("names", "noted"),
    [
        (("1.95", "37.3"), True),
        (("0", "1"), False),
        (("1", "2"), False),
        (("1.95", "speed"), False),
        (("1.95",), False),
    ],
)
def test_a_first_line_of_numbers_is_noted(names, noted):
    """Numbers that count the columns are names."""
    notes = notes_of(*map(telling, names))
    assert any("add a header line above it" in note for note in notes) == noted


def test_features_of_one_state_are_silent():
    constants = [Column(f"k{i}", "integer", np.full(N_ROWS, 7), NONE) for i in range(6)]
    assert notes_of(telling(), *constants) == (
        "6 of 7 features are unused and carry no information about the class in these rows: k0, "
        "k1, k2, k3, k4, ...; each is constant, or its mutual information with the class is not "
        "above chance, alone and given any other feature; to save their sensors, emit C of the "
        "used features with `bncc emit-c --inputs used`, or train without the others with --drop",
    )
    assert silent_features(hand.one_state_feature()) == (0,)


def test_features_that_no_table_of_a_sum_reads_are_silent():
    assert silent_features(hand.NAMED["sum_of_tables"]()) == (3,)


@pytest.mark.parametrize("text", ["1", "-2.5e3", "nan", "inf", " 7 "])
def test_numbers_are_numbers(text):
    assert is_number(text)
    assert not is_number(f"{text} V")


class Watched(str):
    """A text that counts how often texts are compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Watched.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_column_of_many_texts_takes_time_in_proportion():
    """Each row's text is looked up among all others, 4,000 here and 65,000 in a large table."""
    n = 4000
    cells = np.array([Watched(f"t{k}") for k in range(n)], dtype=object)
    column = Column("a", "category", cells, np.zeros(n, dtype=np.bool_))
    dataset = Dataset(Table((column,)), np.arange(n) % 2, ("x", "y"), "class")
    Watched.compared = 0
    assert _stray_texts(dataset) == {}
    assert Watched.compared < 20 * n
