"""
Programs from samples to decisions that bncc chooses on recordings, with the baselines.

    python -m benchmarks.recordings.programs --data ../shared/data -o programs --write

For each set and split, the features and the classifier of ``bncc train --window --max-flash`` on
the training part, and the decisions of the model on the test part. Flash, state, stack and time are
those of the whole program, built and measured for the target. Several seeds are several programs;
the table has the mean of their errors, and the largest of their costs. Test windows decide nothing.
Results stay in the folder of ``-o``, so the command can resume; a program takes some minutes. The
baselines are those of ``baselines.csv``; with ``--write`` the table on docs/recordings.md is new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import click
import numpy as np

from benchmarks.recordings import baselines
from benchmarks.recordings.figures import NOTHING, Result, read, result_from, result_of
from benchmarks.recordings.sets import SETS, StreamSet, chosen_sets, load, parts
from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc._types import IntArray
from bncc.discretize.feature import states_of
from bncc.errors import BnccError
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.recording import Recordings
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table, narrowed
from bncc.resources import Budget, Preference
from bncc.search.budget_search import FAMILIES
from bncc.search.front_end_choice import ProgramCost, ProgramLimits, samples_to_measure
from bncc.search.program_search import ProgramSearch, search_program
from bncc.train.settings import TrainSettings

MODEL = "bncc"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "recordings.md"
COSTS = ("flash", "state", "stack", "mean", "worst")
"""Costs of a program, see `ProgramCost`; times are per sample."""


def program_of(
    one: StreamSet, train: Recordings, limits: ProgramLimits, prefer: Preference, seed: int
) -> tuple[Model, ProgramCost]:
    """Return the model that is chosen on the training part of a split, and its cost."""
    signals = signals_of(None, train.channels)
    columns = columns_of(None, signals, train.channels, one.window)
    found = narrowed(feature_table(train, columns, one.windows))
    front_end = front_end_of(found)
    segments = (each.samples[a:b] for each in train.recordings for a, b in each.segments)
    samples = samples_to_measure(segments, front_end)
    program = ProgramSearch(dataset_of_windows(found), None, front_end, limits, samples)
    searched, cost = search_program(program, TrainSettings(seed=seed), FAMILIES, prefer=prefer)
    return searched.result.model, cost


def decisions(model: Model, one: StreamSet, test: Recordings) -> tuple[IntArray, IntArray]:
    """Return the labels of the windows of the test part, and what the model says, by index."""
    front_end = model.front_end
    assert front_end is not None
    found = feature_table(test, front_end.columns, one.windows)
    rows = dataset_of_windows(found)
    said = predict(model, states_of(model.features, rows.table))
    number = np.array([test.labels.index(label) for label in model.classes])
    return found.label, number[said]


class Programs:
    """Results in a folder, one for each set, split and seed."""

    def __init__(
        self, folder: Path, limits: ProgramLimits, prefer: Preference = "balanced"
    ) -> None:
        self._limits, self._prefer = limits, prefer
        self._known = Memory(folder / "programs.jsonl")

    def measure(self, data: Path, one: StreamSet, seed: int) -> None:
        """Measure what is missing for a set."""
        splits = [each for each in one.splits if self._key(one, each.name, seed) not in self._known]
        if not splits:
            return
        recordings = load(data, one)
        for split in splits:
            y, said, costs = [], [], dict.fromkeys(COSTS, 0.0)
            for train, test in parts(split, recordings):
                model, cost = program_of(one, train, self._limits, self._prefer, seed)
                labels, found = decisions(model, one, test)
                y.append(labels)
                said.append(found)
                facts: dict[str, Any] = cost.to_json()
                costs = {name: max(costs[name], facts[name] or 0.0) for name in COSTS}
            names = (one.name, split.name, MODEL)
            result = result_of(
                names, recordings.labels, np.concatenate(y), np.concatenate(said), costs
            )
            self.put(one, split.name, seed, result)
            print(*names, seed, f"{result.error:.2f} % {result.macro_f1:.3f}", costs, flush=True)

    def put(self, one: StreamSet, split: str, seed: int, result: Result) -> None:
        """Remember a result."""
        self._known.put(self._key(one, split, seed), asdict(result))

    def rows(self, sets: Sequence[StreamSet], seeds: int) -> list[list[str]]:
        """Return a row of the table for each set and split, with what is known."""
        others = read(baselines.PATH)
        found = []
        for one in sets:
            for split in one.splits:
                keys = [self._key(one, split.name, seed) for seed in range(seeds)]
                ours = [result_from(self._known[key]) for key in keys if key in self._known]
                same = {
                    each.model: each
                    for each in others
                    if (each.set, each.split) == (one.name, split.name)
                }
                found.append([one.name, split.name, *_cells(ours, same)])
        return found

    def _key(self, one: StreamSet, split: str, seed: int) -> str:
        budget = self._limits.budget
        limits = f"{budget.target}, {budget.flash}, {budget.ram}, {self._limits.time}"
        if self._prefer != "balanced":
            limits += f", {self._prefer}"
        return f"{one.name}, {split}, {seed}, {limits}"


def _cells(ours: Sequence[Result], others: Mapping[str, Result]) -> list[str]:
    """Return the cells of a row by the programs and the baselines of a split."""
    windows = {one.n_test for one in (*ours, *others.values())}
    if len(windows) > 1:
        raise ValueError("the classifiers of a split have different test windows")
    cells = [f"{n:,}" for n in windows] or [NOTHING]
    if ours:
        cells += [str(len(ours)), f"{fmean(each.error for each in ours):.2f}"]
        cells += [f"{fmean(each.macro_f1 for each in ours):.3f}"]
        cells += [f"{max(each.costs[name] for each in ours):,.0f}" for name in COSTS]
    else:
        cells += [NOTHING] * (3 + len(COSTS))
    for shown in baselines.SHOWN:
        same = others.get(shown.model)
        cells += [NOTHING if same is None else f"{same.error:.2f}"]
    return cells


def tables(programs: Programs, sets: Sequence[StreamSet], seeds: int) -> str:
    """Return the table in Markdown."""
    head = ["set", "split", "windows", "seeds", "error", "F1", *COSTS]
    head += [f"{each.model} error" for each in baselines.SHOWN]
    return table(head, programs.rows(sets, seeds))


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("-o", "--output", type=Path, default="programs", help="Folder of the results.")
@click.option("--sets", default=",".join(one.name for one in SETS), help="Sets, with commas.")
@click.option("--seeds", type=click.IntRange(1), default=1, help="Number of programs.")
@click.option("--target", default="cortex-m0", help="Target.")
@click.option("--max-flash", type=int, default=8192, help="Bytes of the whole program.")
@click.option("--max-ram", type=int, help="Bytes of its state and stack.")
@click.option("--max-time", type=float, help="Mean cycles or instructions per sample.")
@click.option(
    "--prefer", type=click.Choice(get_args(Preference)), default="balanced", help="As `bncc train`."
)
@click.option("--report", is_flag=True, help="Measure nothing; print what is known.")
@click.option("--write", is_flag=True, help="Update the page.")
def main(
    data: Path,
    output: Path,
    sets: str,
    seeds: int,
    target: str,
    max_flash: int,
    max_ram: int | None,
    max_time: float | None,
    prefer: Preference,
    report: bool,
    write: bool,
) -> None:
    """Measure, and print the table."""
    chosen = chosen_sets(sets)
    limits = ProgramLimits(Budget(target, max_flash, ram=max_ram), max_time)
    programs, failed = Programs(output, limits, prefer), False
    for one in () if report else chosen:
        for seed in range(seeds):
            try:
                programs.measure(data, one, seed)
            except BnccError as error:  # the other sets are measured nevertheless
                print(one.name, error, flush=True)
                failed = True
    found = tables(programs, chosen, seeds)
    print(found)
    if write:
        renew(PAGE, {f"programs-{target}": found})
    if failed:
        raise SystemExit("a set failed; fix it, and run the same command again")


if __name__ == "__main__":
    main()
