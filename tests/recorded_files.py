"""Recordings of two persons who are still, walk and run, and models of them with a front end."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from bncc.data.dataset import Dataset
from bncc.model.model import Model
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.read import Roles, read_recordings
from bncc.recordings.recording import sample_format
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table
from bncc.recordings.windows import Windows
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

STATES = ("run", "still", "walk")
HEADER = "time,x,y,state,person"


def rows(seed: int, n: int = 600) -> Iterator[str]:
    """Yield samples at 50 Hz, in milliseconds: states alternate every 100 samples."""
    rng = np.random.default_rng(seed)
    for k in range(n):
        state = STATES[k // 100 % 3]
        swing = {"still": 0, "walk": 300, "run": 900}[state] * (k // 5 % 2)
        x, y = rng.integers(-30, 31, 2)
        yield f"{20 * k},{swing + x},{y},{state},p{seed % 2}"


def write_recordings(folder: Path, n: int = 4) -> Path:
    """Write recordings into a folder, one per file."""
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(n):
        text = "\n".join([HEADER, *rows(k)])
        (folder / f"walk{k}.csv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def recorded_model(
    folder: Path, length: int = 20, hop: int = 10, *, form: str = "int16", **settings: object
) -> Model:
    """Train on recordings of `write_recordings`, with the front end of the features."""
    roles = Roles(
        sample_format(form), ("x", "y"), "state", groups="person", time="time", time_unit="ms"
    )
    recordings = read_recordings(folder, roles)
    signals = signals_of("x,y,jerk(x,y)", recordings.channels)
    windows = Windows(length, hop)
    columns = columns_of("sum,min,range,change,crossings", signals, recordings.channels, windows)
    front_end = FrontEnd(
        recordings.sample_format,
        recordings.channels,
        windows,
        tuple(columns),
        Fraction(50),
    )
    found = feature_table(recordings, columns, front_end.windows)
    dataset = Dataset(
        front_end.table(found.values), found.label, recordings.labels, recordings.label_column
    )
    options = {"structure": "naive", "parameters": "ml", **settings}
    model = train_model(dataset, TrainSettings(**options)).model  # type: ignore[arg-type]
    return replace(model, front_end=front_end)
