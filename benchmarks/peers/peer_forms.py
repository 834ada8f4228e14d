"""
Forms of bncc's models for the comparison with other tools, frozen before test errors are read.

A form is a number of boosted tables of one size, over product cuts (`rows`) or addressed by a tree
(`leaves`), and the options of its training. `emissions` has the options of its C. Each pair is one
program: one C file, whose ``predict_raw`` is measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from bncc.emit.options import EmitOptions, words_of
from bncc.lower.cost_model import LEVELS
from bncc.search.config import settings_of, train_words
from bncc.search.option_domains import STRUCTURE_OPTION
from bncc.search.trial_result import Choice
from bncc.structure.catalog import SUM
from bncc.train.settings import TrainSettings

HELD = 0.2
"""Validation share of the training rows; the errors of different forms are close together."""
FIXED: Mapping[str, Any] = {"validation": HELD, "readings": "uint8"}
"""Options of every training."""
TARGET = "cortex-m0"
"""Target that the C is emitted for: its instructions count."""
NAME = "m"
"""Prefix of all symbols of the C."""
CUTS = "cuts"
"""The kernel of straight-line code that takes the fewest bytes for few product tables."""
FEW_ROWS = 130
"""Limit on rows of all tables together for code in a straight line."""
SOFT: Mapping[str, Choice] = {
    f"{STRUCTURE_OPTION}.decay": 0.15, "dropout": 0.3, "lr": 0.01, "epochs": 15,
}  # fmt: skip
"""A joint refit that changes the boosted tables less than the default."""
BITS = 3
MOST_LEAVES = 1280
"""Limit on leaves of all tables together; more do not fit where time counts."""


@dataclass(frozen=True)
class Form:
    """Options of a training, besides those that are the same for all forms."""

    tables: int
    rows: int = 0  # Limit on rows of a product table; 0 for trees
    leaves: int = 0  # Limit on leaves of a table's tree; 0 for product tables
    bits: int = BITS  # Bits of a cost
    features: int = 0  # Limit on features of a product table; 0 for the default
    dictionary: int = 0  # Limit on distinct rows of all tables; 0 for none
    is_soft: bool = False  # True for the options of `SOFT`

    @property
    def is_tree(self) -> bool:
        """True for a single tree, whose leaves are classes."""
        return bool(self.leaves) and self.tables == 1

    @property
    def title(self) -> str:
        """Description in the table."""
        if self.is_tree:
            return f"tree of {self.leaves} leaves"
        size = f"{self.leaves} leaves" if self.leaves else f"{self.rows} rows"
        parts = [f"{self.tables} tables of {size}", f"{self.bits} bits"]
        if self.features:
            parts.append(f"{self.features} features")
        if self.dictionary:
            parts.append(f"{self.dictionary} distinct rows")
        if self.is_soft:
            parts.append("soft refit")
        return ", ".join(parts)

    @property
    def key(self) -> str:
        """Name of its model file."""
        size = f"leaves{self.leaves}" if self.leaves else f"rows{self.rows}"
        parts = [f"{self.tables}x{size}", f"bits{self.bits}"]
        parts += [f"features{self.features}"] if self.features else []
        parts += [f"dictionary{self.dictionary}"] if self.dictionary else []
        return "-".join([*parts, *(["soft"] if self.is_soft else [])])

    @property
    def params(self) -> dict[str, Choice]:
        """Its own options of ``bncc train`` by name, as in a trial of a study."""
        sizes = {
            "tables": self.tables, "rows": self.rows, "leaves": self.leaves,
            "features": self.features, "dictionary": self.dictionary,
        }  # fmt: skip
        found: dict[str, Choice] = {"structure": SUM}
        found |= {f"{STRUCTURE_OPTION}.{key}": size for key, size in sizes.items() if size}
        # The leaves of a single tree are classes and have no costs.
        found |= {} if self.is_tree else {"bits": self.bits}
        return found | (SOFT if self.is_soft else {})

    def settings(self, seed: int = 0) -> TrainSettings:
        """Return the settings of its training."""
        return replace(settings_of(self.params, seed), **FIXED)

    def train_command(self, archive: str, output: str) -> tuple[str, ...]:
        """Return the command that trains its model."""
        fixed = chain.from_iterable((f"--{name}", str(value)) for name, value in FIXED.items())
        words = (*train_words(self.params), *fixed)
        return ("bncc", "train", archive, "--fold", "1", *words, "-o", output)


def emissions(form: Form) -> tuple[EmitOptions, ...]:
    """Return the options of ``bncc emit-c`` for a form's models."""
    goals = tuple(EmitOptions(NAME, optimize=goal, target=TARGET) for goal in LEVELS)
    if not form.leaves and form.tables * form.rows <= FEW_ROWS:
        return (*goals, replace(goals[0], kernel=CUTS))
    return goals


def way_of(options: EmitOptions) -> str:
    """Return the options of an emission in the table."""
    return options.optimize if options.kernel is None else f"--kernel {options.kernel}"


def emit_command(options: EmitOptions, model: str) -> tuple[str, ...]:
    """Return the command that emits C with options of `emissions`."""
    of = chain.from_iterable(words_of(options))
    return ("bncc", "emit-c", model, "-o", options.name, "--name", options.name, *of)


def _products(tables: Sequence[int], rows: int, **others: int) -> tuple[Form, ...]:
    return tuple(Form(n, rows=rows, **others) for n in tables)


def _trees(
    tables: Sequence[int], leaves: Sequence[int], bits: int = BITS, most: int = MOST_LEAVES
) -> tuple[Form, ...]:
    """Return tables of trees with up to `most` leaves together."""
    return tuple(Form(n, leaves=k, bits=bits) for k in leaves for n in tables if n * k <= most)


_SINGLE = (
    8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 96, 112, 128, 132, 136, 140, 144, 152,
    160, 176, 192, 208, 224, 240, 256,
)  # fmt: skip
"""Leaves of single trees, up to the limit of ``leaves`` at the time."""
_LARGE = (320, 384, 448, 512, 640, 768, 896, 1024)
"""Leaves of larger single trees, added after a first look at test errors: the baselines have some
of 512 and 1,024 leaves."""
_FEW = (3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 30, 45, 60, 90, 130)
_TREES = (2, 3, 4, 5, 6, 8, 12, 16, 24, 40)
FORMS: tuple[Form, ...] = (
    *(Form(1, leaves=leaves) for leaves in (*_SINGLE, *_LARGE)),
    *_products((4, 8, 16, 24), 4),
    *_products((*_FEW, 180), 8),
    *_products((*_FEW, 180), 16),
    *_products(_FEW[:-1], 32),
    *_products((3, 4, 5, 8, 12, 16, 20, 30), 64),
    *_products((2, 3, 5, 8, 12), 128, bits=2),
    *_products((5, 12, 20, 60), 16, bits=4),
    *_products((5, 6), 16, features=6),
    *_products((4, 5), 32, bits=2, features=5),
    *_products((3, 4, 5, 6), 64, features=6),
    *_products((3, 4, 5, 6), 128, bits=2, features=7),
    *_products((2, 3, 4, 5), 256, bits=2, features=8),
    *(Form(n, rows=16, is_soft=True) for n in (60, 130, 170, 250)),
    *(Form(n, rows=32, is_soft=True) for n in (40, 60, 130)),
    *_trees(_TREES, (8, 12, 16, 24, 32, 48, 64)),
    *_trees((2, 3, 4, 6, 10), (96, 128, 192, 256)),
    *_trees((3, 4, 5, 6, 8), (12, 16, 24, 32, 48), bits=2),
    *_trees((3, 8, 16), (16, 32, 64), bits=4),
)
"""All forms, in the order of their measurement."""
