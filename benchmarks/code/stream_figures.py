"""
Footprint of a decision from features one by one, compared with the decision from all of them.

Run ``python -m benchmarks.code.stream_figures --data FOLDER``. The C is that of ``--with stream``,
the same for both; a stream begins, takes every feature in the order of its number, and ends.
"""

import argparse
from pathlib import Path

from benchmarks.shared.reference_models import Recipe, reference, some_rows
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.targets import find_target

RECIPES = (Recipe("usps", "naive", 4), Recipe("letter", "chow-liu", 4))
TARGETS = ("avr", "cortex-m0")


def main() -> None:
    """Print the table of ``docs/kernels.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=20)
    options = parser.parse_args()
    print("| model | `x[]` | `m_state_t` | target | predict | stream |\n|---|---|---|---|---|---|")
    for recipe in RECIPES:
        found = reference(recipe, options.data)
        inputs = bench_inputs(found.model, some_rows(found.test, options.rows))
        for name in TARGETS:
            emission = emit_c(found.model, EmitOptions("m", frozenset({"stream"}), target=name))
            bench = find_toolchain(find_target(name))[0]
            with Meter(sources(found.model, emission.files), bench, "-O2") as meter:
                costs = meter.costs(inputs)
            held = emission.layout.stream
            assert held is not None
            size = held.n_bytes if bench.target.packed else held.aligned_bytes
            print(
                f"| {recipe} | {found.model.n_features} B | {size} B | {bench.target.title} | "
                f"{costs['predict'].mean:,.0f} | {costs['stream'].mean:,.0f} {bench.target.unit} |"
            )


if __name__ == "__main__":
    main()
