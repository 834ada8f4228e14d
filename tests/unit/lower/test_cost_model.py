"""Cost model: weighted terms of the family, of the target or a similar one, of the level."""

from dataclasses import replace

import pytest

from bncc.lower import cost_model
from bncc.lower.cost_model import (
    FAMILY,
    OF_FOUND,
    OF_READINGS,
    OTHER,
    code_bytes,
    code_terms,
    decision_cost,
    table_bytes,
    textbook_cost,
    weights_of,
    work_terms,
)
from bncc.lower.kernels.families import FAMILIES, FOR_AVR, FOR_CUTS, FOR_TREES
from bncc.lower.kernels.plain.layout import plain
from bncc.targets import GENERIC, TARGETS
from tests.unit.lower.by_hand import program, table

SOME = program(
    [2, 3], [3, 4], [table([0], [[1, 2], [3, 4]]), table([0, 1], [[r, 9] for r in range(6)])]
)


def test_every_family_has_weights_for_a_machine_that_stands_for_all():
    for family in (*FAMILIES, FAMILY):
        for level in ("-O2", "-Os"):
            machine = OTHER if family in FOR_AVR else GENERIC
            assert (family, machine, level) in weights_of(family)


def test_a_family_made_for_one_machine_has_that_one_s_prices_elsewhere():
    kernel = next(iter(FAMILIES["bytes"](SOME)))
    assert decision_cost(kernel, "cortex-m0") == decision_cost(kernel, "avr")


def test_weights_are_of_the_family_and_of_known_machines():
    for family in (*FAMILIES, FAMILY):
        folder = {name for name, each in FAMILIES.items() if each.weights is weights_of(family)}
        of_readings = {name + OF_READINGS for name in folder & (FOR_CUTS | FOR_TREES)}
        found = {name + OF_FOUND for name in folder - FOR_TREES}
        of_textbook = {FAMILY, FAMILY + OF_READINGS}
        assert {key[0] for key in weights_of(family)} == (
            folder | of_readings | found or of_textbook
        )
        assert {key[1] for key in weights_of(family)} <= set(TARGETS)


@pytest.fixture
def weights(monkeypatch):
    """Put simple weights in place of the fitted ones."""
    kernel = plain(SOME)
    ones, twos = (1.0,) * len(kernel.work), (2.0,) * len(kernel.code)
    some = {
        ("plain", GENERIC, "-O2"): (ones, twos),
        ("plain", GENERIC, "-Os"): (twos[:1] * len(ones), ones[:1] * len(twos)),
        ("plain", "cortex-m4", "-O2"): ((3.0,) * len(ones), twos),
    }
    monkeypatch.setitem(FAMILIES, "plain", replace(FAMILIES["plain"], weights=some))
    return kernel


def test_costs_are_sums_of_weighted_terms(weights):
    assert decision_cost(weights) == sum(weights.work)
    assert decision_cost(weights, level="-Os") == 2 * sum(weights.work)
    assert code_bytes(weights) == 2 * sum(weights.code)
    assert code_bytes(weights, level="-Os") == sum(weights.code)


def test_a_machine_is_priced_as_one_like_it_else_as_the_generic_one(weights):
    assert decision_cost(weights, "cortex-m4") == 3 * sum(weights.work)
    assert decision_cost(weights, "cortex-m7") == 3 * sum(weights.work)
    assert decision_cost(weights, "avr") == sum(weights.work)
    assert decision_cost(weights, "avr", "-Os") == 2 * sum(weights.work)


def test_the_textbook_classifier_has_a_byte_per_cost():
    assert table_bytes(SOME) == (2 + 6) * 2
    assert work_terms(SOME) == (1, 2, 1, 4, 2, 0)
    assert code_terms(SOME) == (1, 2, 1, 2)
    found = textbook_cost(SOME, None)
    assert found.flash > table_bytes(SOME)
    assert found.instructions > 4


def test_a_family_without_weights_is_named() -> None:
    with pytest.raises(RuntimeError, match="the family 'absent' has no weights"):
        cost_model.weighted("absent", None, "-O2", (1.0,), which=0)
    with pytest.raises(RuntimeError, match="'plain' has 2 weights of 1 terms of code; correct"):
        cost_model.weighted("plain", None, "-O2", (1.0,), which=1)
