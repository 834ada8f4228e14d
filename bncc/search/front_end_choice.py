"""Choice of the features that a program from samples to decisions computes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Dataset, Table
from bncc.errors import BudgetError, DataError, MeasurementError, OptionError
from bncc.lower.sample_estimate import SampleEstimate, estimate_samples
from bncc.pricing import machine_of, price_of
from bncc.program_pricing import ProgramCost, behind, front_end_words, priced_program
from bncc.progress import Progress, silence
from bncc.recordings.front_end import FrontEnd
from bncc.resources import Budget, Preference
from bncc.search.budget_search import LEAST_CONFIG, open_log, search_input, with_held_rows
from bncc.search.capacity import Capacity
from bncc.search.choice import is_worse
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.evaluation import Evaluator, losses_of
from bncc.search.feature_elimination import FeatureSet, eliminations
from bncc.search.split_folds import folds_of
from bncc.search.unmeasured import Unmeasured
from bncc.structure.catalog import SUM
from bncc.targets import find_target
from bncc.targets.base import Target
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

MOST_SAMPLES, LEAST_WINDOWS = 2000, 3
"""Samples of a measurement at most, and windows at least."""
ROWS, BITS, OTHER_BYTES = 16, 3, 16
"""Form of the tables whose number in the flash that is left judges features, and their code."""
FINALISTS, FORM = 6, EnsembleConfig(rows=8, bits=3)
"""Front ends that are built, and the form of tables in the flash that they leave: these are fitted
jointly and quantized, as those of a search are."""
KERNEL_BYTES, AVR_KERNEL_BYTES = 250, 550
"""Bytes of a classifier without its tables."""
NEAR = 0.5
"""Standard errors up to which a set of features is close to the best: the choice of a classifier
behind it gives away another one."""
MARGIN = 1.2
"""Utilization of a limit by an estimate up to which a front end is worth a measurement."""


@dataclass(frozen=True)
class ProgramLimits:
    """Limits of a whole program, from samples to decisions."""

    budget: Budget  # Flash and RAM; its other limits are those of the classifier
    time: float | None = None  # Mean instructions or cycles per sample

    def admits(self, cost: ProgramCost) -> bool:
        """Return whether a program is within all limits."""
        of_bytes = self.budget.utilization_of_bytes(cost.flash, cost.ram)
        return of_bytes <= 1 and (self.time is None or cost.mean <= self.time)


def program_limits(
    budget: Budget, *, cycles: float | None = None, instructions: float | None = None
) -> ProgramLimits:
    """Return limits with one on the mean cycles or instructions per sample, as a target counts."""
    unit = find_target(machine_of(budget.target)).unit
    by_unit = {"cycles": cycles, "instructions": instructions}
    wrong = next(other for other in by_unit if other != unit)
    if by_unit[wrong] is not None:
        raise OptionError(
            f"--max-{wrong}-per-sample does not apply to {budget.target}, where bncc counts "
            f"{unit}; use --max-{unit}-per-sample"
        )
    return ProgramLimits(budget, by_unit[unit])


@dataclass(frozen=True)
class ChosenFeatures:
    """Features that leave room for a classifier."""

    columns: tuple[int, ...]  # Ascending indices among all features
    front_end: FrontEnd
    cost: ProgramCost  # The front end alone, with the stack of a program with one small table
    stack: int = 0  # Bytes of this stack that are not that of the table alone; may be negative

    @property
    def words(self) -> str:
        """Its memory in words."""
        return front_end_words(self.cost.flash, self.cost.state)

    def left_of(self, budget: Budget, slack: float = 0.0) -> Budget:
        """Return the budget of a classifier, whose code takes more here by a share of flash."""
        flash = ceil((1 + slack) * self.cost.flash)
        return behind(budget, flash, self.cost.state + self.stack)


def front_ends(
    dataset: Dataset,
    whole: FrontEnd,
    base: TrainSettings,
    limits: ProgramLimits,
    samples: Sequence[IntArray],
    *,
    choose_by: str | None = None,
    prefer: Preference = "balanced",
    tell: Progress = silence,
    unmeasured: Unmeasured | None = None,
) -> Iterator[ChosenFeatures]:
    """
    Yield choices of the features of a front end that leave room within limits, the best first.

    Features are eliminated one set after the other, see `bncc.search.feature_elimination`. The
    error of a set is that of as many tables as fit in the flash that it leaves; sets of a low error
    are built, and evaluated with the tables of a search. The fastest front end whose error is close
    to the lowest comes first, or with `prefer` of ``error`` the one of the lowest. `samples` are
    recorded segments to measure on. Features whose C cannot be measured are left out, and
    noted in `unmeasured`.
    """
    base, unmeasured = with_held_rows(base), unmeasured or Unmeasured()
    folds = list(folds_of(dataset, base, choose_by))
    if not folds:
        raise DataError(
            "too few windows for a validation set, which the choice of features needs; train on "
            "more recordings, or without limits"
        )
    target = find_target(machine_of(limits.budget.target))
    groupings = (
        [column.signal for column in whole.columns],
        [
            (column.feature, column.argument, column.divisor, column.pane)
            for column in whole.columns
        ],
    )
    estimates: dict[tuple[int, ...], SampleEstimate] = {}

    def estimate(columns: Sequence[int]) -> SampleEstimate:
        key = tuple(columns)
        if key not in estimates:
            estimates[key] = estimate_samples(whole.part(key), target)
        return estimates[key]

    full = estimate(range(len(whole.columns)))

    def share(columns: Sequence[int]) -> float:
        return _share(estimate(columns), full, limits)

    sets = []
    for found in eliminations(folds, base, groupings, share):
        sets.append(found)
        tell(len(sets) / (len(sets) + 20), f"{len(found.columns)} features")
    estimated = [estimate(one.columns) for one in sets]
    judged = _judged(sets, estimated, len(dataset.classes), limits, target)
    n_found, others = 0, iter(_in_order(judged, prefer="error"))
    built: dict[tuple[int, ...], ChosenFeatures] = {}

    def next_built() -> Iterator[ChosenFeatures]:
        for one in others:
            front_end, part = whole.part(one.columns), dataset_part(dataset, one.columns)
            try:
                cost, stack = front_end_cost(front_end, part, base, limits, samples)
            except MeasurementError as error:
                unmeasured.add_failure(front_end.feature_words, str(error))
                continue
            unmeasured.add_success()
            if limits.admits(cost):
                yield ChosenFeatures(one.columns, front_end, cost, stack)

    finalists = []
    for _, one in zip(range(FINALISTS), next_built(), strict=False):
        losses = _losses_behind(one, dataset, base, limits, choose_by)
        if losses is not None:
            built[one.columns] = one
            finalists.append(_Judged(one.columns, losses, one.cost.mean))
    for judged_one in _in_order(finalists, prefer):
        n_found += 1
        yield built[judged_one.columns]
    for one in next_built():
        n_found += 1
        yield one
    if not n_found and unmeasured.is_any:
        raise unmeasured.error("no features can be measured")
    if not n_found:
        raise BudgetError(_misfit(whole, sets, estimate, share, limits))


def _losses_behind(
    chosen: ChosenFeatures,
    dataset: Dataset,
    base: TrainSettings,
    limits: ProgramLimits,
    choose_by: str | None,
) -> FloatArray | None:
    """Return the losses (n_units,) of tables in the flash that is left; None if none fit."""
    try:
        of_model = chosen.left_of(limits.budget)
    except BudgetError:
        return None
    part = dataset_part(dataset, chosen.columns)
    given = search_input(part, base, of_model, choose_by=choose_by)
    evaluator = Evaluator(given, open_log(None, given, (SUM,)), None)
    room = Capacity(evaluator)
    fitted = room.fitted(FORM, room.guess(FORM))
    if fitted is None:
        return None
    judged = tuple(evaluator.judgements(FORM.settings(given.base, fitted.n_tables)))
    return losses_of(judged)


def front_end_cost(
    front_end: FrontEnd,
    dataset: Dataset,
    base: TrainSettings,
    limits: ProgramLimits,
    samples: Sequence[IntArray],
) -> tuple[ProgramCost, int]:
    """
    Return what a front end takes, with the types of features that a model reads.

    Its flash and time are what a program with one small table takes more than that table alone, its
    state and stack those of this program; the bytes are what its stack has more than the table's.
    """
    settings = replace(LEAST_CONFIG.settings(base, 1), validation=0.0)
    model = train_model(dataset, settings).model
    price = price_of(model, replace(limits.budget, flash=None, ram=None))
    whole = priced_program(replace(model, front_end=front_end), limits.budget, price, samples)
    time = (price.typical or 0.0) / front_end.windows.hop
    cost = replace(whole, flash=whole.flash - price.flash, mean=whole.mean - time)
    return cost, whole.stack - price.stack


def dataset_part(dataset: Dataset, columns: Sequence[int]) -> Dataset:
    """Return a data set with some of its columns."""
    table = dataset.table
    kept = tuple(table.columns[k] for k in columns)
    return replace(dataset, table=Table(kept, table.train_rows, table.test_rows))


def samples_to_measure(segments: Iterator[IntArray], front_end: FrontEnd) -> list[IntArray]:
    """Return the start of the longest segment, a whole number of hops with some windows."""
    windows = front_end.windows
    longest = max(segments, key=len)
    n_hops = max(MOST_SAMPLES // windows.hop, windows.n_panes + LEAST_WINDOWS)
    return [longest[: min(n_hops, len(longest) // windows.hop) * windows.hop]]


def _share(estimate: SampleEstimate, full: SampleEstimate, limits: ProgramLimits) -> float:
    """Return the sum of fractions of the limits; of what all features take, if there is none."""
    budget = limits.budget
    return (
        estimate.flash / (budget.room or full.flash)
        + estimate.state / (budget.ram or full.state)
        + estimate.time / (limits.time or full.time)
    )


@dataclass(frozen=True)
class _Judged:
    """A set of features with the errors of the tables for which it leaves room."""

    columns: tuple[int, ...]
    losses: FloatArray
    time: float


def _judged(
    sets: Sequence[FeatureSet],
    estimates: Sequence[SampleEstimate],
    n_classes: int,
    limits: ProgramLimits,
    target: Target,
) -> list[_Judged]:
    """Return the sets that may leave room for a classifier."""
    of_table = ROWS * ceil(n_classes * BITS / 8) + OTHER_BYTES
    of_kernel = AVR_KERNEL_BYTES if target.unit == "cycles" else KERNEL_BYTES
    budget, found = limits.budget, []
    for one, estimate in zip(sets, estimates, strict=True):
        left = float("inf") if budget.room is None else budget.room - estimate.flash - of_kernel
        is_small = left >= of_table
        is_small &= budget.ram is None or estimate.state <= budget.ram
        is_small &= limits.time is None or estimate.time <= MARGIN * limits.time
        if is_small:
            found.append(_Judged(one.columns, one.misses_of(left / of_table), estimate.time))
    return found


def _in_order(judged: Sequence[_Judged], prefer: Preference) -> list[_Judged]:
    """Return sets of features, those to try first at the start."""
    by_error = sorted(judged, key=lambda one: (one.losses.mean(), one.time))
    if prefer == "error" or not by_error:
        return by_error
    best = by_error[0]
    close = [one for one in by_error if not is_worse(one.losses, best.losses, NEAR)]
    known = {id(one) for one in close}
    return [
        *sorted(close, key=lambda one: one.time),
        *(one for one in by_error if id(one) not in known),
    ]


def _misfit(
    whole: FrontEnd,
    sets: Sequence[FeatureSet],
    estimate: Callable[[Sequence[int]], SampleEstimate],
    share: Callable[[Sequence[int]], float],
    limits: ProgramLimits,
) -> str:
    """Return the message where no front end leaves room."""
    unit = find_target(machine_of(limits.budget.target)).unit
    (column,) = single = min((one.columns for one in sets if len(one.columns) == 1), key=share)
    least = estimate(single)
    return (
        f"no features leave room for a classifier on {limits.budget.target}: "
        f"{whole.columns[column].name!r} alone takes about {least.flash:.0f} bytes of flash, "
        f"{least.state} of RAM and {least.time:.0f} {unit} per sample; raise --max-flash, "
        f"--max-ram or --max-{unit}-per-sample"
    )
