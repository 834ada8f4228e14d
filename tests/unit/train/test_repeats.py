"""Several seeds: their progress, and their interruption."""

import signal
from dataclasses import replace

import pytest

from bncc.data.dataset import Dataset
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.interrupts import StopRequest
from bncc.train import effort_search
from bncc.train.repeats import train_repeats
from bncc.train.settings import TrainSettings

SETTINGS = TrainSettings(structure="naive", epochs=2, seed=5)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Return the bundled table of signal strengths."""
    return dataset_of(read_table(str(bundled_path("wifi"))))


def test_epochs_of_all_trainings_count_together(dataset: Dataset) -> None:
    told: list[float] = []

    def progress(share: float, words: str) -> None:
        told.append(share)

    found = train_repeats(dataset, SETTINGS, 3, progress=progress)
    assert told == pytest.approx([k / 12 for k in range(1, 13)])
    assert not found.is_short
    assert [result.model.training["seed"] for result in found.results] == [5, 6, 7]
    assert found.seconds == sum(result.seconds for result in found.results)
    assert found.errors("test") is None


@pytest.mark.parametrize(("at", "kept", "last"), [(2, 1, 2), (4, 1, 4), (5, 1, 6), (8, 2, 8)])
def test_what_was_asked_to_stop_begins_nothing_more(
    dataset: Dataset, at: int, kept: int, last: int
) -> None:
    """Two epochs in each of two descents make a training; a request in the last one waits."""
    stop, told = StopRequest(), []

    def progress(share: float, words: str) -> None:
        told.append(round(12 * share))
        if told[-1] == at:
            stop.signal = signal.SIGINT

    found = train_repeats(dataset, SETTINGS, 3, progress=progress, stop=stop)
    assert len(found.results) == kept
    assert max(told) <= last
    assert found.is_short
    assert found.first.is_interim == (at < 4)


@pytest.mark.parametrize(("share", "kept", "last"), [(0.2, 1, 1 / 3), (0.5, 1, 0.5), (0.9, 2, 0.9)])
def test_sums_that_were_done_stay_when_a_later_one_is_stopped(
    dataset: Dataset, share: float, kept: int, last: float
) -> None:
    """The second training is stopped at once; before the first is done there is nothing to save."""
    stop, told = StopRequest(), []

    def progress(done: float, words: str) -> None:
        told.append(done)
        assert stop.is_armed == (told[-1] > 1 / 3)
        if told[-1] >= share:
            stop.signal = signal.SIGINT

    two = {"tables": "2", "rows": "4"}
    settings = TrainSettings(structure="tables", structure_options=two, epochs=2)
    found = train_repeats(dataset, settings, 3, progress=progress, stop=stop)
    assert len(found.results) == kept
    assert not found.first.is_interim
    assert found.is_short
    assert told[-1] == pytest.approx(last, abs=0.04)


def test_a_later_search_of_settings_ends_at_once(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effort_search, "MOST_SETTINGS", 6)
    stop, told = StopRequest(), []

    def progress(share: float, words: str) -> None:
        told.append(words)
        if share > 0.5:
            stop.signal = signal.SIGINT

    thorough = replace(SETTINGS, effort="thorough")
    found = train_repeats(dataset, thorough, 2, progress=progress, stop=stop)
    assert len(found.results) == 1
    assert found.is_short
    assert [words.startswith("setting") for words in told[-2:]] == [False, True]
