"""
Compare the emitted C with Python, bit for bit, on every target of bncc.

Letter, satimage and usps; naive Bayes and Chow-Liu TAN; 1, 2, 4 and 8 bits, tables by counting;
host, AVR, four Cortex-M, RV32, a big-endian MIPS and x86-64, each with the preferred compiler at
-O2 and the preferred simulator; every value of `--optimize` and every kernel. The inputs are every
row of every table, 200 test rows of fold 1 (a seeded choice), 1,000 random states and as many next
to a boundary between classes, states out of range; at `predict`, `trusted`, `scores` and `raw`. The
objects of the simulated targets are searched for multiplications, divisions and library calls. All
of it (1,944 runs of 24 models) takes some twenty minutes on two cores:

    .venv/bin/python -m benchmarks.campaigns.target_matrix --data ../shared/data
    .venv/bin/python -m benchmarks.campaigns.target_matrix --data ../shared/data \
        --way speed --way lanes

Every finished run is one line of build/target_matrix.jsonl; run the command again to resume. C that
agreed on the same inputs, in an earlier run or with other options, is not compared again.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from benchmarks.campaigns.target_runs import WAYS, Outcome, Place, check
from benchmarks.shared.log import appending, last_results
from benchmarks.shared.reference_models import PAPER_SETS, STRUCTURES, Recipe
from bncc.targets import TARGETS

WIDTHS = (1, 2, 4, 8)
MACHINES = ("host", *TARGETS)


@dataclass(frozen=True)
class Total:
    """Totals of the runs."""

    models: int
    runs: int
    failed: int  # Runs that did not agree
    without_layout: int  # Runs with a kernel that has no layout for the model
    compared: int  # Number of different C texts
    inputs: int  # Inputs of these, and mismatches among them
    mismatches: int
    seconds: float  # Time of builds, runs and comparisons

    def __str__(self) -> str:
        return (
            f"{self.models} models, {self.runs:,} runs, {self.without_layout} without a layout, "
            f"{self.failed} failed, {self.compared:,} programs compared on {self.inputs:,} inputs, "
            f"{self.mismatches} mismatches, {self.seconds:.0f} s of work"
        )


def matrix(
    data: Path, data_sets: Sequence[str] = PAPER_SETS, targets: Sequence[str] = MACHINES
) -> tuple[Place, ...]:
    """Return all places, those of one model one after the other."""
    return tuple(
        Place(Recipe(data_set, structure, bits), target, data)
        for data_set in data_sets
        for structure in STRUCTURES
        for bits in WIDTHS
        for target in targets
    )


def outcomes(
    places: Sequence[Place],
    ways: Sequence[str] = WAYS,
    before: Iterable[Outcome] = (),
    processes: int = 1,
) -> Iterator[Outcome]:
    """Yield the outcomes of all ways at all places in order, with this number of processes."""
    known = defaultdict(list)
    for outcome in before:
        known[outcome.place].append(outcome)
    at_place = [known[str(place)] for place in places]
    each_way = [tuple(ways)] * len(places)
    if processes == 1:
        yield from chain.from_iterable(map(check, places, each_way, at_place))
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from chain.from_iterable(pool.map(check, places, each_way, at_place))


def total(places: Iterable[Place], found: Sequence[Outcome]) -> Total:
    """Return the totals; C that several ways share counts once."""
    programs = {(each.place, each.c_digest): each for each in found if each.c_digest}.values()
    return Total(
        models=len({place.recipe for place in places}),
        runs=len(found),
        failed=sum(not outcome.agree for outcome in found),
        without_layout=sum(not outcome.c_digest for outcome in found),
        compared=len(programs),
        inputs=sum(outcome.checked for outcome in programs),
        mismatches=sum(outcome.mismatches for outcome in programs),
        seconds=sum(outcome.seconds for outcome in found),
    )


def read(log: Path) -> dict[str, Outcome]:
    """Return the last outcome of every run in a file of results."""
    return last_results(log, Outcome, str)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--target", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--dataset", action="append", choices=PAPER_SETS, help="repeatable")
    parser.add_argument("--way", action="append", choices=WAYS, help="repeatable [all]")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--log", type=Path, default=Path("build/target_matrix.jsonl"))
    options = parser.parse_args(words)
    if not (options.data / "paper").is_dir():
        parser.error(f"there is no folder paper in '{options.data}'; name the data with --data")
    return options


def main(words: Sequence[str] | None = None) -> int:
    """Check all unfinished runs, print one summary line, and fail unless everything agrees."""
    options = _arguments(words)
    places = matrix(options.data, options.dataset or PAPER_SETS, options.target or MACHINES)
    ways = options.way or WAYS
    n_runs = len(places) * len(ways)
    before, found = read(options.log), []
    with appending(options.log) as append:
        for outcome in outcomes(places, ways, before.values(), options.processes):
            found.append(outcome)
            is_old = outcome == before.get(str(outcome))
            line = f"[{len(found)}/{n_runs}] {outcome}: {_verdict(outcome, is_old=is_old)}"
            print(line, file=sys.stderr, flush=True)
            if not is_old:
                append(outcome)
    result = total(places, found)
    for outcome in found:
        if not outcome.agree:
            print(f"{outcome}: {outcome.story}")
    print(result)
    return int(result.failed > 0)


def _verdict(outcome: Outcome, *, is_old: bool) -> str:
    if not outcome.agree:
        return f"FAILED: {outcome.story}"
    if not outcome.c_digest:
        return "no layout"
    if is_old:
        return "agrees (done before)"
    return f"agrees (as {outcome.as_way})" if outcome.as_way else f"agrees ({outcome.seconds} s)"


if __name__ == "__main__":
    sys.exit(main())
