"""Gates in proofs: what facts imply, trained models, and what is wrong."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bncc
from bncc.cli.main import main
from bncc.discretize.readings import states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.file import load_model
from bncc.model.gate import Gate
from bncc.model.reference import predict, rows
from bncc.prove.build import build, score_size_of
from bncc.prove.decision import Costs
from bncc.prove.gates import CLOSED, OPEN, GateFacts, answered, decided, first
from bncc.prove.points import Points
from bncc.prove.prove import prove
from bncc.prove.refute import Search
from bncc.prove.replay import Replay
from bncc.prove.run import closed
from bncc.prove.specification import specification
from bncc.prove.words import Words
from tests import models as hand
from tests.unit.prove.programs import mutants

DATA = Path(bncc.__file__).parent / "data" / "bundled" / "wifi_localization.csv.gz"
FORMS = {
    # Most margins of the first are 0; the second has one that a comparison adds.
    "ties": ("tables=10", "rows=8", "gate=5", "gate-differing=0.02"),
    "margin": ("tables=9", "rows=8", "gate=3", "gate-differing=0.002"),
}
PROVED = [("ties", "cut-loop"), ("margin", "cut-loop"), ("margin", "cut-packed")]
"""The first in cut-packed is undecided: `sums-differ`."""
ENTRIES = ("predict-raw", "predict", "trusted", "scores")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return models of seven networks' strengths with a gate."""
    found = {}
    for name, options in FORMS.items():
        path = tmp_path_factory.mktemp(name) / "m.bncc"
        asked = [word for option in options for word in ("--structure-option", option)]
        with pytest.raises(SystemExit):
            main([
                "train", str(DATA), "--structure", "boosted", *asked, "--folds", "0",
                "-o", str(path), "--quiet",
            ])  # fmt: skip
        found[name] = load_model(path)
        assert found[name].gate is not None
    return found


# Facts


def numbers_of(partial_costs, costs, margin):
    """Return the numbers that names in facts stand for."""
    named = dict(enumerate(costs))
    for c, cost in enumerate(partial_costs):
        named |= {first(c): cost, first(c, margin): cost + margin}
    return named


def drawn_costs(data):
    """Draw a number of classes, a margin, and costs before and behind a gate."""
    n, margin = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 4))
    costs = st.lists(st.integers(0, 6), min_size=n, max_size=n)
    return n, margin, data.draw(costs), data.draw(costs)


@given(st.data())
def test_facts_imply_nothing_but_the_truth(data):
    """Facts of one input, any of them unknown: the gate and the answer are the model's."""
    n, margin, before, after = drawn_costs(data)
    named = numbers_of(before, after, margin)
    facts = frozenset(GateFacts(n, margin).always())
    for a, b in permutations(named, 2):
        is_true = named[a] < named[b] or named[a] == named[b]
        if is_true and data.draw(st.booleans()):
            facts = closed(facts, (a, b, named[a] < named[b]))
    found = GateFacts(n, margin).implied(facts)
    least, second = sorted(before)[:2]
    is_sure = second - least >= margin
    answer = int(np.argmin(before if is_sure else after))
    assert not (OPEN in found and is_sure)
    assert not (CLOSED in found and not is_sure)
    for c in range(n):
        assert answered(c) not in found or c == answer
        assert decided(c) not in found or (is_sure and c == answer)


@given(st.data())
def test_facts_of_every_order_imply_the_answer(data):
    n, margin, before, after = drawn_costs(data)
    named = numbers_of(before, after, margin)
    facts = frozenset(GateFacts(n, margin).always())
    for a, b in permutations(named, 2):
        if named[a] <= named[b]:
            facts |= {(a, b, False)} | ({(a, b, True)} if named[a] < named[b] else set())
    found = GateFacts(n, margin).implied(facts)
    least, second = sorted(before)[:2]
    is_sure = second - least >= margin
    assert answered(int(np.argmin(before if is_sure else after))) in found
    assert (CLOSED in found) == is_sure != (OPEN in found)


@pytest.mark.parametrize("name", hand.GATES)
def test_what_always_holds_holds_for_every_input(name):
    model = hand.GATES[name]()
    of = specification(model, "trusted")
    costs = Costs(of, Words(tuple(one.numbers for one in of.inputs)))
    X = hand.all_states(model)[::7]
    indices = rows(model, X)
    parts = np.cumsum([t[indices[:, k]] for k, t in enumerate(model.tables)], axis=0) + model.prior
    for before, after in zip(parts[model.gate.tables - 1], parts[-1], strict=True):
        named = numbers_of(before.tolist(), after.tolist(), model.gate.margin)
        for a, b, is_strict in costs.always:
            assert named[a] < named[b] + (not is_strict)


# Programs


def built(bench, model, kernel=None):
    """Return the program of a model, its functions and the bytes of a score."""
    entries = frozenset({"raw", "trusted", "scores"})
    options = EmitOptions("m", entries, target=bench.target.name, kernel=kernel, optimize="size")
    emission = emit_c(model, options)
    code, symbols = build(model, emission, bench, "-Os", ENTRIES)
    return code, symbols, score_size_of(emission)


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("place", ["cortex-m0", "rv32"])
@pytest.mark.parametrize(("name", "kernel"), PROVED)
def test_a_trained_model_is_proved(require_bench, models, place, kernel, name):
    model = models[name]
    code, symbols, size = built(require_bench(place, simulator="unicorn"), model, kernel)
    for entry in ENTRIES:
        found = prove(model, code, symbols[entry], entry, score_size=size)
        assert found.status == "proved", found.sentence


def wrong_models(model):
    """Yield models that decide otherwise: by gate, by a cost before it, by one behind it."""
    n, margin = model.gate.tables, model.gate.margin
    yield replace(model, gate=Gate(n, margin + 1))
    yield replace(model, gate=Gate(n - 1, margin))
    yield replace(model, gate=None)
    for t in (0, n):
        tables = [table.copy() for table in model.tables]
        tables[t][0, 1] += 1
        yield replace(model, tables=tuple(tables))


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("name", FORMS)
def test_another_model_is_not_proved(require_bench, models, name):
    """The margin, the place of the gate, and a cost; a counterexample is one of the model."""
    model = models[name]
    code, symbols, _ = built(require_bench("cortex-m0", simulator="unicorn"), model)
    refuted = 0
    for wrong in wrong_models(model):
        found = prove(wrong, code, symbols["predict-raw"], "predict-raw", time_limit=1)
        assert found.status != "proved"
        if found.status == "refuted":
            refuted += 1
            R = np.array([[float(found.input[feature.name]) for feature in wrong.inputs]])
            assert predict(wrong, states_of_raw(wrong.features, R))[0] == found.expected
    assert refuted


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("name", FORMS)
def test_no_mutant_is_wrongly_proved(require_bench, models, name):
    """One bit changed in instructions or constants; a proved mutant answers as the model does."""
    model = models[name]
    code, symbols, _ = built(require_bench("cortex-m0", simulator="unicorn"), model)
    symbol = symbols["trusted"]
    points = Points(model, "trusted", specification(model, "trusted"))
    for mutant in mutants(code, symbol, Random(name), 4):
        if prove(model, mutant, symbol, "trusted", time_limit=2).status == "proved":
            search = Search(Replay(mutant, symbol), points)
            assert search.refuting([points.mixed(400), *points.borders()], 1500) is None
