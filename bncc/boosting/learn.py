"""From states and classes to a sum of integer tables."""

from collections.abc import Callable, Sequence

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.boost import boost
from bncc.boosting.learned import Learned
from bncc.boosting.refit import refit
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import Samples
from bncc.errors import DataError
from bncc.progress import Progress, Watch, silence


def learn_tables(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    settings: BoostSettings,
    weights: AnyArray | None = None,
    progress: Progress = silence,
    should_stop: Callable[[], bool] | None = None,
) -> Learned:
    """
    Learn a sum of tables: boost, then refit.

    Equal arguments give equal results on one machine.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float.
    """
    samples = samples_of(X, y, n_states, n_classes, weights)
    recipe = recipe_of(settings, X.shape[1], n_classes)
    n_epochs = settings.float_epochs + settings.quantized_epochs
    share = settings.n_tables / (settings.n_tables + n_epochs)
    watch = Watch(progress, should_stop)
    boosted = boost(samples, settings, recipe, watch.part(0.0, share))
    return refit(boosted, samples, settings, recipe, watch.part(share, 1.0))


def samples_of(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    weights: AnyArray | None = None,
) -> Samples:
    """Check and weigh samples; see `learn_tables`."""
    if len(y) == 0:
        raise DataError("there are no rows to learn from; give at least one")
    if X.min() < 0 or np.any(X.max(axis=0) >= np.asarray(n_states)):
        raise DataError("a state is not below its feature's n_states; discretize the rows anew")
    if y.min() < 0 or y.max() >= n_classes:
        raise DataError(f"a class is not in 0 .. {n_classes - 1}; number the classes anew")
    return Samples(X, y.astype(np.int64), _mean_one(weights, len(y)), n_classes)


def _mean_one(weights: AnyArray | None, n: int) -> FloatArray:
    if weights is None:
        return np.ones(n)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,) or not np.isfinite(given).all() or given.min() < 0 or not given.any():
        raise DataError(
            f"weights must be {n} numbers, none negative, not all 0; leave them out to count all "
            "rows alike"
        )
    of_mean_one: FloatArray = given / given.mean()
    return of_mean_one
