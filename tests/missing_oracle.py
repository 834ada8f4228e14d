"""Marginalization of missing features by the definition, one input at a time, in plain Python."""

from itertools import product
from math import exp, log

import numpy as np

from bncc.fixed_point import QFormat, quantize
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure
from tests.models import feature, model_of


class Oracle:
    """
    A model's costs with gaps; every number that occurs is kept in `seen`.

    Written from the definition alone: recursive, Python integers, no vectors.
    """

    def __init__(self, model):
        self.model = model
        self.parents = model.structure.parents
        self.above = model.structure.class_parents
        self.bits = max(8, model.q_format.frac_bits)
        has_arcs = any((*self.parents, self.above))
        self.extra = self.bits - model.q_format.frac_bits if has_arcs else 0
        self.seen = []

    def add(self, a, b):
        """Return a (+) b."""
        place = (abs(a - b) + 2 ** (self.bits - 6)) // 2 ** (self.bits - 5)
        correction = round(256 * log(1 + exp(-place / 32)))
        return self.kept(min(a, b) - correction * 2 ** (self.bits - 8))

    def kept(self, number):
        """Note a number and return it."""
        self.seen.append(number)
        return number

    def costs(self, x):
        """Return the costs of all classes; None stands for a missing state."""
        forest = not self.above and all(len(some) <= 1 for some in self.parents)
        return [(self.forest if forest else self.joint)(x, c) for c in range(self.model.n_classes)]

    def is_used(self, x, i):
        """Return whether a feature or one below it is known, or the class is below it."""
        children = [j for j, some in enumerate(self.parents) if i in some]
        here = x[i] is not None or i in self.above
        return here or any(self.is_used(x, j) for j in children)

    def entry(self, x, i, c):
        """Return the shifted cost of feature i in known states."""
        filled = np.array([[0 if s is None else s for s in x]])
        row = int(family_rows(filled, self.model.structure, self.model.n_states, i)[0])
        return self.kept(int(self.model.tables[i][row, c]) * 2**self.extra)

    def of_class(self, x, c):
        """Return the shifted cost of a class in known states of its parents."""
        if not self.above:
            return int(self.model.prior[c]) * 2**self.extra
        row = 0
        for j in self.above:
            row = row * self.model.n_states[j] + x[j]
        return self.kept(int(self.model.tables[-1][row, c]) * 2**self.extra)

    def message(self, x, i, c):
        """Return the cost of feature i and all below it; the parent's state is in x."""
        if not self.is_used(x, i):
            return 0
        children = [j for j, some in enumerate(self.parents) if i in some]
        states = [x[i]] if x[i] is not None else range(self.model.n_states[i])
        total = None
        for state in states:
            y = [*x[:i], state, *x[i + 1 :]]
            term = self.entry(y, i, c)
            for j in children:
                term = self.kept(term + self.message(y, j, c))
            total = term if total is None else self.add(total, term)
        return total

    def forest(self, x, c):
        """Return the cost of a class in a forest."""
        total = int(self.model.prior[c]) * 2**self.extra
        for i, some in enumerate(self.parents):
            if not some:
                total = self.kept(total + self.message(x, i, c))
        return total

    def joint(self, x, c):
        """Return the cost of a class in any network; its parents are used."""
        used = [i for i in range(len(x)) if self.is_used(x, i)]
        choices = [
            range(self.model.n_states[i]) if i in used and s is None else [s]
            for i, s in enumerate(x)
        ]
        total = None
        for y in product(*choices):
            term = self.of_class(y, c)
            for i in used:
                term = self.kept(term + self.entry(y, i, c))
            total = term if total is None else self.add(total, term)
        return total


def joint_models():
    """Return networks by name that are no forest, or whose class has parents."""
    k_parents = [(), (), (0, 1), (2, 0), (3,), (4, 1, 2)]
    of_class = [False, False, False, True, True]
    above = {"parents": [(), (0,), (), (1, 2), (3,)], "of_class": of_class, "above": (2, 1)}
    wide = {"parents": [(), (0,), (0, 1)], "seed": 3}
    return {
        "several parents": drawn_model(None, [2, 3, 2, 3, 2, 2], QFormat(3, 1), parents=k_parents),
        "class with parents": drawn_model(None, [2, 3, 2, 3, 2], QFormat(4, 2), seed=1, **above),
        "class alone": drawn_model(
            [None] * 2, [3, 2], QFormat(4, 1), seed=2, of_class=[False] * 2, above=(1, 0)
        ),
        "wide states and sums": drawn_model(None, [300, 2, 2], QFormat(10, 1), **wide),
        "many fraction bits": drawn_model(None, [2, 1, 4], QFormat(2, 12), **wide),
    }


def gaps_of(model, n, generator, share=0.5):
    """Return random states, gaps, and the rows as the oracle takes them."""
    X = generator.integers(0, model.n_states, (n, model.n_features))
    is_missing = generator.random(X.shape) < share
    rows = [
        [None if gap else int(s) for s, gap in zip(x, gaps, strict=True)]
        for x, gaps in zip(X, is_missing, strict=True)
    ]
    return X, is_missing, rows


def drawn_model(
    parent, n_states, q_format, seed=0, n_classes=3, parents=None, of_class=None, above=()
):
    """
    Return a model of quantized random distributions over a forest, or over given parents.

    Those of the class are `above`.
    """
    generator = np.random.default_rng(seed)
    parents = parents or [() if j is None else (j,) for j in parent]
    of_class = of_class or [True] * len(n_states)
    tables = []
    for i, r in enumerate(n_states):
        n = int(np.prod([n_states[j] for j in parents[i]], dtype=int))
        chances = generator.dirichlet(np.full(r, 0.5), (n, n_classes)) + 1e-9
        if not of_class[i]:
            chances = np.repeat(chances[:, :1], n_classes, axis=1)
        chances = np.swapaxes(chances / chances.sum(axis=2, keepdims=True), 1, 2)
        costs = quantize(np.log(chances), q_format).reshape(n * r, n_classes)
        tables.append(np.ascontiguousarray(costs))
    n = int(np.prod([n_states[j] for j in above], dtype=int))
    prior = quantize(np.log(generator.dirichlet(np.ones(n_classes), n)), q_format)
    tables += [prior] if above else []
    prior = np.zeros(n_classes, dtype=int) if above else prior[0]
    features = [feature(f"x{i}", r) for i, r in enumerate(n_states)]
    structure = Structure(tuple(parents), tuple(of_class), tuple(above))
    return model_of(features, structure, q_format, prior, tables)


def one_state_each():
    """
    Return a network whose features all have one state, with more fraction bits than a distance.

    Its numbers fit 16 bits; corrections reach beyond them.
    """
    return model_of(
        [feature(f"x{i}", 1) for i in range(3)],
        Structure(((), (), (0, 1)), (True, True, True)),
        QFormat(-11, 14),
        [1, 0],
        [[[0, 3]], [[2, 0]], [[7, 5]]],
    )
