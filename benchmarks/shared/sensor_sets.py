"""
Twelve data sets of a firmware engineer, selected before any result was known, and eight others.

All are from ``raw`` in the folder of data and have 1,000 rows or more. The sets used to tune
boosted tables are excluded: letter, satimage, usps, mnist14 and spambase.

=======================  =======================================================================
wifi_localization        rooms by the strength of seven radio signals; negative whole numbers
robot_wall_following_24  actions of a robot, by 24 ultrasonic ranges
occupancy                occupancy of a room, by five sensors of its air
har_exercise             exercises by features of a wrist's accelerometer, whole numbers
wisdm_activity           activities by features of a phone's accelerometer, with missing cells
ai4i2020                 failures of a machine by its sensors; rare, with a category among readings
banknote                 forged notes by features of their image, as in an acceptor
dry_bean                 kinds of beans by their shapes, as in a sorter; scales from 1e-3 up
optdigits                digits by 8 x 8 counts of 0 to 16
phoneme                  nasal or oral sounds by five amplitudes of harmonics
magic04                  gamma rays by the shape of their shower in a detector
htru2                    pulsars by statistics of their signal; rare
=======================  =======================================================================

These sets have as many rows but were not selected: krkopt and madelon are not sensor readings,
yeast is from biology, italy_power_demand has 67 training rows, and mammography and seismic_bumps
would be a third and a fourth set with a rare second class. Early stopping of networks, not of
boosted tables, was once tuned on robot and magic04.

`MORE_SETS` are those that `benchmarks.accuracy.twenty_sets` adds, of ``raw`` and ``uci``: more
classes, more features or categories.

The split is two thirds training rows and one third test rows, by class at random with a fixed seed.
har_exercise is split by recordings, since rows of one overlap; occupancy has its own training part,
the earliest, and two test parts from other days. Validation follows the same rule, as if ``bncc
train`` had ``--groups`` for har_exercise and ``--ordered`` for occupancy.
"""

import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import SplitRule, stratified_holdout
from bncc.data.target import dataset_of

SETS = (
    "wifi_localization",
    "robot_wall_following_24",
    "occupancy",
    "har_exercise",
    "wisdm_activity",
    "ai4i2020",
    "banknote",
    "dry_bean",
    "optdigits",
    "phoneme",
    "magic04",
    "htru2",
)
OF_UCI = ("waveform5000", "nursery", "page.blocks", "vowel", "kr.vs.kp")
"""Sets in ``uci``."""
MORE_SETS = ("krkopt", "mammography", "madelon", *OF_UCI)
TESTED = 1 / 3
SEED = 0
FIRST_ROWS = {"occupancy": 8143}
"""Sets whose first rows are training rows and all later ones test rows."""
GROUPED = ("har_exercise",)
"""Sets with a file of recordings."""


def parts(data: Path, name: str) -> tuple[Dataset, Dataset]:
    """Return the training and the test rows of a set."""
    file = f"uci/{name}.arff.gz" if name in OF_UCI else f"raw/{name}.csv.gz"
    whole = dataset_of(read_table(data / file))
    if name in FIRST_ROWS:
        rows = np.arange(whole.n_rows)
        kept, held = rows[: FIRST_ROWS[name]], rows[FIRST_ROWS[name] :]
        whole = replace(whole, split=SplitRule(ordered=True))
    elif name in GROUPED:
        groups = groups_of(data / "raw" / f"{name}.groups.csv.gz")
        kept, held = grouped_holdout(whole.y, groups)
        whole = replace(whole, split=SplitRule(groups=groups, column="recording"))
    else:
        kept, held = stratified_holdout(whole.y, TESTED, SEED)
    return whole.take(kept), whole.take(held)


def groups_of(path: Path) -> IntArray:
    """Return the recording of each row."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        return np.array([int(row["recording"]) for row in csv.DictReader(stream)])


def grouped_holdout(y: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """
    Split by whole recordings, each class keeping its share of them.

    y and groups are (n_rows,) int; rows of one recording have one class. Returns the ascending rows
    of both parts; no recording is in both.
    """
    names, first, number = np.unique(groups, return_index=True, return_inverse=True)
    _, held = stratified_holdout(y[first], TESTED, SEED)
    is_held = np.isin(np.arange(len(names)), held)[number]
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)
