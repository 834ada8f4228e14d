"""A model becomes a program with the same costs, or is refused when sums leave 32 bits."""

import numpy as np
import pytest

from bncc.errors import IrError
from bncc.fixed_point import QFormat
from bncc.model import reference
from bncc.program import ir
from bncc.program.pipeline import program_of
from bncc.structure.graph import forest
from tests import models as hand


@pytest.mark.parametrize("name", hand.NAMED)
def test_costs_and_decisions_are_those_of_the_reference(name):
    model = hand.NAMED[name]()
    program = program_of(model)
    X = hand.all_states(model)
    assert (ir.costs(program, X) == reference.costs(model, X)).all()
    assert (ir.decisions(program, X) == reference.predict(model, X)).all()


def test_every_feature_has_a_table_that_reads_its_parents_first():
    program = program_of(hand.general_network())
    assert [table.features for table in program.tables] == [(0,), (0, 1), (2,), (2, 0, 1, 3)]
    assert [table.name for table in program.tables] == ["x0", "x1", "x2", "x3"]
    assert program.frac_bits == 0


def largest(cost, prior):
    """Return a model of one feature whose sums reach ``cost + prior``."""
    return hand.model_of(
        [hand.feature("a", 1), hand.feature("b", 1)],
        forest([None, None]),
        QFormat(31, 0),
        [0, prior],
        [[[0, cost]], [[0, 2**31 - 1]]],
    )


def test_a_sum_of_32_bits_is_taken():
    program = program_of(largest(2**31 - 1, 1))
    assert ir.costs(program, np.array([[0, 0]])).tolist() == [[0, 2**32 - 1]]


def test_a_sum_of_33_bits_is_refused_with_the_remedy():
    with pytest.raises(IrError, match=r"a sum of 2 costs in UQ31\.0 .* train with fewer bits"):
        program_of(largest(2**31 - 1, 2))
