"""The best classifier for a budget, by rows held out of training."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

from bncc.data.dataset import Dataset
from bncc.errors import BudgetError, DataError, OptionError
from bncc.model.card import model_facts
from bncc.model.model import Model
from bncc.search.budget import Budget, Price, price_of
from bncc.search.sums import Form, largest_sum, neighbors
from bncc.structure.learners import SUM
from bncc.train.pipeline import TrainResult, error_of, split_rows, train_model
from bncc.train.settings import DEFAULT_BITS, TrainSettings

NETWORKS = ("naive", "chow-liu")
"""Networks that are tried, each in the most bits that fit."""
FAMILIES = (SUM, *NETWORKS)
HELD = 0.2
"""Least fraction of rows held out: what is chosen among is close together."""
TRIED_AT_LEAST = (Form(rows=8), Form(rows=16), Form(rows=32))
SHRUNK = 4
"""Times that the compiler's passes and packing may make tables smaller, at most a guess."""
LESS = 0.97
"""Of the tables, where the sum of all rows takes more than that of some did."""

Tell = Callable[[float, str], None]
"""Told of the share that is done, and of what was found."""


@dataclass(frozen=True)
class Tried:
    """A classifier that fits.

    Parameters
    ----------
    settings : TrainSettings
        What trains it.
    error : float
        On rows held out, 0 .. 1.
    price : Price
        What it takes.
    """

    settings: TrainSettings
    error: float
    price: Price

    @property
    def words(self) -> str:
        """What it is, for people."""
        options = self.settings.structure_options
        parts = [f"{key}={value}" for key, value in sorted(options.items())]
        bits = f"{self.settings.total_bits} bits"
        return " ".join([self.settings.structure, *parts, bits])


@dataclass(frozen=True)
class Found:
    """What a search ends with.

    Parameters
    ----------
    result : TrainResult
        The model, learned from all rows.
    settings : TrainSettings
        What trains it again.
    price : Price
        What it takes.
    tried : tuple of Tried
        All that fit, in the order in which they were tried.
    seconds : float
        Wall time of all.
    """

    result: TrainResult
    settings: TrainSettings
    price: Price
    tried: tuple[Tried, ...]
    seconds: float


def search(
    dataset: Dataset,
    base: TrainSettings,
    budget: Budget,
    *,
    families: tuple[str, ...] = FAMILIES,
    test: Dataset | None = None,
    tell: Tell | None = None,
) -> Found:
    """Try families and sizes, and train the best that fits.

    Every candidate learns without the rows held out, which then judge it. Sums of tables are tried
    in several forms, each with as many tables as fit, and going on from the best form to those
    beside it; networks in the most bits that fit.

    Parameters
    ----------
    dataset : Dataset
        The training rows.
    base : TrainSettings
        All options that are not searched.
    budget : Budget
        What the classifier may take.
    families : tuple of str
        Structures to try.
    test : Dataset, optional
        Rows that nothing is fitted to or chosen by, for ``error_test``.
    tell : callable, optional
        Told of progress.

    Returns
    -------
    Found
        The one of least error on rows held out, learned again from all rows; of equal ones the
        one of least flash.

    Raises
    ------
    BudgetError
        If nothing fits.
    DataError
        If the rows are too few to hold any out.
    """
    begin = perf_counter()
    tell = tell or (lambda share, words: None)
    judged = replace(base, validation=max(base.validation, HELD))
    rest, held = split_rows(dataset, judged)
    if held.n_rows == 0:
        raise DataError("too few rows to hold any out to choose by; train without a budget")
    tried: list[Tried] = []
    for one in _candidates(dataset, rest, held, judged, budget, families):
        tried.append(one)
        best = min(tried, key=_order)
        share = len(tried) / (len(tried) + 4)
        tell(share, f"{100 * best.error:.2f} % with {best.words}")
    if not tried:
        raise BudgetError(
            f"nothing that was tried fits in {_limits(budget)}; allow more, or leave out columns"
        )
    best = min(tried, key=_order)
    settings = replace(best.settings, validation=base.validation)
    found = _fitting(dataset, settings, budget, test)
    tell(1.0, "")
    return replace(found, tried=tuple(tried), seconds=perf_counter() - begin)


def _order(one: Tried) -> tuple[float, int]:
    return one.error, one.price.flash


def _candidates(
    dataset: Dataset,
    rest: Dataset,
    held: Dataset,
    base: TrainSettings,
    budget: Budget,
    families: tuple[str, ...],
) -> Iterator[Tried]:
    if SUM in families:
        yield from _sums(rest, held, base, budget)
    for name in families:
        if name != SUM:
            yield from _networks(name, dataset, base, budget)


def _sums(rest: Dataset, held: Dataset, base: TrainSettings, budget: Budget) -> Iterator[Tried]:
    """Yield sums of several forms, then those beside the best until none is better."""
    seen: dict[Form, Tried | None] = {}
    for form in TRIED_AT_LEAST:
        seen[form] = _sum(form, rest, held, base, budget)
        if (one := seen[form]) is not None:
            yield one
    while True:
        fitting = {form: one for form, one in seen.items() if one is not None}
        best = min(fitting, key=lambda form: _order(fitting[form]), default=TRIED_AT_LEAST[0])
        new = [form for form in neighbors(best, len(rest.classes)) if form not in seen]
        if not new:
            return
        for form in new:
            seen[form] = _sum(form, rest, held, base, budget)
            if (one := seen[form]) is not None:
                yield one


def _sum(
    form: Form, rest: Dataset, held: Dataset, base: TrainSettings, budget: Budget
) -> Tried | None:
    found = largest_sum(form, base, rest, budget)
    if found is None:
        return None
    n_tables, model, price = found
    error = error_of(model, held)
    assert error is not None
    return Tried(form.settings(base, n_tables), error, price)


def _networks(name: str, dataset: Dataset, base: TrainSettings, budget: Budget) -> Iterator[Tried]:
    """Yield a network in the most bits that fit; what it takes is known from counts."""
    options = base.structure_options if base.structure == name else {}
    for bits in range(DEFAULT_BITS, 0, -1):
        settings = replace(base, structure=name, structure_options=options, bits=bits)
        counted = train_model(dataset, replace(_counting(settings), validation=0)).model
        if _is_hopeless(counted, budget):
            continue
        if price_of(counted, budget, dataset.table).share(budget) <= 1:
            model = train_model(dataset, settings).model
            price = price_of(model, budget, dataset.table)
            if price.share(budget) <= 1:
                yield Tried(settings, model.training["error_validation"], price)
                return


def _counting(settings: TrainSettings) -> TrainSettings:
    """Return what trains a network as large without descent, where there is such a way."""
    if settings.is_joint or settings.is_counted:
        return settings
    return replace(settings, parameters="ml")


def _is_hopeless(model: Model, budget: Budget) -> bool:
    """Return whether tables are so large that building C would be a waste."""
    n_bytes = model_facts(model)["table_bits"] // 8
    return budget.flash is not None and n_bytes > SHRUNK * budget.flash


def _fitting(
    dataset: Dataset, settings: TrainSettings, budget: Budget, test: Dataset | None
) -> Found:
    """Train on all rows, with fewer tables while they do not fit."""
    while True:
        result = train_model(dataset, settings, test=test)
        price = price_of(result.model, budget, dataset.table, is_timed=True)
        if price.share(budget) <= 1:
            return Found(result, settings, price, (), 0.0)
        if settings.structure != SUM:
            raise BudgetError(f"the network learned from all rows exceeds {_limits(budget)}")
        n_tables = int(LESS * len(result.model.tables) / max(1.0, price.share(budget) ** 0.5))
        if n_tables < 1:
            raise OptionError(f"no table fits in {_limits(budget)}; allow more")
        options = {**settings.structure_options, "tables": str(n_tables)}
        settings = replace(settings, structure_options=options)


def _limits(budget: Budget) -> str:
    parts = []
    if budget.flash is not None:
        parts.append(f"{budget.flash} bytes of flash")
    if budget.instructions is not None:
        parts.append(f"{budget.instructions} instructions")
    return f"{' and '.join(parts)} on {budget.target}"
