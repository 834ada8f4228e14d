"""Configurations of boosted tables in a budget search."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from bncc.boosting.settings import SETTINGS, BoostSettings
from bncc.structure.catalog import SUM
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import DEFAULT_CUTS

FRONT_KEY = str(SETTINGS["front"].key)
"""Structure option of the leaves of a front."""
DIFFERING_KEY = str(SETTINGS["front_differing"].key)
"""Structure option of the most decisions that it may change."""
OF_FRONT = (FRONT_KEY, DIFFERING_KEY)
GATE_KEY = str(SETTINGS["gate"].key)
"""Structure option of the tables before a gate."""
GATE_DIFFERING_KEY = str(SETTINGS["gate_differing"].key)
"""Structure option of the most decisions that it may change."""
OF_GATE = (GATE_KEY, GATE_DIFFERING_KEY)
GATE_SHARE = 1 / 3
"""Share of the tables before a gate; `benchmarks.accuracy.gates` measures others on folds."""
FORMS: tuple[str, ...] = ("product", "branching")
"""Forms of tables in a search: addressed by a product of cuts, or ``branching``, by a tree."""
BYTE, HALF, WORD_BYTES = 8, 16, 4
CARRY_BITS = 4
"""Bits of a lane in addition to those of a cost, for the sum of some tables."""
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
MOST_ROWS = 512
"""Largest number of rows if flash has no limit: rows take bytes, but no time."""
DIFFERENCES = 16
"""Differences of two columns in the form that may cut them, see `bncc.train.differences`."""
INPUTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Limits on the features that all tables read together: ``python -m benchmarks.accuracy.inputs``
has their errors by folds. With 500 columns, of which most are noise, 16 % instead of 29 %."""
FIRST_INPUTS = (2, 4, 8, 16, 32, 64)
"""Limits that are tried first."""
LEAVES = (8, 16, 32, 64)
"""Limits on leaves of a branching table."""
LEAVES_ALONE = (8, 16, 32, 64, 128, 256)
"""Limits on leaves of a single branching table."""
BRANCHING_BITS, BINARY_BITS = (3, 4), (3, 4, 8)
"""Bits of a cost in branching tables, and with two classes, whose costs are one number."""
BRANCHING_CUTS = (DEFAULT_CUTS, 63, 31)
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
TREE_REFITS: dict[str, dict[str, Any]] = {
    "firm": {},
    "sharp": {"decay": 0.1, "lr": 0.03, "epochs": 30},
}
"""Settings of the joint refit of branching tables: the usual ones, and a less cautious refit."""
OF_REFIT = tuple(name for name in OPTIONS if any(name in refit for refit in REFITS.values()))
"""Options of training that they set, unless the user does."""


@dataclass(frozen=True)
class EnsembleConfig:
    """Form of boosted tables."""

    rows: int = BoostSettings.rows  # Limit on rows of a table; of no effect with leaves
    bits: int = BoostSettings.bits  # Bits of a cost
    dictionary: int = 0  # Limit on distinct rows of all tables; 0 for none
    features: int = BoostSettings.features  # Limit on features of a table
    inputs: int = 0  # Limit on features that all tables read together; 0 for none
    refit: str = "firm"  # See `REFITS`, and `TREE_REFITS` with leaves
    cuts: int = DEFAULT_CUTS  # Limit on cuts per column
    leaves: int = 0  # Limit on leaves of a branching table; 0 for products of cuts
    cut_bits: int = 0  # Highest bits of a reading that cuts may depend on; 0: all
    differences: int = 0  # Limit on differences of two columns
    is_single: bool = False  # True for one table, which is as large as fits
    front: int = 0  # Limit on leaves of the front; 0 for none
    has_gate: bool = False  # True for a gate behind `GATE_SHARE` of the tables
    # Most decisions that the front or the gate may change; 0 for the default
    differing: float = 0.0

    @property
    def is_branching(self) -> bool:
        """True if tables are addressed by trees."""
        return self.leaves > 0

    @property
    def refits(self) -> dict[str, dict[str, Any]]:
        """Settings of the joint refit by name."""
        if self.is_single:
            return {"firm": {}}
        return TREE_REFITS if self.is_branching else REFITS

    @property
    def most_rows(self) -> int:
        """Limit on rows or leaves of a table."""
        return self.leaves or self.rows

    def row_bytes(self, n_classes: int) -> int:
        """Return the bytes of a row, or of a codeword."""
        return ceil(n_classes * self.bits / BYTE)

    def lane_bytes(self, n_classes: int) -> int:
        """Return the bytes of a row in words of lanes, with room for the sum of all tables."""
        if n_classes == 2:
            return self.row_bytes(1)
        return WORD_BYTES * ceil(n_classes * (self.bits + CARRY_BITS) / (BYTE * WORD_BYTES))

    def settings(self, base: TrainSettings, n_tables: int) -> TrainSettings:
        """Return the options for training a given number of tables of this form."""
        options = {"tables": str(n_tables)}
        if self.leaves:
            options["leaves"] = str(self.leaves)
        else:
            options["rows"] = str(self.rows)
        if self.cut_bits:
            options["cut-bits"] = str(self.cut_bits)
        if self.differences:
            options["differences"] = str(self.differences)
        if self.front:
            options[FRONT_KEY] = str(self.front)
        if self.has_gate:
            options[GATE_KEY] = str(gate_of(n_tables))
        if self.differing:
            key = GATE_DIFFERING_KEY if self.has_gate else DIFFERING_KEY
            options[key] = str(self.differing)
        if self.features != BoostSettings.features:
            options["features"] = str(self.features)
        if self.inputs:
            options["inputs"] = str(self.inputs)
        if self.dictionary:
            options["dictionary"] = str(self.dictionary)
        if self.cuts != DEFAULT_CUTS:
            options["cuts"] = str(self.cuts)
        # The user's settings of the refit take precedence.
        named, refit = base.structure_options, self.refits[self.refit]
        if "decay" in refit:
            options["decay"] = named.get("decay", str(refit["decay"]))
        others = {
            key: refit[key] for key in OF_REFIT if key in refit and getattr(base, key) is None
        }
        given = {**named, **options}
        return replace(base, structure=SUM, structure_options=given, bits=self.bits, **others)


def gate_of(n_tables: int) -> int:
    """Return the number of tables before a gate; 0 where none would be behind it."""
    return 0 if n_tables < 2 else max(1, round(GATE_SHARE * n_tables))


def starts(
    n_classes: int, *, cut_bits: int = 0, is_timed: bool, are_bytes: bool = False
) -> tuple[EnsembleConfig, ...]:
    """
    Return the forms that a search tries in any case, without single tables.

    With a limit on time alone (`is_timed`), tables may be large, as rows take no time. If some
    columns are bytes (`are_bytes`), one form may cut their differences. If a part of a reading can
    be compared, `cut_bits` is its width: the high byte saves code in trees, the high half of a
    float saves flash in lists of cuts.
    """
    rows = (16, 64, 256) if is_timed else (8, 16, 32)
    found = [EnsembleConfig(rows=n) for n in rows] if "product" in FORMS else []
    found += [EnsembleConfig(rows=rows[1], refit="soft")] if "product" in FORMS else []
    if "product" in FORMS and are_bytes:
        found += [EnsembleConfig(rows=rows[1], differences=DIFFERENCES)]
    if "product" in FORMS and cut_bits == HALF:
        found += [EnsembleConfig(rows=n, cut_bits=cut_bits) for n in rows[1:]]
    if "branching" in FORMS:
        bits = _tree_bits(n_classes)[-1]
        found += [EnsembleConfig(leaves=leaves, bits=bits) for leaves in (16, 32)]
        if cut_bits == BYTE:
            found += [EnsembleConfig(leaves=16, bits=bits, cut_bits=cut_bits)]
    return tuple(found)


def single_tables() -> tuple[EnsembleConfig, ...]:
    """Return single branching tables, the largest first."""
    if "branching" not in FORMS:
        return ()
    return tuple(
        EnsembleConfig(leaves=leaves, bits=BRANCHING_BITS[-1], is_single=True)
        for leaves in reversed(LEAVES_ALONE)
    )


def neighbors(
    form: EnsembleConfig,
    n_classes: int,
    *,
    are_numbers: bool,
    n_columns: int = 0,
    cut_bits: int = 0,
    most_rows: int = ROWS[1],
) -> Iterator[EnsembleConfig]:
    """Yield the forms that differ in one property."""
    yield from (replace(form, refit=other) for other in form.refits if other != form.refit)
    if form.is_branching:
        yield from _branching_neighbors(form, n_classes)
    else:
        yield from _product_neighbors(form, n_classes, most_rows)
    if cut_bits:
        yield replace(form, cut_bits=0 if form.cut_bits else cut_bits)
    if are_numbers:
        all_cuts = BRANCHING_CUTS if form.is_branching else CUTS
        yield from (replace(form, cuts=cuts) for cuts in all_cuts if cuts != form.cuts)
    yield from (replace(form, inputs=inputs) for inputs in _other_inputs(form.inputs, n_columns))


def _other_inputs(inputs: int, n_columns: int) -> tuple[int, ...]:
    """Return the limits on features to try next to one."""
    if not inputs:
        return tuple(each for each in FIRST_INPUTS if each < n_columns)
    at = INPUTS.index(inputs)
    near = INPUTS[max(0, at - 1) : at + 2]
    return (0, *(each for each in near if each != inputs and each < n_columns))


def _product_neighbors(
    form: EnsembleConfig, n_classes: int, most_rows: int
) -> Iterator[EnsembleConfig]:
    for rows in (form.rows // 2, form.rows * 2):
        if ROWS[0] <= rows <= most_rows:
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


def _branching_neighbors(form: EnsembleConfig, n_classes: int) -> Iterator[EnsembleConfig]:
    for leaves in (form.leaves // 2, form.leaves * 2):
        if leaves in (LEAVES_ALONE if form.is_single else LEAVES):
            yield replace(form, leaves=leaves)
    widths = () if form.is_single else _tree_bits(n_classes)
    for bits in widths:
        if bits != form.bits and abs(widths.index(bits) - widths.index(form.bits)) == 1:
            yield replace(form, bits=bits)


def _tree_bits(n_classes: int) -> tuple[int, ...]:
    return BINARY_BITS if n_classes == 2 else BRANCHING_BITS
