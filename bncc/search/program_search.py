"""Attempts of a search for a program from samples to decisions: features first, then a model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.errors import BnccError, BudgetError, MeasurementError
from bncc.interrupts import StopRequest
from bncc.model.model import Model
from bncc.model.training_record import OPTIONS_RECORD
from bncc.pricing import with_resources
from bncc.program_pricing import ProgramCost, priced_program
from bncc.progress import Progress, silence
from bncc.recordings.front_end import FrontEnd
from bncc.resources import Budget, Preference, Resources
from bncc.search.budget_search import Found, search, with_rules
from bncc.search.front_end_choice import (
    ChosenFeatures,
    ProgramLimits,
    dataset_part,
    front_ends,
)
from bncc.search.unmeasured import Unmeasured
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings

SLACKS = (0.02, 0.12)
"""Bytes that a classifier behind a front end may take more than alone, over those of the latter."""
LAST_SLACKS = (0.25, 0.5)
"""The same with the smallest front end, if no program of any front end fits."""
NO_RULES = DecisionRules()
MOST_CHOICES = 3
"""Front ends with which a search is tried, until its program fits."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """Rows and limits of one search for a model, and the front end before it."""

    train: Dataset
    test: Dataset | None
    budget: Budget
    chosen: ChosenFeatures | None = None
    program: "ProgramSearch | None" = None

    def finished(self, found: Found) -> Found:
        """Return a search whose model has its resources, and takes samples after a front end."""
        model = with_resources(found.result.model, found.price)
        result = replace(found.result, model=model)
        if self.chosen is not None:
            words = [*model.training[OPTIONS_RECORD], *_words(self.chosen.front_end)]
            model = replace(model, training={**model.training, OPTIONS_RECORD: words})
            result = replace(result, model=model).with_front_end(self.chosen.front_end)
        return replace(found, result=result)

    def cost(self, model: Model, price: Resources) -> ProgramCost | None:
        """Return what the whole program takes; None without a front end."""
        if self.program is None:
            return None
        return priced_program(model, self.program.limits.budget, price, self.program.samples)

    def admits(self, cost: ProgramCost | None) -> bool:
        """Return whether a program is within the limits."""
        return cost is None or self.program is None or self.program.limits.admits(cost)


@dataclass(frozen=True, eq=False)
class ProgramSearch:
    """Windows with all features, and the limits of a program."""

    train: Dataset
    test: Dataset | None
    front_end: FrontEnd
    limits: ProgramLimits
    samples: Sequence[IntArray]  # Segments to measure on

    def attempts(
        self,
        base: TrainSettings,
        *,
        choose_by: str | None = None,
        prefer: Preference = "balanced",
        tell: Progress = silence,
        unmeasured: Unmeasured | None = None,
    ) -> Iterator[Attempt]:
        """Yield attempts until the caller has a program that fits."""
        found = front_ends(
            self.train,
            self.front_end,
            base,
            self.limits,
            self.samples,
            choose_by=choose_by,
            prefer=prefer,
            tell=tell,
            unmeasured=unmeasured,
        )
        n_attempts = 0
        for chosen, slack in _with_slacks(islice(found, MOST_CHOICES)):
            try:
                of_model = chosen.left_of(self.limits.budget, slack)
            except BudgetError:
                continue
            n_attempts += 1
            train = dataset_part(self.train, chosen.columns)
            test = None if self.test is None else dataset_part(self.test, chosen.columns)
            yield Attempt(train, test, of_model, chosen, self)
        if not n_attempts:
            raise BudgetError(_too_large(chosen.cost))


def _with_slacks(choices: Iterable[ChosenFeatures]) -> Iterator[tuple[ChosenFeatures, float]]:
    """Yield each front end with its slacks, and at last the smallest one with more."""
    chosen = list[ChosenFeatures]()
    for one in choices:
        chosen.append(one)
        yield from product((one,), SLACKS)
    smallest = min(chosen, key=lambda one: one.cost.flash)
    yield from product((smallest,), LAST_SLACKS)


def search_program(
    program: ProgramSearch,
    settings: TrainSettings,
    families: tuple[str, ...],
    *,
    prefer: Preference = "balanced",
    rules: DecisionRules = NO_RULES,
) -> tuple[Found, ProgramCost]:
    """Return the search for the model of the first program that fits, and its cost."""

    def found_in(attempt: Attempt) -> Found:
        return search(attempt.train, settings, attempt.budget, families=families, prefer=prefer)

    unmeasured = Unmeasured()
    attempts = program.attempts(settings, prefer=prefer, unmeasured=unmeasured)
    attempt, found, cost = first_fitting(attempts, found_in, unmeasured=unmeasured)
    if rules.any:
        found = with_rules(found, rules, attempt.train, attempt.budget)
        cost = attempt.cost(found.result.model, found.price)
    assert cost is not None
    return found, cost


def first_fitting(
    attempts: Iterable[Attempt],
    found_in: Callable[[Attempt], Found],
    stop: StopRequest | None = None,
    unmeasured: Unmeasured | None = None,
) -> tuple[Attempt, Found, ProgramCost | None]:
    """
    Search in turn until a program fits, or is wanted as it is; return the last attempt.

    The cost is None without a front end. If no program fits, the last one is in the message. One
    that cannot be measured is left out.
    """
    stop, unmeasured = stop or StopRequest(), unmeasured or Unmeasured()
    misfit: BnccError = BudgetError("there is nothing to search")
    for attempt in attempts:
        try:
            found = attempt.finished(found_in(attempt))
        except BudgetError as error:
            misfit = error if attempt.chosen is None else error.behind(attempt.chosen.words)
            continue
        try:
            cost = attempt.cost(found.result.model, found.price)
        except MeasurementError as error:
            assert attempt.chosen is not None
            unmeasured.add_failure(attempt.chosen.front_end.feature_words, str(error))
            misfit = error
            continue
        if attempt.admits(cost) or stop.is_wanted:
            notes = (*found.result.notes, *unmeasured.notes)
            return attempt, replace(found, result=replace(found.result, notes=notes)), cost
        assert cost is not None
        misfit = BudgetError(_too_large(cost))
    raise misfit


def _words(front_end: FrontEnd) -> tuple[str, ...]:
    """Return the options of ``bncc train`` that name windows and features."""
    windows, names = front_end.windows, ",".join(column.name for column in front_end.columns)
    of_windows = ("--window", str(windows.length), "--hop", str(windows.hop))
    return (*of_windows, "--features", names)


def _too_large(cost: ProgramCost) -> str:
    """Return the message where no program fits."""
    return (
        f"the smallest program that was found takes {cost.words}; raise --max-flash, --max-ram or "
        f"--max-{cost.unit}-per-sample"
    )
