"""Bounds of emitted C for every input: instructions and stack, by proofs of its entry points."""

from importlib.util import find_spec

from bncc.device.cross import Toolchain
from bncc.device.machine import HarnessError
from bncc.device.meter import METERED
from bncc.emit.emitter import Emission
from bncc.model.model import Model
from bncc.on_device import sources_of
from bncc.prove.build import ENTRIES, TARGETS, linked_program, verdict_of
from bncc.resources import FUNCTIONS, ProvedBound
from bncc.toolchain.tools import load_decoder

LIMIT = 60.0
"""Time limit of each proof, in seconds."""


def proved_bounds(
    model: Model, emission: Emission, bench: Toolchain, level: str
) -> tuple[list[tuple[str, ProvedBound]], list[tuple[str, str]]]:
    """
    Return the bounds of each entry point by its name in C, and why others have none.

    Both are empty for a target without proofs.
    """
    if bench.target.name not in TARGETS:
        return [], []
    emitted = sources_of(model, emission).entries
    entries = [entry for entry in ENTRIES if METERED[entry] in emitted]
    if find_spec("capstone") is None:
        return [], [(FUNCTIONS[entry], "without capstone") for entry in entries]
    load_decoder()
    program = linked_program(model, emission, bench, level, entries)
    proved, undecided = [], []
    for entry in entries:
        found, name = verdict_of(model, program, entry, time_limit=LIMIT), FUNCTIONS[entry]
        if found.status == "refuted":
            raise HarnessError(f"{found.sentence}; report this, it is a bug in bncc")
        if found.instructions is None or found.stack is None or found.status != "proved":
            undecided.append((name, found.reason))
        else:
            proved.append((name, ProvedBound(found.instructions, found.stack)))
    return proved, undecided
