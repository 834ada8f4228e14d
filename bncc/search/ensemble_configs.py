"""Configurations of boosted tables in a budget search."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from bncc.boosting.settings import BoostSettings
from bncc.structure.catalog import SUM
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import DEFAULT_CUTS

BYTE = 8
LARGE = 32
"""Number of rows from which on tables with more features than usual are useful."""
MORE_FEATURES = 6
DICTIONARY = 256
"""Largest number of distinct rows with byte indices."""
MANY_CLASSES = 10
"""Number of classes from which on a dictionary of rows is useful."""
CUTS = (DEFAULT_CUTS, 31, 7)
"""Numbers of cuts per column in the search: fewer cuts are shared by more tables, and reduce
overfitting. On spambase (two halves, three splits each), 5 tables of 32 rows have validation errors
of 6.74 % with 31 cuts and 6.01 % with 7, and 8 tables of 16 rows have 6.67 and 5.98 %."""
ROWS, BITS = (4, 128), (2, 4)
"""Smallest and largest value in the search."""
CODEWORD_BITS = 6
"""Largest value with a dictionary, whose bits are cheap: letter with 130 tables of 16 rows has
validation errors of 8.36, 6.93, 6.63 and 6.45 % with 3 to 6 bits."""
REFITS: dict[str, dict[str, Any]] = {
    "firm": {},
    "damped": {"decay": 0.1},
    "soft": {"dropout": 0.3, "decay": 0.15, "lr": 0.01, "epochs": 15},
}
"""Settings of the joint refit, from the largest to the smallest deviation from the boosted tables.
Validation errors in percent, means over the given number of splits:

==============================  =====  ======  =====
tables, rows, bits, splits      firm   damped  soft
==============================  =====  ======  =====
satimage 100, 8, 3, four        10.63          10.12
satimage 250, 16, 3, four        9.17           8.78
usps 250, 16, 3, two             2.82    2.59   2.14
letter 250, 16, 3, one           5.02    4.80   5.17
letter 400, 16, 4, one           5.21    4.54
==============================  =====  ======  =====
"""
OF_REFIT = tuple(name for name in OPTIONS if any(name in refit for refit in REFITS.values()))
"""Options of training that they set, unless the user does."""


@dataclass(frozen=True)
class EnsembleConfig:
    """Form of boosted tables."""

    rows: int = BoostSettings.rows  # Limit on rows of a table
    bits: int = BoostSettings.bits  # Bits of a cost
    dictionary: int = 0  # Limit on distinct rows of all tables; 0 for none
    features: int = BoostSettings.features  # Limit on features of a table
    refit: str = "firm"  # See `REFITS`
    cuts: int = DEFAULT_CUTS  # Limit on cuts per column

    def row_bytes(self, n_classes: int) -> int:
        """Return the bytes of a row, or of a codeword."""
        return ceil(n_classes * self.bits / BYTE)

    def settings(self, base: TrainSettings, n_tables: int) -> TrainSettings:
        """Return the options for training a given number of tables of this form."""
        options = {"tables": str(n_tables), "rows": str(self.rows)}
        if self.features != BoostSettings.features:
            options["features"] = str(self.features)
        if self.dictionary:
            options["dictionary"] = str(self.dictionary)
        if self.cuts != DEFAULT_CUTS:
            options["cuts"] = str(self.cuts)
        # The user's settings of the refit take precedence.
        named, refit = base.structure_options, REFITS[self.refit]
        if "decay" in refit:
            options["decay"] = named.get("decay", str(refit["decay"]))
        others = {
            key: refit[key] for key in OF_REFIT if key in refit and getattr(base, key) is None
        }
        given = {**named, **options}
        return replace(base, structure=SUM, structure_options=given, bits=self.bits, **others)


def neighbors(
    form: EnsembleConfig, n_classes: int, *, are_numbers: bool
) -> Iterator[EnsembleConfig]:
    """Yield the forms that differ in one property."""
    yield from (replace(form, refit=other) for other in REFITS if other != form.refit)
    for rows in (form.rows // 2, form.rows * 2):
        if ROWS[0] <= rows <= ROWS[1]:
            yield replace(form, rows=rows)
    for bits in (form.bits - 1, form.bits + 1):
        if BITS[0] <= bits <= (CODEWORD_BITS if form.dictionary else BITS[1]):
            yield replace(form, bits=bits)
    if n_classes >= MANY_CLASSES:
        if form.dictionary:
            yield replace(form, dictionary=0, bits=min(form.bits, BITS[1]))
        else:
            yield replace(form, dictionary=DICTIONARY, bits=CODEWORD_BITS)
    if form.rows >= LARGE:
        is_usual = form.features == EnsembleConfig.features
        yield replace(form, features=MORE_FEATURES if is_usual else EnsembleConfig.features)
    if are_numbers:
        yield from (replace(form, cuts=cuts) for cuts in CUTS if cuts != form.cuts)
