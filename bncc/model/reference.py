"""The truth: plain numpy, int64, never optimized. All else must agree with it bit for bit."""

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import states_of
from bncc.errors import DataError
from bncc.model.filter import answered, decided, required
from bncc.model.model import Model


def rows(model: Model, X: IntArray) -> IntArray:
    """
    Return the row that is read of each table.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_tables) int64, row of table t in
    column t.
    """
    X = np.asarray(X, dtype=np.int64)
    if X.ndim != 2 or X.shape[1] != model.n_features:
        raise DataError(
            f"expected {model.n_features} states per row, found states of shape {X.shape}"
        )
    n_states = np.array(model.n_states)
    if ((X < 0) | (n_states <= X)).any():
        raise DataError("a state is out of range; states of feature i run from 0 to n_states[i]-1")
    return np.stack([lookup.rows(X) for lookup in model.lookups], axis=1)


def costs(model: Model, X: IntArray) -> IntArray:
    """
    Return the cost of every class, ``prior[c] + sum_t tables[t][row_t][c]``.

    With a gate, the sum is over the first tables alone where these decide.

    Parameters
    ----------
    model : Model
        The classifier.
    X : (n_samples, n_features) int
        States.

    Returns
    -------
    (n_samples, n_classes) int64
        Costs in units of ``2**-frac_bits`` nats, >= 0.
    """
    indices = rows(model, X)
    total = np.tile(np.asarray(model.prior, dtype=np.int64), (len(indices), 1))
    for t, table in enumerate(model.tables):
        total += table[indices[:, t]]
        if model.gate is not None and t + 1 == model.gate.tables:
            first = total.copy()
    if model.gate is None:
        return total
    least = np.sort(first, axis=1)
    is_sure = least[:, 1] - least[:, 0] >= model.gate.margin
    return np.where(is_sure[:, None], first, total)


def scores(model: Model, X: IntArray) -> IntArray:
    """
    Return ``cost[c] - min cost``: 0 for the decision, what the C's ``scores`` returns.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) int64, scores in units
    of ``2**-frac_bits`` nats, >= 0.
    """
    total = costs(model, X)
    return np.asarray(total - total.min(axis=1, keepdims=True))


def predict(model: Model, X: IntArray) -> IntArray:
    """
    Return the class index of least cost, the smallest on ties.

    Parameters
    ----------
    model : Model
        The classifier.
    X : (n_samples, n_features) int
        States.

    Returns
    -------
    (n_samples,) int64
        Class indices.
    """
    return np.asarray(costs(model, X).argmin(axis=1), dtype=np.int64)


def predict_samples(model: Model, samples: IntArray) -> IntArray:
    """
    Classify the windows of a gapless segment of samples with the front end of a model.

    Shapes: `samples` (n, n_channels) int; returns (n_windows,) int64, class indices.
    """
    return predict(model, states_of_samples(model, samples))


def predict_sequences(model: Model, X: IntArray, sequences: IntArray) -> IntArray:
    """
    Return the filtered class index of each row.

    Parameters
    ----------
    model : Model
        A classifier with a filter.
    X : (n_samples, n_features) int
        States.
    sequences : (n_samples,) int
        Number of the sequence of each row; rows of one sequence are in time order.

    Returns
    -------
    (n_samples,) int64
        Class indices.
    """
    return decided(scores(model, X), sequences, required(model.filter))


def predict_filtered_samples(model: Model, samples: IntArray) -> IntArray:
    """Return what ``NAME_push`` with the model's filter answers to the windows of a segment."""
    found = sample_scores(model, samples)
    one = np.zeros(len(found), dtype=np.int64)
    return answered(found, one, required(model.filter))


def sample_scores(model: Model, samples: IntArray) -> IntArray:
    """Return the scores of the windows of a segment, (n_windows, n_classes) int64."""
    return scores(model, states_of_samples(model, samples))


def states_of_samples(model: Model, samples: IntArray) -> IntArray:
    """Return the states of the windows of a gapless segment, (n_windows, n_features) int."""
    front_end = model.front_end
    assert front_end is not None, "the model reads no samples"
    return states_of(model.features, front_end.table(front_end.values(samples)))


def log_proba(model: Model, X: IntArray) -> FloatArray:
    """
    Return the normalized log-probability of every class that the integer costs stand for.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_classes) float64, natural
    logarithms, each row summing to one after exponentiation.
    """
    theta = -scores(model, X).astype(np.float64) * 2.0**-model.q_format.frac_bits
    return np.asarray(theta - np.log(np.exp(theta).sum(axis=1, keepdims=True)))
