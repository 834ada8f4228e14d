"""Both descents of a resumed training: repeated epochs, requests and reports."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.fixed_point import QFormat
from bncc.interrupts import StopRequest
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.checkpoint.folder import Checkpoint
from bncc.train.fit_network import fit_model
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

EPOCHS = 6
SETTINGS = TrainSettings(structure="naive", epochs=EPOCHS)
RNG = np.random.default_rng(0)
Y = np.arange(200) % 3
MISSING = np.zeros(200, dtype=np.bool_)
TABLE = Table(
    (
        Column("light", "integer", 4 * Y + RNG.integers(0, 6, 200), MISSING),
        Column("slope", "float", Y + RNG.normal(0.0, 1.0, 200), MISSING),
    )
)
DATA = Dataset(TABLE, Y, ("a", "b", "c"), "class")


def reports_of(checkpoint=None, stop_after=None):
    """Train, and return the reported epochs, the result included."""
    stop, told = StopRequest(), []

    def progress(share, words):
        told.append(pytest.approx(2 * EPOCHS * share))
        stop.signal = 2 if round(2 * EPOCHS * share) == stop_after else None

    result = train_model(DATA, SETTINGS, progress=progress, checkpoint=checkpoint, stop=stop)
    return told, result


@pytest.mark.parametrize("after", range(1, 2 * EPOCHS))
def test_no_epoch_is_repeated(tmp_path, after):
    told, interim = reports_of(Checkpoint(tmp_path), stop_after=after)
    more, result = reports_of(Checkpoint(tmp_path, resume=True))
    assert told + more == [*range(1, 2 * EPOCHS + 1)]
    assert (interim.is_interim, result.is_interim) == (True, False)
    assert (interim.epochs_done, result.epochs_done) == ((after, 2 * EPOCHS), None)
    assert result.notes == (f"training went on after {after} of {2 * EPOCHS} epochs",)
    whole = train_model(DATA, SETTINGS).model
    assert result.model.training == whole.training
    assert all(map(np.array_equal, result.model.tables, whole.tables))


def test_a_descent_that_goes_on_in_integers_keeps_their_format():
    moments, asked = [], []

    def choose(draft):
        asked.append(draft)
        return QFormat(2, 1)

    whole = fit_model(DATA, SETTINGS, choose, Callbacks(keep=moments.append, stop=ending(5)))
    asked.clear()
    resumed = fit_model(DATA, SETTINGS, choose, Callbacks(start=moments[-1], stop=ending(1)))
    assert asked == []
    assert resumed.q_format == whole.q_format == QFormat(2, 1)


def ending(after):
    """Return a request that comes with the epoch after so many."""

    class Request(StopRequest):
        epochs = 0

        @property
        def is_wanted(self):
            self.epochs += 1
            return self.epochs > after

    return Request()


def test_a_descent_that_ends_before_integers_is_asked_for_a_format():
    asked = []

    def choose(draft):
        asked.append(draft)
        return QFormat(2, 1)

    callbacks = Callbacks(stop=ending(1))
    assert fit_model(DATA, SETTINGS, choose, callbacks).q_format == QFormat(2, 1)
    assert (callbacks.stopped_after, len(asked)) == (2, 1)


def test_without_validation_rows_there_is_one_descent(tmp_path):
    settings = TrainSettings(structure="naive", epochs=EPOCHS, validation=0.0)
    stop = StopRequest()

    def progress(share, words):
        stop.signal = 2 if share == 0.5 else None

    place = Checkpoint(tmp_path)
    interim = train_model(DATA, settings, progress=progress, checkpoint=place, stop=stop)
    assert interim.epochs_done == (3, EPOCHS)
    record = interim.model.training
    assert (record["epochs_done"], record["epochs"], record["n_train"]) == (3, EPOCHS, 200)
    result = train_model(DATA, settings, checkpoint=Checkpoint(tmp_path, resume=True))
    assert result.notes == (f"training went on after 3 of {EPOCHS} epochs",)
    assert result.model.training == train_model(DATA, settings).model.training
