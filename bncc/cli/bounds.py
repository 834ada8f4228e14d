"""``--measure``: what the emitted C takes on the machine it is for, found before it is written."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bncc.build.targets import TARGETS
from bncc.compiler.cost_model import LEVELS
from bncc.emit.bounds import Bounds
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.model.model import Model

if TYPE_CHECKING:
    from bncc.build.cross import Bench


def bench_of(target: str | None) -> "Bench":
    """Return where a machine's C is built and run; refuse where there is no such machine.

    Parameters
    ----------
    target : str or None
        Value of ``--target``.

    Returns
    -------
    Bench
        The preferred compiler and simulator.

    Raises
    ------
    OptionError
        If nothing can be measured.
    ToolchainError
        If a tool for the machine is missing.
    """
    if target is None or target not in TARGETS:
        names = ", ".join(TARGETS)
        raise OptionError(f"--measure needs a simulated machine; add --target with one of {names}")
    from bncc.build.cross import find_bench  # only here: emit-c starts without what builds

    return find_bench(TARGETS[target])[0]


def emit_measured(model: Model, options: EmitOptions) -> Emission:
    """Emit C, measure it, and emit it again with what was found in its header.

    Parameters
    ----------
    model : Model
        The model.
    options : EmitOptions
        What to emit; it names a machine.

    Returns
    -------
    Emission
        The same C; its header has the bounds.
    """
    from bncc.build.bounds import measure_bounds

    bench = bench_of(options.target)
    emission = emit_c(model, replace(options, package="plain"))  # the same C in one folder
    level, is_exact = LEVELS[options.optimize], options.constant_time
    found = measure_bounds(model, emission.files, bench, level, is_exact=is_exact)
    return emit_c(model, replace(options, bounds=found))


def facts_of_bounds(bounds: Bounds | None) -> dict[str, Any] | None:
    """Return the JSON object of bounds.

    Parameters
    ----------
    bounds : Bounds or None
        What was measured.

    Returns
    -------
    dict or None
        ``compiler``, ``simulator``, ``unit``, ``inputs``, ``stack`` (bytes by entry point), and
        ``counts``: by entry point ``min``, ``max`` and whether they are ``exact``.
    """
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
