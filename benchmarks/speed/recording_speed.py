"""
Seconds of ``bncc train`` on an hour of recordings: six channels at 50 Hz, HAPT.

The first recordings of the training persons, an hour of samples in all, are a CSV file. A process
of its own reads it, computes all default features of windows of 128 samples every 64, and trains
the default classifier. CPU seconds are those of all its threads. Exit code 1 means that they exceed
the floor.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.speed.recording_speed --data ../shared/data
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.recordings.sets import GROUP, LABEL, find_set, load, parts, write
from bncc.recordings.read import RECORDING
from bncc.recordings.recording import Recordings, unbroken

SET = "hapt"
HOUR = 3600
"""Seconds of recordings."""
FLOOR = 60.0
"""Largest number of CPU seconds."""


def first(recordings: Recordings, n: int) -> Recordings:
    """Return the first n samples of gapless recordings, the last one cut."""
    found, left = [], n
    for each in recordings.recordings:
        some = min(left, len(each.samples))
        if some:
            samples, labels = each.samples[:some], each.labels[:some]
            found.append(replace(each, samples=samples, labels=labels, bounds=unbroken(some)))
        left -= some
    return replace(recordings, recordings=tuple(found))


def seconds(command: Sequence[str]) -> tuple[float, float]:
    """Run a command, and return its CPU seconds and those on the clock."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, check=True)
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> int:
    """Write the file, train, and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    data, one = parser.parse_args().data, find_set(SET)
    train, _ = next(parts(one.splits[0], load(data, one)))
    hour = first(train, HOUR * one.rate)
    with TemporaryDirectory() as folder:
        path = Path(folder, "hour.csv")
        write(path, hour)
        roles = {"recording": RECORDING, "groups": GROUP, "class": LABEL, "rate": str(one.rate)}
        options = [word for name, value in roles.items() for word in (f"--{name}", value)]
        windows = ["--window", str(one.window), "--hop", str(one.hop)]
        model = str(Path(folder, "hour.bncc"))
        command = [sys.executable, "-m", "bncc", "train", str(path), *options, *windows]
        cpu, wall = seconds([*command, "-o", model])
    n = sum(len(each.samples) for each in hour.recordings)
    print(f"{n:,} samples of {len(one.channels)} channels: {cpu:.1f} CPU seconds, {wall:.1f} s")
    return int(cpu > FLOOR)


if __name__ == "__main__":
    sys.exit(main())
