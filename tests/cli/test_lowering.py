"""How the command line lowers a model: options per machine, C emitted once."""

import platform
from pathlib import Path

import pytest

from bncc.cli.lowering import Emissions, Lowering
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.file import load_model


def test_the_host_is_an_x86_or_gets_generic_c(monkeypatch: pytest.MonkeyPatch) -> None:
    lowering = Lowering("size", "plain")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert lowering.options("host") == lowering.options("x86")
    assert lowering.options("avr", "n", frozenset({"raw"}), "plain") == EmitOptions(
        "n", frozenset({"raw"}), kernel="plain", optimize="size", target="avr"
    )
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert lowering.options("host") == lowering.options(None)
    assert lowering.options(None).target is None


def test_machines_share_what_is_the_same(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    emissions = Emissions(load_model(model), Lowering("speed"), frozenset({"trusted"}))
    assert emissions.of("host") is emissions.of("x86")
    options = EmitOptions("m", frozenset({"trusted"}), optimize="speed", target="rv32")
    assert emissions.options("rv32") == options
    assert emissions.of("rv32").files == emit_c(emissions.model, options).files
