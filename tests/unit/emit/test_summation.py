"""Sums in other languages are those of the model."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.emit.options import EmitOptions
from bncc.emit.summation import NO_CLASS, _summand, refuse_samples, summation_of
from bncc.errors import OptionError
from bncc.model.reference import costs
from bncc.program.ir import Program, Table, row_of
from tests.front_ends import front_end
from tests.models import feature, tan_float
from tests.other_languages import BUILT, built


def rows_of(summand, X):
    """Return the rows that the terms of a summand find, or its tree."""
    if summand.tree is not None:
        return summand.tree.rows(X)
    rows = np.zeros(len(X), np.int64)
    for term in summand.terms:
        state = X[:, term.feature]
        level = state if term.cuts is None else sum((state > cut) for cut in term.cuts)
        rows += level * term.stride
    return rows


def random_states(model, n=200):
    rng = np.random.default_rng(1)
    return np.column_stack([rng.integers(0, n_states, n) for n_states in model.n_states])


@pytest.mark.parametrize("kind", BUILT)
def test_its_tables_decide_like_the_model(kind):
    """Without a gate, whose tables are not all added, margins are those of the model."""
    model = built(kind)
    found = summation_of(model, EmitOptions("m"))
    X = random_states(model)
    total = np.tile(found.program.prior, (len(X), 1))
    for summand in found.summands:
        total = total + summand.costs[rows_of(summand, X)]
    assert total.max() < 1 << found.program.cost_bits
    if found.front is not None:
        leaves = found.front_tree.rows(X)
        sure = np.array(found.sure_classes)[leaves]
        decided = np.where(sure == NO_CLASS, total.argmin(axis=1), sure)
        assert (decided == costs(model, X).argmin(axis=1)).all()
        assert (sure != NO_CLASS).any()
    elif model.gate is None:
        expected = costs(model, X)
        margins = [each - each.min(axis=1, keepdims=True) for each in (total, expected)]
        assert (margins[0] == margins[1]).all()
    else:
        assert found.program.gate == model.gate


def program_with(maps):
    """Return a program of one table over two features, whose first has levels."""
    features = (feature("a", len(maps)), feature("b", 2))
    rows = (max(maps) + 1) * 2
    table = Table("b", (0, 1), np.arange(2 * rows).reshape(rows, 2), maps={0: maps})
    return Program(features, ("x", "y"), 0, np.zeros(2, np.int64), (table,))


@pytest.mark.parametrize(
    ("maps", "cuts"),
    [
        ((0, 0, 1, 2, 2), (1, 2)),
        ((0, 1, 0, 2), None),  # merged states: a row for each
        ((1, 0), None),
    ],
)
def test_levels_are_counted_by_cuts_where_they_ascend(maps, cuts):
    program = program_with(maps)
    (table,) = program.tables
    summand = _summand(program, table)
    assert [term.cuts for term in summand.terms] == [cuts, None]
    X = np.indices((len(maps), 2)).reshape(2, -1).T
    assert (summand.costs[rows_of(summand, X)] == table.costs[row_of(program, table, X)]).all()


def test_a_model_of_samples_is_refused():
    model = replace(tan_float(), front_end=front_end())
    with pytest.raises(OptionError, match="package 'rust' has no front end for samples"):
        refuse_samples(model, "rust")
