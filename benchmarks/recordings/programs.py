"""
Programs from samples to decisions that bncc chooses on recordings, with the baselines.

    python -m benchmarks.recordings.programs --data ../shared/data --prefer error --write

For each set and split, the features and the classifier of ``bncc train --window --max-flash`` on
the training part, and the decisions of the model on the test part. Flash, state, stack and time are
those of the whole program, built and measured for the target. Several seeds are several programs;
the table has the mean of their errors, and the largest of their costs. Test windows decide nothing.
What was measured stays in ``programs.jsonl`` in this folder, with the commit of each search;
``--again`` measures the named sets again. A program takes some minutes. The baselines are those of
``baselines.csv``. With ``--write`` the tables of the target on docs/recordings.md are new. A row
of which the file has fewer programs than ``--seeds`` keeps those that the page has, with their
commit: results before this file were not kept. Programs of ``--features auto`` have their own
table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import click
import numpy as np

from benchmarks.recordings import baselines
from benchmarks.recordings.figures import Result, read, recalls, result_from, result_of
from benchmarks.recordings.sets import SETS, StreamSet, chosen_sets, load, parts
from benchmarks.shared.markdown import NOTHING, held, renew, table
from benchmarks.shared.memory import Memory, commit
from bncc._types import IntArray
from bncc.discretize.feature import states_of
from bncc.errors import BnccError
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.program_pricing import ProgramCost
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.recording import Recordings
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import signals_of
from bncc.recordings.table import DEFAULT, columns_of, feature_table, narrowed
from bncc.resources import Budget, Preference
from bncc.search.families import FAMILIES
from bncc.search.feature_choice import best_list, list_errors
from bncc.search.front_end_choice import ProgramLimits, samples_to_measure
from bncc.search.program_search import ProgramSearch, search_program
from bncc.train.settings import TrainSettings

MODEL = "bncc"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "recordings.md"
RESULTS = Path(__file__).with_name("programs.jsonl")
COSTS = ("flash", "state", "stack", "mean", "worst")
"""Costs of a program, see `ProgramCost`; times are per sample."""
RECALLED = "cortex-m0"
"""Target of the programs in tables of recalls."""
OURS = ("seeds", "commit", "error", "F1", *COSTS)
"""Columns of the programs of a row."""

Place = tuple[str, str]
"""Names of a set and of a split."""


@dataclass(frozen=True)
class Known:
    """A line of the file: the result of a program."""

    commit: str  # Version of bncc that searched
    result: Mapping[str, Any]  # `Result`


def program_of(
    one: StreamSet,
    train: Recordings,
    limits: ProgramLimits,
    prefer: Preference,
    seed: int,
    *,
    is_auto: bool,
) -> tuple[Model, ProgramCost]:
    """Return the model that is chosen on the training part of a split, and its cost."""
    signals = signals_of(None, train.channels)

    def columns(features: str) -> list[SignalFeature]:
        return columns_of(features, signals, train.channels, one.windows)

    settings = TrainSettings(seed=seed)
    chosen = DEFAULT
    if is_auto:
        chosen = best_list(list_errors(train, columns, one.windows, settings)).features
        print(one.name, chosen, flush=True)
    found = narrowed(feature_table(train, columns(chosen), one.windows))
    front_end = front_end_of(found)
    segments = (each.samples[a:b] for each in train.recordings for a, b in each.segments)
    samples = samples_to_measure(segments, front_end)
    program = ProgramSearch(dataset_of_windows(found), None, front_end, limits, samples)
    searched, cost = search_program(program, settings, FAMILIES, prefer=prefer)
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
    """Results of this and of earlier runs in a file, one for each set, split and seed."""

    def __init__(
        self,
        path: Path,
        limits: ProgramLimits,
        prefer: Preference = "balanced",
        *,
        is_auto: bool = False,
    ) -> None:
        self._limits, self._prefer, self._is_auto = limits, prefer, is_auto
        self._memory = Memory(path)

    @property
    def name(self) -> str:
        """Name of the table of these programs."""
        return f"programs-{self._limits.budget.target}{'-auto' if self._is_auto else ''}"

    def measure(self, data: Path, one: StreamSet, seed: int, *, again: bool = False) -> None:
        """Measure what is missing for a set, or all of it again."""
        splits = [each for each in one.splits if again or self.known(one, each.name, seed) is None]
        if not splits:
            return
        recordings = load(data, one)
        for split in splits:
            y, said, costs = [], [], dict.fromkeys(COSTS, 0.0)
            for train, test in parts(split, recordings):
                model, cost = program_of(
                    one, train, self._limits, self._prefer, seed, is_auto=self._is_auto
                )
                labels, found = decisions(model, one, test)
                y.append(labels)
                said.append(found)
                facts: dict[str, Any] = cost.to_json()
                costs = {name: max(costs[name], facts[name] or 0.0) for name in COSTS}
            names = (one.name, split.name, MODEL)
            result = result_of(
                names, recordings.labels, np.concatenate(y), np.concatenate(said), costs
            )
            self.put(one, split.name, seed, Known(commit(), asdict(result)))
            print(*names, seed, f"{result.error:.2f} % {result.macro_f1:.3f}", costs, flush=True)

    def put(self, one: StreamSet, split: str, seed: int, known: Known) -> None:
        """Remember a result."""
        self._memory.put(self._key(one, split, seed), asdict(known))

    def known(self, one: StreamSet, split: str, seed: int) -> Known | None:
        """Return what is known, None if the search did not run."""
        key = self._key(one, split, seed)
        return Known(**self._memory[key]) if key in self._memory else None

    def of_split(self, one: StreamSet, split: str, seeds: int) -> list[Known]:
        """Return the known programs of a split."""
        return [
            known for seed in range(seeds) if (known := self.known(one, split, seed)) is not None
        ]

    def rows(
        self, sets: Sequence[StreamSet], seeds: int, before: Mapping[Place, Sequence[str]]
    ) -> list[list[str]]:
        """
        Return a row of the table for each set and split, with what is known.

        The cells of `OURS` are those of `before` where fewer programs than seeds are known. With
        ``--features auto``, splits without a program have no row.
        """
        baselines_of = by_place(read(baselines.PATH))
        found = []
        for one in sets:
            for split in one.splits:
                place, ours = (one.name, split.name), self.of_split(one, split.name, seeds)
                if self._is_auto and not ours:
                    continue
                others = {each.model: each for each in baselines_of.get(place, ())}
                results = [result_from(each.result) for each in ours]
                windows = {each.n_test for each in (*results, *others.values())}
                if len(windows) > 1:
                    raise ValueError("the classifiers of a split have different test windows")
                cells = [f"{n:,}" for n in windows] or [NOTHING]
                is_kept = len(ours) < seeds and place in before
                cells += before[place] if is_kept else _cells(ours, results)
                for shown in baselines.SHOWN:
                    same = others.get(shown.model)
                    cells += [NOTHING if same is None else f"{same.error:.2f}"]
                found.append([*place, *cells])
        return found

    def compact(self) -> None:
        """Keep the last result of each program in the file."""
        self._memory.compact()

    def _key(self, one: StreamSet, split: str, seed: int) -> str:
        budget = self._limits.budget
        limits = f"{budget.target}, {budget.flash}, {budget.ram}, {self._limits.time}"
        if self._prefer != "balanced":
            limits += f", {self._prefer}"
        if self._is_auto:
            limits += ", features auto"
        return f"{one.name}, {split}, {seed}, {limits}"


def by_place(results: Iterable[Result]) -> dict[Place, list[Result]]:
    """Return results by set and split."""
    found: dict[Place, list[Result]] = {}
    for one in results:
        found.setdefault((one.set, one.split), []).append(one)
    return found


def _cells(ours: Sequence[Known], results: Sequence[Result]) -> list[str]:
    """Return the cells of `OURS`."""
    if not ours:
        return [NOTHING] * len(OURS)
    return [
        str(len(ours)),
        ", ".join(dict.fromkeys(one.commit for one in ours)),
        f"{fmean(one.error for one in results):.2f}",
        f"{fmean(one.macro_f1 for one in results):.3f}",
        *(f"{max(one.costs[name] for one in results):,.0f}" for name in COSTS),
    ]


def programs_of(text: str) -> dict[Place, list[str]]:
    """Return the cells of `OURS` by set and split of a table that has programs, from Markdown."""
    head, _, *lines = (line.strip("| ").split(" | ") for line in text.splitlines())
    rows = [dict(zip(head, cells, strict=True)) for cells in lines]
    return {
        (row["set"], row["split"]): [row[name] for name in OURS]
        for row in rows
        if row["seeds"] != NOTHING
    }


def tables(
    programs: Programs,
    sets: Sequence[StreamSet],
    seeds: int,
    before: Mapping[Place, Sequence[str]],
) -> dict[str, str]:
    """Return the tables of a target in Markdown: programs, and recalls of sets of rare labels."""
    head = ["set", "split", "windows", *OURS, *(f"{each.model} error" for each in baselines.SHOWN)]
    found = {programs.name: table(head, programs.rows(sets, seeds, before))}
    if programs.name == f"programs-{RECALLED}":
        others = read(baselines.PATH)
        for name in baselines.RECALLS:
            results = [each for each in others if each.set == name]
            for one in (each for each in sets if each.name == name):
                for split in one.splits:
                    ours = programs.of_split(one, split.name, 1)
                    results = [*(result_from(each.result) for each in ours), *results]
                found[f"recalls-{name}"] = recalls(results, name)
    return found


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("--sets", default=",".join(one.name for one in SETS), help="Sets, with commas.")
@click.option("--seeds", type=click.IntRange(1), default=1, help="Number of programs.")
@click.option("--target", default="cortex-m0", help="Target.")
@click.option("--max-flash", type=int, default=8192, help="Bytes of the whole program.")
@click.option("--max-ram", type=int, help="Bytes of its state and stack.")
@click.option("--max-time", type=float, help="Mean cycles or instructions per sample.")
@click.option(
    "--prefer", type=click.Choice(get_args(Preference)), default="balanced", help="As `bncc train`."
)
@click.option(
    "--features", type=click.Choice(["default", "auto"]), default="default", help="As `bncc train`."
)
@click.option("--again", is_flag=True, help="Measure these sets again.")
@click.option("--report", is_flag=True, help="Measure nothing; print what is known.")
@click.option("--write", is_flag=True, help="Update the page with all that is known.")
def main(
    data: Path,
    sets: str,
    seeds: int,
    target: str,
    max_flash: int,
    max_ram: int | None,
    max_time: float | None,
    prefer: Preference,
    features: str,
    again: bool,
    report: bool,
    write: bool,
) -> None:
    """Measure, and print the tables of these sets."""
    chosen = chosen_sets(sets)
    limits = ProgramLimits(Budget(target, max_flash, ram=max_ram), max_time)
    programs = Programs(RESULTS, limits, prefer, is_auto=features == "auto")
    failed = False
    for one in () if report else chosen:
        for seed in range(seeds):
            try:
                programs.measure(data, one, seed, again=again)
            except BnccError as error:  # the other sets are measured nevertheless
                print(one.name, error, flush=True)
                failed = True
    found = tables(programs, chosen, seeds, {})
    print("\n".join(found.values()))
    if failed:
        raise SystemExit("a set failed; fix it, and run the same command again")
    if write:
        programs.compact()
        before = programs_of(held(PAGE.read_text("utf-8"), programs.name))
        renew(PAGE, tables(programs, SETS, seeds, before))


if __name__ == "__main__":
    main()
