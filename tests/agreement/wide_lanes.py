"""Emissions in lanes of 64-bit words, every layout that is proved."""

from collections.abc import Iterator

from bncc.compiler.candidate import candidate
from bncc.compiler.importer import program_of
from bncc.compiler.kernels.lanes import lanes
from bncc.compiler.pipeline import optimize_each
from bncc.emit.emitter import Emission, EmitOptions, emit_candidate
from bncc.model.model import Model

OPTIONS = EmitOptions("m", frozenset({"raw", "scores", "trusted"}), optimize="speed", target="x86")


def emissions(model: Model, flow: str = "speed-16") -> Iterator[Emission]:
    """Yield the C of each layout of a flow's program."""
    ((program, _),) = optimize_each(program_of(model), (flow,))
    for kernel in lanes(program, 64):
        yield emit_candidate(model, candidate(program, kernel, "x86"), OPTIONS)
