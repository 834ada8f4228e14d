"""The refit: integers in their bounds, better than before, with or without a dictionary."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting.boost import boost
from bncc.boosting.learn import refit
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.errors import OptionError
from bncc.progress import Watch
from tests.unit.boosting.samples import few_samples

SETTINGS = BoostSettings(
    n_tables=8, rows=6, engine="numpy", float_epochs=3, quantized_epochs=4, batch_size=32
)


def refitted(settings, watch=None):
    samples = few_samples()
    recipe = recipe_of(settings, samples.X.shape[1], samples.n_classes)
    return refit(boost(samples, settings, recipe), samples, settings, recipe, watch)


def error_of(learned) -> float:
    samples = few_samples()
    return float(np.mean(learned.costs(samples.X).argmin(axis=1) != samples.y))


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_costs_keep_to_their_bits(bits):
    learned = refitted(replace(SETTINGS, bits=bits))
    costs = np.vstack(learned.tables)
    assert costs.dtype == np.int64
    assert costs.min(axis=1).tolist() == [0] * len(costs)
    assert 0 < costs.max() < 2**bits
    assert learned.prior.min() == 0
    assert [len(table) for table in learned.tables] == [g.n_rows for g in learned.grids.tables]


def test_integers_decide_nearly_as_well_as_the_classes_allow():
    assert error_of(refitted(SETTINGS)) < 0.03


def test_no_prior_is_a_prior_of_zero():
    assert refitted(replace(SETTINGS, has_prior=False)).prior.tolist() == [0, 0, 0]


def test_a_dictionary_bounds_the_rows_that_differ():
    free = refitted(SETTINGS)
    bound = refitted(replace(SETTINGS, dictionary=9))
    assert len(np.unique(np.vstack(free.tables), axis=0)) > 9
    assert len(np.unique(np.vstack(bound.tables), axis=0)) <= 9
    assert error_of(bound) < 0.06


def test_a_dictionary_of_more_codewords_than_rows_changes_nothing():
    free, bound = refitted(SETTINGS), refitted(replace(SETTINGS, dictionary=1000))
    assert np.array_equal(np.vstack(free.tables), np.vstack(bound.tables))


@pytest.mark.parametrize(("dictionary", "n_epochs"), [(0, 7), (9, 7 + 48)])
def test_it_tells_of_each_epoch(dictionary, n_epochs):
    told = []
    refitted(replace(SETTINGS, dictionary=dictionary), Watch(lambda *step: told.append(step)))
    assert told == [(k / n_epochs, f"epoch {k} of {n_epochs}") for k in range(1, n_epochs + 1)]


@pytest.mark.parametrize("dictionary", [0, 9])
def test_an_early_end_leaves_integers(dictionary):
    told = []
    watch = Watch(lambda *step: told.append(step), lambda: len(told) == 2)
    learned = refitted(replace(SETTINGS, dictionary=dictionary), watch)
    assert len(told) == 2
    assert np.vstack(learned.tables).max() < 8
    assert error_of(learned) < 0.4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ["numpy", None])
@pytest.mark.parametrize("lr", [1e3, 1e38])
def test_a_descent_that_diverges_is_refused(engine, lr):
    with pytest.raises(OptionError, match="diverged with learning rate"):
        refitted(replace(SETTINGS, lr=lr, engine=engine))
