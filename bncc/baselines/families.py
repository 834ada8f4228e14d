"""All rivals by name: who learns them, and which options they take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bncc.baselines import aode, networks, trees
from bncc.baselines import sklearn_models as usual
from bncc.baselines.rival import Options, Rival, Rows
from bncc.errors import OptionError

Learner = Callable[[Rows, Options, int], Rival]


@dataclass(frozen=True)
class Family:
    """A kind of rival."""

    learn: Learner  # From rows, options and a seed to a rival
    defaults: Options  # Every option that it takes, with the value it has unless another is given
    budgets: tuple[str, ...] = ()  # Options of which one is given, the default among `defaults`

    def options(self, given: Options) -> Options:
        """Complete options."""
        known = {**self.defaults, **dict.fromkeys(self.budgets, 0)}
        unknown = sorted(given.keys() - known.keys())
        if unknown:
            raise OptionError(f"there is no option '{unknown[0]}'; there are {', '.join(known)}")
        is_sized = any(name in given for name in self.budgets)
        kept = {k: v for k, v in self.defaults.items() if not (is_sized and k in self.budgets)}
        return {**kept, **given}


_NETWORK: Options = {
    "layers": 3, "bits": 4, "activation": "relu", "norm": True, "memory": 4.0,
    "lr": 0.003, "epochs": 100, "batch-size": 100,
}  # fmt: skip
_BUDGETS = ("memory", "operations")

FAMILIES: Mapping[str, Family] = {
    "tree": Family(trees.tree, {"leaves": 64, "by": "emlearn"}),
    "forest": Family(trees.forest, {"trees": 10, "leaves": 64, "by": "emlearn"}),
    "boosting": Family(trees.boosting, {"rounds": 20, "leaves": 8, "rate": 0.3}),
    "linear": Family(usual.linear, {"C": 1.0}),
    "svm": Family(usual.svm, {"C": 10.0, "gamma": 1.0}),
    "gaussian-nb": Family(usual.gaussian, {"smoothing": 1e-3}),
    "categorical-nb": Family(usual.categorical, {"alpha": 1.0}),
    "aode": Family(aode.aode, {"weight": 1.0, "least": 1}),
    "dnn": Family(networks.dense, {**_NETWORK, "one-hot": False}, _BUDGETS),
    "cnn": Family(networks.convolutional, {**_NETWORK, "layers": 1}, _BUDGETS),
}
"""In the order in which they are shown."""


def family_of(name: str) -> Family:
    """Return a family by its name."""
    if name not in FAMILIES:
        raise OptionError(f"no baseline is called '{name}'; there are {', '.join(FAMILIES)}")
    return FAMILIES[name]
