"""Lowering by the command line: options per target, C emitted once."""

from pathlib import Path

import pytest

from bncc.cli import lowering
from bncc.cli.lowering import IN_TIME, Emissions, Lowering, Retreat
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import BudgetError
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.resources import Budget


def test_the_host_gets_generic_c() -> None:
    plain = Lowering("size", "plain")
    assert plain.options("host") == plain.options(None)
    assert plain.options("avr", frozenset({"raw"})) == EmitOptions(
        "m", frozenset({"raw"}), kernel="plain", optimize="size", target="avr"
    )
    assert plain.options(None).target is None


def test_machines_share_what_is_the_same(model: Path) -> None:
    emissions = Emissions(load_model(model), Lowering("speed"), frozenset({"trusted"}))
    assert emissions.of("host") is emissions.of(None)
    options = EmitOptions("m", frozenset({"trusted"}), optimize="speed", target="rv32")
    assert emissions.of("rv32").options == options
    assert emissions.of("rv32").files == emit_c(emissions.model, options).files
    assert emissions.level("rv32") == "-O2"


def goals_that_fit(
    model: Path, monkeypatch: pytest.MonkeyPatch, utilization: dict[str, float], goals: tuple
) -> tuple[list[str], list[str], str]:
    """Return the goals tried, the notes, and the goal of the C, where each goal uses a fraction."""
    tried: list[str] = []
    notes: list[str] = []

    def emitted(model: Model, within: Budget, options: EmitOptions) -> Emission:
        tried.append(options.optimize)
        if utilization[options.optimize] > 1:
            goal = options.optimize
            raise BudgetError(f"{goal}: use --optimize size", utilization[goal], goal)
        return emit_c(model, options)

    monkeypatch.setattr(lowering, "program_within", emitted)
    emissions = Emissions(
        load_model(model),
        Lowering(),
        within=Budget(None, 10**6),
        retreat=Retreat(goals, notes.append),
    )
    return tried, notes, emissions.of("cortex-m0").options.optimize


def test_other_goals_are_tried_where_no_code_fits(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest code is tried with a limit of time, too; the nearest goal gives the error."""
    used = {"balanced": 2.5, "speed": 3.0, "size": 1.0}
    assert goals_that_fit(model, monkeypatch, used, IN_TIME) == (
        ["balanced", "speed", "size"],
        ["no balanced code for cortex-m0 fits the budget; the C uses --optimize size"],
        "size",
    )
    for size, nearest in ((2.0, "size"), (4.0, "balanced")):
        with pytest.raises(BudgetError, match=f"^{nearest}$"):  # No advice that has been tried
            goals_that_fit(model, monkeypatch, used | {"size": size}, IN_TIME)
    with pytest.raises(BudgetError, match="balanced: use"):
        goals_that_fit(model, monkeypatch, used, IN_TIME[:1])
    with pytest.raises(BudgetError, match="balanced: use"):
        goals_that_fit(model, monkeypatch, used, ())
