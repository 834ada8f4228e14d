"""One training of a sum of tables, from raw readings to a model."""

from collections.abc import Iterable

import numpy as np

from bncc.data.dataset import Dataset, Table
from bncc.discretize.feature import states_of
from bncc.discretize.fit import fit_features
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.train.boosting.learn import learn_tables
from bncc.train.boosting.watch import Progress
from bncc.train.prune import pruned
from bncc.train.settings import TrainSettings
from bncc.train.shifts import moved_tables
from bncc.train.sum_settings import boost_settings_of, n_bins_of, shift_of


def fit_sum(dataset: Dataset, settings: TrainSettings, progress: Progress | None = None) -> Model:
    """Boost a sum of tables on all rows of a data set.

    Parameters
    ----------
    dataset : Dataset
        The rows to learn from.
    settings : TrainSettings
        With the structure ``tables``.
    progress : callable, optional
        Told of each table and each epoch.

    Returns
    -------
    Model
        The integer model, without a training record; its features have the thresholds that tables
        ask for, and no others.

    Raises
    ------
    DataError
        If the rows cannot be learned from.
    OptionError
        If a structure option makes no sense.
    ToolchainError
        If C is asked for and there is no compiler.
    """
    features = fit_features(
        dataset.table,
        dataset.y,
        settings.discretize or "quantile",
        n_bins=n_bins_of(settings),
        rebin_states=settings.discretize is not None,
    )
    tables = _tables(dataset.table, settings)
    X = np.concatenate([states_of(features, table).astype(np.uint16) for table in tables])
    y = np.tile(dataset.y, len(X) // dataset.n_rows)
    n_states = [feature.n_states for feature in features]
    boosting = boost_settings_of(settings)
    n_classes = len(dataset.classes)
    learned = learn_tables(X, y, n_states, n_classes, boosting, progress=progress)
    inputs, grids = pruned(features, learned.grids)
    # Costs of rare classes may take more bits than those of tables.
    bits = max(boosting.bits, int(learned.prior.max()).bit_length())
    q_format = QFormat(bits - learned.frac_bits, learned.frac_bits)
    return Model(inputs, dataset.classes, grids, q_format, learned.prior, learned.tables)


def _tables(table: Table, settings: TrainSettings) -> Iterable[Table]:
    """Return the readings, with moved images where these are asked for."""
    shape = shift_of(settings)
    return (table,) if shape is None else moved_tables(table, *shape)
