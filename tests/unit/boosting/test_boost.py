"""Boosting of tables: decrease of the loss, repeatability, and limits."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting.boost import boost
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import rows_of
from bncc.errors import DataError
from bncc.progress import Watch
from bncc.structure.decision_tables import DecisionTable
from tests.unit.boosting.samples import few_samples

NUMPY = BoostSettings(n_tables=12, rows=6, engine="numpy", is_corrective=False)


def boosted(samples, settings, watch=None):
    recipe = recipe_of(settings, samples.X.shape[1], samples.n_classes)
    return boost(samples, settings, recipe, watch)


def loss_of(grown, samples) -> float:
    sums = grown.scores.prior + grown.scores.rows[rows_of(grown.tables, samples.X)].sum(axis=1)
    sums -= sums.max(axis=1, keepdims=True)
    log_p = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
    return float(-log_p[np.arange(len(samples.y)), samples.y] @ samples.weights)


@pytest.mark.parametrize("is_corrective", [False, True])
def test_every_table_lowers_the_loss(is_corrective):
    samples = few_samples()
    losses = [
        loss_of(
            boosted(samples, replace(NUMPY, n_tables=n, eta=0.3, is_corrective=is_corrective)),
            samples,
        )
        for n in (1, 2, 4, 8)
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.cc
@pytest.mark.parametrize("is_corrective", [False, True])
def test_both_engines_grow_the_same_tables(require_tool, is_corrective):
    require_tool("gcc")
    settings = replace(NUMPY, is_corrective=is_corrective, n_tables=6)
    reference = boosted(few_samples(), settings)
    native = boosted(few_samples(), replace(settings, engine="native"))
    assert native.tables == reference.tables
    assert np.abs(native.scores.rows - reference.scores.rows).max() < 1e-3


def test_the_first_tables_are_those_of_a_shorter_boosting():
    samples = few_samples()
    short = boosted(samples, replace(NUMPY, n_tables=5, eta=0.3))
    first = boosted(samples, replace(NUMPY, eta=0.3)).first(5)
    assert first.tables == short.tables
    assert np.array_equal(first.scores.rows, short.scores.rows)


def test_a_weight_is_as_many_samples():
    """Except their mean, which l2 regularizes."""
    samples = few_samples(100)
    samples = replace(samples, X=samples.X[:, :3])  # of few states: all are seen both times
    counts = np.arange(100) % 3
    often = np.repeat(np.arange(100), counts)
    settings = replace(NUMPY, n_tables=4, l2=1e-9, has_prior=False)
    weighted = boosted(replace(samples, weights=counts / counts.mean()), settings)
    repeated = boosted(
        replace(samples, X=samples.X[often], y=samples.y[often], weights=np.ones(len(often))),
        settings,
    )
    assert weighted.tables == repeated.tables
    assert np.allclose(weighted.scores.rows, repeated.scores.rows, atol=1e-4)


def test_what_feature_share_leaves_out_is_drawn_anew_for_each_table():
    grown = boosted(few_samples(), replace(NUMPY, feature_share=0.25))
    assert {len(grid.features) for grid in grown.tables} == {1}
    assert len({grid.features for grid in grown.tables}) > 1


def test_where_nothing_tells_classes_apart_there_is_one_table_of_zeros():
    samples = few_samples()
    grown = boosted(replace(samples, y=samples.y * 0), replace(NUMPY, l2=1e9))
    assert grown.tables == (DecisionTable((0,), ((0,),)),)
    assert not grown.scores.rows.any()
    assert grown.scores.prior.argmax() == 0


def test_constant_columns_are_refused():
    samples = few_samples()
    with pytest.raises(DataError, match="all columns are constant"):
        boosted(replace(samples, X=samples.X * 0), NUMPY)


def test_classes_without_a_prior_begin_level():
    assert not boosted(few_samples(), replace(NUMPY, has_prior=False)).scores.prior.any()


def test_it_tells_of_each_table_and_ends_early():
    told = []
    watch = Watch(lambda *step: told.append(step), lambda: len(told) == 3)
    assert len(boosted(few_samples(), NUMPY, watch).tables) == 3
    assert told == [(n / 12, f"table {n} of 12") for n in (1, 2, 3)]
