"""Operations on decision diagrams, against the functions at every input."""

from itertools import product
from random import Random

import numpy as np
import pytest

from bncc.prove.diagrams import FALSE, TRUE, Diagrams

AXES, SIZE = 3, 8


def drawn(diagrams: Diagrams, rng: Random) -> int:
    """Return a random function of some inputs, with ends of its own."""
    axes = sorted(rng.sample(range(AXES), rng.randrange(1, AXES + 1)))
    starts = [[0, *sorted(rng.sample(range(1, SIZE), rng.randrange(1, 5)))] for _ in axes]
    size = tuple(map(len, starts))
    values = np.array([rng.randrange(2) for _ in range(int(np.prod(size)))]).reshape(size)
    return diagrams.tabulated(axes, starts, values)[0]


@pytest.mark.parametrize("seed", range(20))
def test_operations_are_those_at_every_input(seed):
    rng, diagrams = Random(seed), Diagrams()
    f, g, h = (rng.choice([drawn(diagrams, rng), FALSE, TRUE]) for _ in range(3))
    f = drawn(diagrams, rng)
    for x, y in ((f, g), (g, f), (f, h), (f, f), (f, diagrams.no(f))):
        operations = [
            (diagrams.both(x, y), lambda a, b: a & b),
            (diagrams.either(x, y), lambda a, b: a | b),
            (diagrams.differ(x, y), lambda a, b: a ^ b),
        ]
        for point in product(range(SIZE), repeat=AXES):
            a, b = diagrams.at(x, point), diagrams.at(y, point)
            for node, operation in operations:
                assert diagrams.at(node, point) == operation(a, b)
    for one in ((f, g, h), (g, f, h), (h, g, f), (f, f, g), (f, g, f), (f, g, g)):
        chosen = diagrams.chosen(*one)
        for point in product(range(SIZE), repeat=AXES):
            condition, a, b = (diagrams.at(node, point) for node in one)
            assert diagrams.at(chosen, point) == (a if condition else b)


@pytest.mark.parametrize("seed", range(5))
def test_equal_functions_are_one_node(seed):
    rng, diagrams = Random(seed), Diagrams()
    f, g = drawn(diagrams, rng), drawn(diagrams, rng)
    no = diagrams.no
    assert diagrams.either(f, g) == no(diagrams.both(no(f), no(g)))
    assert diagrams.chosen(f, g, no(g)) == no(diagrams.differ(f, g))
    assert diagrams.either(f, no(f)) == TRUE
