"""One training of a sum of tables, from raw readings to a model."""

from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.boosting.learn import learn_tables, samples_of
from bncc.boosting.learned import Learned
from bncc.boosting.sums import Samples
from bncc.data.dataset import Dataset
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.progress import Progress, silence
from bncc.train.checkpoint.callbacks import Progress as CourseProgress
from bncc.train.prune import pruned
from bncc.train.settings import TrainSettings
from bncc.train.shifts import image_of, moved_tables
from bncc.train.sum_inputs import sum_inputs
from bncc.train.sum_settings import boost_settings_of, n_bins_of, shift_of
from bncc.train.weights import row_weights


def fit_sum(dataset: Dataset, settings: TrainSettings, progress: Progress = silence) -> Model:
    """Boost a sum of tables on all rows of a data set."""
    rows = sum_rows(dataset, settings)
    boosting = boost_settings_of(settings)
    n_classes = len(rows.classes)
    learned = learn_tables(
        rows.X, rows.y, rows.n_states, n_classes, boosting, rows.weights, progress
    )
    return rows.model(learned, boosting.bits)


@dataclass(frozen=True, eq=False)
class SumRows:
    """Rows as sums of tables learn from them."""

    features: tuple[Feature, ...]  # The inputs, with all thresholds that may be cuts
    classes: tuple[str, ...]  # Their labels
    # (n_samples, n_features) uint16: Their states, those of moved images among them where these are
    # asked for
    X: IntArray
    y: IntArray  # (n_samples,) int: Their classes
    # (n_samples,) float64 or None: How much each counts; None for all alike
    weights: FloatArray | None

    @property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)

    @property
    def samples(self) -> Samples:
        """What boosting learns from."""
        return samples_of(self.X, self.y, self.n_states, len(self.classes), self.weights)

    def model(self, learned: Learned, bits: int) -> Model:
        """Return the model of a sum that was learned from these rows."""
        inputs, grids = pruned(self.features, learned.grids)
        # Costs of rare classes may take more bits than those of tables.
        bits = max(bits, int(learned.prior.max()).bit_length())
        q_format = QFormat(bits - learned.frac_bits, learned.frac_bits)
        return Model(inputs, self.classes, grids, q_format, learned.prior, learned.tables)


def sum_rows(dataset: Dataset, settings: TrainSettings) -> SumRows:
    """Make rows ready to learn sums from."""
    shape = shift_of(settings)
    readings = dataset.table if shape is None else image_of(dataset.table, *shape)
    features = sum_inputs(
        fit_features(
            readings,
            dataset.y,
            settings.discretize or "quantile",
            n_bins=n_bins_of(settings),
            rebin_states=settings.discretize is not None,
        )
    )
    tables = (readings,) if shape is None else moved_tables(readings, *shape)
    X = np.concatenate([states_of(features, table).astype(np.uint16) for table in tables])
    n_copies = len(X) // dataset.n_rows
    y = np.tile(dataset.y, n_copies)
    given = row_weights(dataset, settings.class_weight)
    weights = None if given is None else np.tile(given, n_copies)
    return SumRows(features, dataset.classes, X, y, weights)


def fit_sums(
    settings: TrainSettings,
    dataset: Dataset,
    rest: Dataset,
    held: Dataset,
    progress: CourseProgress | None,
) -> tuple[Model, Model, Dataset, None]:
    """Boost a sum without the rows held out, and one on all rows."""
    n_runs = 2 if held.n_rows else 1
    first = fit_sum(rest, settings, _part_of(progress, settings, 0, n_runs))
    if n_runs == 1:
        return first, first, rest, None
    return first, fit_sum(dataset, settings, _part_of(progress, settings, 1, n_runs)), dataset, None


def _part_of(
    progress: CourseProgress | None, settings: TrainSettings, run: int, n_runs: int
) -> Progress:
    """Return what tells of tables and epochs as of steps of all trainings together."""
    if progress is None:
        return silence
    boosting = boost_settings_of(settings)
    steps = boosting.n_tables + boosting.float_epochs + boosting.quantized_epochs
    return lambda share, _: progress(run * steps + round(share * steps), n_runs * steps, None)
