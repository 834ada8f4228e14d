"""Sums that are costs of the model, and classes that cost least, against all inputs."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.prove.decision import Costs
from bncc.prove.regions import EVERYWHERE
from bncc.prove.specification import Input, Specification, Table
from bncc.prove.values import WORD, Exact, Term, UndecidedError, Value
from bncc.prove.words import Words
from tests.tiers import examples
from tests.unit.prove.brute import (
    at,
    contains,
    points_in,
    random_domain,
    random_region,
    random_term,
)

seeds = st.integers(0, 2**32 - 1)


def random_costs(rng: Random, n_classes: int = 3) -> Costs:
    """Return the costs of a model of tables over one or two of two or three inputs."""
    n = rng.randint(2, 3)
    algebra = Words(tuple(random_domain(rng, 6) for _ in range(n)))
    inputs = tuple(Input(k, 1, full) for k, full in enumerate(algebra.full))
    most = rng.choice([1, 3, 200])
    tables = []
    for _ in range(rng.randint(1, 3)):
        partition = random_term(rng, algebra, rng.choice(["cells", "two"])).partition
        costs = [[rng.randint(0, most) for _ in range(n_classes)] for _ in partition.cells]
        rows = list(range(len(partition.cells)))
        rng.shuffle(rows)
        tables.append(
            Table(
                tuple(zip(partition.cells, rows, strict=True)),
                np.array(costs, dtype=np.int64)[np.argsort(rows)],
            )
        )
    prior = np.array([rng.randint(0, most) for _ in range(n_classes)], dtype=np.int64)
    of = Specification(inputs, EVERYWHERE, EVERYWHERE, prior, tuple(tables), 0)
    return Costs(of, algebra, seed=rng.randrange(100))


def costs_at(costs: Costs, point) -> np.ndarray:
    total = costs.of.prior.copy()
    for table in costs.of.tables:
        (row,) = (row for region, row in table.rows if contains(region, point))
        total += table.costs[row]
    return total


def difference(costs: Costs, first: int, second: int, shift: int = 0) -> Exact:
    """Return the difference of two costs as code would sum it: table by table."""
    prior = costs.of.prior
    const = int(prior[first] - prior[second]) << shift
    terms: dict = {}
    partitions = costs._algebra.partitions
    for table in costs.of.tables:
        values = np.array(
            [int(table.costs[row][first] - table.costs[row][second]) << shift
             for _, row in table.rows], dtype=np.int64
        )  # fmt: skip
        p = partitions.of(region for region, _ in table.rows)
        terms[p] = Term(p, terms[p].values + values if p in terms else values)
    return Exact(const, terms)


def full_of(costs: Costs):
    return costs._algebra.full


def test_a_sum_that_may_be_a_multiple_of_2_to_the_64_is_undecided():
    """Its numbers are 2^64 and 0, both zero in 64 bits."""
    costs = random_costs(Random(0))
    (low, _), (_, high) = full_of(costs)[0][0], full_of(costs)[0][-1]
    partition = costs._algebra.partitions.of_axis(0, [((low, low),), ((low + 1, high),)])
    term = Term(partition, np.array([1 << 61, 0]))
    assert not costs.vanishes(0, [term], EVERYWHERE)
    with pytest.raises(UndecidedError, match="too many bits"):
        costs.vanishes(0, [term] * 8, EVERYWHERE)


@settings(max_examples=examples(150))
@given(seeds)
def test_a_sum_that_vanishes_is_zero_at_every_input(seed):
    """Claimed: zero everywhere. Over sums made to cancel, and those sums with one thing changed."""
    rng = Random(seed)
    costs = random_costs(rng)
    algebra, full = costs._algebra, full_of(costs)
    region = random_region(rng, full)
    modulus = rng.choice([None, None, 1 << 8, 1 << 32])
    terms, const = [], 0
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(["cells", "two", "linear"])
        term = random_term(rng, algebra, kind)
        if term.slopes is None:
            # Moved by a constant to cells of a finer partition, where there is one
            other = random_term(rng, algebra, "cells")
            overlay = algebra.partitions.overlay(term.partition, other.partition, 1000)
            assert overlay is not None
            finer, a, _ = overlay
            move = rng.randrange(50)
            values = -term.values[np.array(a, dtype=int)] + move
            const -= move
            terms += [term, Term(finer, values)]
        else:
            terms.append(Term(term.partition, np.array([7]), np.array([0])))
            const -= 7
    if modulus is not None:
        const += modulus * rng.randrange(3)
    if rng.random() < 0.6:
        k = rng.randrange(len(terms))
        values = terms[k].values.copy()
        is_linear = terms[k].slopes is not None  # Then as in the defect below
        values[rng.randrange(len(values))] += rng.choice([1, -1, 256, 256 if is_linear else WORD])
        terms[k] = Term(terms[k].partition, values, terms[k].slopes)
    truth = set()
    for point in points_in(region, full):
        total = const + sum(at(Value(0, {t.partition: t}), point) for t in terms)
        truth.add(total % modulus if modulus else total)
    try:
        found = costs.vanishes(const, terms, region, modulus)
    except UndecidedError:
        return
    if found:
        assert truth == {0}
    elif len(region) == 1:
        # A box is a grid of inputs: what vanishes on it is found.
        assert truth != {0}


@settings(max_examples=examples(150))
@given(seeds)
def test_a_sum_equals_the_difference_of_two_costs(seed):
    rng = Random(seed)
    costs = random_costs(rng)
    region = random_region(rng, full_of(costs))
    first, second = rng.sample(range(3), 2)
    shift = rng.choice([0, 0, 8, 24])
    total = difference(costs, first, second, shift)
    assert costs.equals(total, first, second, shift, region)
    # Another pair or a changed row: equal only where it is
    if rng.random() < 0.5 and total.terms:
        p = rng.choice(list(total.terms))
        values = total.terms[p].values.copy()
        values[rng.randrange(len(values))] += rng.choice([1, -1, 3])
        total = Exact(total.const, {**total.terms, p: Term(p, values)})
    else:
        first, second = rng.sample(range(3), 2)
    found = costs.equals(total, first, second, shift, region)
    if found:
        for point in points_in(region, full_of(costs)):
            c = costs_at(costs, point)
            assert at(total, point) == (int(c[first] - c[second]) << shift)


@pytest.mark.no_cover
@settings(max_examples=examples(150))
@given(seeds)
def test_the_named_classes_have_the_order_of_the_sum(seed):
    """A sum is negative exactly where the first class costs less, or at most as much."""
    rng = Random(seed)
    costs = random_costs(rng)
    total = difference(costs, *rng.sample(range(3), 2), rng.choice([0, 8, 20, 24]))
    if rng.random() < 0.5:
        total = Exact(total.const + rng.choice([-1, 1, 255, (1 << 20) - 1]), total.terms)
    if rng.random() < 0.6 and total.terms:
        p = rng.choice(list(total.terms))
        values = total.terms[p].values.copy()
        values[rng.randrange(len(values))] += rng.choice([1, -1, 256])
        total = Exact(total.const, {**total.terms, p: Term(p, values)})
    # The same sum for several regions: what holds in one may not in another.
    for _ in range(3):
        region = random_region(rng, full_of(costs))
        try:
            named = costs.names(total, region)
        except UndecidedError:
            continue
        for point, (first, second, is_strict) in product(points_in(region, full_of(costs)), named):
            c = costs_at(costs, point)
            is_less = c[first] < c[second] if is_strict else c[first] <= c[second]
            assert (at(total, point) < 0) == is_less


@settings(max_examples=examples(100))
@given(seeds)
def test_the_difference_of_costs_is_named(seed):
    rng = Random(seed)
    costs = random_costs(rng)
    total = difference(costs, 1, 2, rng.choice([0, 8, 24]))
    assert costs.names(total, EVERYWHERE)
    assert not costs.mismatches


@pytest.mark.parametrize("shift", [10, 16, 20, 21])
def test_costs_in_a_lane_above_others_are_named(shift):
    """A compiler fills up what is below the lane of one word, and lets what is there in another."""
    costs = random_costs(Random(3))
    total = difference(costs, 0, 1, shift)
    terms = {p: Term(p, t.values - np.arange(len(t.values)) % 90) for p, t in total.terms.items()}
    lower = Exact(total.const + (1 << shift) - 1, terms)
    named = costs.names(lower, EVERYWHERE)
    assert (0, 1, True) in named
    assert costs.scale(lower, EVERYWHERE) == (shift, 0)
    for point, (first, second, is_strict) in product(points_in(EVERYWHERE, full_of(costs)), named):
        c = costs_at(costs, point)
        is_less = c[first] < c[second] if is_strict else c[first] <= c[second]
        assert (at(lower, point) < 0) == is_less


def test_all_pairs_of_classes_with_one_difference_are_named():
    """The costs of classes 0, 1 and 2 rise in equal steps: one sum tells the order of two pairs."""
    algebra = Words((((0, 5),),))
    rows = tuple(((((0, ((s, s),)),),), s) for s in range(6))
    table = np.array([[s * s % 7 * c for c in range(3)] for s in range(6)], dtype=np.int64)
    of = Specification(
        (Input(0, 1, algebra.full[0]),), EVERYWHERE, EVERYWHERE, np.array([1, 4, 7]),
        (Table(rows, table),), 0,
    )  # fmt: skip
    costs = Costs(of, algebra)
    assert costs.names(difference(costs, 0, 1), EVERYWHERE) == ((0, 1, True), (1, 2, True))


def test_a_table_that_tells_no_classes_apart_is_compared_where_its_state_is_out_of_range():
    """A feature that no decision depends on need not be checked."""
    algebra = Words((((0, 255),), ((0, 255),)))
    inputs = tuple(Input(k, 1, full) for k, full in enumerate(algebra.full))
    told, idle = (
        Table(tuple(((((axis, ((s, s),)),),), s) for s in range(2)), np.array(costs))
        for axis, costs in ((0, [[1, 5], [4, 2]]), (1, [[7, 7], [9, 9]]))
    )
    of = Specification(
        inputs,
        (((0, ((0, 1),)), (1, ((0, 1),))),),
        (((0, ((0, 1),)),),),
        np.array([0, 1]),
        (told, idle),
        0,
    )
    costs = Costs(of, algebra)
    partition = costs.tables[0][0]
    total = Exact(-1, {partition: Term(partition, np.array([-4, 2]))})
    assert costs.names(total, of.decided) == ((0, 1, True),)


def test_a_tree_over_many_inputs_is_the_models_without_a_redundant_comparison():
    """Each leaf of the code is two of the model's, which compare one more input in vain."""
    n = 24  # So many that no grid holds all of their combinations
    algebra = Words((((0, 255),),) * (n + 1))
    low, high = ((0, 99),), ((100, 255),)
    chain, leaves = (), []
    for axis in range(n):
        leaves.append((*chain, (axis, high)))
        chain = (*chain, (axis, low))
    leaves.append(chain)
    coarse = algebra.partitions.of((box,) for box in leaves)
    fine = algebra.partitions.of(((*box, (n, part)),) for box in leaves for part in (low, high))
    inputs = tuple(Input(k, 1, full) for k, full in enumerate(algebra.full))
    of = Specification(inputs, EVERYWHERE, EVERYWHERE, np.array([0, 0]), (), 0)
    costs, values = Costs(of, algebra), np.arange(n + 1) ** 2
    code, model = Term(coarse, values), Term(fine, -np.repeat(values, 2))
    assert costs.vanishes(0, [code, model], EVERYWHERE)
    model.values[0] += 1
    with pytest.raises(UndecidedError, match="a tree differs"):
        costs.vanishes(0, [code, model], EVERYWHERE)


def test_a_bound_accounts_for_inputs_that_tables_share():
    """Class 1 costs more for every state, though the least of each table is not."""
    algebra = Words((((0, 1),),))
    rows = tuple(((((0, ((s, s),)),),), s) for s in range(2))
    tables = [np.array([[0, 0], [0, 5]]), np.array([[0, 1], [4, 0]])]
    of = Specification(
        (Input(0, 1, algebra.full[0]),), EVERYWHERE, EVERYWHERE, np.array([0, 0]),
        tuple(Table(rows, table) for table in tables), 0,
    )  # fmt: skip
    costs = Costs(of, algebra)
    assert costs.is_least(0, (), EVERYWHERE)
    assert not costs.is_least(1, (), EVERYWHERE)
    of = Specification(
        of.inputs, EVERYWHERE, EVERYWHERE, np.array([1, 0]), of.tables, 0
    )  # fmt: skip
    assert Costs(of, Words(algebra.full)).is_least(0, (), EVERYWHERE)
    assert not Costs(of, Words(algebra.full)).is_least(1, (), EVERYWHERE)
    of = Specification(of.inputs, EVERYWHERE, EVERYWHERE, np.array([2, 0]), of.tables, 0)
    assert not Costs(of, Words(algebra.full)).is_least(0, (), EVERYWHERE)


def test_a_sum_that_differs_in_one_row_is_noted():
    algebra = Words((((0, 5),), ((0, 5),)))
    inputs = tuple(Input(k, 1, full) for k, full in enumerate(algebra.full))
    rows = [tuple(((((axis, ((s, s),)),),), s) for s in range(6)) for axis in (0, 1)]
    table = np.array([[3 * s % 7, 5 * s % 7] for s in range(6)], dtype=np.int64)
    of = Specification(
        inputs, EVERYWHERE, EVERYWHERE, np.array([1, 4]), tuple(Table(r, table) for r in rows), 0
    )
    costs = Costs(of, algebra)
    total = difference(costs, 0, 1)
    assert costs.names(total, EVERYWHERE) == ((0, 1, True),)
    p = next(iter(total.terms))
    values = total.terms[p].values.copy()
    values[3] += 1
    wrong = Exact(total.const, {**total.terms, p: Term(p, values)})
    assert costs.names(wrong, EVERYWHERE) == ()
    assert [(m.first, m.second) for m in costs.mismatches] == [(0, 1)]
    # Where that row is not read, the sum is right.
    (axis,) = p.scope
    region = (((axis, ((0, 2), (4, 5))),),)
    assert costs.equals(wrong, 0, 1, 0, region)
    assert costs.names(wrong, region) == ((0, 1, True),)
    assert costs.names(wrong, EVERYWHERE) == ()


@pytest.mark.parametrize("cost", [1 << 31, 1 << 32])
def test_costs_that_pass_64_bits_equal_nothing(cost):
    """Shifted by 32 bits, such costs would be zero modulo 2^64."""
    algebra = Words((((0, 1),),))
    rows = tuple(((((0, ((s, s),)),),), s) for s in range(2))
    table = np.array([[0, 0], [2 * cost, 0]])
    none = np.array([0, 0])
    of = Specification(
        (Input(0, 1, algebra.full[0]),), EVERYWHERE, EVERYWHERE, none, (Table(rows, table),), 0
    )  # fmt: skip
    assert not Costs(of, algebra).equals(Exact(0, {}), 0, 1, 32, EVERYWHERE)


@settings(max_examples=examples(150))
@given(seeds)
def test_a_class_that_costs_least_does_so_everywhere(seed):
    """With facts that hold at some inputs: among those the class is the reference's."""
    rng = Random(seed)
    costs = random_costs(rng)
    full = full_of(costs)
    region = random_region(rng, full)
    facts = set()
    for _ in range(rng.randrange(4)):
        a, b = rng.sample(range(3), 2)
        facts.add((a, b, rng.random() < 0.5))
    answers = set()
    for point in points_in(region, full):
        c = costs_at(costs, point)
        if all(c[a] < c[b] if strict else c[a] <= c[b] for a, b, strict in facts):
            answers.add(int(c.argmin()))
    for winner in range(3):
        if costs.is_least(winner, facts, region):
            assert answers <= {winner}


def test_ties_go_to_the_first_class():
    algebra = Words((((0, 1),),))
    rows = (((((0, ((0, 0),)),),), 0), ((((0, ((1, 1),)),),), 1))
    table = Table(rows, np.array([[2, 2], [2, 5]], dtype=np.int64))
    of = Specification(
        (Input(0, 1, ((0, 1),)),), EVERYWHERE, EVERYWHERE, np.array([1, 1]), (table,), 0
    )
    costs = Costs(of, algebra)
    zero, one = ((((0, ((0, 0),)),),), (((0, ((1, 1),)),),))
    assert costs.is_least(0, (), EVERYWHERE)
    assert not costs.is_least(1, (), zero)
    assert not costs.is_least(1, (), one)
    assert not costs.is_least(1, {(1, 0, False)}, zero)
    assert costs.is_least(1, {(1, 0, True)}, zero)
    assert costs.is_least(0, {(0, 1, False)}, zero)


@settings(max_examples=examples(100))
@given(seeds)
def test_a_score_is_the_cost_less_the_winners(seed):
    rng = Random(seed)
    costs = random_costs(rng)
    region = random_region(rng, full_of(costs))
    of, winner = rng.randrange(3), rng.randrange(3)
    bits = rng.choice([8, 16])
    total = difference(costs, of, winner)
    terms = {p: Term(p, t.values % WORD) for p, t in total.terms.items()}
    value = Value(total.const % WORD, terms)
    if rng.random() < 0.5:
        value = Value((value.const + rng.choice([1, 255, 256])) % WORD, terms)
    if costs.is_score(value, of, winner, bits, region):
        for point in points_in(region, full_of(costs)):
            c = costs_at(costs, point)
            assert (at(value, point) - int(c[of] - c[winner])) % (1 << bits) == 0
    assert not costs.is_score(Value(0, base="stack"), of, winner, bits, region)


def test_a_score_that_does_not_fit_is_none():
    algebra = Words((((0, 1),),))
    rows = (((((0, ((0, 0),)),),), 0), ((((0, ((1, 1),)),),), 1))
    table = Table(rows, np.array([[0, 255], [0, 256]], dtype=np.int64))
    of = Specification(
        (Input(0, 1, ((0, 1),)),), EVERYWHERE, EVERYWHERE, np.array([0, 0]), (table,), 1
    )
    costs = Costs(of, algebra)
    total = difference(costs, 1, 0)
    value = Value(total.const, total.terms)
    assert costs.is_score(value, 1, 0, 16, EVERYWHERE)
    assert not costs.is_score(value, 1, 0, 8, EVERYWHERE)


def test_a_sum_of_a_reading_is_not_taken_modulo_a_word():
    """X + 2^32 - 6 is not x - 6, nor zero at 6."""
    algebra = Words((((0, 9),),))
    of = Specification((Input(0, 1, ((0, 9),)),), EVERYWHERE, EVERYWHERE, np.array([0, 0]), (), 0)
    costs = Costs(of, algebra)
    partition = algebra.partitions.of_axis(0, [((0, 9),)])
    reading = Term(partition, np.array([WORD - 6]), np.array([1]))
    assert costs.vanishes(
        6 - WORD, [Term(partition, reading.values, reading.slopes)], (((0, ((0, 0),)),),)
    )
    assert not costs.vanishes(0, [reading], (((0, ((6, 6),)),),))
