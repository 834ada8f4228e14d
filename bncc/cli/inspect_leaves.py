"""Leaves of the branching tables of a model, for ``bncc inspect -v``."""

from collections.abc import Iterator

from bncc.cli.console import aligned, printable
from bncc.discretize.state_words import between
from bncc.model.front import FRONT, UNSURE, front_of
from bncc.model.model import Model
from bncc.structure.decision_tables import BranchingTable


def leaf_lists(model: Model) -> Iterator[str]:
    """Yield a list of leaves for each table that a tree addresses, from left to right."""
    front = front_of(model)
    for t, (lookup, costs) in enumerate(zip(model.lookups, model.tables, strict=True)):
        if not isinstance(lookup, BranchingTable):
            continue
        if t == 0 and front is not None:
            name, head = FRONT, "decision"
            rows = [
                "tables" if decision == UNSURE else printable(model.classes[decision])
                for decision in front.decisions.tolist()
            ]
        else:
            name, head = f"table {t}", "costs"
            rows = [" ".join(map(str, row)) for row in costs.tolist()]
        regions = (
            "; ".join(between(model.features[f], *states) for f, states in sorted(region.items()))
            for region in lookup.regions(model.n_states)
        )
        lines = [
            [str(k), row, region] for k, (row, region) in enumerate(zip(rows, regions, strict=True))
        ]
        yield aligned([[f"{name}, leaf", head, "reads"], *lines], right=(0,))
