"""Programs on recordings: the decisions that count, and the rows of the table."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recordings import programs
from benchmarks.recordings.figures import Result, result_of
from benchmarks.recordings.programs import (
    COSTS,
    OURS,
    PAGE,
    Known,
    Programs,
    Said,
    decisions,
    programs_of,
    tables,
)
from benchmarks.recordings.sets import Split, StreamSet
from benchmarks.shared.markdown import held, table
from benchmarks.shared.memory import commit
from bncc.model.filter import MAX_SWITCH, Filter
from bncc.program_pricing import ProgramCost
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.table import narrowed
from bncc.resources import Budget
from bncc.search.front_end_choice import ProgramLimits
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.recorded import recordings, windows_table

SPLIT = Split("persons", lambda recording, position: position % 2)
SET = StreamSet("walks", (), ("x", "y"), 50, 32, 16, (SPLIT,))
LIMITS = ProgramLimits(Budget("cortex-m0", 4096))


def test_decisions_are_those_on_the_features_of_the_model() -> None:
    table = narrowed(windows_table(recordings(3)))
    settings = TrainSettings(structure="naive", parameters="ml")
    result = train_model(dataset_of_windows(table), settings).with_front_end(front_end_of(table))
    test = recordings(2)
    said = decisions(result.model, SET, test)
    assert len(said.labels) == len(said.decisions) == len(windows_table(test).values)
    assert np.mean(said.labels != said.decisions) < 0.1
    assert {*said.decisions.tolist()} == {0, 1, 2}
    assert np.array_equal(said.alone, said.decisions)
    # A high price delays each switch.
    filtered = decisions(replace(result.model, filter=Filter(MAX_SWITCH)), SET, test)
    assert np.array_equal(filtered.alone, said.alone)
    first, last = (np.flatnonzero(np.diff(of.decisions))[0] for of in (said, filtered))
    assert first < last


def result(model: str, misses: int) -> Result:
    """Return a result on ten windows of two labels."""
    y = np.arange(10) % 2
    said = np.where(np.arange(10) < misses, 1 - y, y)
    return result_of(("walks", "persons", model), ("a", "b"), y, said, dict.fromkeys(COSTS, 7.0))


def known(misses: int, commit: str = "4f958142") -> Known:
    """Return a line of the file."""
    return Known(commit, asdict(result("bncc", misses)))


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Return no programs yet, and one baseline."""
    monkeypatch.setattr(programs, "read", lambda path: [result("forest", 3)])
    return Programs(tmp_path / "programs.jsonl", LIMITS)


SEVENS = ["7"] * len(COSTS)
BASELINES = ["30.00", "-", "-"]


def test_a_row_has_the_mean_error_of_all_seeds_and_the_baselines(
    found: Programs, tmp_path: Path
) -> None:
    assert found.rows([SET], 2, {}) == [["walks", "persons", "10", *["-"] * len(OURS), *BASELINES]]
    found.put(SET, SPLIT.name, 0, known(1))
    found.put(SET, SPLIT.name, 1, known(2, "a45cfe5f"))
    assert found.rows([SET], 2, {}) == [
        ["walks", "persons", "10", "2", "4f958142, a45cfe5f", "15.00", "0.849", *SEVENS, *BASELINES]
    ]
    # Other limits are other programs.
    other = ProgramLimits(Budget("cortex-m0", 8192))
    assert Programs(tmp_path / "programs.jsonl", other).rows([SET], 2, {})[0][3] == "-"


def test_a_row_of_the_page_stays_until_all_its_seeds_are_known(found: Programs) -> None:
    cells = ["5", "before 9be339d0", "6.01", "0.939", *SEVENS]
    head = ["set", "split", "windows", *OURS, "forest error"]
    rows = [["walks", "persons", "10", *cells, "9.99"], ["runs", "x", "1", *["-"] * len(OURS), "-"]]
    page = programs_of(table(head, rows))
    assert page == {("walks", "persons"): cells}
    found.put(SET, SPLIT.name, 0, known(1))
    assert found.rows([SET], 2, page) == [["walks", "persons", "10", *cells, *BASELINES]]
    found.put(SET, SPLIT.name, 1, known(1))
    assert found.rows([SET], 2, page)[0][3:6] == ["2", "4f958142", "10.00"]


def test_a_set_of_rare_labels_has_a_table_of_recalls(
    found: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs.baselines, "RECALLS", ("walks",))
    assert "| bncc |" not in tables(found, [SET], 1, {})["recalls-walks"]
    found.put(SET, SPLIT.name, 0, known(1))
    avr = Programs(tmp_path / "programs.jsonl", ProgramLimits(Budget("avr", 4096)))
    assert list(tables(avr, [SET], 1, {})) == ["programs-avr"]
    text = tables(found, [SET], 1, {})["recalls-walks"]
    assert "| bncc | persons | 80.0 | 100.0 |" in text
    assert "| forest | persons | 60.0 | 80.0 |" in text


def test_programs_of_chosen_features_have_a_table_with_the_splits_that_are_known(
    found: Programs, tmp_path: Path
) -> None:
    found.put(SET, SPLIT.name, 0, known(1))
    chosen = Programs(tmp_path / "programs.jsonl", LIMITS, kind="auto")
    assert chosen.rows([SET], 1, {}) == []
    chosen.put(SET, SPLIT.name, 0, known(2))
    assert [row[5] for of in (found, chosen) for row in of.rows([SET], 1, {})] == ["10.00", "20.00"]
    assert list(tables(chosen, [SET], 1, {})) == ["programs-cortex-m0-auto"]


def test_programs_with_a_filter_are_compared_with_votes(
    found: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "read", lambda path: [result("voting forest", 3)])
    filtered = Programs(tmp_path / "programs.jsonl", LIMITS, kind="filter")
    one = known(1)
    costs = {**one.result["costs"], programs.ALONE: 25.0}
    filtered.put(SET, SPLIT.name, 0, Known(one.commit, {**one.result, "costs": costs}))
    text = tables(filtered, [SET], 1, {})["programs-cortex-m0-filter"]
    assert "| alone | rich forest error | voting forest error |" in text
    assert text.strip().endswith("| 25.00 | - | 30.00 |")
    assert programs_of(text, filtered.columns)[("walks", "persons")][-1] == "25.00"
    assert found.known(SET, SPLIT.name, 0) is None


def test_only_what_is_unknown_is_measured_or_all_of_it_again(
    found: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost, searched = ProgramCost(7, 7, 7, "measured", 7.0, 7, "instructions"), []

    def program_of(one: StreamSet, *rest: object) -> tuple[None, ProgramCost]:
        searched.append(one.name)
        return None, cost

    monkeypatch.setattr(programs, "load", lambda data, one: recordings(2))
    monkeypatch.setattr(programs, "program_of", program_of)
    monkeypatch.setattr(programs, "decisions", lambda *rest: Said(*[np.arange(3)] * 3))
    for again, n in ((False, 2), (False, 2), (True, 4)):
        found.measure(Path(), SET, 0, again=again)
        assert len(searched) == n
    kept = found.known(SET, SPLIT.name, 0)
    assert kept is not None
    assert kept.commit == commit()
    assert kept.result["costs"] == dict.fromkeys(COSTS, 7)


def test_the_page_has_a_place_for_the_kept_programs() -> None:
    text = PAGE.read_text("utf-8")
    assert programs_of(held(text, "programs-avr"))[("hapt", "9 persons")][0] == "5"
    assert len(programs_of(held(text, "programs-cortex-m0"))) >= 5
