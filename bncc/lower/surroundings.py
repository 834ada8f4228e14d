"""
Surroundings of a kernel that decides on states: the check of states, or discretizers of readings.

The price of a layout and its C take both from here, so that what is priced is what is emitted,
unless a budget leaves room for the smallest discretizers alone.
"""

from bncc.lower.discretizers.choice import Discretizers, choose_discretizers
from bncc.lower.input_check import InputCheck, input_check
from bncc.lower.request import Request
from bncc.program.ir import Program
from bncc.resources import Optimize


def unread_features(request: Request, program: Program) -> frozenset[int]:
    """Return the features that no entry point needs."""
    used, entries = request.used, request.options.entries
    if "stream" in entries or "missing" in entries or not used:
        return frozenset()
    read = {f for table in program.tables for f in table.features}
    return frozenset(range(len(program.features))) - read.union(used)


def check_of(request: Request, program: Program, rom_bytes: int) -> InputCheck:
    """Choose the check of states around a kernel with some bytes of constants."""
    options = request.options
    return input_check(
        program.n_states,
        optimize=options.optimize,
        rom_bytes=rom_bytes,
        target=options.target,
        constant_time=options.constant_time,
        unread=unread_features(request, program),
    )


def discretizers_of(
    request: Request, program: Program, rom_bytes: int, optimize: Optimize
) -> Discretizers:
    """Choose the discretizers around a kernel with some bytes of constants, for a goal."""
    options = request.options
    return choose_discretizers(
        program.features,
        request.own_ways,
        optimize=optimize,
        target=options.target,
        other_bytes=rom_bytes,
        by_number=request.entries.stream,
        constant_time=options.constant_time,
        unread=unread_features(request, program),
        frequencies=request.frequencies,
    )
