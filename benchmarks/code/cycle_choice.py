"""
Cycles of the layouts of models on a Cortex-M0, and the time that counting them takes.

Updates the tables of docs/targets.md with the layout of fewest instructions and that of fewest
cycles of each model, over all kernels and goals. Needs a compiler for Cortex-M0, unicorn and
capstone, and the papers' data; takes ten minutes on an idle computer. The same tools give the same
table:

    .venv/bin/python -m benchmarks.code.cycle_choice --data ../shared/data --write

``--cost`` prints the time of counting cycles divided by that of counting instructions instead.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.reference_models import BUNDLED_SETS, STRUCTURES, Recipe, reference
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import CycleCost, Inputs, Meter
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.lower.cost_model import LEVELS
from bncc.lower.kernels.families import FAMILIES
from bncc.model.model import Model
from bncc.on_device import sources_of
from bncc.resources import Optimize
from bncc.targets import find_target
from bncc.timing.clock import CycleClock

PAGE = Path("docs/targets.md")
TARGET = "cortex-m0"
N_ROWS = 10
GOALS: tuple[Optimize, ...] = ("speed", "size")
RECIPES = (
    *(Recipe(name, s, 8) for name in BUNDLED_SETS for s in STRUCTURES),
    Recipe("satimage", "naive", 8),
    Recipe("satimage", "naive", 4),
)
"""Reference models whose layouts are compared."""


@dataclass(frozen=True)
class Layout:
    """Mean cost of ``predict`` in one layout."""

    name: str  # Kernel and goal
    instructions: float
    cycles: CycleCost


def layouts_of(model: Model, bench: Toolchain, inputs: Inputs) -> Iterator[Layout]:
    """Measure every kernel that has the model, for each goal; layouts that are equal, once."""
    seen = set()
    for goal in GOALS:
        for kernel in FAMILIES:
            options = EmitOptions("m", optimize=goal, kernel=kernel, target=TARGET)
            try:
                emission = emit_c(model, options)
            except BnccError:
                continue
            built = sources_of(model, emission)
            key = LEVELS[goal], tuple(sorted(emission.files.items()))
            if emission.layout.direct or key in seen:
                continue
            seen.add(key)
            with Meter(built, bench, LEVELS[goal]) as meter:
                cost = meter.costs(Inputs(inputs.X), ("predict",))["predict"]
            if cost.cycles is not None:
                yield Layout(f"{kernel}, {goal}", cost.mean, cost.cycles)


def row_of(name: str, layouts: Sequence[Layout]) -> list[str]:
    """Return the row of a model: its best layout by instructions and its best by cycles."""
    by_count = min(layouts, key=lambda each: each.instructions)
    by_cycles = min(layouts, key=lambda each: each.cycles.mean)
    gain = 100 * (1 - by_cycles.cycles.mean / by_count.cycles.mean)
    is_same = by_count.name == by_cycles.name
    return [
        name,
        f"{len(layouts)}",
        by_count.name,
        _figures(by_count),
        "the same" if is_same else f"**{by_cycles.name}**",
        _figures(by_cycles),
        f"{gain:.1f} %",
        f"{min(_ratios(layouts)):.2f} .. {max(_ratios(layouts)):.2f}",
    ]


def _figures(layout: Layout) -> str:
    return f"{layout.instructions:,.0f} / {layout.cycles.mean:,.0f}"


def _ratios(layouts: Sequence[Layout]) -> list[float]:
    return [each.cycles.mean / each.instructions for each in layouts]


def choices(rows: Iterable[Sequence[str]]) -> str:
    """Return the table of the page."""
    head = [
        "model", "layouts", "fewest instructions", "instructions / cycles", "fewest cycles",
        "instructions / cycles", "cycles saved", "cycles per instruction",
    ]  # fmt: skip
    return table(head, rows)


def timed_bench() -> Toolchain:
    """Return the tools of the target, with a clock."""
    (bench,) = find_toolchain(find_target(TARGET), simulator="unicorn")
    return replace(bench, clock=CycleClock(TARGET))


def cost_ratio(model: Model, inputs: Inputs, repeats: int = 5) -> tuple[float, float]:
    """Return the best seconds of a measurement that counts instructions, and cycles as well."""
    bench = timed_bench()
    emission = emit_c(model, EmitOptions("m", target=TARGET))
    seconds = []
    for each in (replace(bench, clock=None), bench):
        with Meter(sources_of(model, emission), each, "-O2") as meter:
            meter.costs(inputs, ("predict",))  # Links, and reads the file once
            taken = []
            for _ in range(repeats):
                start = perf_counter()
                meter.costs(inputs, ("predict",))
                taken.append(perf_counter() - start)
        seconds.append(min(taken))
    return seconds[0], seconds[1]


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--write", action="store_true", help=f"update {PAGE}")
    parser.add_argument("--cost", action="store_true", help="print the time of counting instead")
    options = parser.parse_args()
    if options.cost:
        for recipe in RECIPES[:1] + RECIPES[-1:]:
            known = reference(recipe, options.data)
            counted, timed = cost_ratio(known.model, bench_inputs(known.model, known.test))
            print(f"{recipe}: instructions {counted:.3f} s, cycles too {timed:.3f} s, "
                  f"ratio {timed / counted:.2f}")  # fmt: skip
        return
    bench, rows = timed_bench(), []
    for recipe in RECIPES:
        known = reference(recipe, options.data)
        inputs = bench_inputs(known.model, known.test, n_rows=N_ROWS)
        rows.append(row_of(str(recipe), list(layouts_of(known.model, bench, inputs))))
        print(" | ".join(rows[-1]), flush=True)
    if options.write:
        renew(PAGE, {"cycles": choices(rows)})


if __name__ == "__main__":
    main()
