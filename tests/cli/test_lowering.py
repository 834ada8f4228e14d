"""Lowering by the command line: options per target, C emitted once."""

from pathlib import Path

from bncc.cli.lowering import Emissions, Lowering
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.file import load_model


def test_the_host_gets_generic_c() -> None:
    lowering = Lowering("size", "plain")
    assert lowering.options("host") == lowering.options(None)
    assert lowering.options("avr", "n", frozenset({"raw"}), "plain") == EmitOptions(
        "n", frozenset({"raw"}), kernel="plain", optimize="size", target="avr"
    )
    assert lowering.options(None).target is None


def test_machines_share_what_is_the_same(model: Path) -> None:
    emissions = Emissions(load_model(model), Lowering("speed"), frozenset({"trusted"}))
    assert emissions.of("host") is emissions.of(None)
    options = EmitOptions("m", frozenset({"trusted"}), optimize="speed", target="rv32")
    assert emissions.options("rv32") == options
    assert emissions.of("rv32").files == emit_c(emissions.model, options).files
