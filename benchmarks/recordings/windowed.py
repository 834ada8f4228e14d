"""Windows of a set as baselines read them: integer features, float features, samples."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.recordings import rich_features
from benchmarks.recordings.sets import StreamSet
from bncc._types import FloatArray, IntArray
from bncc.recordings.recording import Recordings
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table

BLOCK = 2000
"""Windows whose rich features are in a file; an interrupted run resumes with the next block."""


@dataclass(frozen=True, eq=False)
class Windowed:
    """All windows of a set with one label, recording by recording."""

    integers: IntArray  # (n, n_features) int64: bncc's default features of all signals
    samples: IntArray  # (n, length, n_channels) int32
    y: IntArray  # (n,) int64: index of the label
    recording: IntArray  # (n,) int64: index of the recording
    labels: tuple[str, ...]


def windowed(one: StreamSet, recordings: Recordings) -> Windowed:
    """Return the windows of all recordings of a set."""
    signals = signals_of(one.signals, recordings.channels)
    columns = columns_of(None, signals, recordings.channels, one.windows)
    table = feature_table(recordings, columns, one.windows)
    places = zip(table.recording.tolist(), table.start.tolist(), strict=True)
    samples = [recordings.recordings[k].samples[at : at + one.window] for k, at in places]
    return Windowed(
        table.values, np.stack(samples), table.label, table.recording, recordings.labels
    )


def rich(folder: Path, samples: IntArray, rate: int, python: str) -> FloatArray:
    """
    Return the features of `benchmarks.recordings.rich_features`; blocks of earlier runs are read.

    Shapes: `samples` (n, length, n_channels) int; the result (n, n_features) float32. `python` is
    an interpreter with TSFEL.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for start in range(0, len(samples), BLOCK):
        path = folder / f"{start}.npy"
        if not path.exists():
            source, target = folder / "windows.npy", folder / "partial.npy"
            np.save(source, samples[start : start + BLOCK])
            script = str(Path(rich_features.__file__))
            words = [python, "-P", script, str(source), str(target), str(rate)]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            subprocess.run(words, check=True, env=environment)
            target.rename(path)
            source.unlink()
        found.append(np.load(path))
    return np.concatenate(found)
