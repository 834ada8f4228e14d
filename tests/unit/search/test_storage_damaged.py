"""A study that was tampered with, cut off or filled a disk ends in one sentence."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bncc.errors import StudyError
from bncc.search.fingerprint import study_facts
from bncc.search.pool import Outcome
from bncc.search.space import space_of
from bncc.search.storage import opened_half, place_of
from bncc.search.study import journal, known_facts, read_study
from bncc.search.trial_result import Point
from tests.unit.search import stand_ins

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a study with a finished trial."""
    space = space_of("[bits]\nvalue = 3\n", "test")
    facts = study_facts(
        stand_ins.workload(tmp_path).train, None, space, data="d.csv", fold=None, seed=1,
        repeats=1, sampler="random", objectives=("error", "bits"), targets=(), toolchains={},
    )  # fmt: skip
    path = tmp_path / "s.db"
    with journal(place_of(str(path)), space, facts) as book:
        task = book.next_task()
        book.tell(Outcome(task.number, stand_ins.point(task.number, params=dict(task.params))))
    assert len(read_study(str(path))[0].points) == 1
    return path


def rewrite(file: Path, table: str, text: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"UPDATE {table} SET value_json = ?", (text,))
    connection.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["validation"].update(errors=[]),
        lambda p: p["validation"].update(errors=[float("nan")]),
        lambda p: p["validation"].update(errors=[1.5]),
        lambda p: p["validation"].update(n=0),
        lambda p: p.update(test={"errors": [-0.1], "n": 3}),
        lambda p: p.update(bits="many"),
        lambda p: p.update(entries=-1),
        lambda p: p.update(seconds=float("inf")),
        lambda p: p.update(command=3),
        lambda p: p.update(parents=[[1]]),
        lambda p: p.update(params={"bits": {}}),
        lambda p: p.update(costs={"avr": cost(flash=float("inf"))}),
        lambda p: p.update(costs={"avr": cost(mean=float("nan"))}),
        lambda p: p.update(costs={"avr": cost(unit="hours")}),
    ],
)
def test_a_trial_of_impossible_figures_is_refused(change: Change) -> None:
    facts = json.loads(json.dumps(stand_ins.point(0).to_json()))
    assert Point.from_json(facts).number == 0
    change(facts)
    with pytest.raises((KeyError, TypeError, ValueError)):
        Point.from_json(facts)


def cost(**more: object) -> dict[str, object]:
    fields = {"flash": 1, "ram": 0, "stack": 4, "unit": "cycles", "mean": 2.0, "most": 3}
    return fields | more


def test_a_trial_that_was_overwritten_is_named(file: Path) -> None:
    rewrite(file, "trial_user_attributes", json.dumps({"validation": 1}))
    with pytest.raises(StudyError, match="trial 0 of the study cannot be read"):
        read_study(str(file))


DEEP = "[" * 100_000


@pytest.mark.parametrize("text", ["{", "[1]", "{}", '{"n_rows": "many"}', DEEP], ids=len)
def test_a_study_that_was_overwritten_is_damaged(file: Path, text: str) -> None:
    rewrite(file, "study_user_attributes", text)
    for read in (read_study, lambda said: known_facts(place_of(said))):
        with pytest.raises(StudyError, match="s\\.db' is corrupt; restore a copy of it, or"):
            read(str(file))


@pytest.mark.parametrize("table", ["trial_user_attributes", "trial_system_attributes"])
def test_json_that_is_nested_deeply_is_damage(file: Path, table: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            f"INSERT OR REPLACE INTO {table} (trial_id, key, value_json) VALUES (1, 'k', ?)",
            (DEEP,),
        )
    connection.close()
    with pytest.raises(StudyError, match="s\\.db' is corrupt; restore a copy of it, or"):
        read_study(str(file))


@pytest.mark.parametrize("size", [100, 5000, 30_000])
def test_a_study_that_was_cut_off_is_damaged(file: Path, size: int) -> None:
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(StudyError, match="is corrupt; restore a copy of it, or name another"):
        read_study(str(file))


def test_a_disk_that_is_full_ends_in_a_sentence(tmp_path: Path) -> None:
    def fill() -> None:
        half = opened_half(tmp_path / "s.db")
        with half as storage, storage.engine.connect() as connection:
            # As on a full disk, the file may not grow.
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
            connection.exec_driver_sql("CREATE TABLE more (x)")

    with pytest.raises(StudyError, match=r"s\.db' cannot be used \(database or disk is full\)"):
        fill()
    assert list(tmp_path.iterdir()) == []
