"""Features and levels of boosted tables in words."""

from itertools import pairwise

from bncc.discretize.state_words import span
from bncc.model.model import Model
from bncc.structure.decision_tables import RowIndex, TableEnsemble

IN_WORDS = 12
"""Tables whose levels are recorded in words: a study stores them for each trial."""

TableLevels = tuple[tuple[str, tuple[str, ...]], ...]
"""Features of a table, outermost first, each with the readings of its levels."""


def table_levels(model: Model) -> tuple[TableLevels, ...]:
    """
    Return the features and levels of each boosted table; a network has none.

    Levels after the first `IN_WORDS` tables are empty texts: only their number counts.
    """
    if not isinstance(model.structure, TableEnsemble):
        return ()
    return tuple(
        tuple(
            (
                model.features[f].name,
                level_words(model, lookup, f) if t < IN_WORDS else ("",) * len(lookup.states(f)),
            )
            for f in lookup.features
        )
        for t, lookup in enumerate(model.lookups)
    )


def level_words(model: Model, lookup: RowIndex, f: int) -> tuple[str, ...]:
    """Return the readings of each level of a feature, in a few characters."""
    starts = [*lookup.states(f), model.n_states[f]]
    return tuple(span(model.features[f], a, b - 1) for a, b in pairwise(starts))
