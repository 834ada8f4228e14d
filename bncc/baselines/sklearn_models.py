"""Linear models, support vector machines and naive Bayes of scikit-learn, and their C."""

import warnings

from bncc.baselines import exporters
from bncc.baselines.rival import DOUBLE_BITS, STATE_BITS, Options, Rival, Rows, decider


def linear(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a logistic regression on states as numbers."""
    from sklearn.linear_model import LogisticRegression

    estimator = LogisticRegression(C=float(options["C"]), max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a descent that is stopped before it has converged
        estimator.fit(rows.X, rows.y)
    n = estimator.coef_.size + estimator.intercept_.size
    code, lack = exporters.printed(
        "m2cgen", lambda: exporters.by_m2cgen(estimator, rows.n_features, rows.n_classes)
    )
    return Rival(decider(estimator), n * DOUBLE_BITS, n, code, lack)


def svm(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a support vector machine with a Gaussian kernel, on states of mean 0 and variance 1."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    machine = SVC(C=float(options["C"]), gamma=float(options["gamma"]) / rows.n_features)
    estimator = make_pipeline(StandardScaler(), machine).fit(rows.X, rows.y)
    n_vectors, n_machines = int(machine.n_support_.sum()), rows.n_classes - 1
    # The vectors themselves are rows of states, a byte each.
    bits = n_vectors * (STATE_BITS * rows.n_features + DOUBLE_BITS * n_machines)
    operations = n_vectors * (2 * rows.n_features + 1 + n_machines)
    lack = f"{n_vectors} support vectors and an exponential for each are no code for a small device"
    return Rival(decider(estimator), bits, operations, None, lack)


def gaussian(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a Gaussian naive Bayes on states as numbers."""
    from sklearn.naive_bayes import GaussianNB

    estimator = GaussianNB(var_smoothing=float(options["smoothing"])).fit(rows.X, rows.y)
    n = 2 * estimator.theta_.size + rows.n_classes
    code, lack = exporters.printed(
        "emlearn",
        lambda: exporters.gaussian_by_emlearn(estimator, rows.n_features, rows.n_classes),
    )
    return Rival(decider(estimator), n * DOUBLE_BITS, 3 * estimator.theta_.size, code, lack)


def categorical(rows: Rows, options: Options, seed: int) -> Rival:
    """Learn a categorical naive Bayes from counts."""
    from sklearn.naive_bayes import CategoricalNB

    estimator = CategoricalNB(alpha=float(options["alpha"]), min_categories=list(rows.n_states))
    estimator.fit(rows.X, rows.y)
    entries = rows.n_classes * (1 + sum(rows.n_states))
    lack = "no generator prints it; `bncc train --structure naive --parameters ml` learns the same"
    operations = rows.n_classes * (1 + rows.n_features)
    return Rival(decider(estimator), entries * DOUBLE_BITS, operations, None, lack)
