"""Every available classification set, by the command line alone; the table is docs/datasets.md."""

from pathlib import Path

import pytest

from benchmarks.accuracy.all_datasets import STRUCTURES, Set, measure, page, run, sets_of, table_of

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SETS = tuple(sets_of(SHARED)) if (SHARED / "manifest.csv").exists() else ()


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.cc
@pytest.mark.parametrize("one", SETS, ids=lambda one: str(one.file))
def test_a_set_is_learned_emitted_and_verified(one: Set, shared_data: Path, tmp_path: Path) -> None:
    row = measure(shared_data, one, tmp_path)
    assert row["said"] == ""
    assert row["verified"] == dict.fromkeys(STRUCTURES, True)


@pytest.mark.shared
def test_the_manifest_lists_both_collections(shared_data: Path) -> None:
    files = [one.file for one in sets_of(shared_data)]
    assert "raw/letter.csv.gz" in files
    assert "uci/zoo.arff.gz" in files
    assert not any("groups" in file or file.startswith("paper") for file in files)


@pytest.mark.shared
@pytest.mark.cc
def test_the_benchmark_goes_on_where_it_stopped(shared_data: Path, tmp_path: Path) -> None:
    (row,) = run(shared_data, tmp_path, 1, only="shuttle")
    assert row["said"] == ""
    begun = (tmp_path / "results.jsonl").read_text()
    assert run(shared_data, tmp_path, 1, only="shuttle") == [row]
    assert (tmp_path / "results.jsonl").read_text() == begun
    assert "| both |" in table_of([row])
    assert "1 of 1 sets" in page([row])
