"""Over which inputs is measured."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.device.measure import bench_inputs
from bncc.discretize.readings import states_of_raw
from bncc.errors import DataError
from tests import models as hand
from tests.agreement.large import letter_like, mixed_kinds


def readings(n):
    values = np.arange(n, dtype=np.int64) - n // 2
    columns = (Column(name, "integer", values, values == 3) for name in ("light", "pressure"))
    return Table(tuple(columns))


@pytest.mark.parametrize("model", [mixed_kinds(), letter_like("float32"), hand.wide_states()])
def test_without_data_readings_follow_random_states(model):
    """They discretize to them, all are in range, and the seed alone decides."""
    inputs = bench_inputs(model, n_rows=50)
    assert inputs.X.shape == inputs.R.shape == (50, model.n_features)
    assert (states_of_raw(model.features, inputs.R) == inputs.X).all()
    assert (inputs.X < np.array(model.n_states)).all()
    again, other = bench_inputs(model, n_rows=50), bench_inputs(model, n_rows=50, seed=1)
    assert (again.X == inputs.X).all()
    assert (other.X != inputs.X).any()


def test_rows_are_chosen_from_the_data():
    """Each at most once, in the order of the table, missing cells as they are."""
    model, table = hand.naive_integer(), readings(400)
    inputs = bench_inputs(model, table, n_rows=100)
    pressure, light = inputs.R.T
    marked = pressure == -(2**15)
    assert (np.diff(pressure[~marked]) > 0).all()
    assert (light == pressure).all()
    assert (states_of_raw(model.features, inputs.R) == inputs.X).all()
    assert len(bench_inputs(model, readings(7), n_rows=100).X) == 7
    assert (bench_inputs(model, readings(7), n_rows=100).R == -(2**15)).any()
    with pytest.raises(DataError, match="column"):
        bench_inputs(model, readings(5).without(["light"]))
