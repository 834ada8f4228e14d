"""Recordings from files: roles of columns, gaps, rates, labels, and errors."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bncc.errors import DataError, OptionError
from bncc.recordings.read import Roles, read_recordings
from bncc.recordings.recording import SampleFormat

ROLES = Roles(SampleFormat(-(2**15), 2**15 - 1))
Save = Callable[[str, str], Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return ``save(name, text)``: a file in a new folder."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def test_a_file_has_recordings_groups_and_labels(save: Save) -> None:
    text = "rec,x,who,y,label,note\na,1,7,-2,up,w\na,3,7,4,,w\nb,5,9,6,up,w\nb,8,9,6,down,w\n"
    notes: list[str] = []
    roles = replace(ROLES, recording="rec", groups="who", class_name="label")
    found = read_recordings(save("r.csv.gz", text), roles, notes.append)
    first, second = found.recordings
    assert (first.name, first.group, second.name, second.group) == ("a", "7", "b", "9")
    assert first.samples.tolist() == [[1, -2], [3, 4]]
    assert found.channels == ("x", "y")
    assert found.labels == ("down", "up")
    assert (first.labels.tolist(), second.labels.tolist()) == ([1, -1], [1, 0])
    assert first.segments == [(0, 2)]
    assert (found.rate, found.label_column, found.recording_column) == (None, "label", "rec")
    assert notes == ["columns without a role and without numbers are ignored: 'note'"]


def test_the_last_column_without_a_role_has_the_labels(save: Save) -> None:
    path = save("r.csv", "x,y,state,who,t\n1,2,on,p,0\n3,4,off,p,1\n")
    found = read_recordings(path, replace(ROLES, groups="who", time="t"))
    assert (found.label_column, found.channels) == ("state", ("x", "y"))
    assert found.recordings[0].name == "r"
    picked = read_recordings(path, replace(ROLES, groups="who", channels=("y",), time="t"))
    assert picked.channels == ("y",)


def test_a_folder_has_a_recording_per_file(save: Save, tmp_path: Path) -> None:
    save("all/b.csv", "x,label\n1,on\n")
    save("all/a.tsv", "x\tlabel\n2\toff\n3\ton\n")
    save("all/notes.md", "no table")
    save("all/.hidden.csv", "broken")
    found = read_recordings(tmp_path / "all", ROLES)
    assert [each.name for each in found.recordings] == ["a", "b"]
    assert [each.labels.tolist() for each in found.recordings] == [[0, 1], [1]]
    save("all/c.csv", "k,x,label\n5,1,on\n6,1,on\n")
    with pytest.raises(DataError, match="have different columns: recording 'c' has 'k', 'x', the"):
        read_recordings(tmp_path / "all", ROLES)
    save("parts/c.csv", "k,x,label\n5,1,on\n6,1,on\n")
    parts = read_recordings(tmp_path / "parts", replace(ROLES, recording="k"))
    assert [each.name for each in parts.recordings] == ["c/5", "c/6"]


def test_parquet_is_read_with_floats_that_are_whole(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "r.parquet"
    pd.DataFrame({"x": [1.0, -4.0], "label": ["a", "b"]}).to_parquet(path)
    assert read_recordings(path, ROLES).recordings[0].samples.tolist() == [[1], [-4]]


def test_samples_saturate(save: Save) -> None:
    notes: list[str] = []
    path = save("r.csv", "x,label\n-9,a\n300,a\n7,a\n")
    found = read_recordings(path, replace(ROLES, sample_format=SampleFormat(0, 255)), notes.append)
    assert found.recordings[0].samples.tolist() == [[0], [255], [7]]
    assert found.n_saturated == 2
    assert notes[0].startswith("2 samples are outside 0..255 and saturate")


def test_gaps_are_steps_off_the_period_by_more_than_half_of_it(save: Save) -> None:
    """Steps of 20 ms: 30 and 10 are none, 31, 9 and 0 are."""
    steps = [20, 30, 20, 10, 20, 31, 20, 20, 9, 20, 0, 20, 20, 20]
    times = np.cumsum([1000, *steps])
    rows = "".join(f"{t},{k},a\n" for k, t in enumerate(times))
    roles = replace(ROLES, time="t", time_unit="ms", rate=Fraction(50))
    found = read_recordings(save("r.csv", "t,x,label\n" + rows), roles)
    assert found.recordings[0].segments == [(0, 6), (6, 9), (9, 11), (11, 15)]


def test_the_rate_is_that_of_the_times(save: Save) -> None:
    """Whole milliseconds of 400 Hz are 2 and 3 in turn; a gap of a second does not count."""
    times = np.floor(np.arange(100) * 2.5) + 1000 * (np.arange(100) > 50)
    rows = "".join(f"{t:g},1,a\n" for t in times)
    path = save("r.csv", "t,x,label\n" + rows)
    found = read_recordings(path, replace(ROLES, time="t", time_unit="ms"))
    assert found.rate is not None
    assert abs(float(found.rate) - 400) < 4
    assert [b - a for a, b in found.recordings[0].segments] == [51, 49]
    with pytest.raises(DataError, match="--rate is 50 Hz, but the time steps are those of"):
        read_recordings(path, replace(ROLES, time="t", time_unit="ms", rate=Fraction(50)))


def test_labels_of_intervals(save: Save) -> None:
    rows = "".join(f"{k % 8},{k // 8},{k}\n" for k in range(16))
    path = save("r.csv", "t,rec,x\n" + rows)
    intervals = save("i.csv", "recording,start,end,label\n1,2,4,b\n0,0,8,a\n1,4,5,a\n")
    roles = replace(ROLES, recording="rec", intervals=str(intervals))
    found = read_recordings(path, replace(roles, channels=("x",)))
    assert (found.labels, found.label_column) == (("a", "b"), "label")
    first, second = (each.labels.tolist() for each in found.recordings)
    assert (first, second) == ([0] * 8, [-1, -1, 1, 1, 0, -1, -1, -1])
    timed = read_recordings(path, replace(roles, time="t", time_unit="ms"))
    assert [each.labels.tolist() for each in timed.recordings] == [first, second]
    assert timed.channels == ("x",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2,0,8,a", "row 2: there is no recording '2'"),
        ("0,5,5,a", "row 2: the interval does not end after its start"),
        ("0,3,9,b", "row 2: the interval overlaps with one before"),
        ("0,3,,b", "has no column 'end', or a row without it"),
        ("0,3,x,b", "column 'end' has text"),
    ],
)
def test_bad_intervals_are_refused(save: Save, row: str, message: str) -> None:
    path = save("r.csv", "rec,x\n0,1\n0,1\n0,1\n0,1\n0,1\n")
    intervals = save("i.csv", f"recording,start,end,label\n0,0,4,a\n{row}\n")
    roles = replace(ROLES, recording="rec", intervals=str(intervals))
    with pytest.raises(DataError) as caught:
        read_recordings(path, roles)
    assert message in str(caught.value)


HEAD = "rec,t,x,y,label\n"


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        ("a,0,1,2,u\n", {"channels": ("x", "z")}, "has no column 'z'; its columns are 'rec', 't'"),
        ("a,0,1,2,u\n", {"class_name": "z"}, "has no column 'z'; its other columns are"),
        ("a,0,1,2,u\n", {"recording": "z"}, "has no column 'z'"),
        ("a,0,1,2,u\na,0,one,2,u\n", {}, "channel 'x': row 2 contains 'one', which is no number"),
        ("a,0,one,2,u\n", {"channels": ("x",)}, "channel 'x': row 1 contains 'one'"),
        ("a,0,1,,u\n", {"channels": ("y",)}, "channel 'y': row 1 contains"),
        ("a,0,1,,u\na,1,1,2,u\n", {}, "channel 'y': row 1 has no sample; remove the row"),
        ("a,0,0.5,2,u\n", {}, "channel 'x': row 1 contains 0.5, but samples are integers; store"),
        ("a,0,1e12,2,u\n", {}, "channel 'x': a sample exceeds 32 bits"),
        ("a,0,1,2,u\na,0,1,2,u\na,x,1,2,u\n", {"time": "t"}, "time 't': row 3 has no number"),
        ("a,0,1,2,u\na,,1,2,u\n", {"time": "t"}, "time 't': row 2 has no number"),
        ("a,2,1,2,u\na,1,1,2,u\n", {"time": "t"}, "recording 'r' decreases after its sample 1"),
        ("a,1,1,2,u\na,1,1,2,u\n", {"time": "t"}, "no time step is positive"),
        ("a,0,1,2,u\nb,0,1,2,u\na,0,1,2,u\n", {"recording": "rec"}, "recording 'a' of "),
        (",0,1,2,u\na,0,1,2,u\n", {"recording": "rec"}, "has no recording in row 1"),
        ("a,0,1,2,u\na,0,1,3,u\n", {"groups": "y"}, "recording 'r' has no single group in column"),
        ("a,0,1,2,u\n", {"channels": ("rec", "t", "x", "y", "label")}, "no column left for labels"),
        ("a,0,1,2,u\n", {"groups": "t", "recording": "y", "time": "x"}, "has no channel"),
    ],
)  # fmt: skip
def test_bad_recordings_are_refused_in_a_sentence(
    save: Save, rows: str, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError) as caught:
        read_recordings(save("r.csv", HEAD + rows), replace(ROLES, **changes))
    assert message in str(caught.value)


def test_a_column_has_one_role(save: Save) -> None:
    path = save("r.csv", HEAD + "a,0,1,2,u\n")
    for changes in ({"channels": ("x", "x")}, {"time": "x", "class_name": "x"},
                    {"time": "t", "recording": "t"}):  # fmt: skip
        with pytest.raises(OptionError, match="has two roles; name each column once"):
            read_recordings(path, replace(ROLES, **changes))
    both = read_recordings(path, replace(ROLES, recording="rec", groups="rec", channels=("x",)))
    assert (both.recordings[0].name, both.recordings[0].group) == ("a", "a")


def test_folders_without_recordings_are_refused(save: Save, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="has no file of recordings"):
        read_recordings(tmp_path / "none", ROLES)
    save("two/a.csv", "x,label\n1,on\n")
    save("two/a.tsv", "x\tlabel\n1\ton\n")
    with pytest.raises(DataError, match="has two files called 'a'; rename one"):
        read_recordings(tmp_path / "two", ROLES)
    with pytest.raises(DataError, match="has no named columns; pass recordings as CSV"):
        read_recordings(tmp_path / "r.npz", ROLES)
    with pytest.raises(DataError, match="does not exist"):
        read_recordings(tmp_path / "absent.csv", ROLES)
