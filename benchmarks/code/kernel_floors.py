"""
Speed and flash of the kernels relative to the textbook classifier, with the required floors.

Letter, satimage and usps; naive Bayes and Chow-Liu TAN; 1, 2, 4 and 8 bits, tables by counting.
Instructions (cycles on AVR, naive models alone) of `trusted` and `predict` with --optimize speed at
-O2, against the better of the textbook's -O2 and -O3; flash with --optimize size at -Os, against
the textbook's -Os. The table has geometric means over the models, the floor, and the goal: for
flash as below, for instructions 1.5 times the physical limit (`physical_limit`, 32-bit targets).

    .venv/bin/python -m benchmarks.code.kernel_floors --data ../shared/data
    .venv/bin/python -m benchmarks.code.kernel_floors --data ../shared/data --optimize balanced
    .venv/bin/python -m benchmarks.code.kernel_floors --data ../shared/data --machine cortex-m0 \
        --bits 4 --family lanes

Every figure is one line of build/kernel_floors.jsonl; run the command again to resume. The
textbook's figures are kept until --fresh-textbook, bncc's as long as the C is the same, or until
--fresh. With two processes the whole table takes some minutes, mostly for the textbook, once.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import exp, log
from multiprocessing import get_context
from pathlib import Path

from benchmarks.code.kernel_figures import OPT_LEVELS, Figure, Job, Outcome, work
from benchmarks.shared.log import appending, last_results
from benchmarks.shared.reference_models import PAPER_SETS, STRUCTURES, Recipe
from bncc.lower.kernels.families import FAMILIES
from bncc.resources import Optimize

WIDTHS = (1, 2, 4, 8)
FLOORS: Mapping[str, tuple[float, ...]] = {
    "cortex-m0": (8, 5.5, 4.7, 3.3),
    "cortex-m4": (9.4, 5.6, 4.7, 3.2),
    "rv32": (7, 4.7, 3.6, 2.8),
    "x86": (8.4, 5.4, 4.8, 4),
    "avr": (3.5, 2, 1.8, 1.3),
}
"""Required ratio of `trusted`, by target and width."""
CHECKED = 0.75
"""Required ratio of `predict`, relative to that of `trusted`."""
FLASH_FLOOR = (2.5, 1.8, 1.3, 0.95)
FLASH_GOAL = (4, 2.5, 1.6, 1.1)
LIMIT_GOAL = 1.5
"""Factor of the physical limit."""


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield all jobs, those of one model one after the other."""
    for data_set in options.dataset or PAPER_SETS:
        for structure in options.structure or STRUCTURES:
            for bits in options.bits or WIDTHS:
                for machine in options.machine or FLOORS:
                    if machine == "avr" and structure != "naive":
                        continue
                    recipe = Recipe(data_set, structure, bits)
                    chosen: tuple[Optimize, ...] = tuple(options.optimize or ("speed", "size"))
                    yield Job(recipe, machine, chosen, options.family, options.data)


def outcomes(todo: Sequence[Job], known: Mapping[str, Figure], processes: int) -> Iterator[Outcome]:
    """Yield the outcomes of jobs in their order, with this number of processes."""
    keys = [{f"{job.name} textbook", *map(job.key, job.optimize)} for job in todo]
    before = [{key: known[key] for key in sorted(some & known.keys())} for some in keys]
    if processes == 1:
        yield from map(work, todo, before)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, todo, before)


def mean(values: Sequence[float | None]) -> float | None:
    """Return the geometric mean of the known values."""
    there = [value for value in values if value]
    return exp(sum(map(log, there)) / len(there)) if there else None


def line_of(outcome: Outcome, optimize: Optimize) -> str:
    """Format the measurement of one model on one target."""
    ours, name = outcome.ours[optimize], outcome.job.key(optimize)
    if ours.story is not None:
        return f"{name}: {ours.story}"
    parts = [
        f"{what} {getattr(ours, what):,.0f}{_times(outcome.ratio(optimize, what))}"
        for what in ("trusted", "predict", "flash")
    ]
    above = outcome.above(optimize)
    if above is not None:
        parts.append(f"trusted {above:.2f} times the limit of {outcome.limit}")
    if outcome.book.story is not None:
        parts.append(f"no textbook: {outcome.book.story}")
    return f"{name}: kernel {ours.kernel} {OPT_LEVELS[optimize]}, {', '.join(parts)}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f" (x{ratio:.2f})"


def table(machine: str, found: Sequence[Outcome]) -> str:
    """Format the means of a target with floors and goals."""
    rows = [["", *(f"B={bits}" for bits in WIDTHS)]]
    for optimize, level in OPT_LEVELS.items():
        if not any(optimize in o.ours for o in found):
            continue
        if optimize != "size":
            for what, share in (("trusted", 1.0), ("predict", CHECKED)):
                floor = [share * value for value in FLOORS[machine]]
                rows += _against(f"{what}, {optimize} {level}", found, optimize, what, floor)
            if machine != "avr":
                above = [[o.above(optimize) for o in _of(found, bits)] for bits in WIDTHS]
                rows.append(["trusted / limit", *(_number(mean(values)) for values in above)])
                rows.append(["  goal", *(f"{LIMIT_GOAL}" for _ in WIDTHS)])
        if optimize != "speed" and machine != "avr":
            rows += _against(f"flash, {optimize} {level}", found, optimize, "flash", FLASH_FLOOR)
            rows.append(["  goal", *(f"{value:g}" for value in FLASH_GOAL)])
    lines = ["".join([row[0].ljust(22), *(cell.rjust(14) for cell in row[1:])]) for row in rows]
    return "\n".join([f"{machine}: textbook / bncc, geometric means", *lines])


def _of(found: Sequence[Outcome], bits: int) -> list[Outcome]:
    return [outcome for outcome in found if outcome.job.recipe.bits == bits]


def _against(
    title: str, found: Sequence[Outcome], optimize: Optimize, what: str, floor: Sequence[float]
) -> list[list[str]]:
    """Return a row of means and one of floors."""
    ratios = [[outcome.ratio(optimize, what) for outcome in _of(found, bits)] for bits in WIDTHS]
    cells = [_cell(values, least) for values, least in zip(ratios, floor, strict=True)]
    return [[title, *cells], ["  floor", *(f"{value:.4g}" for value in floor)]]


def _cell(values: Sequence[float | None], least: float) -> str:
    """Return a mean with its verdict, and the number of models if some have none."""
    middle = mean(values)
    if middle is None:
        return "-"
    there = sum(value is not None for value in values)
    part = f" {there}/{len(values)}" if there < len(values) else ""
    return f"{middle:.2f} {'ok' if middle >= least else 'LOW'}{part}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--machine", action="append", choices=FLOORS, help="repeatable")
    parser.add_argument("--dataset", action="append", choices=PAPER_SETS, help="repeatable")
    parser.add_argument("--structure", action="append", choices=STRUCTURES, help="repeatable")
    parser.add_argument("--bits", action="append", type=int, choices=WIDTHS, help="repeatable")
    parser.add_argument("--optimize", action="append", choices=OPT_LEVELS, help="repeatable")
    parser.add_argument("--family", choices=FAMILIES, help="a kernel [default: the best]")
    parser.add_argument("--fresh", action="store_true", help="measure ours again")
    parser.add_argument("--fresh-textbook", action="store_true", help="measure the textbook again")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=2)
    parser.add_argument("--log", type=Path, default=Path("build/kernel_floors.jsonl"))
    options = parser.parse_args(words)
    if not (options.data / "paper").is_dir():
        parser.error(f"there is no folder paper in '{options.data}'; name the data with --data")
    return options


def main(words: Sequence[str] | None = None) -> int:
    """Measure all unknown figures and print the table; fail if a kernel has no figures."""
    options = _arguments(words)
    todo = list(jobs(options))
    stale = {False: options.fresh, True: options.fresh_textbook}
    logged = last_results(options.log, Figure)
    known = {key: f for key, f in logged.items() if not stale[key.endswith(" textbook")]}
    found = []
    with appending(options.log) as append:
        for outcome in outcomes(todo, known, min(options.processes, len(todo))):
            found.append(outcome)
            for figure in (outcome.book, *outcome.ours.values()):
                if figure != known.get(figure.key):
                    append(figure)
            print(f"[{len(found)}/{len(todo)}] {outcome.job.name}", file=sys.stderr, flush=True)
    lines = [line_of(outcome, optimize) for outcome in found for optimize in outcome.ours]
    print("\n".join(lines))
    for machine in dict.fromkeys(job.target for job in todo):
        print("\n" + table(machine, [o for o in found if o.job.target == machine]))
    return int(any(figure.story for outcome in found for figure in outcome.ours.values()))


if __name__ == "__main__":
    sys.exit(main())
