"""One process at a time on a study in a database: claims grow old."""

import os
from typing import Any

import pytest

from bncc.errors import StudyError
from bncc.search import lock
from bncc.search.lock import BEAT_EVERY, CLAIM, DEAD_AFTER, claimed


class Clock:
    """A study's attributes, and a clock that moves when somebody sleeps."""

    def __init__(self, **owner: Any) -> None:
        self.user_attrs: dict[str, Any] = {CLAIM: owner} if owner else {}
        self.time = 1000.0
        self.living = False

    def set_user_attr(self, key: str, value: object) -> None:
        self.user_attrs[key] = value

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        if self.living:
            self.user_attrs[CLAIM] = {**self.user_attrs[CLAIM], "beat": self.time}

    def claimed(self) -> Any:
        return claimed(self, "there", now=self.now, sleep=self.sleep)  # type: ignore[arg-type]


def elsewhere(beat: float, **more: Any) -> dict[str, Any]:
    return {"token": "other", "machine": "elsewhere", "pid": 1, "beat": beat, **more}


def test_a_claim_is_let_go_of() -> None:
    clock = Clock()
    with clock.claimed() as beat:
        owner = dict(clock.user_attrs[CLAIM])
        assert owner["pid"] == os.getpid()
        clock.time += BEAT_EVERY / 2
        beat()
        assert clock.user_attrs[CLAIM] == owner
        clock.time += BEAT_EVERY
        beat()
        assert clock.user_attrs[CLAIM]["beat"] > owner["beat"]
    assert clock.user_attrs[CLAIM] == {}


def test_a_claim_names_no_host() -> None:
    clock = Clock()
    with clock.claimed():
        assert os.uname().nodename not in str(clock.user_attrs)


def test_one_that_lives_elsewhere_is_noticed_by_its_signs() -> None:
    clock = Clock(**elsewhere(1000.0))
    clock.living = True
    with pytest.raises(StudyError, match="another bncc"), clock.claimed():
        pass


@pytest.mark.parametrize("beat", [1000.0 - DEAD_AFTER - 1, 990.0, 1000.0, 5000.0])
def test_one_that_gives_no_sign_is_dead_in_the_end(beat: float) -> None:
    clock = Clock(**elsewhere(beat))
    with clock.claimed():
        waited = clock.time - 1000
    # A clock ahead of ours does not extend the wait.
    assert waited == pytest.approx(max(0.0, min(beat, 1000) - 1000 + DEAD_AFTER), abs=2)


def test_a_dead_process_of_this_machine_is_noticed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(pid: int, signal: int) -> None:
        raise ProcessLookupError

    clock = Clock(**elsewhere(1000.0, machine=lock._machine()))
    with pytest.raises(StudyError), clock.claimed():
        pass
    monkeypatch.setattr(os, "kill", gone)
    with clock.claimed():
        assert clock.time - 1000 < 1


def test_one_that_was_taken_for_dead_notices_it() -> None:
    clock = Clock()
    with clock.claimed() as beat:
        clock.set_user_attr(CLAIM, elsewhere(clock.time))
        clock.time += BEAT_EVERY
        with pytest.raises(StudyError, match="another bncc"):
            beat()
    assert clock.user_attrs[CLAIM]["token"] == "other"
