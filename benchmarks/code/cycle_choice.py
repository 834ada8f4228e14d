"""
The layout of fewest cycles compared with that of fewest instructions, on six cores and parts.

Updates the tables of docs/targets.md from the layouts that benchmarks/code/cycle_layouts.py has
measured; a second:

    .venv/bin/python -m benchmarks.code.cycle_choice --write

``--cost`` prints the time of counting cycles divided by that of counting instructions instead; it
needs a compiler for Cortex-M0, unicorn and capstone:

    .venv/bin/python -m benchmarks.code.cycle_choice --cost
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.code.cycle_layouts import (
    CLOCKS,
    JOBS,
    LOG,
    SETS,
    Layout,
    all_layouts,
    model_of,
    parts,
)
from benchmarks.shared.counting_time import counting_words
from benchmarks.shared.markdown import renew, table
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.cycle_rates import rate_of
from bncc.on_device import sources_of
from bncc.targets import find_target
from bncc.targets.timing import CountedCore
from bncc.timing.clock import CycleClock

PAGE = Path("docs/targets.md")
MODELS = tuple(f"{name}, {form}" for goal, name, form in JOBS if goal == "speed")
CORES = {core: target for target, clocks in CLOCKS.items() for core in clocks}
COST_OF = ("naive", "many tables")


def cycles_of(layout: Layout, core: str) -> float:
    """Return the middle of the range of the mean."""
    low, high, _ = layout.cycles[core]
    return (low + high) / 2


@dataclass(frozen=True)
class Choice:
    """The layouts of a model on a core that two units choose."""

    model: str
    core: str
    by_count: Layout
    by_cycles: Layout

    @property
    def saved(self) -> float:
        """Percent of the cycles that the choice by cycles saves."""
        whole = cycles_of(self.by_count, self.core)
        return 100 * (1 - cycles_of(self.by_cycles, self.core) / whole)

    @property
    def is_sure(self) -> bool:
        """True if the most cycles of the one are fewer than the fewest of the other."""
        return self.by_cycles.cycles[self.core][1] < self.by_count.cycles[self.core][0]


def measured_choice(model: str, core: str, layouts: Sequence[Layout]) -> Choice:
    """Return the layouts with the fewest measured instructions and cycles."""
    by_count = min(layouts, key=lambda each: (each.instructions, cycles_of(each, core)))
    return Choice(model, core, by_count, min(layouts, key=lambda each: cycles_of(each, core)))


def estimated_choice(model: str, core: str, layouts: Sequence[Layout]) -> Choice:
    """Return the layouts with the fewest estimated instructions and cycles, as ``emit-c`` does."""
    clock = CLOCKS[CORES[core]][core]
    counted = CountedCore(clock.core, clock.flash.states, clock.flash.has_prefetch)

    def estimate(layout: Layout) -> tuple[int, int]:
        return round(layout.estimate * rate_of(counted, layout.family)[0]), layout.flash

    by_count = min(layouts, key=lambda each: (each.estimate, each.flash))
    return Choice(model, core, by_count, min(layouts, key=estimate))


def fast_layouts(layouts: Sequence[Layout]) -> Iterator[tuple[str, str, list[Layout]]]:
    """Yield each model and core with the layouts for speed."""
    for model in MODELS:
        for core, target in CORES.items():
            some = [
                each
                for each in layouts
                if (each.model, each.target, each.goal) == (model, target, "speed")
                and core in each.cycles
            ]
            if some:
                yield model, core, some


def savings(choices: Sequence[Choice]) -> str:
    """Return the table of savings by model and core; a dash where the layout is the same."""
    found = {(each.model, each.core): each for each in choices}
    rows = [[model, *(_saving(found.get((model, core))) for core in CORES)] for model in MODELS]
    return table(["model", *CORES], rows)


def _saving(choice: Choice | None) -> str:
    if choice is None:
        return ""
    if choice.by_count is choice.by_cycles:
        return "-"
    bold = "**" if choice.is_sure else ""
    return f"{bold}{choice.saved:.1f} %{bold}"


def largest(choices: Sequence[Choice]) -> str:
    """Return the table of the largest saving on each core."""
    head = ["core", "models", "others", "largest saving", "fewest instructions",
            "instructions / cycles", "fewest cycles", "instructions / cycles"]  # fmt: skip
    rows = []
    for core in CORES:
        some = [each for each in choices if each.core == core]
        if not some:
            continue
        best = max(some, key=lambda each: each.saved)
        n = sum(each.by_count is not each.by_cycles for each in some)
        rows.append([core, f"{len(some)}", f"{n}", f"{best.saved:.1f} % ({best.model})",
                     best.by_count.words, _figures(best.by_count, core),
                     best.by_cycles.words, _figures(best.by_cycles, core)])  # fmt: skip
    return table(head, rows)


def _figures(layout: Layout, core: str) -> str:
    low, high, _ = layout.cycles[core]
    cycles = f"{low:,.0f}" if low == high else f"{low:,.0f} .. {high:,.0f}"
    return f"{layout.instructions:,.0f} / {cycles}"


def print_costs() -> None:
    """Print the time of measurements that count cycles, and of others."""
    (bench,) = find_toolchain(find_target("cortex-m0"), simulator="unicorn")
    timed = replace(bench, clock=CycleClock("cortex-m0"))
    for name in SETS:
        for form in COST_OF:
            model = model_of(name, form)
            inputs = bench_inputs(model, parts(name)[1].table)
            built = sources_of(model, emit_c(model, EmitOptions("m", target="cortex-m0")))
            print(f"{name}, {form}: {counting_words(built, timed, '-O2', inputs, ('raw',))}")


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--log", type=Path, default=LOG, help="measured layouts")
    parser.add_argument("--write", action="store_true", help=f"update {PAGE}")
    parser.add_argument("--cost", action="store_true", help="print the time of counting instead")
    options = parser.parse_args()
    if options.cost:
        print_costs()
        return
    groups = list(fast_layouts(all_layouts(options.log)))
    choices = [measured_choice(*each) for each in groups]
    tables = {
        "cycles": savings(choices),
        "cycles of layouts": largest(choices),
        "cycles of emit-c": savings([estimated_choice(*each) for each in groups]),
    }
    for text in tables.values():
        print(text)
    if options.write:
        renew(PAGE, tables)


if __name__ == "__main__":
    main()
