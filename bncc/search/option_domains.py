"""The options that a sweep may sample: their names and values."""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.errors import OptionError
from bncc.lower.cost_model import LEVELS
from bncc.search.trial_result import Choice
from bncc.structure.catalog import STRUCTURES, canonical_name, option_keys
from bncc.structure.options import one_of
from bncc.train.options import OPTIONS as TRAIN_OPTIONS

STRUCTURE_OPTION = "structure-option"
"""Prefix of the names of structure options, before a dot."""
CLASSIFIER = "classifier"
"""The option that selects a Bayesian network or a baseline for a trial."""
NETWORK = "network"
"""Its value for a Bayesian network."""
BASELINE = "baseline"
"""Prefix of the names of a baseline's options, before a dot."""
BASELINES = (
    "tree", "forest", "boosting", "linear", "svm", "gaussian-nb", "categorical-nb", "aode", "dnn",
    "cnn",
)  # fmt: skip
"""Keys of `bncc.baselines.learn.FAMILIES`; repeated here so that their names load no torch."""
BASELINE_KEYS = (
    "name", "leaves", "by", "trees", "rounds", "rate", "C", "gamma", "smoothing", "alpha", "weight",
    "least", "layers", "bits", "activation", "norm", "one-hot", "memory", "operations", "lr",
    "epochs", "batch-size",
)  # fmt: skip
"""The baseline's name, and the options of all baselines."""
OPTIMIZE = "optimize"
"""The only option of the compiler, not of training."""
STRUCTURE_KEYS = frozenset({"alpha"}.union(*map(option_keys, STRUCTURES)))

MOST = 2**53
"""Limit on numbers: training accepts none beyond it, and some of them are not floats."""


@dataclass(frozen=True)
class Drawable:
    """An option that a sweep may sample."""

    name: str  # As on the command line, without dashes
    kind: str  # Type of its values; ``any`` is a text, an integer or a number
    known: tuple[str, ...] = ()  # Values of a text; empty if unrestricted

    def value(self, given: object) -> Choice:
        """Return a value in the type that training uses."""
        is_whole = isinstance(given, int) and not isinstance(given, bool)
        if self.kind in ("flag", "any or flag") and isinstance(given, bool):
            return given
        if self.kind in ("integer", "any", "any or flag") and is_whole:
            assert isinstance(given, int)
            if abs(given) <= MOST:
                return given
        if self.kind in ("number", "any", "any or flag") and (is_whole or isinstance(given, float)):
            assert isinstance(given, int | float)
            if abs(given) <= MOST:  # neither infinite nor NaN
                return float(given)
        if self.kind in ("text", "any", "any or flag") and isinstance(given, str):
            given = canonical_name(given) if self.name == "structure" else given
            if not self.known or given in self.known:
                return given
            raise OptionError(f"{self.name} cannot be '{given}'; choose {one_of(self.known)}")
        raise OptionError(f"{self.name} cannot be {given!r}; write {_KINDS[self.kind]}")

    @property
    def structure_key(self) -> str | None:
        """The key of a structure option, None for other options."""
        return self.key_below(STRUCTURE_OPTION)

    def key_below(self, group: str) -> str | None:
        """Return the part of the name after a group and a dot, None for options without it."""
        head, dot, key = self.name.partition(".")
        return key if dot and head == group else None


def option_of(name: str) -> Drawable:
    """Return an option."""
    head, _, key = name.partition(".")
    if head == STRUCTURE_OPTION:
        if key not in STRUCTURE_KEYS:
            keys = ", ".join(sorted(STRUCTURE_KEYS))
            raise OptionError(f"unknown structure option '{key}'; choose from {keys}")
        return Drawable(name, "any")
    if head == BASELINE:
        if key not in BASELINE_KEYS:
            keys = ", ".join(BASELINE_KEYS)
            raise OptionError(f"unknown baseline option '{key}'; choose from {keys}")
        return Drawable(name, "any or flag")
    if name not in OPTIONS:
        names = ", ".join((*OPTIONS, f"{STRUCTURE_OPTION}.KEY"))
        raise OptionError(f"unknown option '{name}' of a space; choose from {names}")
    return OPTIONS[name]


_KINDS = {
    "text": "a text in quotes",
    "integer": "an integer",
    "number": "a number",
    "flag": "true or false",
    "any": "a number or a text in quotes",
    "any or flag": "a number, a text in quotes, true or false",
}
_KIND_OF = {str: "text", int: "integer", float: "number", bool: "flag"}
_OPTIONS = (
    *(
        Drawable(option.word, _KIND_OF[option.kind], option.choices)
        for option in TRAIN_OPTIONS.values()
        if option.is_drawn
    ),
    Drawable(OPTIMIZE, "text", tuple(LEVELS)),
    Drawable(CLASSIFIER, "text", (NETWORK, BASELINE)),
)
OPTIONS: Mapping[str, Drawable] = {option.name: option for option in _OPTIONS}
"""All options except those of structures, by name."""
