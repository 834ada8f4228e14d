"""Emissions in lanes of 64-bit words: every layout that is proved safe."""

from collections.abc import Iterator

from bncc.emit.emitter import Emission, EmitOptions, emit_candidate
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.lanes.layout import lanes
from bncc.model.model import Model
from bncc.program.pipeline import optimize_each, program_of

OPTIONS = EmitOptions("m", frozenset({"raw", "scores", "trusted"}), optimize="speed", target="x86")


def emissions(model: Model, flow: str = "speed-16") -> Iterator[Emission]:
    """Yield the C of each layout of a flow's program."""
    ((program, _),) = optimize_each(program_of(model), (flow,))
    for kernel in lanes(program, 64):
        yield emit_candidate(model, candidate(program, kernel, "x86"), OPTIONS)
