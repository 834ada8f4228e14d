"""Choice of a list of features of recordings: the one of the fewest errors on held-out groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bncc.data.dataset import Dataset
from bncc.errors import DataError
from bncc.progress import Progress, silence
from bncc.recordings.labeled import dataset_of_windows
from bncc.recordings.recording import Recordings
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.table import feature_table, narrowed
from bncc.recordings.windows import Windows
from bncc.search.budget_search import with_held_rows
from bncc.search.feature_elimination import FeatureSet, eliminations
from bncc.search.split_folds import folds_of
from bncc.train.settings import TrainSettings

LISTS = (
    "default", "default,hoc", "default,ratios", "default,panes", "default,hoc,ratios",
    "default,hoc,panes",
)  # fmt: skip
"""Lists that are tried, as ``--features`` takes them."""


@dataclass(frozen=True, eq=False)
class ListErrors:
    """A list of features, and the errors of boosted tables on all of them."""

    features: str
    found: FeatureSet

    @property
    def error(self) -> float:
        """Error rate on validation windows, of most tables."""
        return float(self.found.misses[-1].mean())


def on_held_groups(dataset: Dataset, base: TrainSettings) -> FeatureSet | None:
    """Return the errors of all features on validation rows; None without such rows."""
    folds = list(folds_of(dataset, base)) if len(dataset.classes) > 1 else []
    if not folds:
        return None
    return next(eliminations(folds, base, [range(len(dataset.table.columns))], lambda _: 0.0))


def list_errors(
    recordings: Recordings,
    columns_of: Callable[[str], Sequence[SignalFeature]],
    windows: Windows,
    base: TrainSettings,
    ignored: Sequence[str] = (),
    tell: Progress = silence,
    *,
    purity: float = 1.0,
) -> list[ListErrors]:
    """Return the errors of all lists; those of panes need more than one in a window."""
    base, found = with_held_rows(base), []
    lists = [each for each in LISTS if windows.n_panes > 1 or "panes" not in each]
    for k, features in enumerate(lists):
        tell(k / len(lists), features)
        table = feature_table(recordings, columns_of(features), windows, ignored, purity=purity)
        errors = on_held_groups(dataset_of_windows(narrowed(table)), base)
        if errors is None:
            raise DataError(
                "too few windows for a validation set, which the choice of features needs; name "
                "features with --features"
            )
        found.append(ListErrors(features, errors))
    return found


def best_list(tried: Sequence[ListErrors]) -> ListErrors:
    """Return the list of the fewest errors, the first one on a tie."""
    return min(tried, key=lambda one: one.error)
