"""``--measure``: what the emitted C takes on the machine it is for, found before it is written."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bncc.emit.emitter import Emission, EmitOptions, Price, emit_c
from bncc.emit.options import Bounds
from bncc.emit.provenance import code_files
from bncc.errors import OptionError
from bncc.lower.cost_model import LEVELS
from bncc.model.model import Model
from bncc.targets import TARGETS

if TYPE_CHECKING:
    from bncc.device.cross import Toolchain


def bench_of(target: str | None) -> "Toolchain":
    """Return where a machine's C is built and run; refuse where there is no such machine."""
    if target is None or target not in TARGETS:
        names = ", ".join(TARGETS)
        raise OptionError(f"--measure needs a simulated machine; add --target with one of {names}")
    from bncc.device.cross import find_toolchain  # only here: emit-c starts without what builds

    return find_toolchain(TARGETS[target])[0]


def emit_measured(model: Model, emission: Emission, options: EmitOptions, price: Price) -> Emission:
    """Measure emitted C, and emit it again with what was found in its header."""
    from bncc.device.bounds import measure_bounds

    bench = bench_of(options.target)
    level, is_exact = LEVELS[options.optimize], options.constant_time
    files = code_files(emission.files, emission.name)
    found = measure_bounds(model, files, bench, level, is_exact=is_exact)
    return emit_c(model, replace(options, bounds=found), price)


def facts_of_bounds(bounds: Bounds | None) -> dict[str, Any] | None:
    """Return the JSON object of bounds."""
    if bounds is None:
        return None
    exact = dict(bounds.exact)
    return {
        "compiler": bounds.compiler,
        "simulator": bounds.simulator,
        "unit": bounds.unit,
        "inputs": bounds.n_inputs,
        "stack": dict(bounds.stack),
        "counts": {
            entry: {"min": found.min, "max": found.max, "exact": entry in exact}
            for entry, found in bounds.counts
        },
    }
