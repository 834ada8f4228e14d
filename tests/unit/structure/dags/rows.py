"""Rows of small networks, and exhaustive searches."""

import json
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np

from bncc.structure.dags.dag_score import Columns
from bncc.structure.graph import find_cycles

ORACLE = json.loads(
    (Path(__file__).parents[3] / "fixtures" / "dags_oracle.json").read_text("utf-8")
)
"""Local scores by pgmpy and essential graphs by pyAgrum."""


def columns(X, n_states=None):
    """Return the columns of rows of states."""
    X = np.asarray(X)
    return Columns(np.ascontiguousarray(X.T), n_states or tuple((X.max(axis=0) + 1).tolist()))


def drawn(parents, n_samples, seed, fidelity=0.85):
    """Draw binary rows: each variable is the parity of its parents, or else chance."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n_samples, len(parents)), np.int64)
    for i, of in enumerate(parents):
        parity = X[:, list(of)].sum(axis=1) % 2
        is_chance = rng.random(n_samples) > (fidelity if of else 0.0)
        X[:, i] = np.where(is_chance, rng.integers(0, 2, n_samples), parity)
    return columns(X, (2,) * len(parents))


def oracle_columns():
    """Return the rows that pgmpy scored."""
    rows = np.array([[int(state) for state in row] for row in ORACLE["rows"]])
    return columns(rows, tuple(ORACLE["n_states"]))


def changes(dag):
    """Return every graph that one change of an arc leads to, with the kind, child and parent."""
    for i, j in permutations(range(len(dag)), 2):
        sets = [set(parents) for parents in dag]
        has = j in sets[i]
        steps = (("delete", ()), ("reverse", (j,))) if has else (("add", ()),)
        for kind, gaining in steps:
            changed = [set(parents) for parents in sets]
            changed[i] ^= {j}
            for child in gaining:
                changed[child].add(i)
            after = tuple(tuple(sorted(parents)) for parents in changed)
            if not find_cycles(after).closing:
                yield kind, i, j, after


def all_dags(n):
    """Return every directed acyclic graph of n variables."""
    pairs = list(combinations(range(n), 2))
    for arcs in product((None, 0, 1), repeat=len(pairs)):
        parents = [[] for _ in range(n)]
        for (a, b), direction in zip(pairs, arcs, strict=True):
            if direction is not None:
                child, parent = (a, b) if direction else (b, a)
                parents[child].append(parent)
        dag = tuple(tuple(sorted(of)) for of in parents)
        if not find_cycles(dag).closing:
            yield dag
