"""A balance is never worse in all that counts than the smallest layout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions
from bncc.fixed_point import QFormat
from bncc.lower.choose import choose
from bncc.lower.cost_model import textbook_cost
from bncc.lower.entry_price import EntryPrices
from bncc.lower.request import Request
from bncc.model.model import Model
from bncc.program.pipeline import FLOWS_FOR, optimize_each, program_of
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests.tiers import examples


@st.composite
def models(draw):
    """Draw boosted tables over readings of several types."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    kinds = draw(st.lists(st.sampled_from(["int16", "int32", "float32"]), min_size=1, max_size=6))
    features = []
    for i, kind in enumerate(kinds):
        n_cuts = int(rng.integers(1, 6))
        cuts = np.sort(rng.permutation(900)[:n_cuts]) - 100
        typed = tuple(float(cut) if kind == "float32" else int(cut) for cut in cuts)
        features.append(Feature(f"x{i}", kind, n_cuts + 1, typed))
    grids = []
    for _ in range(draw(st.integers(1, 30))):
        some = sorted(rng.permutation(len(kinds))[: rng.integers(1, 4)].tolist())
        places = [(int(rng.integers(0, len(features[f].thresholds))),) for f in some]
        grids.append(DecisionTable(tuple(some), tuple(places)))
    n_classes = draw(st.integers(2, 9))
    tables = tuple(rng.integers(0, 8, (grid.n_rows, n_classes)) for grid in grids)
    classes = tuple(f"c{c}" for c in range(n_classes))
    prior = rng.integers(0, 4, n_classes)
    structure = TableEnsemble(tuple(grids))
    return Model(tuple(features), classes, structure, QFormat(2, 2), prior, tables, {})


def chosen(model, optimize, entries, target, programs):
    """Return the choice among the layouts of given programs at one price."""
    options = EmitOptions("m", target=target, priced=entries)
    prices = EntryPrices(Request(model, options))
    imported = program_of(model)
    textbook = prices.textbook(imported, textbook_cost(imported, target))
    return choose(programs, textbook, optimize=optimize, target=target, prices=prices).chosen


@pytest.mark.no_cover
@settings(max_examples=examples(40))
@given(
    models(),
    st.sampled_from([("predict-raw",), ("predict",), ("predict", "predict-raw")]),
    st.sampled_from([None, "cortex-m4", "avr"]),
)
def test_a_balance_is_not_dominated_by_the_smallest_or_the_fastest(model, entries, target):
    programs = [each.program for each in optimize_each(program_of(model), FLOWS_FOR["size"])]
    balanced = chosen(model, "balanced", entries, target, programs)
    ours = (balanced.flash, balanced.instructions, balanced.ram)
    for goal in ("size", "speed"):
        other = chosen(model, goal, entries, target, programs)
        theirs = (other.flash, other.instructions, other.ram)
        assert theirs == ours or any(a > b for a, b in zip(theirs, ours, strict=True))
