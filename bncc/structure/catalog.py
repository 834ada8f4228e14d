"""Every structure by its command-line name, with its options."""

from collections.abc import Mapping, Sequence

from bncc._types import IntArray
from bncc.data.splits import SplitRule
from bncc.errors import OptionError
from bncc.progress import Progress, silence
from bncc.structure.candidates import CANDIDATE_SETS
from bncc.structure.graph import Structure
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS
from bncc.structure.options import check_values, one_of

SUM = "tables"
"""Boosted tables: an additive ensemble, not a network."""
SUM_KEYS = (
    "tables", "rows", "features", "inputs", "leaves", "depth", "front", "front-differing", "gate",
    "gate-differing", "cuts", "cut-bits", "differences", "dictionary", "rate", "decay", "shift",
)  # fmt: skip

CONTRACT = (
    "chow-liu", "naive", "forest", "random", "tan-subset", "tan-all", "tan-heuristic",
    "hill-climb", "anneal", "etan", "s-etan", "sa-etan", "a-etan", "network-hill-climb", "tabu",
    "mmhc", "curriculum", SUM,
)  # fmt: skip
"""Names in the command line's contract, in its order."""
_OFFERED = (*LEARNERS, *CANDIDATE_SETS, SUM)
STRUCTURES = (*CONTRACT, *(name for name in _OFFERED if name not in CONTRACT))
"""Structures that can be learned."""
ALIASES: Mapping[str, str] = {"boosted": SUM}
"""Other names that users may give structures; records have the name above."""


def canonical_name(name: str) -> str:
    """Return the name of a structure that has it or an alias of it."""
    return ALIASES.get(name, name)


def option_keys(name: str) -> tuple[str, ...]:
    """Return the option keys of a structure."""
    if name in LEARNERS:
        return tuple(LEARNERS[name].readers)
    if name in CANDIDATE_SETS:
        return CANDIDATE_SETS[name].option_keys
    if name == SUM:
        return SUM_KEYS
    raise OptionError(f"unknown structure '{name}'; choose {one_of(STRUCTURES)}")


def check_structure_options(
    name: str, options: Mapping[str, str], extra_keys: Sequence[str] = ()
) -> None:
    """Reject an unknown structure name or option key."""
    keys = sorted({*option_keys(name), *extra_keys})
    for key in options:
        if key not in keys:
            known = f"its options are {', '.join(keys)}" if keys else "it has no options"
            if key in SUM_KEYS:
                known = (
                    "it is one of boosted tables: add --structure tables, without which a search "
                    "for a budget tries several structures"
                )
            raise OptionError(f"unknown option '{key}' of structure '{name}'; {known}")
    own = LEARNERS[name].readers if name in LEARNERS else {}
    check_values({key: text for key, text in options.items() if key not in own})
    if name in LEARNERS:
        for read in LEARNERS[name].readers.values():
            read(options)


def learn_structure(
    name: str,
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    options: Mapping[str, str] | None = None,
    seed: int = 0,
    tell: Progress | None = None,
    origin: IntArray | None = None,
    split: SplitRule | None = None,
) -> Structure:
    """
    Learn a structure by name.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `origin` (n_samples,) int.
    """
    options = options or {}
    check_structure_options(name, options)
    if name not in LEARNERS:
        raise OptionError(
            f"structure '{name}' is learned jointly with the tables; train a model instead"
        )
    problem = Problem(X, y, n_states, n_classes, options, seed, tell or silence, origin, split)
    return LEARNERS[name].learn(problem)
