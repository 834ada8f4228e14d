"""Test splits of sensor sets: at random, by recording, or in time, as the set requires."""

import gzip

import numpy as np
import pytest

from benchmarks.shared.sensor_sets import (
    FIRST_ROWS,
    MORE_SETS,
    OF_UCI,
    SETS,
    grouped_holdout,
    parts,
)
from tests.uci import write_set


@pytest.fixture
def raw(tmp_path):
    (tmp_path / "raw").mkdir()

    def write(name, head, rows):
        with gzip.open(tmp_path / "raw" / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
            print(head, *rows, sep="\n", file=file)
        return tmp_path

    return write


def readings(dataset):
    return dataset.table.columns[0].values.tolist()


def test_there_are_twelve_and_none_by_which_the_learner_was_tuned():
    assert len(set(SETS)) == 12
    assert not {"letter", "satimage", "usps_all", "spambase"} & set(SETS)


def test_eight_more_are_none_of_them_and_those_of_uci_are_read(tmp_path):
    assert len(set(MORE_SETS)) == 8
    assert not set(MORE_SETS) & set(SETS)
    (tmp_path / "uci").mkdir()
    write_set(tmp_path / "small.arff", n_rows=90)
    packed = gzip.compress((tmp_path / "small.arff").read_bytes())
    (tmp_path / "uci" / f"{OF_UCI[0]}.arff.gz").write_bytes(packed)
    train, test = parts(tmp_path, OF_UCI[0])
    assert (train.n_rows, test.n_rows) == (60, 30)
    assert train.classes == ("no", "yes")


def test_a_third_of_each_class_is_set_aside_the_same_each_time(raw):
    data = raw("phoneme", "a,class", [f"{i},{i % 3 == 0:d}" for i in range(90)])
    (train, test), (_, again) = parts(data, "phoneme"), parts(data, "phoneme")
    assert sorted(readings(train) + readings(test)) == list(range(90))
    assert np.bincount(test.y).tolist() == [20, 10]
    assert readings(test) == readings(again)


def test_of_occupancy_only_the_earliest_rows_train(raw):
    n = FIRST_ROWS["occupancy"]
    data = raw("occupancy", "a,class", [f"{i},{i % 2}" for i in range(n + 5)])
    train, test = parts(data, "occupancy")
    assert readings(train) == list(range(n))
    assert readings(test) == list(range(n, n + 5))
    (held,) = {tuple(train.split.holdout(train.y, 1 / 5, 0)[1])}
    assert train.split.ordered
    assert held == tuple(range(held[0], held[0] + len(held)))


def test_no_recording_is_in_both_parts(raw):
    rows = [f"{i},{i // 4 % 2}" for i in range(48)]
    data = raw("har_exercise", "a,class", rows)
    raw("har_exercise.groups", "recording", [i // 4 for i in range(48)])
    train, test = parts(data, "har_exercise")
    recordings = [{i // 4 for i in readings(part)} for part in (train, test)]
    assert not recordings[0] & recordings[1]
    held = train.split.holdout(train.y, 1 / 4, 0)
    validated = [{readings(train)[row] // 4 for row in rows} for rows in held]
    assert not validated[0] & validated[1]
    assert [len(each) for each in recordings] == [8, 4]


def test_each_class_keeps_its_share_of_the_recordings():
    groups = np.repeat(np.arange(9), 2)
    y = (groups >= 6).astype(np.int64)
    rest, held = grouped_holdout(y, groups)
    assert len(set(groups[held][y[held] == 0])) == 2
    assert len(set(groups[held][y[held] == 1])) == 1
    assert sorted([*rest, *held]) == list(range(18))
