"""Data sets of S2's study, and the parts that it uses."""

import pytest

from bncc.errors import DataError
from bncc.papers.s2_data import CLASSES, IDENTIFIERS, LEFT_OUT, QUICK, read_set, set_files
from tests.uci import write_set


def test_all_arff_files_of_a_folder_are_used_but_those_left_out(tmp_path):
    for name in ("zoo", "mine", "trains", "spect.test"):
        write_set(tmp_path / f"{name}.arff")
    (tmp_path / "notes.txt").write_text("")
    assert set_files(tmp_path) == {name: tmp_path / f"{name}.arff" for name in ("mine", "zoo")}
    assert list(set_files(tmp_path, quick=True)) == ["zoo"]


def test_a_folder_of_collections_is_entered(tmp_path):
    (tmp_path / "uci").mkdir()
    write_set(tmp_path / "uci" / "iris.arff")
    assert set_files(tmp_path) == {"iris": tmp_path / "uci" / "iris.arff"}


def test_a_folder_without_sets_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(DataError, match=r"holds no ARFF files; name the folder .* --data"):
            set_files(folder)
    write_set(tmp_path / "mine.arff")
    with pytest.raises(DataError, match="quick study"):
        set_files(tmp_path, quick=True)


def test_columns_that_name_rows_are_dropped(tmp_path):
    write_set(tmp_path / "zoo.arff", name_column="animal")
    assert read_set(tmp_path / "zoo.arff", "zoo").table.names == ("number", "color", "shape")
    write_set(tmp_path / "other.arff", name_column="animal")
    kept = read_set(tmp_path / "other.arff", "other")
    assert kept.table.names == ("animal", "number", "color", "shape")
    assert (kept.class_name, kept.classes) == ("class", ("no", "yes"))


def test_a_set_that_lacks_a_column_named_here_is_refused(tmp_path):
    write_set(tmp_path / "zoo.arff")
    with pytest.raises(DataError, match="no column 'animal' to drop"):
        read_set(tmp_path / "zoo.arff", "zoo")


@pytest.mark.shared
def test_the_names_of_the_lists_are_those_of_files_and_columns(shared_data):
    files = set_files(shared_data)
    assert len(files) == 58
    assert set(QUICK) | set(CLASSES) | set(IDENTIFIERS) <= set(files)
    folder = shared_data / "uci"
    assert all((folder / f"{name}.arff.gz").is_file() for name in LEFT_OUT)
    sizes = {}
    for name in {*CLASSES, *IDENTIFIERS}:
        dataset = read_set(files[name], name)
        sizes[name] = (dataset.n_rows, len(dataset.table.columns), len(dataset.classes))
        assert dataset.table.names.count(dataset.class_name) == 0
    assert sizes["splice"] == (3190, 60, 3)
    assert sizes["spectrometer"] == (531, 101, 48)
    assert sizes["bridges.version1"] == (105, 11, 6), "two rows have no class"
    assert sizes["wine"] == (178, 13, 3)
