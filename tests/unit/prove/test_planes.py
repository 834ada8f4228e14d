"""Decisions by the bits of all costs: of made-up words, and of programs of the kernel bit-slice."""

from dataclasses import replace
from functools import partial, reduce
from itertools import product

import numpy as np
import pytest

from bncc.device.machine import pack, row_dtype
from bncc.discretize.feature import Feature
from bncc.discretize.readings import probe_values, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import QFormat
from bncc.model.reference import predict
from bncc.prove import diagrams
from bncc.prove import prove as proving
from bncc.prove.build import build
from bncc.prove.certificate import Trace
from bncc.prove.decision import Costs
from bncc.prove.diagrams import FALSE, TRUE
from bncc.prove.planes import Planes
from bncc.prove.prove import prove
from bncc.prove.replay import Replay, patched
from bncc.prove.specification import specification
from bncc.prove.values import Term, UndecidedError
from bncc.prove.words import Words
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests import models as hand

N_CLASSES, N_STATES = 5, (3, 4, 2, 5, 3)


def model(n_classes=N_CLASSES, n_states=N_STATES, seed=0, largest=3):
    """Return naive Bayes over int16 sensors with small random costs."""
    rng = np.random.default_rng(seed)
    features = [
        Feature(f"s{k}", "int16", n, thresholds=tuple(range(10 * k, 10 * k + 7 * (n - 1), 7)))
        for k, n in enumerate(n_states)
    ]
    tables = [rng.integers(0, largest + 1, (n, n_classes)).tolist() for n in n_states]
    forest = hand.forest([None] * len(n_states))
    return hand.model_of(features, forest, QFormat(2, 0), [1] * n_classes, tables)


class Setting:
    """Words with the bits of all costs, plus what all classes have in common."""

    def __init__(self, seed=0, wrong=None):
        of = specification(model(seed=seed), "trusted")
        self.algebra = Words(tuple(one.numbers for one in of.inputs))
        self.costs = Costs(of, self.algebra)
        self.planes = Planes(self.costs, self.algebra)
        self.algebra.variables = self.planes
        d = self.algebra.diagrams
        starts = {axis: list(range(n)) for axis, n in enumerate(N_STATES)}
        common = np.random.default_rng(seed).integers(0, 2, N_STATES[0])
        sums = []
        for c in range(N_CLASSES):
            terms = {(axis,): table.costs[:, c] for axis, table in enumerate(of.tables)}
            terms[(0,)] = terms[(0,)] + common
            if wrong == c:
                terms[(3,)] = terms[(3,)] + np.array([0, 0, 0, 0, 1])
            sums.append(d.of_sum(1, terms, starts, 5))
        self.words = [
            self.algebra.word((*(own[k] for own in sums), *[FALSE] * (32 - N_CLASSES)))
            for k in range(5)
        ]

    def least(self, planes=range(4, -1, -1), *, last=False):
        """Return the bits of the class that the code of the kernel returns."""
        algebra, d = self.algebra, self.algebra.diagrams
        left = algebra.word((*[TRUE] * N_CLASSES, *[FALSE] * (32 - N_CLASSES)))
        for k in planes:
            inverted = algebra.bitwise(self.words[k], algebra.word((TRUE,) * 32), "xor")
            clear = algebra.bitwise(left, inverted, "and")
            none = algebra.equal(clear, algebra.word((FALSE,) * 32))
            left = algebra.chosen(none, left, clear)
        bits = algebra.bits(left)[:N_CLASSES]
        found, taken = [FALSE] * 32, FALSE
        for c in reversed(range(N_CLASSES)) if last else range(N_CLASSES):
            first = d.both(bits[c], d.no(taken))
            taken = d.either(taken, bits[c])
            found = [d.either(x, first) if c >> k & 1 else x for k, x in enumerate(found)]
        return tuple(found)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_class_of_least_cost_is_proved(seed):
    one = Setting(seed)
    assert one.planes.check(TRUE, one.least(), ((),)) is None


def test_a_result_holds_on_paths_only():
    """A wrong result is refused, unless the path is none."""
    one = Setting()
    right, wrong = one.least(), one.least(last=True)
    with pytest.raises(UndecidedError, match="class 1"):
        one.planes.check(TRUE, wrong, ((),))
    d = one.algebra.diagrams
    same = reduce(d.both, (d.no(d.differ(x, y)) for x, y in zip(right, wrong, strict=True)))
    one.planes.check(same, wrong, ((),))
    with pytest.raises(UndecidedError):
        one.planes.check(d.no(same), wrong, ((),))


@pytest.mark.parametrize("planes", [(4, 3, 2, 1), (3, 4, 2, 1, 0), (4, 3, 2, 0)])
def test_a_search_of_other_bits_is_refused(planes):
    one = Setting()
    with pytest.raises(UndecidedError):
        one.planes.check(TRUE, one.least(planes), ((),))


@pytest.mark.no_cover
@pytest.mark.parametrize("wrong", range(N_CLASSES))
def test_a_wrong_cost_of_one_class_is_refused(wrong):
    one = Setting(wrong=wrong)
    with pytest.raises(UndecidedError):
        one.planes.check(TRUE, one.least(), ((),))


def test_a_number_that_is_no_class_is_refused():
    one = Setting()
    result = one.least()
    with pytest.raises(UndecidedError, match="no class"):
        one.planes.check(TRUE, (*result[:3], *[TRUE] * 29), ((),))


def test_what_is_no_bit_of_a_cost_has_no_variable():
    one = Setting()
    bits = one.algebra.bits(one.words[2])
    with pytest.raises(UndecidedError, match="none of a cost"):
        one.planes.lifted(one.algebra.diagrams.differ(bits[0], bits[1]), 0)


def test_costs_of_a_row_and_of_the_same_cells_are_added_up():
    """A row of a table of two features is a cell of both, so both are one partition."""
    features = [Feature(f"s{k}", "int16", 3, thresholds=(10, 20)) for k in range(2)]
    ensemble = TableEnsemble((DecisionTable((0, 1), ((0, 1), (0, 1))),))
    costs = np.random.default_rng(1).integers(0, 4, (9, 3))
    of = specification(
        hand.model_of(features, ensemble, QFormat(2, 0), [0] * 3, [costs.tolist()]), "trusted"
    )
    algebra = Words(tuple(one.numbers for one in of.inputs))
    algebra.by_rows = True
    planes = Planes(Costs(of, algebra), algebra)
    ((partition, _),) = Costs(of, algebra).tables
    algebra.bits(algebra.value(0, [Term(partition, np.arange(9))]))  # A look-up of the row
    row = len(of.inputs) + algebra.rows.index(partition)
    starts = {0: [0, 1, 2], 1: [0, 1, 2], row: list(range(9))}
    of_rows, of_cells = costs[:, 1], costs[:, 2].reshape(3, 3)
    (found,) = planes._terms({(row,): of_rows, (0, 1): of_cells}, starts).values()
    assert found.values.tolist() == (of_rows + of_cells.ravel()).tolist()


# Programs


BENCHES = ("cortex-m0", "cortex-m4", "rv32")


def built(require_gcc, target, level, of, entry):
    pytest.importorskip("capstone")
    # Clang merges the bits of several classes into words, which are not recognized.
    bench = require_gcc(target)
    options = EmitOptions(
        "m", frozenset({"raw", "trusted"}), target=target, kernel="bit-slice"
    )  # fmt: skip
    emission = emit_c(of, options)
    assert emission.kernel == "bit-slice"
    code, symbols = build(of, emission, bench, level, (entry,))
    return code, symbols[entry]


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("level", ["-Os", "-O2"])
@pytest.mark.parametrize("entry", ["trusted", "predict", "predict-raw"])
@pytest.mark.parametrize("target", BENCHES)
def test_a_program_of_bit_slices_is_proved(require_gcc, target, entry, level):
    of = model()
    code, symbol = built(require_gcc, target, level, of, entry)
    found = prove(of, code, symbol, entry)
    assert found.status == "proved", found.sentence
    tables = [table.copy() for table in of.tables]
    tables[1][2] = np.roll(tables[1][2], 1)
    assert prove(replace(of, tables=tuple(tables)), code, symbol, entry).status != "proved"


def tables(n_tables=12, n_classes=4):
    """Return tables of three of seven features each, with small random costs."""
    rng = np.random.default_rng(1)
    plain = model(n_classes, (6, 5, 6, 4, 5, 6, 5))
    read = [sorted(map(int, rng.permutation(7)[:3])) for _ in range(n_tables)]
    ensemble = TableEnsemble(
        tuple(
            DecisionTable(tuple(own), tuple((int(rng.integers(3)),) for _ in own)) for own in read
        )
    )
    costs = [rng.integers(0, 4, (8, n_classes)).tolist() for _ in range(n_tables)]
    return hand.model_of(plain.features, ensemble, QFormat(2, 0), [0] * n_classes, costs)


@pytest.fixture
def by_rows(monkeypatch):
    """Let functions of the inputs have too many nodes, so that bits are functions of rows."""
    monkeypatch.setattr(proving, "MOST_NODES_AT_FIRST", 40)


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("entry", ["trusted", "predict", "predict-raw"])
@pytest.mark.parametrize("target", [*BENCHES, "avr"])
def test_many_tables_are_proved_by_their_rows(require_gcc, require_bench, by_rows, target, entry):
    of = tables()
    require = partial(require_bench, simulator="simavr") if target == "avr" else require_gcc
    code, symbol = built(require, target, "-Os", of, entry)
    found = prove(of, code, symbol, entry)
    assert found.status == "proved", found.sentence
    costs = [table.copy() for table in of.tables]
    costs[4][2] = np.roll(costs[4][2], 1)
    assert prove(replace(of, tables=tuple(costs)), code, symbol, entry).status != "proved"


def half_at_a_time(n_classes=4):
    """Return tables of two features: half have costs where both are low, half where high."""
    plain = model(n_classes, (6, 6))
    low, high = ([(first + k, first + j) for k in (0, 1) for j in (0, 1, 2)] for first in (0, 2))
    ensemble = TableEnsemble(tuple(DecisionTable((0, 1), ((a,), (b,))) for a, b in low + high))
    costs = np.random.default_rng(2).integers(1, 4, (12, 4, n_classes))
    costs[:6, 1:] = costs[6:, :3] = 0
    return hand.model_of(plain.features, ensemble, QFormat(2, 0), [0] * n_classes, costs.tolist())


@pytest.fixture
def fewer_nodes(monkeypatch):
    """Give up soon where the whole number of nodes, 8 times as large, would not suffice either."""
    monkeypatch.setattr(diagrams, "MOST_NODES", 1 << 18)


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("n_classes", [9, 19])
@pytest.mark.parametrize("entry", ["trusted", "predict"])
def test_bits_of_many_classes_are_in_several_registers(
    require_bench, by_rows, fewer_nodes, n_classes, entry
):
    """A word of 32 bits is four registers of AVR."""
    of = tables(n_classes=n_classes)
    code, symbol = built(partial(require_bench, simulator="simavr"), "avr", "-Os", of, entry)
    found = prove(of, code, symbol, entry)
    assert found.status == "proved", found.sentence
    for c in (0, n_classes - 1):
        costs = [table.copy() for table in of.tables]
        costs[4][:, c] = np.roll(costs[4][:, c], 1)
        wrong = replace(of, tables=tuple(costs))
        assert prove(wrong, code, symbol, entry).status != "proved"


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "avr"])
def test_bits_that_no_input_sets_may_be_read(require_gcc, require_bench, by_rows, target):
    """The code compares the highest plane, which is set where rows are independent alone."""
    of = half_at_a_time()
    require = partial(require_bench, simulator="simavr") if target == "avr" else require_gcc
    code, symbol = built(require, target, "-Os", of, "trusted")
    proof = proving.Proof(of, code, symbol, "trusted", by_rows=True)
    assert proof.verdict() == ("proved", "", "")


def test_tables_are_taken_by_rows_only_where_inputs_are_too_many(require_gcc, monkeypatch):
    of = tables()
    code, symbol = built(require_gcc, "cortex-m0", "-Os", of, "trusted")
    proof = proving.Proof(of, code, symbol, "trusted")
    proof.verdict()
    assert not proof.has_too_few_nodes
    monkeypatch.setattr(proving, "MOST_NODES_AT_FIRST", 40)
    proof = proving.Proof(of, code, symbol, "trusted")
    assert proof.verdict()[0] == "undecided"
    assert proof.has_too_few_nodes
    again = proving.Proof(of, code, symbol, "trusted", by_rows=True)
    assert again.verdict()[0] == "proved"
    assert len(again.run.algebra.rows) == len(of.tables)


@pytest.mark.firmware
def test_a_recorder_keeps_what_the_last_attempt_did(require_gcc, by_rows):
    """A certificate is about one run: paths of an attempt that failed are none of its states."""
    of = tables()
    code, symbol = built(require_gcc, "cortex-m0", "-Os", of, "predict-raw")
    first, trace, alone = Trace(), Trace(), Trace()
    proving.Proof(of, code, symbol, "predict-raw", recorder=first).verdict()
    assert len(first.points) > 1
    assert prove(of, code, symbol, "predict-raw", recorder=trace).status == "proved"
    proving.Proof(of, code, symbol, "predict-raw", recorder=alone, by_rows=True).verdict()
    assert trace.algebra.by_rows
    assert len(trace.points) == len(alone.points)
    for one, other in zip(trace.points[1:], alone.points[1:], strict=True):
        assert (one.state.at, one.state.steps) == (other.state.at, other.state.steps)
        assert one.after == other.after


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("is_by_rows", [False, True])
def test_no_changed_program_of_bit_slices_is_wrongly_proved(require_gcc, request, is_by_rows):
    """Every proved mutant answers right for all states."""
    if is_by_rows:
        request.getfixturevalue("by_rows")
    of = tables() if is_by_rows else model(4, (3, 4, 3, 3, 2))
    code, symbol = built(require_gcc, "cortex-m0", "-Os", of, "trusted")
    start = min(address for address, _ in code.sections)
    first = code.entry(symbol)
    assert start <= first
    rng = np.random.default_rng(0)
    X = np.array(list(product(*map(range, of.n_states))))
    X = X[rng.permutation(len(X))[:1000]]
    wanted = predict(of, X)
    n_proved = n_refused = 0
    for _ in range(20):
        at = int(rng.integers(first - 200, first + 60))
        old = code.bytes_at(at, 1)
        assert old is not None
        changed = patched(code, at, bytes([old[0] ^ 1 << int(rng.integers(8))]))
        if prove(of, changed, symbol, "trusted", time_limit=4).status != "proved":
            n_refused += 1
            continue
        n_proved += 1
        replay = Replay(changed, symbol)
        for x, answer in zip(X, wanted, strict=True):
            call = replay.call(x.astype(np.uint8).tobytes())
            assert call.violation is None
            assert call.outcome == answer, f"a bit at {at:#x}"
    assert n_refused > 5


@pytest.mark.firmware
def test_readings_decide_as_the_proved_program_does(require_gcc):
    of = model()
    code, symbol = built(require_gcc, "cortex-m0", "-O2", of, "predict-raw")
    replay = Replay(code, symbol)
    rng = np.random.default_rng(0)
    R = np.stack([rng.choice(probe_values(f), 300) for f in of.features], axis=1)
    layout = row_dtype(of.features, packed=code.target.packed)
    answers = [replay.call(row.tobytes()).outcome for row in pack(R, layout)]
    assert answers == predict(of, states_of_raw(of.features, R)).tolist()
