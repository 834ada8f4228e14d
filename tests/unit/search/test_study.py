"""A study: each trial is sampled once and its result kept, despite interruptions."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
import pytest

from bncc.errors import StudyError, TrialError
from bncc.search.fingerprint import study_facts
from bncc.search.pool import Outcome, Run, Task, outcome_of
from bncc.search.space import Space, space_of
from bncc.search.storage import opened, place_of
from bncc.search.study import POINT, Journal, journal, known_facts, read_study, work_on
from bncc.search.trial_result import Point
from tests.unit.search import stand_ins

SPACE = """
[structure]
choices = ["naive", "chow-liu", "forest"]
[[lambda]]
low = 0.1
high = 10.0
log = true
when = { structure = "naive" }
[[lambda]]
low = 1
high = 3
when = { structure = "chow-liu" }
[bits]
low = 1
high = 8
"""


class AtOnce:
    """Works on tasks in this process, the last one first."""

    def __init__(self, folder: Path, run: Run, n_slots: int = 3) -> None:
        self.n_slots, self._work, self._run = n_slots, stand_ins.workload(folder), run
        self.tasks: list[Task] = []
        self.submitted: list[int] = []

    def submit(self, task: Task) -> None:
        self.tasks.append(task)
        self.submitted.append(task.number)

    def collect(self, timeout: float) -> Sequence[Outcome]:
        return (outcome_of(self._work, self.tasks.pop(), self._run),)


@pytest.fixture
def facts(tmp_path: Path) -> dict[str, Any]:
    """Return the facts of a study that draws at random."""
    train = stand_ins.workload(tmp_path).train
    return study_facts(
        train, None, space(), data="d.csv", fold=None, seed=1, repeats=1, sampler="random",
        objectives=("error", "bits"), targets=(), toolchains={},
    )  # fmt: skip


def space() -> Space:
    return space_of(SPACE, "test")


@contextmanager
def going_on(tmp_path: Path, facts: Mapping[str, Any], name: str = "s.db") -> Any:
    with journal(place_of(str(tmp_path / name)), space(), facts) as book:
        yield book


def finish_one(book: Journal) -> None:
    finish(book, book.next_task())


def finish(book: Journal, task: Task) -> None:
    book.tell(Outcome(task.number, stand_ins.point(task.number, params=dict(task.params))))


def test_a_study_says_what_it_is_about(tmp_path: Path, facts: dict[str, Any]) -> None:
    with going_on(tmp_path, facts) as book:
        finish_one(book)
        book.tell(Outcome(book.next_task().number, None, "too many"))
        book.next_task()
    (study,) = read_study(str(tmp_path / "s.db"))
    assert (study.name, study.facts, study.failed) == ("s.db", facts, {1: "too many"})
    assert [point.number for point in study.points] == [0]
    assert known_facts(place_of(str(tmp_path / "s.db"))) == facts
    assert known_facts(place_of(str(tmp_path / "absent.db"))) is None
    with pytest.raises(StudyError, match=r"absent.db' does not exist"):
        read_study(str(tmp_path / "absent.db"))


@pytest.mark.no_cover
def test_before_its_first_trial_a_study_may_become_another(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    with going_on(tmp_path, facts):
        pass
    other = {**facts, "seed": 2, "objectives": ["error"]}
    with going_on(tmp_path, other) as book:
        finish_one(book)
    assert read_study(str(tmp_path / "s.db"))[0].facts == other
    with pytest.raises(StudyError, match="--seed is 2 there and 1 here"), going_on(tmp_path, facts):
        pass


def test_a_lost_trial_comes_first_and_with_its_values(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    with going_on(tmp_path, facts) as book:
        tasks = [book.next_task() for _ in range(4)]
        finish(book, tasks[2])
    with going_on(tmp_path, facts) as book:
        again = [book.next_task() for _ in range(4)]
    assert again[:3] == [tasks[0], tasks[1], tasks[3]]
    assert again[3].number == 4
    assert [sorted(task.params) for task in tasks] != [["bits", "lambda", "structure"]] * 4


def test_a_trial_that_was_half_drawn_is_drawn_to_its_end(
    tmp_path: Path, facts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with going_on(tmp_path, facts) as book, monkeypatch.context() as patched:
        patched.setattr(optuna.trial.Trial, "suggest_int", killed)
        with pytest.raises(Killed):
            book.next_task()
    with going_on(tmp_path, facts) as book, going_on(tmp_path, facts, "whole.db") as whole:
        assert book.next_task() == whole.next_task()
        assert book.next_task() == whole.next_task()


def test_what_was_found_before_a_kill_is_not_worked_on_again(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    with going_on(tmp_path, facts) as book:
        task = book.next_task()
    point = stand_ins.point(0, params=dict(task.params))
    place = place_of(str(tmp_path / "s.db"))
    with opened(place) as storage:
        (study,) = storage.get_all_studies()
        (trial,) = storage.get_all_trials(study._study_id)
        storage.set_trial_user_attr(trial._trial_id, POINT, point.to_json())
    with going_on(tmp_path, facts) as book:
        assert book.finished == {0: point}
        assert book.next_task().number == 1
    assert read_study(str(tmp_path / "s.db"))[0].points == (point,)


def test_a_file_appears_with_its_study_or_not_at_all(
    tmp_path: Path, facts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(optuna.Study, "set_user_attr", full)
        with pytest.raises(OSError, match="No space"), going_on(tmp_path, facts):
            pass
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".s.db.half").write_bytes(b"what a killed process has left")
    with going_on(tmp_path, facts) as book:
        assert book.next_task().number == 0
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


def test_a_point_of_another_version_is_a_sentence(tmp_path: Path, facts: dict[str, Any]) -> None:
    with going_on(tmp_path, facts) as book:
        finish_one(book)
    with opened(place_of(str(tmp_path / "s.db"))) as storage:
        from sqlalchemy import text

        with storage.engine.begin() as connection:
            connection.execute(text("UPDATE trial_user_attributes SET value_json = '{\"a\": 1}'"))
    with pytest.raises(StudyError, match="trial 0 of the study cannot be read"):
        read_study(str(tmp_path / "s.db"))


@pytest.mark.no_cover
def test_the_trials_do_not_depend_on_who_works_on_them(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    def found(name: str, n_slots: int) -> tuple[dict[int, Point], dict[int, str]]:
        with going_on(tmp_path, facts, name) as book:
            work_on(book, AtOnce(tmp_path, stand_ins.refused, n_slots), 9)
            return book.finished, book.failed

    one, five = found("one.db", 1), found("five.db", 5)
    assert one == five
    assert sorted(one[0]) == [0, 1, 3, 4, 6, 7, 9, 10, 12]
    assert sorted(one[1]) == [2, 5, 8, 11]


@pytest.mark.no_cover
def test_no_trial_is_begun_that_is_not_wanted(tmp_path: Path, facts: dict[str, Any]) -> None:
    with going_on(tmp_path, facts) as book:
        execution = AtOnce(tmp_path, stand_ins.plain, 3)
        work_on(book, execution, 2)
        assert execution.submitted == [0, 1]
        work_on(book, execution, 5, no_more=lambda: True)
        assert sorted(book.finished) == [0, 1]
        told: list[Outcome] = []
        work_on(book, execution, 9, tell=told.append, stop=lambda: len(told) == 2)
        assert len(book.finished) == 4
        assert len(execution.tasks) == 2  # lost, and worked on the next time
    with going_on(tmp_path, facts) as book:
        work_on(book, AtOnce(tmp_path, stand_ins.plain, 2), 9)
        assert sorted(book.finished) == list(range(9))


@pytest.mark.no_cover
def test_too_many_failures_end_it(tmp_path: Path, facts: dict[str, Any]) -> None:
    with going_on(tmp_path, facts) as book:
        execution = AtOnce(tmp_path, stand_ins.broken, 1)
        with pytest.raises(TrialError, match=r"^14 trials failed, the last one because"):
            work_on(book, execution, 13)
        assert execution.submitted == list(range(14))
