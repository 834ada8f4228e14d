"""The C of a model with a front end within limits, tried again where it exceeds them."""

from dataclasses import replace

import numpy as np
import pytest

from bncc import program_pricing
from bncc.emit.options import WRITTEN
from bncc.errors import BudgetError
from bncc.program_pricing import program_cost, program_within
from bncc.resources import Budget, ProgramFootprint
from tests.cli.conftest import no_tools
from tests.unit.emit.test_emitter_adaptation_samples import adapting


@pytest.mark.parametrize(("beyond", "fits"), [(30, True), (5000, False)])
def test_a_program_that_takes_more_than_foreseen_is_emitted_again(monkeypatch, beyond, fits):
    """The first footprint is that of the smallest C, the second one is beyond the limit."""
    no_tools(monkeypatch)
    real, asked = program_pricing.program_footprint, []

    def footprint(model, emission, target):
        asked.append(emission.options.reserve)
        found = real(model, emission, target)
        return replace(found, flash=5000 + beyond) if len(asked) == 2 or not fits else found

    monkeypatch.setattr(program_pricing, "program_footprint", footprint)
    budget = Budget("cortex-m0", 5000)
    if not fits:
        with pytest.raises(BudgetError, match="alone exceeds the budget"):
            program_within(adapting("naive"), budget, replace(WRITTEN, target="cortex-m0"))
        return
    emission = program_within(adapting("naive"), budget, replace(WRITTEN, target="cortex-m0"))
    assert asked[2] == asked[1] + beyond
    assert emission.whole.flash < 5000


def test_a_program_that_never_fits_is_refused(monkeypatch):
    no_tools(monkeypatch)
    real, asked = program_pricing.program_footprint, []

    def footprint(model, emission, target):
        asked.append(emission)
        found = real(model, emission, target)
        return found if len(asked) == 1 else ProgramFootprint(9001, 8, 9, "measured")

    monkeypatch.setattr(program_pricing, "program_footprint", footprint)
    budget = Budget("cortex-m0", 9000)
    message = "the program takes 9,001 bytes of flash, 8 of state and 9 of stack, from samples"
    with pytest.raises(BudgetError, match=message):
        program_within(adapting("naive"), budget, replace(WRITTEN, target="cortex-m0"))
    assert len(asked) == 1 + program_pricing.MOST_TRIES


def test_the_stack_of_a_program_is_no_sum(require_bench):
    """A limit that a program keeps admits it, at every goal."""
    require_bench("cortex-m0")
    model = adapting("naive")
    for goal in ("size", "balanced", "speed"):
        options = replace(WRITTEN, target="cortex-m0", optimize=goal)
        whole = program_within(model, Budget("cortex-m0", 2**16), options).whole
        within = program_within(model, Budget("cortex-m0", ram=whole.ram), options).whole
        assert within.ram <= whole.ram, goal


def test_memory_does_not_depend_on_the_samples_that_are_timed(require_bench):
    """A search, which times recorded samples, and `emit-c` agree on what fits."""
    require_bench("cortex-m0")
    model = adapting("naive")
    emission = program_within(model, Budget("cortex-m0"), replace(WRITTEN, target="cortex-m0"))
    sample = np.zeros((1, len(model.front_end.channels)), dtype=np.int64)  # without a decision
    timed = program_cost(model, emission, "cortex-m0", [sample])
    every = program_cost(model, emission, "cortex-m0")
    assert timed.footprint == every.footprint
    assert timed.worst < every.worst


def test_without_a_limit_on_bytes_nothing_more_is_measured(monkeypatch):
    no_tools(monkeypatch)
    emission = program_within(adapting("naive"), Budget("cortex-m0"), WRITTEN)
    assert emission.whole is None
