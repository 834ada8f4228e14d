"""
Evaluation of candidates by a budget search.

A part of it is a pure function of the rows, the options and a candidate: its result comes from the
log or is computed here, in local processes or on a cluster, with the same result.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from bncc._types import BoolArray, FloatArray
from bncc.data.dataset import Dataset, Table
from bncc.errors import BnccError, CheckpointError, WorkerError
from bncc.model.card import model_facts
from bncc.model.file import from_bytes, to_bytes
from bncc.model.model import Model
from bncc.pricing import TOO_LARGE, fast_time_of, layout_price_of, memory_price_of, price_of
from bncc.resources import Budget, Resources
from bncc.search.ensemble_configs import FRONT_KEY, GATE_KEY, OF_REFIT
from bncc.search.log import Log, Result, key_of
from bncc.search.pool import PATIENCE, Execution, Task
from bncc.search.split_folds import ENOUGH_TO_CHOOSE, Fold, folds_of
from bncc.search.unmeasured import FAILED, Unmeasured, failed
from bncc.structure.decision_tables import GridTable, TableEnsemble
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model

SHRUNK = 4
"""Largest factor by which the compiler's passes and packing are assumed to shrink tables."""
BINNED = ("quantile", "width")
"""Discretization methods that take a number of bins."""

Read = TypeVar("Read")
Candidate = TrainSettings
"""The candidate: all settings of its training."""
Sizes = Sequence[tuple[int, int]]
"""Rows and cuts of each boosted table; of a branching one, leaves and nodes."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """
    Results of a candidate on the validation rows of a fold.

    Shapes: `losses` (n_units,) float64, in the measure of the choice, sums over the rows of a unit.
    """

    misses: BoolArray  # Rows with wrong decisions
    losses: FloatArray

    @property
    def error(self) -> float:
        """Error rate on the rows."""
        return float(self.misses.mean())

    @property
    def choice(self) -> float:
        """Measure of the choice."""
        return float(self.losses.sum() / len(self.misses))


def losses_of(judged: Sequence[Judgement]) -> FloatArray:
    """
    Return the losses on the units of all folds, in turn.

    Shapes: returns (n_units,) float64.
    """
    return np.concatenate([one.losses for one in judged])


def words_of(candidate: Candidate) -> str:
    """Describe a candidate for display, all but the bits of a cost."""
    options = candidate.structure_options
    parts = [f"{key}={value}" for key, value in sorted(options.items())]
    refit = {name: getattr(candidate, name) for name in OF_REFIT}
    parts += [f"{key}={value}" for key, value in refit.items() if value is not None]
    if candidate.discretize is not None:
        n_bins = f"={candidate.n_bins}" if candidate.discretize in BINNED else ""
        parts.append(f"{candidate.discretize}{n_bins}")
    return " ".join([candidate.structure, *parts])


@dataclass(frozen=True)
class Evaluation:
    """A candidate that fits."""

    settings: Candidate
    # errors, choice: By fold, 0 .. 1, and in the measure of the choice; eliminated boosted tables
    # have fewer folds
    errors: tuple[float, ...]
    choice: tuple[float, ...]
    price: Resources  # Its resources in the layout that decides whether it fits
    result: TrainResult | None = None  # The classifier of all rows, once trained
    # Loss on each unit of validation rows, fold by fold; None if unknown.
    # Shapes: (n_units,) float64
    losses: FloatArray | None = field(default=None, repr=False, compare=False)
    layout: Resources | None = None  # Those of the layout that suits the budget best, once known
    fast: int | None = None  # Estimated time in the fastest layout that fits; None if unknown

    @property
    def resources(self) -> Resources:
        """Resources of the best known layout."""
        return self.layout or self.price

    @property
    def ends_early(self) -> bool:
        """True if it was asked for a front or a gate, which decide before all tables are summed."""
        return bool({FRONT_KEY, GATE_KEY} & self.settings.structure_options.keys())

    @property
    def expected_time(self) -> float:
        """Mean time in the layout that suits the budget best: known, or the best estimate of it."""
        typical = self.resources.typical
        known = float("inf") if typical is None else typical
        return known if self.layout is not None or self.fast is None else min(known, self.fast)

    @property
    def order(self) -> tuple[int, float, int]:
        """Sort key, smallest for the best: most folds, lowest loss, smallest size."""
        return -len(self.choice), sum(self.choice) / len(self.choice), self.price.flash

    @property
    def error(self) -> float:
        """Mean over the folds."""
        return sum(self.errors) / len(self.errors)

    @property
    def refit(self) -> dict[str, Any]:
        """Options of the refit; None without one."""
        return {name: getattr(self.settings, name) for name in OF_REFIT}

    @property
    def words(self) -> str:
        """Description for display."""
        return f"{self.words_without_bits} {self.settings.total_bits} bits"

    @property
    def words_without_bits(self) -> str:
        """Description for display of all but the bits of a cost."""
        return words_of(self.settings)


@dataclass(frozen=True, eq=False)
class SearchInput:
    """Common inputs of all evaluations of a search; can be pickled."""

    dataset: Dataset  # Training rows, all with positive weight
    base: TrainSettings  # Options of the user
    budget: Budget  # Limits of a candidate
    test: Dataset | None = None  # Test rows, which affect no choice
    choose_by: str | None = None  # Measure of the choice; None for the default
    toolchain: str | None = None  # Toolchain of measurements; None for estimates

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """Folds on which all candidates are evaluated, empty if there are too few rows."""
        return tuple(folds_of(self.dataset, self.base, self.choose_by))

    @cached_property
    def more_folds(self) -> tuple[Fold, ...]:
        """Folds on which those candidates are evaluated as well that may be chosen."""
        every = folds_of(self.dataset, self.base, self.choose_by, enough=ENOUGH_TO_CHOOSE)
        return tuple(every)[len(self.folds) :]

    def fold(self, index: int) -> Fold:
        """Return one of all folds."""
        n_first = len(self.folds)
        return self.folds[index] if index < n_first else self.more_folds[index - n_first]

    def __getstate__(self) -> dict[str, Any]:
        """Exclude learned state of the folds."""
        derived = ("folds", "more_folds")
        return {key: value for key, value in vars(self).items() if key not in derived}


@dataclass(frozen=True)
class Part:
    """A part of the evaluation of a candidate."""

    kind: Literal["grow", "judge", "price", "fast", "layout", "count", "train"]
    candidate: Candidate
    fold: int = 0  # Index of the fold; ignored if the part uses all rows

    @property
    def key(self) -> str:
        """Digest that identifies the part in a log."""
        return key_of(self.kind, asdict(self.candidate), self.fold)


@dataclass(frozen=True)
class PricedSum:
    """Resources of boosted tables that were learned without the rows of the first fold."""

    sizes: Sizes
    n_tables: int
    n_classes: int
    price: Resources
    is_known: bool = True  # False if its C could not be measured, so that the price is no figure


def evaluate(given: SearchInput, number: int, part: Part) -> Result:
    """Compute a part of an evaluation; return JSON values."""
    return _WORK[part.kind](given, part)


class Evaluator:
    """Evaluations by parts, each of which is computed once."""

    def __init__(self, given: SearchInput, log: Log, execution: Execution | None = None) -> None:
        self.given, self._log, self._execution = given, log, execution
        self._running: dict[int, str] = {}
        self._failed: dict[str, BnccError] = {}
        self.unmeasured = Unmeasured()
        self._n_begun = 0

    def judgements(self, candidate: Candidate, since: int = 0) -> Iterator[Judgement]:
        """Evaluate a candidate on each fold in turn, as long as the caller asks for more."""
        folds = range(since, len(self.given.folds))
        parts = [Part("judge", candidate, k) for k in folds]
        for k, found in zip(folds, self._results(parts), strict=True):
            yield self._read(_judgement, self.given.fold(k), found)

    def more_judgements(self, candidates: Sequence[Candidate]) -> Iterator[tuple[Judgement, ...]]:
        """Evaluate candidates in turn on the folds that are left for those that may be chosen."""
        first = len(self.given.folds)
        folds = range(first, first + len(self.given.more_folds))
        parts = [Part("judge", candidate, k) for candidate in candidates for k in folds]
        found = self._results(parts)
        for _ in candidates:
            yield tuple(self._read(_judgement, self.given.fold(k), next(found)) for k in folds)

    def grown(self, candidate: Candidate) -> Sizes:
        """Grow boosted tables without the rows of the first fold."""
        found = self._result(Part("grow", candidate))
        return self._read(_sizes, found)

    def priced(self, candidate: Candidate) -> PricedSum:
        """Determine the resources of boosted tables learned without the rows of the first fold."""
        found = self._result(Part("price", candidate))
        return self._read(_priced, found)

    def fast_times(self, candidates: Sequence[Candidate]) -> Iterator[int | None]:
        """Yield the estimated time of boosted tables in the fastest layout that fits, if any."""
        for found in self._results([Part("fast", candidate) for candidate in candidates]):
            yield self._read(_fast_time, found)

    def layouts(self, candidates: Sequence[Candidate]) -> Iterator[Resources]:
        """Yield the resources of boosted tables in the layout that suits the budget best."""
        for found in self._results([Part("layout", candidate) for candidate in candidates]):
            yield self._read(_price, found)

    def counted(self, candidate: Candidate) -> Resources | None:
        """Determine the resources of a network with counted tables; None if it cannot fit."""
        found = self._result(Part("count", candidate))
        return None if found.get("price", {}) is None else self._read(_price, found)

    def trained(self, candidate: Candidate) -> tuple[TrainResult, Resources]:
        """Train a candidate on all rows, and determine its resources."""
        found = self._result(Part("train", candidate))
        return self._read(_trained, found), self._read(_price, found)

    def least(self, candidate: Candidate) -> Resources:
        """Determine the resources of a network in the layout that decides whether it fits."""
        found = self._result(Part("train", candidate))
        return self._read(_least, found)

    def _result(self, part: Part) -> Result:
        (found,) = self._results((part,))
        return found

    def _results(self, parts: Sequence[Part]) -> Iterator[Result]:
        """Yield the results of some parts in order; later ones may be started early."""
        for index, part in enumerate(parts):
            while (found := self._known(part.key)) is None:
                if self._execution is None:
                    found = self._log.add(part.key, evaluate(self.given, 0, part))
                    break
                self._begin(self._execution, parts[index:])
                self._collect(self._execution)
            self.unmeasured.add(words_of(part.candidate), found)
            yield found

    def _known(self, key: str) -> Result | None:
        if key in self._failed:
            raise self._failed[key]
        return self._log.get(key)

    def _begin(self, execution: Execution, parts: Sequence[Part]) -> None:
        """Start the first of the unknown parts, as many as there are workers."""
        n_slots = execution.n_slots
        for part in parts:
            if len(self._running) >= n_slots:
                return
            key = part.key
            if key in self._log or key in self._failed or key in self._running.values():
                continue
            self._running[self._n_begun] = key
            execution.submit(Task(self._n_begun, part))
            self._n_begun += 1

    def _collect(self, execution: Execution) -> None:
        for outcome in execution.collect(PATIENCE):
            key = self._running.pop(outcome.number)
            if outcome.failure is not None:
                self._failed[key] = outcome.failure
            else:
                _check_toolchain(outcome.result.get("price"), self.given.toolchain)
                self._log.add(key, outcome.result)

    def _read(self, read: Callable[..., Read], *found: Any) -> Read:
        try:
            return read(*found)
        except (KeyError, TypeError, ValueError, BnccError) as error:
            raise CheckpointError(
                f"'{self._log.path}' is corrupt; remove it, or use another --checkpoint"
            ) from error


def with_errors(result: TrainResult, errors: Sequence[float], choose_by: str) -> TrainResult:
    """Return a training whose record has a search's errors by fold and its measure of choice."""
    judged: dict[str, Any] = {
        "error_validation": sum(errors) / len(errors),
        "validation_folds": len(errors),
        "chosen_by": choose_by,
    }
    training = dict(result.model.training)
    if training.get("confusion_of") == "validation":
        # Its interval is that of one fold, around that fold's error.
        judged |= dict.fromkeys(training.keys() & {"error_interval", "interval_method"})
    model = replace(result.model, training={**training, **judged})
    return replace(result, model=model)


def sizes_of(grids: Sequence[GridTable]) -> Sizes:
    """Return rows and cuts of some tables, leaves and nodes of branching ones."""
    return [(grid.n_rows, grid.n_cuts) for grid in grids]


def _grow(given: SearchInput, part: Part) -> Result:
    return {"sizes": sizes_of(given.folds[part.fold].grown(part.candidate).tables)}


def _judge(given: SearchInput, part: Part) -> Result:
    fold, candidate = given.fold(part.fold), part.candidate
    if candidate.is_boosted:
        model = fold.model(candidate)
    else:
        model = train_model(fold.rest, replace(candidate, validation=0)).model
    misses = fold.misses(model)
    found = {"misses": b64encode(np.packbits(misses).tobytes()).decode()}
    if fold.choose_by == "log-loss":
        losses = fold.losses(model, misses).astype("<f8")
        found["losses"] = b64encode(losses.tobytes()).decode()
    return found


def _price_sum(given: SearchInput, part: Part) -> Result:
    fold = given.folds[part.fold]
    model = fold.model(part.candidate)
    assert isinstance(model.structure, TableEnsemble)
    failures: list[str] = []
    price = price_of(model, given.budget, _rows_to_time(fold, model), failures.append)
    return {
        "sizes": sizes_of(model.structure.tables),
        "tables": len(model.tables),
        "classes": len(model.classes),
        "price": price.to_json(),
        **failed(failures),
    }


def _estimate_fast(given: SearchInput, part: Part) -> Result:
    return {"time": fast_time_of(given.folds[part.fold].model(part.candidate), given.budget)}


def _price_layout(given: SearchInput, part: Part) -> Result:
    fold = given.folds[part.fold]
    model = fold.model(part.candidate)
    failures: list[str] = []
    price = layout_price_of(model, given.budget, _rows_to_time(fold, model), failures.append)
    return {"price": price.to_json(), **failed(failures)}


def _rows_to_time(fold: Fold, model: Model) -> Table:
    """Return the rows of the mean time: with a gate, which is surer of training rows, others."""
    return fold.rest.table if model.gate is None else fold.held.table


def _count(given: SearchInput, part: Part) -> Result:
    model = train_model(given.dataset, part.candidate).model
    n_bytes, flash = model_facts(model)["table_bits"] // 8, given.budget.flash
    if flash is not None and n_bytes > SHRUNK * flash:
        return {"price": None}  # tables are so large that building C would be a waste
    failures: list[str] = []
    price = memory_price_of(model, given.budget, given.dataset.table, failures.append)
    return {"price": price.to_json(), **failed(failures)}


def _train(given: SearchInput, part: Part) -> Result:
    result = train_model(given.dataset, part.candidate, test=given.test)
    failures: list[str] = []
    of_all = result.model, given.budget, given.dataset.table, failures.append
    price = layout_price_of(*of_all)
    least = price if part.candidate.is_boosted else price_of(*of_all)
    model = b64encode(to_bytes(result.model)).decode()
    return {
        "model": model,
        "seconds": result.seconds,
        "notes": list(result.notes),
        "price": price.to_json(),
        "least": least.to_json(),
        **failed(failures),
    }


_WORK: Mapping[str, Callable[[SearchInput, Part], Result]] = {
    "grow": _grow,
    "judge": _judge,
    "price": _price_sum,
    "fast": _estimate_fast,
    "layout": _price_layout,
    "count": _count,
    "train": _train,
}


def _judgement(fold: Fold, found: Result) -> Judgement:
    n_rows = fold.held.n_rows
    packed = np.frombuffer(b64decode(found["misses"], validate=True), dtype=np.uint8)
    misses = np.unpackbits(packed)[:n_rows].astype(bool)
    if len(misses) != n_rows:
        raise ValueError("evaluated on other rows")
    if "losses" not in found:
        return Judgement(misses, fold.by_unit(fold.weighted(misses)))
    losses = np.frombuffer(b64decode(found["losses"], validate=True), dtype="<f8")
    return Judgement(misses, fold.by_unit(losses.astype(np.float64)))


def _trained(found: Result) -> TrainResult:
    model = from_bytes(b64decode(found["model"], validate=True), "the log of a search")
    return TrainResult(model, float(found["seconds"]), tuple(found["notes"]))


def _fast_time(found: Result) -> int | None:
    return None if found["time"] is None else int(found["time"])


def _price(found: Result) -> Resources:
    return Resources.from_json(found["price"])


def _least(found: Result) -> Resources:
    return Resources.from_json(found["least"])


def _sizes(found: Result) -> Sizes:
    return [(int(rows), int(cuts)) for rows, cuts in found["sizes"]]


def _priced(found: Result) -> PricedSum:
    price, counts = _price(found), (int(found["tables"]), int(found["classes"]))
    is_known = FAILED not in found or price.flash < TOO_LARGE
    return PricedSum(_sizes(found), *counts, price, is_known)


def _check_toolchain(price: Mapping[str, Any] | None, toolchain: str | None) -> None:
    """Reject figures of a worker with other tools than this computer."""
    if price is None:
        return
    theirs = price["toolchain"] if price["how"] == "measured" else "nothing"
    if theirs not in (None, toolchain or "nothing"):  # None: it fits no target
        raise WorkerError(
            f"a worker measures with {theirs} and this computer with {toolchain or 'nothing'}; "
            "install the same tools there"
        )
