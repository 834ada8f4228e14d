"""Lists of features by their errors on held-out groups."""

from collections.abc import Sequence

import numpy as np
import pytest

from bncc.errors import DataError
from bncc.recordings.recording import Recording, Recordings, unbroken
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of
from bncc.recordings.windows import Windows
from bncc.search import feature_choice
from bncc.search.feature_choice import LISTS, ListErrors, best_list, list_errors
from bncc.train.settings import TrainSettings
from tests.recorded import FORM, recordings


def errors_of(
    of: Recordings, windows: Windows, base: TrainSettings | None = None
) -> list[ListErrors]:
    def columns(features: str) -> Sequence[SignalFeature]:
        return columns_of(features, signals_of(None, "xy"), "xy", windows)

    return list_errors(of, columns, windows, base or TrainSettings(seed=0))


def test_every_list_is_judged_and_the_first_of_the_fewest_errors_is_best() -> None:
    found = errors_of(recordings(3, 200), Windows(32, 16))
    assert [one.features for one in found] == list(LISTS)
    lowest = min(one.error for one in found)
    assert best_list(found) is next(one for one in found if one.error == lowest)
    assert best_list(found[::-1]) is next(one for one in found[::-1] if one.error == lowest)


@pytest.mark.parametrize(
    "asked",
    [TrainSettings(parameters="ml"), TrainSettings(float_=True), TrainSettings(engine="torch")],
)
def test_what_is_asked_of_the_classifier_does_not_matter(
    asked: TrainSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_choice, "LISTS", ("sum,min",))
    of, windows = recordings(3, 100), Windows(32, 16)
    (plain,), (found,) = errors_of(of, windows), errors_of(of, windows, asked)
    assert found.error == plain.error


def test_windows_of_one_pane_have_no_list_of_panes() -> None:
    found = errors_of(recordings(3, 200), Windows(32, 32))
    assert [one.features for one in found] == [each for each in LISTS if "panes" not in each]


def test_order_within_a_window_needs_panes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both classes have the same values, a class in the reverse order."""
    monkeypatch.setattr(feature_choice, "LISTS", ("min,max,sum", "min,max,sum,panes"))
    found = errors_of(ramps(), Windows(16, 8))
    assert found[0].error > 0.3
    assert found[1].error == 0.0
    assert best_list(found) is found[1]


def ramps() -> Recordings:
    """Return recordings of one window each, of two classes for each person."""
    rng, found = np.random.default_rng(0), []
    for k in range(120):
        up = np.arange(16)[:, None] * 20 + rng.integers(0, 9, (16, 2))
        samples = up[::-1] if k % 2 else up
        y = np.full(16, k % 2)
        found.append(Recording(f"r{k}", f"p{k % 12 // 2}", samples, y, unbroken(16)))
    labels = ("falls", "rises")
    return Recordings(tuple(found), ("x", "y"), FORM, labels, None, "recording", "person", "state")


def test_one_group_is_not_enough() -> None:
    with pytest.raises(DataError, match="too few windows for a validation set"):
        errors_of(recordings(1, 200), Windows(32, 16))
