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
table, and so have those of ``--filter``, whose decisions are those of a filter over the windows of
a recording, with a price of a switch that held-out groups of the training part choose.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, get_args

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
from bncc.model.filter import decided
from bncc.model.model import Model
from bncc.model.reference import scores
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
from bncc.search.program_search import NO_RULES, ProgramSearch, search_program
from bncc.train.decision_rules import DecisionRules
from bncc.train.filter_choice import AUTO
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
ALONE = "alone"
"""Error of a program's decisions without its filter, in percent."""
Kind = Literal["default", "auto", "filter"]
"""Programs with the default features, those of ``--features auto``, or with a filter."""
KEYS: Mapping[Kind, str] = {"default": "", "auto": ", features auto", "filter": ", filter"}
"""End of the keys of each kind in the file."""
FURTHER: Mapping[Kind, tuple[str, ...]] = {"filter": (ALONE,)}
"""Further columns of a kind of programs."""
OTHERS: Mapping[Kind, tuple[str, ...]] = {"filter": (baselines.RICH, baselines.VOTES)}
"""Classifiers that a kind is compared with, if not all."""

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
    kind: Kind,
) -> tuple[Model, ProgramCost]:
    """Return the model that is chosen on the training part of a split, and its cost."""
    signals = signals_of(None, train.channels)

    def columns(features: str) -> list[SignalFeature]:
        return columns_of(features, signals, train.channels, one.windows)

    settings = TrainSettings(seed=seed)
    chosen = DEFAULT
    if kind == "auto":
        chosen = best_list(list_errors(train, columns, one.windows, settings)).features
        print(one.name, chosen, flush=True)
    found = narrowed(feature_table(train, columns(chosen), one.windows))
    front_end = front_end_of(found)
    segments = (each.samples[a:b] for each in train.recordings for a, b in each.segments)
    samples = samples_to_measure(segments, front_end)
    rules = DecisionRules(over_time=AUTO) if kind == "filter" else NO_RULES
    budget = replace(limits.budget, extras=rules.names)
    limits = replace(limits, budget=budget)
    program = ProgramSearch(dataset_of_windows(found), None, front_end, limits, samples)
    searched, cost = search_program(program, settings, FAMILIES, prefer=prefer, rules=rules)
    return searched.result.model, cost


@dataclass(frozen=True, eq=False)
class Said:
    """Labels of the windows of a test part, and what a model says of each, by index."""

    labels: IntArray  # (n,) int64
    decisions: IntArray  # (n,) int64
    alone: IntArray  # (n,) int64: without a filter


def decisions(model: Model, one: StreamSet, test: Recordings) -> Said:
    """Return what a model says of a test part; a filter sees the windows without a label, too."""
    front_end = model.front_end
    assert front_end is not None
    found = feature_table(test, front_end.columns, one.windows, unlabeled=model.filter is not None)
    costs = scores(model, states_of(model.features, front_end.table(found.values)))
    alone = costs.argmin(axis=1)
    filtered = alone if model.filter is None else decided(costs, found.segment, model.filter)
    number = np.array([test.labels.index(label) for label in model.classes])
    is_labeled = found.label >= 0
    return Said(found.label[is_labeled], number[filtered[is_labeled]], number[alone[is_labeled]])


class Programs:
    """Results of this and of earlier runs in a file, one for each set, split and seed."""

    def __init__(
        self,
        path: Path,
        limits: ProgramLimits,
        prefer: Preference = "balanced",
        kind: Kind = "default",
    ) -> None:
        self._limits, self._prefer, self._kind = limits, prefer, kind
        self._memory = Memory(path)

    @property
    def name(self) -> str:
        """Name of the table of these programs."""
        kind = "" if self._kind == "default" else f"-{self._kind}"
        return f"programs-{self._limits.budget.target}{kind}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of these programs."""
        return (*OURS, *FURTHER.get(self._kind, ()))

    @property
    def others(self) -> tuple[str, ...]:
        """Classifiers that these programs are compared with."""
        return OTHERS.get(self._kind, tuple(each.model for each in baselines.SHOWN))

    def measure(self, data: Path, one: StreamSet, seed: int, *, again: bool = False) -> None:
        """Measure what is missing for a set, or all of it again."""
        splits = [each for each in one.splits if again or self.known(one, each.name, seed) is None]
        if not splits:
            return
        recordings = load(data, one)
        for split in splits:
            said, costs = list[Said](), dict.fromkeys(COSTS, 0.0)
            for train, test in parts(split, recordings):
                model, cost = program_of(one, train, self._limits, self._prefer, seed, self._kind)
                said.append(decisions(model, one, test))
                facts: dict[str, Any] = cost.to_json()
                costs = {name: max(costs[name], facts[name] or 0.0) for name in COSTS}
            names = (one.name, split.name, MODEL)
            y, found, alone = (
                np.concatenate([getattr(each, name) for each in said])
                for name in ("labels", "decisions", ALONE)
            )
            if self._kind == "filter":
                costs[ALONE] = 100 * float((alone != y).mean())
            result = result_of(names, recordings.labels, y, found, costs)
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

        The cells of programs are those of `before` where fewer than seeds are known. Only in the
        table of default features, splits without a program have a row.
        """
        baselines_of = by_place(read(baselines.PATH))
        found = []
        for one in sets:
            for split in one.splits:
                place, ours = (one.name, split.name), self.of_split(one, split.name, seeds)
                if self._kind != "default" and not ours:
                    continue
                others = {each.model: each for each in baselines_of.get(place, ())}
                results = [result_from(each.result) for each in ours]
                windows = {each.n_test for each in (*results, *others.values())}
                if len(windows) > 1:
                    raise ValueError("the classifiers of a split have different test windows")
                cells = [f"{n:,}" for n in windows] or [NOTHING]
                is_kept = len(ours) < seeds and place in before
                cells += before[place] if is_kept else self._cells(ours, results)
                for name in self.others:
                    same = others.get(name)
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
        return f"{one.name}, {split}, {seed}, {limits}{KEYS[self._kind]}"

    def _cells(self, ours: Sequence[Known], results: Sequence[Result]) -> list[str]:
        """Return the cells of programs."""
        if not ours:
            return [NOTHING] * len(self.columns)
        return [
            str(len(ours)),
            ", ".join(dict.fromkeys(one.commit for one in ours)),
            f"{fmean(one.error for one in results):.2f}",
            f"{fmean(one.macro_f1 for one in results):.3f}",
            *(f"{max(one.costs[name] for one in results):,.0f}" for name in COSTS),
            *(
                f"{fmean(one.costs[name] for one in results):.2f}"
                for name in FURTHER.get(self._kind, ())
            ),
        ]


def by_place(results: Iterable[Result]) -> dict[Place, list[Result]]:
    """Return results by set and split."""
    found: dict[Place, list[Result]] = {}
    for one in results:
        found.setdefault((one.set, one.split), []).append(one)
    return found


def programs_of(text: str, columns: Sequence[str] = OURS) -> dict[Place, list[str]]:
    """Return the cells of programs by set and split of a table, from Markdown."""
    head, _, *lines = (line.strip("| ").split(" | ") for line in text.splitlines())
    rows = [dict(zip(head, cells, strict=True)) for cells in lines]
    return {
        (row["set"], row["split"]): [row[name] for name in columns]
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
    columns = (*programs.columns, *(f"{name} error" for name in programs.others))
    head = ["set", "split", "windows", *columns]
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
@click.option("--filter", "is_filtered", is_flag=True, help="As `bncc train --filter auto`.")
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
    features: Kind,
    is_filtered: bool,
    again: bool,
    report: bool,
    write: bool,
) -> None:
    """Measure, and print the tables of these sets."""
    chosen = chosen_sets(sets)
    limits = ProgramLimits(Budget(target, max_flash, ram=max_ram), max_time)
    if is_filtered and features != "default":
        raise click.UsageError("--filter has the default features; leave out --features")
    programs = Programs(RESULTS, limits, prefer, "filter" if is_filtered else features)
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
        before = programs_of(held(PAGE.read_text("utf-8"), programs.name), programs.columns)
        renew(PAGE, tables(programs, SETS, seeds, before))


if __name__ == "__main__":
    main()
