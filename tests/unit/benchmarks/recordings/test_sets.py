"""Splits of recordings by person, machine and recording, and the files of both parts."""

import gzip
from dataclasses import replace

import click
import numpy as np
import pytest

from benchmarks.recordings.sets import (
    SETS,
    chosen_sets,
    find_set,
    folds_of,
    held,
    load,
    parts,
    write_parts,
)
from bncc.recordings.read import Roles, read_recordings
from bncc.recordings.recording import Recording, sample_format, unbroken
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table


def recording(name="a", group=None, samples=((1,), (2,), (3,)), label=0):
    samples = np.array(samples, dtype=np.int32)
    n = len(samples)
    return Recording(name, group, samples, np.full(n, label, dtype=np.int64), unbroken(n))


def fold(name, split, *of):
    return find_set(name).splits[split].fold_of(recording(*of), 0)


def group(name, split, *of):
    return find_set(name).splits[split].group_of(recording(*of))


def test_names_are_unique_and_windows_have_whole_panes():
    assert len({one.name for one in SETS}) == len(SETS)
    for one in SETS:
        assert one.windows.n_panes * one.hop == one.window
        signals = signals_of(one.signals, one.channels)
        assert len(signals) == len(one.channels) + len(one.jerks)


def test_persons_are_tested_as_the_authors_of_the_set_did():
    assert [fold("hapt", 0, "31", person) for person in ("2", "9", "1", "19")] == [0, 0, -1, -1]
    assert [fold("uwave", 0, "a", person) for person in ("5", "6")] == [-1, 0]
    assert [fold("exercises", 0, "a", session) for session in "CD"] == [-1, 0]
    assert [fold("ecg", 0, record) for record in ("201", "202")] == [-1, 0]


@pytest.mark.parametrize(
    ("name", "load_fold", "depth_fold", "load_group", "depth_group"),
    [
        ("IR07_3hp", 0, -1, "3", "07"),
        ("B14_0hp", -1, 0, "0", "14"),
        ("OR14_3hp", 0, 0, "3", "14"),
        ("N_0hp_part1", -1, -1, "0", "07"),
        ("N_0hp_part2", -1, -1, "1", "21"),
        ("N_0hp_part3", -1, 0, "2", "14"),
        ("N_0hp_part4", 0, 0, "3", "14"),
    ],
)
def test_bearings_are_split_by_load_and_by_bearing(
    name, load_fold, depth_fold, load_group, depth_group
):
    assert (fold("bearings", 0, name), fold("bearings", 1, name)) == (load_fold, depth_fold)
    assert (group("bearings", 0, name), group("bearings", 1, name)) == (load_group, depth_group)


def test_pump_recordings_are_tested_by_their_number_or_in_five_folds():
    names = ("anomaly-free", "valve1_0", "valve1_1", "other_13", "valve2_2")
    assert [fold("pump", 0, name, "g") for name in names] == [0, -1, 0, 0, -1]
    dealt = find_set("pump").splits[1].fold_of
    assert [dealt(recording(), k) for k in range(7)] == [0, 1, 2, 3, 4, 0, 1]


def test_a_recording_is_cut_or_held_at_its_last_sample():
    assert held(recording(), 2).samples.tolist() == [[1], [2]]
    longer = held(recording(label=5), 5)
    assert longer.samples.tolist() == [[1], [2], [3], [3], [3]]
    assert longer.labels.tolist() == [5] * 5
    assert longer.segments == [(0, 5)]


@pytest.fixture
def streams(tmp_path):
    """Write two files of persons who stand, walk and do what is left out."""
    (tmp_path / "streams").mkdir()
    for file, persons in (("one", "12"), ("two", "3")):
        lines = ["recording,subject,x,y,label"]
        for person in persons:
            for label in ("walk", "NONE", "stand"):
                lines += [f"r{person},{person},{k},{k * k},{label}" for k in range(4)]
        text = "\n".join(lines) + "\n"
        with gzip.open(tmp_path / "streams" / f"{file}.csv.gz", "wt", encoding="utf-8") as stream:
            stream.write(text)
    split = find_set("exercises").splits[0]
    split = replace(split, fold_of=lambda each, k: 0 if each.group == "2" else -1)
    return tmp_path, replace(
        find_set("exercises"), name="some", files=("one", "two"), channels=("x", "y"),
        window=4, hop=2, ignored=("NONE",), jerks=(), splits=(split,),
    )  # fmt: skip


def test_labels_left_out_become_samples_without_one(streams):
    data, one = streams
    found = load(data, one)
    assert found.labels == ("stand", "walk")
    assert [each.group for each in found.recordings] == ["1", "2", "3"]
    assert found.recordings[2].labels.tolist() == [1] * 4 + [-1] * 4 + [0] * 4


def test_written_parts_give_the_same_windows_and_no_group_is_in_both(streams, tmp_path):
    data, one = streams
    whole = load(data, one)
    (both,) = parts(one.splits[0], whole)
    files = write_parts(tmp_path / "parts", one, whole)
    assert [file.name for file in files] == ["some.0.0.train.csv", "some.0.0.test.csv"]
    columns = columns_of(
        "sum,range", signals_of(one.signals, whole.channels), whole.channels, one.windows
    )
    roles = Roles(sample_format("int16"), recording="recording", groups="group")
    for part, file in zip(both, files, strict=True):
        expected = feature_table(part, columns, one.windows)
        found = feature_table(read_recordings(file, roles), columns, one.windows)
        assert found.values.tolist() == expected.values.tolist()
        assert found.label.tolist() == expected.label.tolist()
        assert [r.group for r in found.recordings.recordings] == [r.group for r in part.recordings]
    train, test = ({each.group for each in part.recordings} for part in both)
    assert (train, test) == ({"1", "3"}, {"2"})


def test_an_unknown_set_is_refused():
    assert [one.name for one in chosen_sets("ecg,pump")] == ["ecg", "pump"]
    with pytest.raises(click.UsageError, match="'letter'"):
        chosen_sets("letter")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "n_test", "majority"),
    [("cgestures", 135, 67.4), ("exercises", 381, 44.6), ("pump", 1775, 22.1)],
)
def test_test_windows_are_those_of_the_data_folder(shared_data, name, n_test, majority):
    one = find_set(name)
    if not (shared_data / "streams").is_dir():
        pytest.skip("needs ../shared/data/streams")
    whole = load(shared_data, one)
    columns = columns_of("sum", signals_of(None, whole.channels), whole.channels, one.windows)
    train, test = next(parts(one.splits[0], whole))
    found = feature_table(test, columns[:1], one.windows)
    assert len(found.label) == n_test
    others = 1 - np.bincount(found.label).max() / n_test
    assert 100 * others == pytest.approx(majority, abs=0.05)
    names = [{each.name for each in part.recordings} for part in (train, test)]
    assert not names[0] & names[1]
    assert folds_of(one.splits[0], whole).tolist().count(0) == len(test.recordings)
