"""A study: trials that are sampled, run and finished, in a store that outlives the process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bncc.errors import StudyError, TrialError
from bncc.locks import file_claimed
from bncc.search.fingerprint import Facts, check_same, checked_facts
from bncc.search.lock import claimed
from bncc.search.objective import values_of
from bncc.search.pool import PATIENCE, Execution, Outcome, Task
from bncc.search.space import Domain, Space
from bncc.search.storage import DEFAULT_NAME, Place, no_study, opened, opened_half, place_of, quiet
from bncc.search.trial_result import Choice, Point, Study

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study import Study as OptunaStudy
    from optuna.trial import FrozenTrial

FACTS = "bncc"
"""Attribute of an optuna study with its facts."""
POINT, REASON = "point", "reason"
"""Attributes of an optuna trial: its result, or the reason of its failure."""
MOST_FAILED = 10
"""Limit on failed trials, or the requested number of trials if that is larger."""


def read_study(text: str) -> tuple[Study, ...]:
    """Read the results, whether or not a sweep is running."""
    from optuna.trial import TrialState

    place = place_of(text)
    found = []
    with opened(place) as storage:
        for frozen in storage.get_all_studies():
            if FACTS not in frozen.user_attrs or place.name not in (None, frozen.study_name):
                continue
            trials = storage.get_all_trials(frozen._study_id)
            done = [trial for trial in trials if trial.state == TrialState.COMPLETE]
            failed = [trial for trial in trials if trial.state == TrialState.FAIL]
            name = place.title if place.path is not None else frozen.study_name
            found.append(
                Study(
                    name,
                    checked_facts(frozen.user_attrs[FACTS], place.said),
                    tuple(_point(trial) for trial in sorted(done, key=lambda t: t.number)),
                    {trial.number: trial.user_attrs.get(REASON, "") for trial in failed},
                )
            )
    if not found:
        raise StudyError(no_study(place.said))
    return tuple(sorted(found, key=lambda study: study.name))


def known_facts(place: Place) -> Facts | None:
    """Return the facts of a study."""
    if place.path is not None and not place.path.exists():
        return None
    with opened(place, new=place.path is None) as storage:
        facts = _facts(storage, place.name or DEFAULT_NAME)
    if facts is None and place.path is not None:
        raise StudyError(no_study(place.said))
    return None if facts is None else checked_facts(facts, place.said)


class Journal:
    """A study that only this process works on."""

    def __init__(
        self, study: "OptunaStudy", space: Space, facts: Facts, beat: Callable[[], None]
    ) -> None:
        self._study, self._space, self._facts, self.beat = study, space, facts, beat
        self.finished: dict[int, Point] = {}
        self.failed: dict[int, str] = {}
        self._lost: list[int] = []
        self._ids: dict[int, int] = {}
        self._take_stock()

    def next_task(self) -> Task:
        """Return a trial to run: an interrupted one, else a new one."""
        from optuna.trial import Trial

        from bncc.search.sampler import sampler_of, suggested

        number = self._lost[0] if self._lost else max(self._ids, default=-1) + 1
        self._study.sampler = sampler_of(self._facts["sampler"], self._facts["seed"], number)
        with quiet():
            if self._lost:
                trial = Trial(self._study, self._ids[self._lost.pop(0)])
            else:
                trial = self._study.ask()
                self._ids[trial.number] = trial._trial_id

            def ask(name: str, domain: Domain) -> Choice:
                return suggested(trial, _label(self._space, name, domain), domain)

            return Task(trial.number, self._space.draw(ask))

    def tell(self, outcome: Outcome) -> None:
        """Store the outcome of a trial."""
        from optuna.trial import TrialState

        storage, trial_id = self._study._storage, self._ids[outcome.number]
        if outcome.result is None:
            self.failed[outcome.number] = outcome.reason
            storage.set_trial_user_attr(trial_id, REASON, outcome.reason)
            self._study.tell(outcome.number, state=TrialState.FAIL)
            return
        storage.set_trial_user_attr(trial_id, POINT, outcome.result.to_json())
        self._finish(outcome.result)

    def _finish(self, point: Point) -> None:
        values = values_of(point, self._facts["objectives"], self._facts["targets"])
        with quiet():
            self._study.tell(point.number, values)
        self.finished[point.number] = point

    def _take_stock(self) -> None:
        """Read the trials, and finish those with results that a killed process left."""
        from optuna.trial import TrialState

        for trial in sorted(self._study.get_trials(deepcopy=False), key=lambda t: t.number):
            self._ids[trial.number] = trial._trial_id
            if trial.state == TrialState.FAIL:
                self.failed[trial.number] = trial.user_attrs.get(REASON, "")
            elif trial.state == TrialState.COMPLETE:
                self.finished[trial.number] = _point(trial)
            elif POINT in trial.user_attrs:
                self._finish(_point(trial))
            else:
                self._lost.append(trial.number)


@contextmanager
def journal(place: Place, space: Space, facts: Facts) -> Iterator[Journal]:
    """Create or resume a study, and lock it against other processes."""
    name = place.name or DEFAULT_NAME
    if place.path is None:
        with opened(place, new=True) as storage:
            study = _begun(storage, name, facts)
            with claimed(study, place.said) as beat:
                yield _checked(study, space, facts, place.said, beat)
        return
    with file_claimed(place.path):
        if not place.path.exists() or _is_unused(place, name):
            with opened_half(place.path) as storage:
                _begun(storage, name, facts)
        with opened(place) as storage:
            if _facts(storage, name) is None:
                raise StudyError(no_study(place.said))
            yield _checked(_begun(storage, name, facts), space, facts, place.said, lambda: None)


def work_on(
    journal: Journal,
    execution: Execution,
    n_trials: int,
    *,
    stop: Callable[[], bool] = lambda: False,
    no_more: Callable[[], bool] = lambda: False,
    tell: Callable[[Outcome], None] = lambda outcome: None,
) -> None:
    """
    Run a study until it has the requested number of finished trials.

    Trials left by a killed process come first. A new one is started only if all running ones would
    not be enough: so the trials do not depend on the workers, or on their order.
    """
    n_running = n_failed = 0
    while not stop():
        journal.beat()
        while (
            n_running < execution.n_slots
            and len(journal.finished) + n_running < n_trials
            and not no_more()
        ):
            execution.submit(journal.next_task())
            n_running += 1
        if n_running == 0:
            return
        for outcome in execution.collect(PATIENCE):
            n_running -= 1
            n_failed += outcome.result is None
            journal.tell(outcome)
            tell(outcome)
        if n_failed > max(MOST_FAILED, n_trials):
            reason = journal.failed[max(journal.failed)].rstrip(".")
            raise TrialError(
                f"{n_failed} trials failed, the last one because {reason}; fix the cause, or "
                "name another --space"
            )


def _checked(
    study: "OptunaStudy", space: Space, facts: Facts, said: str, beat: Callable[[], None]
) -> Journal:
    theirs = checked_facts(study.user_attrs[FACTS], said)
    check_same(facts, theirs, said)
    return Journal(study, space, theirs, beat)


def _begun(storage: "RDBStorage", name: str, facts: Facts) -> "OptunaStudy":
    """Return the study of a name, created if absent; one without facts was never started."""
    import optuna

    if any(study.study_name == name for study in storage.get_all_studies()):
        study = optuna.load_study(study_name=name, storage=storage)
        if FACTS in study.user_attrs:
            return study
        if study.get_trials(deepcopy=False):
            raise StudyError(f"the database has a study '{name}' of another program; add #NAME")
        optuna.delete_study(study_name=name, storage=storage)
    minimize = optuna.study.StudyDirection.MINIMIZE
    study = optuna.create_study(
        storage=storage, study_name=name, directions=[minimize] * len(facts["objectives"])
    )
    study.set_user_attr(FACTS, dict(facts))
    return study


def _is_unused(place: Place, name: str) -> bool:
    """Return whether a study has no trial yet, so that its options may still change."""
    with opened(place) as storage:
        for study in storage.get_all_studies():
            if study.study_name == name and FACTS in study.user_attrs:
                return storage.get_n_trials(study._study_id) == 0
    return False


def _facts(storage: "RDBStorage", name: str) -> Facts | None:
    for study in storage.get_all_studies():
        if study.study_name == name:
            facts: Facts | None = study.user_attrs.get(FACTS)
            return facts
    return None


def _point(trial: "FrozenTrial") -> Point:
    try:
        return Point.from_json(trial.user_attrs[POINT])
    except (KeyError, TypeError, ValueError) as error:
        raise StudyError(
            f"trial {trial.number} of the study cannot be read, as another version of bncc wrote "
            "it; name another --study"
        ) from error


def _label(space: Space, name: str, domain: Domain) -> str:
    """Return the name of an option for optuna, which requires one domain per name."""
    domains = list(dict.fromkeys(case.domain for case in space.options[name]))
    return name if len(domains) == 1 else f"{name} {domains.index(domain) + 1}"
