"""Sums of boosted tables for a budget: as many tables of each form as fit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from bncc.data.dataset import Dataset
from bncc.model.model import Model
from bncc.search.budget import Budget, Price, price_of
from bncc.structure.grids import Grids
from bncc.structure.learners import SUM
from bncc.train.fit_sum import fit_sum
from bncc.train.settings import TrainSettings

MOST_TABLES = 250
WORD_BITS = 32
"""Of the words that costs of a row fill."""
BYTES_PER_TABLE = 6
"""Beside its rows, at least: the cuts and where they are read."""
FULL = 0.9
"""Share of a budget from which on it is not tried whether more tables fit."""
MARGIN = 0.98
MOST_TRIES = 4


@dataclass(frozen=True)
class Form:
    """What tables of a sum are like.

    Parameters
    ----------
    rows : int
        Most rows of a table.
    bits : int
        Of a cost.
    dictionary : int
        Most different rows of all tables; 0 for any number.
    features : int
        Most features of a table.
    """

    rows: int = 16
    bits: int = 3
    dictionary: int = 0
    features: int = 4

    def row_bytes(self, n_classes: int) -> int:
        """Return the bytes of a row, or of its number in a dictionary."""
        per_word = WORD_BITS // self.bits
        return 1 if self.dictionary else WORD_BITS // 8 * ceil(n_classes / per_word)

    def settings(self, base: TrainSettings, n_tables: int) -> TrainSettings:
        """Return the options that train so many tables of this form."""
        options = {"tables": str(n_tables), "rows": str(self.rows)}
        if self.features != Form.features:
            options["features"] = str(self.features)
        if self.dictionary:
            options["dictionary"] = str(self.dictionary)
        given = {**base.structure_options, **options}
        return replace(base, structure=SUM, structure_options=given, bits=self.bits)


def neighbors(form: Form, n_classes: int) -> Iterator[Form]:
    """Yield the forms that differ in one thing.

    Parameters
    ----------
    form : Form
        Any.
    n_classes : int
        C; only rows of many classes are worth a dictionary.

    Yields
    ------
    Form
        Half and twice the rows, one bit less and more, more features of large tables, with a
        dictionary.
    """
    for rows in (form.rows // 2, form.rows * 2):
        if 4 <= rows <= 128:
            yield replace(form, rows=rows)
    for bits in (form.bits - 1, form.bits + 1):
        if 2 <= bits <= 4:
            yield replace(form, bits=bits)
    if form.rows >= 32 and form.features == Form.features:
        yield replace(form, features=6)
    if not form.dictionary and n_classes >= 10:
        yield replace(form, dictionary=256)


def first_tables(model: Model, n_tables: int) -> Model:
    """Return the sum of some of a sum's tables, to know what they take.

    Parameters
    ----------
    model : Model
        A sum.
    n_tables : int
        How many, from the first.

    Returns
    -------
    Model
        Its decisions are of no use: the tables were fitted together.
    """
    assert isinstance(model.structure, Grids)
    grids = Grids(model.structure.tables[:n_tables])
    return replace(model, structure=grids, tables=model.tables[:n_tables])


def guess(form: Form, budget: Budget, n_classes: int) -> int:
    """Return how many tables may fit, at most."""
    if budget.flash is None:
        return 60
    table = form.rows * form.row_bytes(n_classes) + BYTES_PER_TABLE
    return max(1, min(MOST_TABLES, budget.flash // table))


def largest_sum(
    form: Form, base: TrainSettings, rest: Dataset, budget: Budget
) -> tuple[int, Model, Price] | None:
    """Train as many tables of a form as fit.

    Parameters
    ----------
    form : Form
        Of the tables.
    base : TrainSettings
        All other options.
    rest : Dataset
        Rows to learn from.
    budget : Budget
        What they have to fit.

    Returns
    -------
    tuple of (int, Model, Price) or None
        Tables asked for, the model, and what it takes; None where not one table fits.
    """
    n_tables = guess(form, budget, len(rest.classes))
    fitting = None
    for _ in range(MOST_TRIES):
        model = fit_sum(rest, form.settings(base, n_tables))
        price = price_of(model, budget, rest.table)
        share = price.share(budget)
        if share <= 1:
            fitting = n_tables, model, price
            is_full = share >= FULL or budget.flash is None or len(model.tables) < n_tables
            if is_full or n_tables == MOST_TABLES:
                break
        fewer = _fitting(model, share, budget, rest)
        if fewer == n_tables or fewer < 1 or (fitting is not None and fewer <= fitting[0]):
            break
        n_tables = fewer
    return fitting


def _fitting(model: Model, share: float, budget: Budget, rest: Dataset) -> int:
    """Return how many tables like those of a model fit, by the price of some of them."""
    n_tables = len(model.tables)
    half = max(1, n_tables // 2)
    part = price_of(first_tables(model, half), budget, rest.table).share(budget)
    each = (share - part) / (n_tables - half) if n_tables > half else share
    if each <= 0:
        return n_tables
    return min(MOST_TABLES, int(n_tables + (MARGIN - share) / each))
