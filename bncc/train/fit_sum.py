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
from bncc.train.course import Progress as CourseProgress
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


def fit_sums(
    settings: TrainSettings,
    dataset: Dataset,
    rest: Dataset,
    held: Dataset,
    progress: CourseProgress | None,
) -> tuple[Model, Model, Dataset, None]:
    """Boost a sum without the rows held out, and one on all rows.

    Parameters
    ----------
    settings : TrainSettings
        With the structure ``tables``.
    dataset, rest, held : Dataset
        All rows, and their parts.
    progress : callable, optional
        Told of the tables and epochs of both.

    Returns
    -------
    first, model : Model
        One and the same where no rows are held out.
    rows : Dataset
        What the model has learned from.
    stopped_after : None
        It is never ended early.
    """
    n_runs = 2 if held.n_rows else 1
    first = fit_sum(rest, settings, _part_of(progress, settings, 0, n_runs))
    if n_runs == 1:
        return first, first, rest, None
    return first, fit_sum(dataset, settings, _part_of(progress, settings, 1, n_runs)), dataset, None


def _part_of(
    progress: CourseProgress | None, settings: TrainSettings, run: int, n_runs: int
) -> Progress | None:
    """Return what tells of tables and epochs as of steps of all trainings together."""
    if progress is None:
        return None
    boosting = boost_settings_of(settings)
    n_tables = boosting.n_tables
    steps = n_tables + boosting.float_epochs + boosting.quantized_epochs

    def report(stage: str, done: int, total: int) -> None:
        before = 0 if stage == "tables" else n_tables
        progress(run * steps + min(before + done, steps), n_runs * steps, None)

    return report
