"""Programs that compare readings without states."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.lower.direct import reads_directly
from bncc.program.pipeline import program_of
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests.agreement.test_direct_readings import model_of
from tests.unit.lower.by_hand import program, table


def with_features(**changes):
    some = program_of(model_of("int16"))
    return replace(some, features=tuple(replace(each, **changes) for each in some.features))


def test_readings_of_one_kind_are_compared():
    assert reads_directly(with_features())


@pytest.mark.parametrize("changes", [{"kind": "state"}, {"missing_state": 1}])
def test_states_and_missing_readings_above_a_cut_are_not(changes):
    assert not reads_directly(with_features(**changes))


def test_neither_are_readings_of_several_kinds():
    first, *others = program_of(model_of("int16")).features
    some = replace(with_features(), features=(replace(first, kind="int32"), *others))
    assert not reads_directly(some)


def test_neither_are_tables_with_a_row_per_state():
    some = program([2], [0, 0], [table([0], [[0, 1], [1, 0]])])
    assert not reads_directly(replace(some, features=with_features().features[:1]))


@pytest.mark.parametrize(("kind", "most"), [("int16", 160), ("float32", 58)])
def test_neither_are_many_cuts_at_few_thresholds(kind, most):
    """States take 145 bytes and eight thresholds, and then one byte in place of a cut's limit."""
    model = model_of(kind)
    grid, rows = DecisionTable((1,), ((0,),)), np.zeros((2, 4), dtype=np.int64)

    def repeated(n):
        return program_of(replace(model, structure=TableEnsemble((grid,) * n), tables=(rows,) * n))

    assert [reads_directly(repeated(n)) for n in (most, most + 1)] == [True, False]
