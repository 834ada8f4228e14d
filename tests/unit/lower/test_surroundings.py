"""Surroundings of a kernel: their price is that of the C, and unread sensors are free."""

from dataclasses import replace

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions
from bncc.lower.cost_model import LEVELS
from bncc.lower.discretizers.choice import choose_discretizers
from bncc.lower.discretizers.counts import constant_counts, total
from bncc.lower.lowering import lower
from bncc.lower.request import Request
from bncc.lower.state_cost import terms_of
from bncc.program.pipeline import optimize_each
from bncc.structure.decision_tables import TableEnsemble
from tests.agreement.large import letter_like
from tests.models import int32_thresholds, naive_integer, sum_of_tables


def with_idle_sensors():
    """Return boosted tables after which come sensors that no table reads."""
    model = sum_of_tables()
    idle = (
        Feature(f"idle{k}", "int32", 9, thresholds=tuple(range(k, 8000, 1000))) for k in range(20)
    )
    assert isinstance(model.structure, TableEnsemble)
    return replace(model, features=(*model.features, *idle))


def lowered(model, goal, compare="states", **options):
    request = Request(model, EmitOptions("m", optimize=goal, compare=compare, **options))
    return lower(optimize_each(request.program, request.flows), request)


MODELS = (naive_integer, int32_thresholds, sum_of_tables, with_idle_sensors, letter_like)


@pytest.mark.parametrize("goal", ["size", "balanced", "speed"])
@pytest.mark.parametrize("model", MODELS, ids=lambda make: make.__name__)
def test_priced_discretizers_are_those_that_are_emitted(model, goal):
    found = lowered(model(), goal)
    chosen, plan = found.choice.chosen, found.layout.raw
    is_handed = found.layout.hands_over
    terms = terms_of(found.program, found.kernel, plan.counts, is_handed=is_handed)
    assert chosen.instructions == terms.instructions(None, LEVELS[goal])
    assert chosen.flash == terms.rom_bytes + terms.code_bytes(None, LEVELS[goal])


def test_states_that_no_table_reads_have_no_price():
    few, many = (
        lowered(make(), "speed", priced=("predict",)).choice.chosen
        for make in (sum_of_tables, with_idle_sensors)
    )
    assert few.instructions == many.instructions
    assert many.flash == few.flash


def test_sensors_that_no_table_reads_have_the_price_of_their_stores():
    """Their states are set to 0, twenty of them from the fifth on."""
    few, many = (
        lowered(make(), "speed").layout.raw.counts for make in (sum_of_tables, with_idle_sensors)
    )
    n_few = len(sum_of_tables().features)
    stores = constant_counts(range(n_few, n_few + 20))
    assert stores.work["constants"] == 20
    whole = total((few, stores))
    assert {name: n for name, n in many.work.items() if n} == {
        name: n for name, n in whole.work.items() if n
    }
    assert many.rom_bytes == few.rom_bytes


def test_a_loop_searches_for_unread_sensors_and_lines_do_not():
    """One sensor of forty is read: its line is shorter than a loop over all of them."""
    sensors = tuple(
        Feature(f"s{k}", "int16", 10, thresholds=tuple(range(k, 9000 + k, 1000))) for k in range(40)
    )
    assert choose_discretizers(sensors, optimize="size").is_loop
    plan = choose_discretizers(sensors, optimize="size", unread=range(1, 40))
    assert not plan.is_loop
    assert plan.methods[0] is not None
    assert set(plan.methods[1:]) == {None}
    assert plan.flash == choose_discretizers(sensors[:1], optimize="size").flash
