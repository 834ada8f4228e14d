"""Small data for the scores, and the scores spelled out row by row."""

from itertools import product
from math import exp, log

import numpy as np

from bncc.structure.graph import find_cycles
from bncc.structure.margin_scores.held_out import EPSILON, hold_out


def random_rows(n_samples=120, n_states=(2, 3, 1, 4, 2), n_classes=3, seed=0):
    """Return states that follow the class, and feature 4 the class and feature 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    columns = [
        (rng.integers(0, r, n_samples) + y * (rng.random(n_samples) < 0.4)) % r for r in n_states
    ]
    if len(columns) > 4:
        columns[4] = (columns[0] + y) % n_states[4]
    return np.stack(columns, axis=1), y, n_states, n_classes


def random_held_out(**given):
    """Return them dealt to three folds."""
    return hold_out(*random_rows(**given), n_folds=3)


def spelled_joint(held, m, c, parents):
    """Return log P(c, x) of a row in units of 1 / scale, from the rows outside its fold."""
    others = [k for k in range(held.n_samples) if held.fold[k] != held.fold[m]]

    def nats(part, whole, n_states):
        if not whole:
            return round(-log(n_states) * held.scale)
        return round(log(max(len(part) / len(whole), EPSILON)) * held.scale)

    of_class = [k for k in others if held.y[k] == c]
    total = nats(of_class, others, held.n_classes)
    for i, p in enumerate(parents):
        alike = [k for k in of_class if held.columns[p, k] == held.columns[p, m]]
        same = [k for k in alike if held.columns[i, k] == held.columns[i, m]]
        total += nats(same, alike, held.n_states[i])
    return total


def spelled_score(held, parents, kind, lambda_=1.0):
    """Return a score as S1 writes it."""
    total = 0.0
    for m in range(held.n_samples):
        joint = [spelled_joint(held, m, c, parents) for c in range(held.n_classes)]
        own = joint[held.y[m]]
        rest = [value for c, value in enumerate(joint) if c != held.y[m]]
        if kind == "mm":
            total += min(1, lambda_ * (own - max(rest)) / held.scale)
        elif kind == "cl":
            total -= log(sum(exp((value - own) / held.scale) for value in joint))
        else:
            total += (joint.index(max(joint)) == held.y[m]) / held.n_samples
    return total


def all_forests(n):
    """Return the parents of every forest over n features, n for none."""
    return [
        parents
        for parents in product(range(n + 1), repeat=n)
        if all(i != p for i, p in enumerate(parents))
        and not find_cycles([() if p == n else (p,) for p in parents]).closing
    ]
