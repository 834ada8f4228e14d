"""Recordings as training and test rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from bncc._types import IntArray
from bncc.cli.console import Console
from bncc.cli.inputs import note_shared_groups
from bncc.cli.recording_options import AUTO, RecordingOptions
from bncc.data.dataset import Dataset
from bncc.errors import DataError, OptionError
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.recording import Recordings
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.table import DEFAULT, feature_table, narrowed
from bncc.recordings.windows import Windows
from bncc.resources import Budget
from bncc.train.settings import TrainSettings

if TYPE_CHECKING:  # builds and measures
    from bncc.search.program_search import ProgramSearch


@dataclass(frozen=True, eq=False)
class RecordedParts:
    """Windows of recordings, what computes their features, and some segments to measure on."""

    train: Dataset
    test: Dataset | None
    front_end: FrontEnd
    samples: list[IntArray]
    seconds: float  # Wall time of the features


def refuse_for_recordings(
    options: RecordingOptions,
    *,
    fold: int | None,
    drop: Sequence[str],
    units: str | None,
    max_flash: int | None,
    limits: Mapping[str, float | None],
) -> None:
    """Refuse options of recordings without a window, and those of tables with one."""
    for name in (name for name, value in limits.items() if value is not None):
        if options.window is None:
            raise OptionError(f"{name} limits a program that takes samples; add --window")
        if max_flash is None:
            raise OptionError(f"{name} needs a limit on flash, too; add --max-flash")
    if options.window is None:
        options.check_unused()
        return
    if fold is not None or units is not None:
        name = "--fold" if fold is not None else "--units"
        raise OptionError(f"{name} does not apply to recordings; leave it out")
    if drop:
        raise OptionError(
            "--drop does not apply to recordings; name the columns to use with --channels"
        )


def recorded_parts(
    options: RecordingOptions,
    path: str,
    test_path: str | None,
    class_name: str | None,
    groups: str | None,
    console: Console,
    settings: TrainSettings,
    *,
    ordered: bool,
) -> RecordedParts:
    """Read recordings for training, and others for testing, whose features are the same."""
    found, begin = options.read(path, class_name, groups, console), perf_counter()
    windows = _windows(options, found, settings, console)
    columns = _columns(options, found, windows, settings, console)
    with console.progress("features") as advance:
        table = narrowed(
            feature_table(found, columns, windows, options.ignore, advance, purity=options.purity)
        )
    front_end = front_end_of(table)
    train, test = dataset_of_windows(table, ordered=ordered), None
    if train.split.most_folds(train.n_rows) < 2:
        raise DataError(
            f"all windows are in one group of {train.split.column!r}, so no validation rows are "
            "left; add recordings, or name another column with --groups"
        )
    if test_path is not None:
        others = options.read(test_path, class_name, groups, console)
        if others.channels != found.channels:
            raise DataError(
                f"the recordings in '{test_path}' have other channels; name common ones with "
                "--channels"
            )
        of_test = feature_table(
            others, table.columns, windows, options.ignore, purity=options.purity
        )
        test = dataset_of_windows(of_test).with_classes(train.classes)
        note_shared_groups(train, test, console)
    samples, seconds = _samples(found, front_end), perf_counter() - begin
    return RecordedParts(train, test, front_end, samples, seconds)


def _windows(
    options: RecordingOptions, recordings: Recordings, settings: TrainSettings, console: Console
) -> Windows:
    """Return the windows of the options, whose length may be chosen."""
    if not options.is_auto:
        return options.windows(recordings)
    if options.hop is not None:
        raise OptionError("--hop does not apply to --window auto; leave it out, or name a length")
    from bncc.search.window_choice import shortest, window_errors

    features = DEFAULT if options.features == AUTO else None
    with console.progress("choosing windows") as advance:
        tried = window_errors(
            recordings, lambda windows: options.columns(recordings, windows, features), settings,
            options.ignore, advance, purity=options.purity,
        )  # fmt: skip
    chosen = shortest(tried)
    errors = ", ".join(f"{one.windows.length} {100 * one.error:.2f} %" for one in tried)
    console.note(
        f"windows of {chosen.windows.length} samples every {chosen.windows.hop} are the shortest "
        f"of low validation error: {errors}"
    )
    return chosen.windows


def _columns(
    options: RecordingOptions,
    recordings: Recordings,
    windows: Windows,
    settings: TrainSettings,
    console: Console,
) -> list[SignalFeature]:
    """Return the features of the options, a list of which may be chosen."""
    if options.features != AUTO:
        return options.columns(recordings, windows)
    from bncc.search.feature_choice import best_list, list_errors

    with console.progress("choosing features") as advance:
        tried = list_errors(
            recordings, lambda features: options.columns(recordings, windows, features), windows,
            settings, options.ignore, advance, purity=options.purity,
        )  # fmt: skip
    chosen = best_list(tried)
    errors = "; ".join(f"{one.features} {100 * one.error:.2f} %" for one in tried)
    console.note(f"features {chosen.features} have the lowest validation error: {errors}")
    return options.columns(recordings, windows, chosen.features)


def program_search(
    recorded: RecordedParts,
    budget: Budget,
    *,
    cycles: float | None,
    instructions: float | None,
) -> "ProgramSearch":
    """Return the search for a program within limits on it."""
    from bncc.search.front_end_choice import program_limits
    from bncc.search.program_search import ProgramSearch

    limits = program_limits(budget, cycles=cycles, instructions=instructions)
    return ProgramSearch(
        recorded.train, recorded.test, recorded.front_end, limits, recorded.samples
    )


def _samples(recordings: Recordings, front_end: FrontEnd) -> list[IntArray]:
    """Return the start of the longest segment, see `samples_to_measure`."""
    from bncc.search.front_end_choice import samples_to_measure

    parts = (each.samples[a:b] for each in recordings.recordings for a, b in each.segments)
    return samples_to_measure(parts, front_end)
