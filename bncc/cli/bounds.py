"""``--measure``: what the emitted C takes on the machine it is for, found before it is written."""

from typing import TYPE_CHECKING, Any

from bncc.device.targets import TARGETS
from bncc.emit.emitter import Emission, EmitOptions, Price
from bncc.errors import OptionError
from bncc.model.model import Model
from bncc.resources import Bounds

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
    from bncc.on_device import emit_bounded

    return emit_bounded(model, emission, options, price, bench_of(options.target))


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
