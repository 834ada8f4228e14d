"""Words bit by bit: diagrams, and operations on them agree at every input."""

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from bncc.prove.diagrams import FALSE, TRUE, Diagrams, order_of
from bncc.prove.values import UndecidedError, Value
from tests.property.test_prove_values import OPERATIONS, compared
from tests.tiers import examples
from tests.unit.prove.brute import (
    contains,
    listed,
    number,
    points_in,
    random_algebra,
    random_bool,
    random_number,
    random_region,
    random_term,
    random_value,
    word,
)

pytestmark = pytest.mark.no_cover  # tests/unit/prove executes the same lines in less time
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=examples(40), derandomize=True)
@given(seed=seeds)
def test_an_operation_on_words_agrees_at_every_input(name, seed):
    rng = Random(seed)
    g = random_algebra(rng, 12)
    a, b, c = random_value(rng, g), random_value(rng, g), random_bool(rng, g)
    kinds = rng.choice([(True, True), (True, False), (False, True)])
    a, b = (g.word(g.bits(x)) if is_word else x for x, is_word in zip((a, b), kinds, strict=True))
    if rng.random() < 0.3:
        b = Value(random_number(rng))
    found = compared(g, name, a, b, c, rng.randrange(32))
    event("open" if found is None else "decided")


@settings(max_examples=examples(100), derandomize=True)
@given(seed=seeds)
def test_bits_and_the_value_of_bits(seed):
    rng = Random(seed)
    g = random_algebra(rng, 12)
    a = random_value(rng, g)
    as_bits = g.word(g.bits(a))
    again = g.plain(as_bits)
    assert not g.is_word(again)
    for point in points_in(g.region, g.full):
        assert number(g, as_bits, point) == word(again, point) == word(a, point)


@settings(max_examples=examples(100), derandomize=True)
@given(seed=seeds)
def test_functions_are_one_node_if_they_are_equal(seed):
    """Made in two ways: from one table, and from two with operations between them."""
    rng = Random(seed)
    g = random_algebra(rng, 8)
    g.region = ((),)
    d = g.diagrams
    a, b = (g.bits(g.value(0, [random_term(rng, g)]))[0] for _ in range(2))
    made = {
        "and": (d.both(a, b), lambda x, y: x & y),
        "or": (d.either(a, b), lambda x, y: x | y),
        "xor": (d.differ(a, b), lambda x, y: x ^ y),
        "not": (d.no(a), lambda x, y: 1 - x),
        "chosen": (d.chosen(a, b, d.no(b)), lambda x, y: y if x else 1 - y),
    }
    points = list(points_in(((),), g.full))
    for node, function in made.values():
        values = [function(d.at(a, p), d.at(b, p)) for p in points]
        assert [d.at(node, p) for p in points] == values
        assert (node == TRUE) == all(values)
    assert d.both(a, b) == d.no(d.either(d.no(a), d.no(b)))
    assert d.differ(a, b) == d.either(d.both(a, d.no(b)), d.both(b, d.no(a)))
    assert d.differ(d.differ(a, b), b) == a


@settings(max_examples=examples(60), derandomize=True)
@given(seed=seeds)
def test_a_region_as_a_function_and_as_cells(seed):
    rng = Random(seed)
    g = random_algebra(rng, 12)
    region = random_region(rng, g.full)
    node = g.diagrams.where(region)
    cells = g.diagrams.cells([node, FALSE], g.full, 1000)
    for point in points_in(((),), g.full):
        assert g.diagrams.at(node, point) == contains(region, point)
        assert [own for box, own in cells if contains((box,), point)] == [
            (int(contains(region, point)), FALSE)
        ]


@settings(max_examples=examples(60), derandomize=True)
@given(seed=seeds)
def test_bits_of_a_sum_of_tables_of_several_inputs(seed):
    """The nodes are those of adding the tables bit by bit, in any order of the inputs."""
    rng = Random(seed)
    n = 4
    sizes = [rng.randint(1, 3) for _ in range(n)]
    starts = {axis: [10 * k for k in range(size)] for axis, size in enumerate(sizes)}
    scopes = {tuple(sorted(rng.sample(range(n), rng.randint(1, 3)))) for _ in range(4)}
    terms = {
        scope: np.array([rng.randint(-4, 9) for _ in np.ndindex(*(sizes[a] for a in scope))])
        .reshape([sizes[a] for a in scope])
        for scope in scopes
    }  # fmt: skip
    const = rng.randint(-9, 9)
    d = Diagrams()
    d.order = order_of(scopes) if rng.random() < 0.5 else {}
    bits = d.of_sum(const, terms, starts, 8)
    for levels in product(*(range(size) for size in sizes)):
        total = const + sum(int(part[tuple(levels[a] for a in s)]) for s, part in terms.items())
        point = [10 * level + rng.randrange(10) for level in levels]
        assert sum(d.at(bit, point) << k for k, bit in enumerate(bits)) == total % 256
    apart = [
        d.tabulated(scope, [starts[axis] for axis in scope], part) for scope, part in terms.items()
    ]
    total = tuple(const >> k & 1 for k in range(8))
    for own in apart:
        carry, found = FALSE, []
        for x, y in zip(total, own, strict=False):
            odd = d.differ(x, y)
            found.append(d.differ(odd, carry))
            carry = d.chosen(odd, carry, x)
        total = tuple(found)
    assert total == bits
    assert d.of_sum(5, {}, {}, 3) == (1, 0, 1)


@settings(max_examples=examples(60), derandomize=True)
@given(seed=seeds)
def test_a_word_of_disjoint_regions_is_that_of_each(seed):
    rng = Random(seed)
    g = random_algebra(rng, 10)
    region = random_region(rng, g.full)
    parts = []
    for box in region:
        g.region = (box,)
        a = random_value(rng, g)
        parts.append((g.region, g.word(g.bits(a)) if rng.random() < 0.7 else a))
    found = g.united(parts)
    for own, value in parts:
        for point in points_in(own, g.full):
            assert number(g, found, point) == number(g, value, point)


def test_bits_of_inputs_and_of_variables_do_not_mix_by_themselves():
    """Without a definition of the variable, nothing is known of both together."""
    g = random_algebra(Random(1), 6)
    d = g.diagrams
    axis = next(k for k, allowed in enumerate(g.full) if len(listed(allowed)) > 1)
    low = listed(g.full[axis])[0]
    of_input = d.where((((axis, ((low, low),)),),))
    zeros = (FALSE,) * 31
    a, b = g.word((of_input, *zeros)), g.word((d.variable(0), *zeros))
    for operation in (
        lambda: g.bitwise(a, b, "and"),
        lambda: g.add(a, b),
        lambda: g.chosen(b, a, Value(1)),
        lambda: g.plain(b),
    ):
        with pytest.raises(UndecidedError):
            operation()
    assert g.bitwise(a, a, "xor").number == 0
    assert g.equal(b, b).number == 1
