"""The report of estimates from readings: what is sampled, and which estimates are close."""

from types import SimpleNamespace

import pytest

from benchmarks.fit import fit_state_costs as module
from benchmarks.fit.state_samples import MACHINES, Figures, cases
from benchmarks.shared.trained_models import Trained
from bncc.emit.emitter import emit_c
from bncc.lower.cost_model import FAMILY, OF_READINGS
from bncc.lower.kernels.families import FAMILIES, FOR_AVR, FOR_CUTS, FOR_TREES


def a_case(flash, instructions, family="plain", target="avr", *, is_of_readings=False):
    return SimpleNamespace(
        family=family,
        target=target,
        level="-Os",
        name=f"{family} {flash}",
        estimate=(flash, instructions),
        is_of_readings=is_of_readings,
    )


def lines(capsys):
    """Return the printed lines by their names, with the words after these."""
    found = (line.split(" n=") for line in capsys.readouterr().out.splitlines() if " n=" in line)
    return {name.strip(): rest.split() for name, rest in found}


def test_close_estimates_are_counted_by_kernel_and_target(capsys):
    known = Figures("", 1000, 200.0)
    module.report(
        [
            (a_case(1099, 229), known),
            (a_case(1101, 231), known),
            (a_case(900, 169, "lanes"), known),
            (a_case(500, 200, "cuts of readings", "cortex-m0", is_of_readings=True), known),
            (a_case(1, 1), Figures("")),
        ]
    )
    found = lines(capsys)
    assert found["plain"][:3] == ["2", "50.0%", "50.0%"]
    assert found["lanes"][:3] == ["1", "100.0%", "0.0%"]
    assert found["avr -Os"][:3] == ["3", "66.7%", "33.3%"]
    assert found["cortex-m0 -Os"][:5] == ["1", "0.0%", "100.0%", "-50.0%", "0.0%"]
    assert found["all that find states"][:3] == ["3", "66.7%", "33.3%"]
    assert found["all that compare readings"][:3] == ["1", "0.0%", "100.0%"]


def test_the_worst_estimates_are_named(capsys):
    known = Figures("", 1000, 200.0)
    module.report([(a_case(1500, 100), known), (a_case(1100, 300, "lanes"), known)], n_worst=1)
    named = [line for line in capsys.readouterr().out.splitlines() if " n=" not in line]
    assert named[1:] == ["flash +50%: plain 1500", "instructions -50%: plain 1500"]


@pytest.mark.no_cover
def test_every_family_that_finds_states_is_sampled():
    models = (Trained("wifi", "chow-liu", 1), Trained("wifi", "naive"), Trained("wifi", "boosted"))
    found = list(cases(None, models))
    assert {(case.target, case.level) for case in found} == set(MACHINES)
    # Those of columns have no layout for so few classes.
    every = {*FAMILIES, FAMILY} - FOR_TREES - {"columns"}
    assert {case.family for case in found if not case.is_of_readings} == every
    assert {case.family for case in found if case.is_of_readings} == {
        family + OF_READINGS for family in FOR_CUTS
    }
    assert {case.target for case in found if case.family in FOR_AVR} == {"avr"}


@pytest.mark.no_cover
def test_the_estimate_is_the_price_by_which_bncc_chooses():
    """The layout that bncc chooses has the price that its choice reports."""
    some = [
        case
        for case in cases(None, (Trained("wifi", "naive"),))
        if case.chosen and (case.target, case.level) == ("cortex-m4", "-Os")
    ]
    found = {(case.chosen.kernel.summary, case.chosen.compare): case.estimate for case in some}
    case = some[0]
    chosen = emit_c(case.model, case.options).choice.chosen
    price = chosen.flash, chosen.instructions
    assert found[chosen.kernel.summary, chosen.compare] == price


def test_layouts_are_printed_with_their_plan_of_discretizers():
    drawn = set()
    for case in cases(None, (Trained("wifi", "naive"),)):
        if case.chosen and case.target == "avr" and not case.is_of_readings:
            fields = case.emission.layout.raw.fields
            methods = tuple(case.plan.methods)
            assert [bool(field.own) for field in fields] == [bool(t) for t in case.plan.trees]
            drawn.add((case.plan.is_loop, methods))
    assert len(drawn) > 3
