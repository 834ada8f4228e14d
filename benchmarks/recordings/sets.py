"""
Recordings of sensors in ``streams`` of the shared data, with windows and splits.

    python -m benchmarks.recordings.sets --data ../shared/data -o parts

Writes the training part and the test part of each split as CSV files, which ``bncc train`` reads.
A split is by person, machine or recording, never by windows. Windows are those of
`bncc.recordings.table.feature_table`: they start at multiples of the hop, and all samples have one
label. Labels that a set leaves out, such as transitions, become samples without a label.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import click
import numpy as np
import pandas as pd

from bncc._types import BoolArray, IntArray
from bncc.recordings.read import RECORDING, Roles, read_recordings
from bncc.recordings.recording import Recording, Recordings, sample_format, unbroken
from bncc.recordings.windows import Windows, windows_of

TESTED = 0
"""Fold of the test part of a split with one test part."""
TRAINED = -1
"""Fold of recordings that are in no test part."""
GROUP = "group"
LABEL = "label"
N_FOLDS = 5
HAPT_TESTED = {"2", "4", "9", "10", "12", "13", "18", "20", "24"}
"""Test persons of the authors of the set."""
UWAVE_TESTED = {"6", "7", "8"}


@dataclass(frozen=True)
class Split:
    """Test parts of a set, and the groups that a validation set keeps together."""

    name: str
    # A recording, as its file has it, and its position to the fold that tests it, or `TRAINED`
    fold_of: Callable[[Recording, int], int]
    group_of: Callable[[Recording], str] = lambda recording: recording.group or recording.name


@dataclass(frozen=True)
class StreamSet:
    """A set of recordings with its windows."""

    name: str
    files: tuple[str, ...]  # In ``streams``, without their suffix
    channels: tuple[str, ...]
    rate: int  # Hz
    window: int  # Samples
    hop: int  # Samples
    splits: tuple[Split, ...]
    ignored: tuple[str, ...] = ()  # Labels left out
    jerks: tuple[tuple[str, ...], ...] = ()  # Axes of each sensor
    groups: str = "subject"  # Column of persons or machines
    sample_type: str = "int16"
    held: bool = False  # True if a recording is one window, held at its last sample or cut

    @property
    def windows(self) -> Windows:
        """Windows in samples."""
        return windows_of(self.window, self.hop)

    @property
    def signals(self) -> str:
        """The channels, and the jerk of each sensor, as ``bncc features --signals`` takes them."""
        return ",".join([*self.channels, *(f"jerk({','.join(axes)})" for axes in self.jerks)])


def _tests(is_tested: Callable[[Recording], bool]) -> Callable[[Recording, int], int]:
    return lambda recording, position: TESTED if is_tested(recording) else TRAINED


def _every_second(recording: Recording, position: int) -> int:
    return TESTED if position % 2 else TRAINED


def _load_of(recording: Recording) -> str:
    """Return the load in horse powers; each quarter of the normal recording is given one."""
    name = recording.name
    return str(int(name[-1]) - 1) if name.startswith("N_") else name[name.index("_") + 1]


def _depth_of(recording: Recording) -> str:
    """Return the depth of a bearing's fault; parts of the normal recording are given one."""
    normal = {"N_0hp_part1": "07", "N_0hp_part2": "21"}
    name = recording.name
    return normal.get(name, "14") if name.startswith("N_") else name[: name.index("_")][-2:]


def _is_odd(recording: Recording) -> bool:
    """Return whether a name ends in an odd number, or has none."""
    number = recording.name.rpartition("_")[2]
    return not number.isdigit() or int(number) % 2 == 1


AXES = ("acc_x", "acc_y", "acc_z")
TURNS = ("gyro_x", "gyro_y", "gyro_z")
SETS = (
    StreamSet(
        "cgestures",
        ("emlearn_cgestures",),
        AXES,
        rate=100,
        window=100,
        hop=25,
        # One person: whole recordings of a few seconds
        splits=(Split("every 2nd recording", _every_second, lambda r: r.name),),
        jerks=(AXES,),
    ),
    StreamSet(
        "exercises",
        ("emlearn_exercises",),
        AXES,
        rate=100,
        window=200,
        hop=50,
        splits=(Split("session D", _tests(lambda r: r.group == "D")),),
        ignored=("mixed",),
        jerks=(AXES,),
    ),
    StreamSet(
        "pump",
        ("skab_pump",),
        (
            "acc1_rms", "acc2_rms", "current", "pressure", "temperature", "thermocouple",
            "voltage", "flow",
        ),
        rate=1,
        window=30,
        hop=15,
        splits=(
            Split("odd recordings", _tests(_is_odd), lambda r: r.name),
            Split(f"{N_FOLDS} folds of recordings", lambda r, k: k % N_FOLDS, lambda r: r.name),
        ),
    ),
    StreamSet(
        "bearings",
        ("cwru_bearing",),
        ("vib_de",),
        rate=12000,
        window=1024,
        hop=1024,
        splits=(
            Split("load of 3 hp", _tests(lambda r: _load_of(r) == "3"), _load_of),
            Split("unseen bearings", _tests(lambda r: _depth_of(r) == "14"), _depth_of),
        ),
    ),
    StreamSet(
        "hapt",
        ("hapt_s01_15", "hapt_s16_30"),
        (*AXES, *TURNS),
        rate=50,
        window=128,
        hop=64,
        splits=(Split("9 persons", _tests(lambda r: r.group in HAPT_TESTED)),),
        ignored=(
            "NONE", "STAND_TO_LIE", "SIT_TO_LIE", "LIE_TO_SIT", "LIE_TO_STAND", "STAND_TO_SIT",
            "SIT_TO_STAND",
        ),
        jerks=(AXES, TURNS),
    ),
    # A recording is one gesture of 17 to 315 samples. The window starts with the gesture, as a
    # button would start it; 160 samples hold 89 % of the gestures whole. It has eight panes, the
    # order of which tells gestures apart, and no recording has a second window.
    StreamSet(
        "uwave",
        ("uwave_gestures",),
        AXES,
        rate=100,
        window=160,
        hop=20,
        splits=(Split("3 persons", _tests(lambda r: r.group in UWAVE_TESTED)),),
        jerks=(AXES,),
        sample_type="int8",
        held=True,
    ),
    # Windows without a detector of beats: 0.53 s within the span of one or several beats of the
    # same class. The spans of most beats are longer; those of many premature ones are not.
    StreamSet(
        "ecg",
        ("ecg_mitdb_ds1", "ecg_mitdb_ds2"),
        ("ecg",),
        rate=120,
        window=64,
        hop=64,
        splits=(Split("DS2", _tests(lambda r: r.name in DS2)),),
        ignored=("Q",),
        groups="recording",
    ),
)  # fmt: skip
"""All sets, small ones first."""
DS2 = frozenset(
    {
        "100", "103", "105", "111", "113", "117", "121", "123", "200", "202", "210", "212", "213",
        "214", "219", "221", "222", "228", "231", "232", "233", "234",
    }
)  # fmt: skip
"""Test records; 201 and 202 are one person, and 201 is a training record."""


def find_set(name: str) -> StreamSet:
    """Return a set by its name."""
    return next(one for one in SETS if one.name == name)


def load(data: Path, one: StreamSet) -> Recordings:
    """Read all recordings of a set; samples with a label that it leaves out have none."""
    roles = Roles(
        sample_format(one.sample_type),
        channels=one.channels,
        class_name=LABEL,
        recording=RECORDING,
        groups=one.groups,
        rate=Fraction(one.rate),
    )
    streams = data / "streams"
    parts = [read_recordings(streams / f"{file}.csv.gz", roles) for file in one.files]
    labels = tuple(sorted({label for part in parts for label in part.labels} - {*one.ignored}))
    found = []
    for part in parts:
        number = [labels.index(name) if name in labels else -1 for name in part.labels]
        of = np.array([*number, -1], dtype=np.int64)
        found += [replace(each, labels=of[each.labels]) for each in part.recordings]
    if one.held:
        found = [held(each, one.window) for each in found]
    return replace(parts[0], recordings=tuple(found), labels=labels, group_column=GROUP)


def held(recording: Recording, length: int) -> Recording:
    """Return a recording cut to a length, or held at its last sample up to there."""
    rows = np.minimum(np.arange(length), len(recording.samples) - 1)
    return replace(
        recording,
        samples=recording.samples[rows],
        labels=recording.labels[rows],
        bounds=unbroken(length),
    )


def folds_of(split: Split, recordings: Recordings) -> IntArray:
    """Return the fold that tests each recording, or `TRAINED`, (n_recordings,) int64."""
    return np.array([split.fold_of(each, k) for k, each in enumerate(recordings.recordings)])


def parts(split: Split, recordings: Recordings) -> Iterator[tuple[Recordings, Recordings]]:
    """Yield the training part and the test part of each fold, with the groups of the split."""
    folds = folds_of(split, recordings)
    grouped = replace(
        recordings,
        recordings=tuple(replace(r, group=split.group_of(r)) for r in recordings.recordings),
    )
    for fold in range(folds.max() + 1):
        yield _part(grouped, folds != fold), _part(grouped, folds == fold)


def _part(recordings: Recordings, kept: BoolArray) -> Recordings:
    chosen = [recordings.recordings[k] for k in np.flatnonzero(kept)]
    return replace(recordings, recordings=tuple(chosen))


def write(path: Path, recordings: Recordings) -> None:
    """Write recordings as CSV: recording, group, channels and label, empty where there is none."""
    frames = []
    names = np.array([*recordings.labels, ""], dtype=object)
    for each in recordings.recordings:
        frame = pd.DataFrame(each.samples, columns=list(recordings.channels))
        frame.insert(0, RECORDING, each.name)
        frame.insert(1, GROUP, each.group)
        frame[LABEL] = names[each.labels]
        frames.append(frame)
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.concat(frames).to_csv(path, index=False, lineterminator="\n")


def write_parts(folder: Path, one: StreamSet, recordings: Recordings) -> list[Path]:
    """Write ``SET.SPLIT.FOLD.train.csv`` and ``...test.csv`` of every split and fold."""
    written = []
    for k, split in enumerate(one.splits):
        for fold, both in enumerate(parts(split, recordings)):
            for kind, part in zip(("train", "test"), both, strict=True):
                path = folder / f"{one.name}.{k}.{fold}.{kind}.csv"
                write(path, part)
                written.append(path)
    return written


def chosen_sets(names: str) -> Sequence[StreamSet]:
    """Return sets by names separated by commas, or refuse an unknown one."""
    known = [one.name for one in SETS]
    if unknown := [name for name in names.split(",") if name not in known]:
        raise click.UsageError(f"there is no set {unknown[0]!r}; the sets are {', '.join(known)}")
    return [find_set(name) for name in names.split(",")]


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("-o", "--output", type=Path, default="parts", help="Folder of the files.")
@click.option("--sets", default=",".join(one.name for one in SETS), help="Sets, with commas.")
def main(data: Path, output: Path, sets: str) -> None:
    """Write both parts of every split."""
    for one in chosen_sets(sets):
        for path in write_parts(output, one, load(data, one)):
            print(path)


if __name__ == "__main__":
    main()
