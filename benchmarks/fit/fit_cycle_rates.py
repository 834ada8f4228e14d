"""
Fit the cycles per instruction of each kernel on each core to measured layouts.

The rates are means over the layouts of a kernel, and go to bncc/lower/fitted_rates.py. The printed
errors are those of a rate times the measured instructions: with the rates, and with rates fitted to
all models but the layout's own. Measure first, see benchmarks/code/cycle_layouts.py; then, in a
second:

    .venv/bin/python -m benchmarks.fit.fit_cycle_rates
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.code.cycle_layouts import CLOCKS, LOG, Layout, all_layouts
from bncc._types import FloatArray
from bncc.lower import fitted_rates
from bncc.lower.cycle_rates import OTHERS
from bncc.lower.fitted_rates import Rate

FILE = Path(fitted_rates.__file__)
WITH_WAITS: Mapping[str, tuple[str, int]] = {
    "cortex-m0": ("stm32f030", 1),
    "cortex-m0plus": ("stm32f030", 1),
    "cortex-m4": ("nrf52832", 3),
}
"""The part on which the wait states of a core were counted, and how many it has. Those of a
Cortex-M0+ are those of a Cortex-M0, which executes the same code. No part of RV32 has any."""
LIKE = {"cortex-m3": "cortex-m4"}
"""Cores with the rates of another one, from which they differ in multiplications alone."""


def rate(layouts: Sequence[Layout], core: str) -> Rate:
    """Return the mean rate of some layouts."""
    rows = np.array([_rates(each, core) for each in layouts])
    return Rate(*(round(float(each), 3) for each in rows.mean(axis=0)))


def _rates(layout: Layout, core: str) -> tuple[float, float, float]:
    low, high, most = layout.cycles[core]
    waits = 0.0
    if core in WITH_WAITS:
        part, states = WITH_WAITS[core]
        base = layout.cycles["cortex-m0" if part == "stm32f030" else core]
        waits = (layout.cycles[part][1] - base[1]) / states / layout.instructions
    return (low + high) / 2 / layout.instructions, most / layout.most, waits


def fitted(layouts: Sequence[Layout], core: str) -> dict[str, Rate]:
    """Return the rates of a core by kernel."""
    families = sorted({each.family for each in layouts})
    found = {f: rate([each for each in layouts if each.family == f], core) for f in families}
    return {**found, OTHERS: rate(layouts, core)}


def errors(layouts: Sequence[Layout], core: str) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield each kernel with the relative errors of its rate, and of one without the model."""
    for family in sorted({each.family for each in layouts}):
        some = [each for each in layouts if each.family == family]
        actual = np.array([_rates(each, core)[0] for each in some])
        apart = []
        for each in some:
            others = [other for other in some if other.model != each.model] or layouts
            apart.append(rate(others, core).mean)
        yield family, rate(some, core).mean / actual - 1, np.array(apart) / actual - 1


def text_of(rates: Mapping[str, Mapping[str, Rate]]) -> str:
    """Return the file with other rates."""
    head = FILE.read_text("utf-8").partition("RATES:")[0]
    lines = [f"{head}RATES: Mapping[str, Mapping[str, Rate]] = {{\n"]
    for core, each in rates.items():
        lines.append(f'    "{core}": {{\n')
        lines += [f'        "{family}": Rate{tuple(rate)},\n' for family, rate in each.items()]
        lines.append("    },\n")
    return "".join([*lines, '}\n"""Rates by core and kernel."""\n'])


def main() -> None:
    """Fit, print the errors, and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--log", type=Path, default=LOG, help="measured layouts")
    options = parser.parse_args()
    layouts = all_layouts(options.log)
    rates: dict[str, Mapping[str, Rate]] = {}
    every: list[FloatArray] = []
    print(f"{'core':14} {'kernel':11} layouts  rate   errors, of other models' rates")
    for target, clocks in CLOCKS.items():
        for core in (name for name, clock in clocks.items() if name == clock.core):
            some = [each for each in layouts if each.target == target and core in each.cycles]
            rates[core] = fitted(some, core)
            for family, own, apart in errors(some, core):
                every.append(apart)
                print(f"{core:14} {family:11} {len(own):7}  {rates[core][family].mean:.3f}  "
                      f"{100 * own.min():+5.1f} .. {100 * own.max():+5.1f} %, "
                      f"{100 * apart.min():+5.1f} .. {100 * apart.max():+5.1f} %")  # fmt: skip
    rates |= {core: rates[other] for core, other in LIKE.items()}
    whole = np.abs(np.concatenate(every))
    print(f"without the own model: within 5 % {100 * (whole <= 0.05).mean():.0f} %, within 10 % "
          f"{100 * (whole <= 0.1).mean():.0f} %, largest {100 * whole.max():.1f} %")  # fmt: skip
    FILE.write_text(text_of(rates), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", FILE], check=True)


if __name__ == "__main__":
    main()
