"""Grid search for the best tree that fits: chosen on validation rows, trained on all rows."""

import numpy as np
import pytest

from benchmarks.peers.encoded_readings import encodings
from benchmarks.peers.tree_peers import (
    Candidate,
    Form,
    Grown,
    candidates,
    error_of,
    finalists,
    forms,
    grow,
)
from bncc.baselines.exporters import Style
from bncc.data.dataset import Column, Dataset, Table

INLINE, LOADABLE = Style("int16_t"), Style("int16_t", "loadable")


@pytest.fixture(scope="module")
def dataset():
    values = np.random.default_rng(0).integers(-300, 300, (200, 2))
    columns = tuple(Column(f"c{i}", "integer", values[:, i], values[:, i] > 999) for i in (0, 1))
    y = (values[:, 0] > 0).astype(np.int64) + (values[:, 1] > 100)
    return Dataset(Table(columns), y, ("a", "b", "c"), "class")


def candidate(error, nodes, style=INLINE, form=None):
    return Candidate(form or Form(1, leaves=nodes + 1), None, style, error, nodes)


def order(ones, flash, budget=100):
    """Return the fitting settings in order, and the sizes that were measured."""
    measured = []

    def flash_of(grown):
        measured.append(grown.candidate.nodes)
        return flash(grown.candidate)

    found = finalists(ones, lambda one: Grown(one, None, 2), flash_of, budget)
    return [grown.candidate for grown, _ in found], measured


def test_what_fits_is_in_order_of_error_on_rows_held_out_then_of_size():
    best, equal, worse = candidate(0.1, 9), candidate(0.1, 12), candidate(0.2, 3)
    too_large = candidate(0.05, 105)
    found, measured = order([worse, equal, too_large, best], lambda one: one.nodes)
    assert found == [best, equal, worse]
    assert measured == [105, 9, 12, 3]


def test_a_form_stands_once_in_the_first_way_that_fits():
    ones = [candidate(0.1, 9), candidate(0.1, 9, LOADABLE), candidate(0.2, 8)]
    assert order(ones, lambda one: 50)[0] == [ones[0], ones[2]]
    only_loadable = order(ones, lambda one: 50 if one.style == LOADABLE else 105)[0]
    assert only_loadable == [ones[1]]


def test_where_nothing_fits_nothing_is_yielded():
    assert order([candidate(0.1, 101)], lambda one: one.nodes) == ([], [101])


def test_what_is_far_too_large_excuses_larger_ones_printed_alike():
    ones = [candidate(0.1, 200), candidate(0.2, 300), candidate(0.3, 300, LOADABLE)]
    found, measured = order(ones, lambda one: one.nodes if one.style == INLINE else 50)
    assert [one.style for one in found] == [LOADABLE]
    assert measured == [200, 300]
    near = [candidate(0.1, 105), candidate(0.2, 106)]
    assert order(near, lambda one: one.nodes)[1] == [105, 106]


def test_the_grid_has_trees_and_forests_of_both_shares():
    all_forms = list(forms())
    assert len(set(all_forms)) == len(all_forms)
    assert {form.trees for form in all_forms} == {1, 3, 5, 10, 20}
    assert all((form.leaves is None) != (form.depth is None) for form in all_forms)
    assert {form.share for form in all_forms if form.trees > 1} == {"sqrt", None}


def test_larger_sizes_are_added_to_the_grid_for_more_flash():
    small, large = set(forms()), set(forms((1, 40), (16, 640), 8192))
    assert max(form.leaves or 0 for form in large) == 640
    assert {form.trees for form in large} == {1, 40}
    assert Form(40, depth=6, share="sqrt") in large - small


def test_comparisons_of_a_decision_are_counted_on_validation_rows(dataset):
    rest, held = dataset.take(np.arange(120)), dataset.take(np.arange(120, 200))
    stump, three = Form(1, leaves=2), Form(3, depth=1, share="sqrt")
    ones = candidates(dataset, rest, held, 0, [stump, three])
    assert {one.form: (one.nodes, one.passed) for one in ones} == {stump: (1, 1.0), three: (3, 3.0)}


def test_a_candidate_is_judged_by_rows_that_it_has_not_seen(dataset, monkeypatch):
    some = [Form(1, depth=4), Form(3, depth=4)]
    monkeypatch.setattr("benchmarks.peers.tree_peers.forms", lambda: iter(some))
    rest, held = dataset.take(np.arange(120)), dataset.take(np.arange(120, 200))
    ones = list(candidates(dataset, rest, held, seed=0))
    kinds = [f"{one.style.method} {one.kind}" for one in ones]
    assert kinds == [
        *("inline tree", "loadable tree", "inline forest", "loadable forest"),
        *("inline soft forest", "loadable soft forest"),
    ]
    (encoding,) = encodings(dataset.table)
    tree = some[0].estimator(0).fit(encoding.numbers(rest.table), rest.y)
    errors = tree.predict(encoding.numbers(held.table)) != held.y
    assert ones[0].error == errors.mean()
    assert [error_of(one, rest, held, seed=0) for one in ones] == [one.error for one in ones]
    grown = grow(ones[0], dataset, seed=0)
    assert (grown.decide(encoding.numbers(dataset.table)) != dataset.y).mean() < 0.05
