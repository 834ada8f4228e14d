"""Features, levels and leaves of boosted tables in words."""

from itertools import pairwise
from math import prod

from bncc.discretize.state_words import between, span
from bncc.model.model import Model
from bncc.structure.decision_tables import BranchingTable, Lookup, TableEnsemble

IN_WORDS = 12
"""Tables whose levels are recorded in words: a study stores them for each trial."""

TableLevels = tuple[tuple[str, tuple[str, ...]], ...]
"""Features of a table, outermost first, each with the readings of its levels. Those of a tree are
behind an entry named `LEAVES`, which has an empty text for each leaf."""

LEAVES = "(leaves)"


def table_levels(model: Model) -> tuple[TableLevels, ...]:
    """
    Return the features and levels of each boosted table; a network has none.

    Levels after the first `IN_WORDS` tables are empty texts: only their number counts.
    """
    if not isinstance(model.structure, TableEnsemble):
        return ()
    return tuple(
        (
            *_leaves(lookup),
            *(
                (
                    model.features[f].name,
                    level_words(model, lookup, f)
                    if t < IN_WORDS
                    else ("",) * len(lookup.states(f)),
                )
                for f in lookup.read
            ),
        )
        for t, lookup in enumerate(model.lookups)
    )


def _leaves(lookup: Lookup) -> TableLevels:
    return ((LEAVES, ("",) * lookup.n_rows),) if isinstance(lookup, BranchingTable) else ()


def n_rows(table: TableLevels) -> int:
    """Return the number of rows of a table: its leaves, or all combinations of levels."""
    levels = dict(table)
    return len(levels[LEAVES]) if LEAVES in levels else prod(map(len, levels.values()))


def read_by(table: TableLevels) -> TableLevels:
    """Return the features that a table reads and their levels."""
    return tuple(entry for entry in table if entry[0] != LEAVES)


def leaf_words(model: Model, tree: BranchingTable) -> tuple[str, ...]:
    """Return the condition of each leaf of a tree, as clauses about features."""
    return tuple(
        "; ".join(between(model.features[f], *states) for f, states in sorted(region.items()))
        for region in tree.regions(model.n_states)
    )


def level_words(model: Model, lookup: Lookup, f: int) -> tuple[str, ...]:
    """Return the readings of each level of a feature, in a few characters."""
    starts = [*lookup.states(f), model.n_states[f]]
    return tuple(span(model.features[f], a, b - 1) for a, b in pairwise(starts))
