"""What ``--constant-time`` costs: flash, and instructions or cycles, beside ordinary C.

Run ``python -m benchmarks.constant_time_figures --data FOLDER``.
"""

import argparse
from pathlib import Path

from benchmarks.reference_models import Recipe, reference, some_rows
from bncc.bench.on_target import bench_inputs
from bncc.build.cross import find_bench
from bncc.build.meter import Meter
from bncc.build.targets import find_target
from bncc.emit.emitter import EmitOptions, emit_c

RECIPES = (Recipe("letter", "chow-liu", 4), Recipe("robot", "naive", 4))
TARGETS = ("avr", "cortex-m0")


def main() -> None:
    """Print the table of ``docs/kernels.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=50)
    options = parser.parse_args()
    print("| model | machine | C | kernel | flash | predict | raw |\n|---|---|---|---|---|---|---|")
    for recipe in RECIPES:
        found = reference(recipe, options.data)
        inputs = bench_inputs(found.model, some_rows(found.test, options.rows))
        for name in TARGETS:
            bench = find_bench(find_target(name))[0]
            for constant_time in (False, True):
                asked = EmitOptions("m", target=name, constant_time=constant_time)
                emission = emit_c(found.model, asked)
                with Meter(found.model, emission.files, bench, "-O2") as meter:
                    costs = meter.costs(inputs)
                    flash = meter.footprint(
                        [entry for entry in ("predict", "raw") if entry in costs]
                    )
                spans = [
                    f"{costs[entry].min:,} .. {costs[entry].max:,}" if entry in costs else "-"
                    for entry in ("predict", "raw")
                ]
                kind = "constant time" if constant_time else "ordinary"
                print(
                    f"| {recipe} | {bench.target.title}, {bench.target.unit} | {kind} | "
                    f"{emission.kernel} | {flash.flash:,} B | {' | '.join(spans)} |"
                )


if __name__ == "__main__":
    main()
