"""The estimators' filter: chosen in `fit`, applied by `predict_sequence` alone."""

import numpy as np
import pytest

from bncc import BNClassifier, BNStreamClassifier, load_model, save_model
from bncc.model import reference
from bncc.model.filter import Filter, decided, filtered
from tests.dwelling import arrays
from tests.recorded import LABELS, recordings


def naive(**options):
    return BNClassifier("naive", parameters="ml", discretize="quantile", **options)


@pytest.fixture(scope="module")
def fitted():
    X, y, groups = arrays()
    return naive(filter="auto").fit(X, y, groups=groups)


def test_the_filter_corrects_what_predict_does_not(fitted):
    X, y, groups = arrays(seed=1)
    said, alone = fitted.predict_sequence(X, groups), fitted.predict(X)
    assert (said != y).mean() < 0.7 * (alone != y).mean()
    assert alone.tolist() == naive().fit(*arrays()[:2], groups=arrays()[2]).predict(X).tolist()


def test_sequences_may_be_mixed(fitted):
    X, _, groups = arrays(seed=1)
    order = np.random.default_rng(0).permutation(4).repeat(200)
    rows = np.concatenate([np.flatnonzero(groups == g) for g in dict.fromkeys(order.tolist())])
    mixed = np.argsort(np.arange(800) % 200, kind="stable")  # A row of each in turn
    expected = fitted.predict_sequence(X, groups)
    assert fitted.predict_sequence(X[mixed], groups[mixed]).tolist() == expected[mixed].tolist()
    assert fitted.predict_sequence(X[rows], groups[rows]).tolist() == expected[rows].tolist()


def test_without_groups_all_rows_are_one_sequence(fitted):
    X, _, _ = arrays(seed=1)
    model = fitted.to_model()
    scores = reference.scores(model, fitted._states(X))
    expected = filtered(scores, np.zeros(800), model.filter.switch)
    assert fitted.predict_sequence(X).tolist() == expected.tolist()


def test_the_filter_is_saved_with_the_model(fitted, tmp_path):
    save_model(fitted.to_model(), tmp_path / "m.bncc")
    assert load_model(tmp_path / "m.bncc").filter == fitted.to_model().filter


def test_misuse_is_one_clear_sentence(fitted):
    X, y, groups = arrays()
    with pytest.raises(ValueError, match="a filter needs rows in time order"):
        naive(filter="auto").fit(X, y)
    with pytest.raises(ValueError, match="the filter is 'much'; use auto, or the price"):
        naive(filter="much").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="the model has no filter"):
        naive().fit(X, y).predict_sequence(X)
    with pytest.raises(ValueError, match="does not marginalize"):
        naive(filter=3, missing="marginal").fit(X, y, groups=groups).predict_sequence(X)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        fitted.predict_sequence(X, groups[:-1])


def test_whole_numbers_of_numpy_are_taken():
    X, y, groups = arrays()
    fitted = naive(filter=np.int64(5), filter_hold=np.int64(3)).fit(X, y, groups=groups)
    found = fitted.to_model().filter
    assert found == Filter(5, 3)
    assert (type(found.switch), type(found.hold)) == (int, int)
    with pytest.raises(ValueError, match="needs 300 decisions in a row; use 1"):
        naive(filter=5, filter_hold=np.int64(300)).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="needs True decisions in a row; use 1"):
        naive(filter=5, filter_hold=True).fit(X, y, groups=groups)


def test_a_decision_may_wait_for_rows():
    X, y, groups = arrays()
    fitted = naive(filter=5, filter_lag=np.int64(2)).fit(X, y, groups=groups)
    rule = fitted.to_model().filter
    assert rule == Filter(5, lag=2)
    assert type(rule.lag) is int
    scores = reference.scores(fitted.to_model(), fitted._states(X))
    expected = decided(scores, groups, rule)
    assert (expected != filtered(scores, groups, 5)).any()
    assert fitted.predict_sequence(X, groups).tolist() == expected.tolist()
    with pytest.raises(ValueError, match="the lag of the filter is 101 rows"):
        naive(filter=5, filter_lag=101).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="a lag of 1 needs a filter"):
        naive(filter_lag=1).fit(X, y, groups=groups)


def test_prices_of_transitions_may_be_learned():
    X, y, groups = arrays()
    fitted = naive(filter="auto", filter_transitions="matrix").fit(X, y, groups=groups)
    assert "learned which class follows which in these recordings" in fitted.notes_[-1]
    assert "filter_transitions='switch'" in fitted.notes_[-1]
    rule = fitted.to_model().filter
    scores = reference.scores(fitted.to_model(), fitted._states(X))
    expected = filtered(scores, groups, np.array(rule.transitions))
    assert fitted.predict_sequence(X, groups).tolist() == expected.tolist()
    with pytest.raises(ValueError, match="transitions are 'all'; use one of switch"):
        naive(filter="auto", filter_transitions="all").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="transitions need a filter"):
        naive(filter_transitions="dwell").fit(X, y)


def test_windows_of_recordings_are_filtered():
    found = recordings(4, 640).recordings
    labels = [[LABELS[k] for k in each.labels.tolist()] for each in found]
    estimator = BNStreamClassifier(
        32, 16, classifier=naive(filter=40), channels=["x", "y"], sample_type="-2048..2047"
    )
    persons = [str(each.group) for each in found]
    clf = estimator.fit([each.samples for each in found], labels, groups=persons)
    samples = found[0].samples
    model = clf.to_model()
    assert model.filter == Filter(40)
    said, alone = clf.predict_sequence(samples), clf.predict(samples)
    assert said.shape == alone.shape
    assert said.tolist() == [
        model.classes[c] for c in reference.predict_filtered_samples(model, samples)
    ]
    assert (said != alone).any()
