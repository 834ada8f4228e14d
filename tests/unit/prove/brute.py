"""Functions over few small inputs, drawn at random, and their numbers at each input."""

from collections.abc import Iterator
from itertools import pairwise, product
from random import Random

import numpy as np

from bncc.prove.regions import EVERYWHERE, Numbers, Region, joined, numbers
from bncc.prove.values import WORD, Exact, Term, Value
from bncc.prove.words import Words

Point = tuple[int, ...]


def listed(allowed: Numbers) -> list[int]:
    return [x for low, high in allowed for x in range(low, high + 1)]


def set_of(found) -> Numbers:
    return numbers((x, x) for x in found)


def random_domain(rng: Random, most: int = 40) -> Numbers:
    """Return what an input can be: states, readings with a sign, or numbers with a gap."""
    n = rng.randint(4, most)
    kind = rng.choice(["states", "states", "signed", "gap", "far"])
    if kind == "states":
        return ((0, n - 1),)
    if kind == "signed":
        below = rng.randint(1, n - 1)
        return ((0, n - below - 1), (WORD - below, WORD - 1))
    if kind == "gap":
        half = rng.randint(1, n - 1)
        return ((3, 2 + half), (4 + half + rng.randint(0, 3), 7 + n))
    first = rng.choice([100, 250, 65530, WORD - n, WORD // 2 - n // 2])
    return ((first, first + n - 1),)


def random_part(rng: Random, allowed: Numbers) -> Numbers:
    """Return some numbers of a set, at least one."""
    every = listed(allowed)
    if rng.random() < 0.5:
        a, b = sorted((rng.randrange(len(every)), rng.randrange(len(every))))
        return set_of(every[a : b + 1])
    chosen = [x for x in every if rng.random() < 0.5]
    return set_of(chosen or every[:1])


def random_region(rng: Random, full) -> Region:
    """Return every input, a box, or two disjoint boxes."""
    kind = rng.choice(["all", "box", "boxes"])
    if kind == "all":
        return EVERYWHERE
    axes = sorted(rng.sample(range(len(full)), rng.randint(1, len(full))))
    box = tuple((axis, part) for axis in axes if (part := random_part(rng, full[axis])))
    box = tuple((axis, part) for axis, part in box if part != full[axis])
    if kind == "box" or not box:
        return (box,)
    # Another box in the complement of one of the restrictions
    axis, part = box[rng.randrange(len(box))]
    outside = set_of(set(listed(full[axis])) - set(listed(part)))
    other = {axis: random_part(rng, outside)}
    for more in range(len(full)):
        if more != axis and rng.random() < 0.4:
            found = random_part(rng, full[more])
            if found != full[more]:
                other[more] = found
    return (box, tuple(sorted(other.items())))


def points_in(region: Region, full) -> Iterator[Point]:
    for point in product(*(listed(allowed) for allowed in full)):
        if contains(region, point):
            yield point


def contains(region: Region, point: Point) -> bool:
    n = sum(
        all(any(low <= point[axis] <= high for low, high in allowed) for axis, allowed in box)
        for box in region
    )
    assert n < 2, "boxes overlap"
    return n == 1


def at(value: Value | Exact, point: Point) -> int:
    """Return the integer that a sum is at an input, not taken modulo anything."""
    total = value.const
    for partition, term in value.terms.items():
        assert term.partition is partition
        inside = [k for k, cell in enumerate(partition.cells) if contains(cell, point)]
        assert len(inside) == 1, f"{point} is in the cells {inside}"
        total += int(term.values[inside[0]])
        if term.slopes is not None and term.slopes[inside[0]]:
            total += int(term.slopes[inside[0]]) * point[partition.scope[0]]
    return total


def word(value: Value, point: Point) -> int:
    """Return the number of a register at an input."""
    assert value.base is None
    return at(value, point) % WORD


def number(algebra: Words, value: Value, point: Point) -> int:
    """Return the number of a register at an input, also of one that is known bit by bit."""
    if not algebra.is_word(value):
        return word(value, point)
    bits = algebra.bits(value)
    return sum(algebra.diagrams.at(bit, point) << k for k, bit in enumerate(bits))


def random_number(rng: Random) -> int:
    return rng.choice([
        rng.randrange(4),
        rng.randrange(256),
        rng.randrange(1 << 16) << 16,
        rng.randrange(256) << 8 * rng.randrange(4),
        WORD - 1 - rng.randrange(256),
        (1 << 31) - 2 + rng.randrange(4),
        rng.choice([0, WORD - 1]),
        rng.randrange(WORD),
    ])  # fmt: skip


def random_term(rng: Random, algebra: Words, kind: str | None = None) -> Term:
    """Return a function of one or two inputs: constant on cells, or linear."""
    full = algebra.full
    kind = kind or rng.choice(["cells", "cells", "linear", "pieces", "two", "bool"])
    axis = rng.randrange(len(full))
    every = listed(full[axis])
    if kind == "linear":
        slope = rng.choice([1, 1, 2, 4, 256, -1, 65536, rng.randrange(1, 1 << 20)])
        partition = algebra.partitions.of_axis(axis, [full[axis]])
        value = rng.choice([0, 0, -slope * every[0], random_number(rng)])
        return Term(partition, np.array([value], dtype=np.int64), np.array([slope]))
    if kind == "two" and len(full) > 1:
        second = rng.choice([k for k in range(len(full)) if k != axis])
        axes = sorted((axis, second))
        parts = [_cells(rng, full[a], rng.randint(1, 4)) for a in axes]
        labels: dict[int, list] = {}
        n_labels = rng.randint(2, 5)
        for p, q in product(*parts):
            box = tuple((a, part) for a, part in zip(axes, (p, q), strict=True) if part != full[a])
            labels.setdefault(rng.randrange(n_labels), []).append(box)
        cells = [joined(boxes, full) for boxes in labels.values()]
    else:
        cells = [(((axis, part),),) for part in _cells(rng, full[axis], 2 if kind == "bool" else 5)]
    if kind == "bool":
        values = [k % 2 for k in range(len(cells))]
    else:
        small = rng.random() < 0.5
        values = [rng.randrange(100) if small else random_number(rng) for _ in cells]
    partition = algebra.partitions.of(cells)
    slopes = None
    if kind == "pieces":
        slopes = np.array([rng.choice([0, 1, -1, 3, 256]) for _ in cells])
        slopes = slopes if slopes.any() else None
    return Term(partition, np.array(values, dtype=np.int64), slopes)


def _cells(rng: Random, allowed: Numbers, most: int) -> list[Numbers]:
    every = listed(allowed)
    n = rng.randint(1, min(most, len(every)))
    if rng.random() < 0.6:
        cuts = [0, *sorted(rng.sample(range(1, len(every)), n - 1)), len(every)]
        return [set_of(every[a:b]) for a, b in pairwise(cuts)]
    labels: dict[int, list[int]] = {}
    for x in every:
        labels.setdefault(rng.randrange(n), []).append(x)
    return [set_of(xs) for xs in labels.values()]


def random_value(rng: Random, algebra: Words) -> Value:
    """Return a constant plus up to three functions."""
    n = rng.choice([0, 1, 1, 2, 2, 3])
    found = Value(random_number(rng) if rng.random() < 0.6 else 0)
    for _ in range(n):
        found = algebra.add(found, algebra.value(0, [random_term(rng, algebra)]))
    return found


def random_bool(rng: Random, algebra: Words) -> Value:
    """Return a condition, 0 or 1."""
    if rng.random() < 0.1:
        return Value(rng.randrange(2))
    return algebra.value(0, [random_term(rng, algebra, "bool")])


def random_algebra(rng: Random, most: int = 40) -> Words:
    """Return operations over one to three small inputs in a random region."""
    n = rng.choice([1, 1, 2, 2, 3])
    most = {1: most, 2: min(most, 20), 3: min(most, 7)}[n]
    algebra = Words(tuple(random_domain(rng, most) for _ in range(n)))
    algebra.region = random_region(rng, algebra.full)
    return algebra
