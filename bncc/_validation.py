"""scikit-learn's checks of X and y, and conversion to a table and class indices."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array, check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from bncc._arguments import as_arguments
from bncc._types import AnyArray, FloatArray, IntArray
from bncc.data.columns import checked_table
from bncc.data.dataset import Dataset, Table
from bncc.data.frames import column_of_series, table_of_arrays
from bncc.data.splits import SplitRule
from bncc.discretize.feature import missing_of, states_of
from bncc.errors import BudgetError, DataError, ModelError, OptionError
from bncc.structure.catalog import STRUCTURES, canonical_name
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings


def checked_readings(estimator: Any, X: Any, *, fitting: bool = False) -> Table:
    """
    Check readings as scikit-learn does and return them as a table.

    Shapes: `X` (n_samples, n_features) array-like or data frame.
    """
    if not hasattr(X, "iloc"):
        X = validate_data(estimator, X, reset=fitting, dtype=None, ensure_all_finite="allow-nan")
        return table_of_arrays(X, _names(estimator))
    # In a single array, integers in a table with fractions would become floats, which C then needs.
    validate_data(estimator, X, reset=fitting, skip_check_array=True)
    names = _names(estimator)
    columns = [column_of_series(name, X.iloc[:, i]) for i, name in enumerate(names)]
    return checked_table("the data frame", columns)


def without_gaps(estimator: Any, X: Any, answer: Callable[..., AnyArray]) -> AnyArray:
    """
    Call a method of a fitted estimator's model on readings with missing values.

    Shapes: `X` (n_samples, n_features) array-like or data frame.
    """
    model = estimator.to_model()
    with value_errors():
        table = checked_readings(estimator, X)
        return answer(model, states_of(model.features, table), missing_of(model.features, table))


def _names(estimator: Any) -> list[str]:
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(estimator.n_features_in_)] if names is None else list(names)


def checked_dataset(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[AnyArray, Dataset]:
    """Check the arguments of `fit`; return the sorted labels, and the training rows."""
    table = checked_readings(estimator, X, fitting=True)
    classes, indices = checked_classes(y, table.n_rows)
    weights = checked_weights(sample_weight, estimator.class_weight, classes[indices])
    names = tuple(label_text(label) for label in classes.tolist())
    split = checked_split(groups, table.n_rows, ordered=estimator.ordered)
    return classes, Dataset(table, indices, names, "y", weights, split)


def checked_classes(y: Any, n_rows: int) -> tuple[AnyArray, IntArray]:
    """
    Check labels as scikit-learn does.

    Shapes: `y` (n_rows,) array-like; returns classes (n_classes,) array, the labels, sorted;
    returns indices (n_rows,) int64, index of each row's label.
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_consistent_length(labels, range(n_rows))
    check_classification_targets(labels)
    classes, indices = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {classes[0]!r}; add rows of a second one")
    return classes, indices.astype(np.int64)


def checked_weights(sample_weight: Any, class_weight: Any, labels: Any) -> FloatArray | None:
    """
    Check weights as scikit-learn does.

    Shapes: `sample_weight` (n_rows,) array-like or None; `labels` (n_rows,) array-like; returns
    (n_rows,) float64 or None, the product of both; None where all rows have equal weight.
    """
    n_rows, by_class = len(labels), isinstance(class_weight, Mapping)
    if sample_weight is None and not by_class:
        return None
    given = np.ones(n_rows) if sample_weight is None else sample_weight
    weights: FloatArray = check_array(given, dtype=np.float64, ensure_2d=False)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; pass {n_rows} numbers, one per row"
        )
    if by_class:
        weights = weights * compute_sample_weight(dict(class_weight), labels)
    if weights.min() < 0 or not weights.any():
        raise ValueError("a weight is negative, or all weights are zero; pass numbers of 0 or more")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError(
            "the sum of the weights is not finite; pass finite ones, or divide all by the largest"
        )
    return weights


def checked_split(groups: Any, n_rows: int, *, ordered: bool) -> SplitRule:
    """Check groups as scikit-learn does."""
    if groups is None:
        return SplitRule(None, ordered)
    labels = column_or_1d(groups)
    check_consistent_length(labels, range(n_rows))
    found, codes = np.unique(labels, return_inverse=True)
    if len(found) < 2:
        raise ValueError(
            f"all rows are in group {str(found[0])!r}; pass at least two groups, or None"
        )
    return SplitRule(codes.astype(np.int64), ordered)


def checked_sequences(groups: Any, n_rows: int) -> IntArray:
    """Return the number of the sequence of each row, (n_rows,) int64; one without groups."""
    if groups is None:
        return np.zeros(n_rows, dtype=np.int64)
    labels = column_or_1d(groups)
    check_consistent_length(labels, range(n_rows))
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def checked_labels(y: Any, classes: AnyArray, n_rows: int) -> IntArray:
    """Return the classes of rows that a fitted estimator learns, (n_rows,) int64."""
    labels = column_or_1d(y)
    check_consistent_length(labels, range(n_rows))
    known = {label: c for c, label in enumerate(classes.tolist())}
    for label in labels.tolist():
        if label not in known:
            raise DataError(f"the model has no class {label!r}; its classes are in classes_")
    return np.array([known[label] for label in labels.tolist()], dtype=np.int64)


def label_text(label: Any) -> str:
    """Return a label in the model's representation."""
    return repr(label).removesuffix(".0") if isinstance(label, float) else str(label)


def seed_of(random_state: Any) -> int:
    """Return the seed for a scikit-learn ``random_state``."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def texts_of(options: Any) -> dict[str, str]:
    """Return structure options, texts, numbers or lists of them, in the command line's form."""
    if not isinstance(options or {}, Mapping):
        raise OptionError(f"structure_options is {options!r}; pass a dict such as {{'parents': 8}}")
    return {
        str(key): ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for key, value in dict(options or {}).items()
    }


def settings_of(estimator: Any) -> TrainSettings:
    """Return the training options for an estimator's parameters."""
    if estimator.missing not in ("state", "marginal"):
        raise OptionError(f"missing={estimator.missing!r} is unknown; use 'state' or 'marginal'")
    options = {
        name: getattr(estimator, option.argument)
        for name, option in OPTIONS.items()
        if option.argument is not None
    }
    name = estimator.structure or STRUCTURES[0]
    options["structure"] = canonical_name(name) if isinstance(name, str) else name
    options["structure_options"] = texts_of(estimator.structure_options)
    options["seed"] = seed_of(estimator.random_state)
    options["float_"] = not estimator.quantize
    if isinstance(estimator.class_weight, Mapping):
        options["class_weight"] = None  # included in the row weights
    return TrainSettings(**options)


@contextmanager
def value_errors() -> Iterator[None]:
    """Convert errors of bncc to the ValueError that scikit-learn expects of estimators."""
    try:
        yield
    except (BudgetError, DataError, ModelError, OptionError) as error:
        raise ValueError(as_arguments(str(error))) from error
