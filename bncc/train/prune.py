"""Features without the cuts that no table of a sum reads."""

from collections.abc import Sequence
from dataclasses import replace

from bncc.discretize.feature import Feature
from bncc.structure.decision_tables import Grid, Grids


def pruned(features: Sequence[Feature], grids: Grids) -> tuple[tuple[Feature, ...], Grids]:
    """Drop the thresholds that no table asks for; a state is then what lies between two others."""
    used: list[set[int]] = [set() for _ in features]
    for grid in grids.tables:
        for f, cuts in zip(grid.features, grid.cuts, strict=True):
            used[f].update(cuts)
    kept = [
        _kept(feature, cuts) if feature.is_numeric else tuple(range(feature.n_states - 1))
        for feature, cuts in zip(features, used, strict=True)
    ]
    place = [{cut: k for k, cut in enumerate(cuts)} for cuts in kept]
    tables = (
        Grid(
            grid.features,
            tuple(
                tuple(place[f][cut] for cut in cuts)
                for f, cuts in zip(grid.features, grid.cuts, strict=True)
            ),
        )
        for grid in grids.tables
    )
    inputs = (_fewer(feature, cuts) for feature, cuts in zip(features, kept, strict=True))
    return tuple(inputs), Grids(tuple(tables))


def _kept(feature: Feature, used: set[int]) -> tuple[int, ...]:
    """Return the cuts that stay, ascending; that below the state of missing readings does."""
    n_cuts = len(feature.thresholds)
    below_missing = {n_cuts} if feature.n_states > n_cuts + 1 else set()
    return tuple(sorted(used | below_missing))


def _fewer(feature: Feature, kept: Sequence[int]) -> Feature:
    if not feature.is_numeric:
        return feature
    thresholds = tuple(feature.thresholds[cut] for cut in kept if cut < len(feature.thresholds))
    fallback = sum(cut < feature.fallback for cut in kept)
    return replace(feature, n_states=len(kept) + 1, thresholds=thresholds, fallback=fallback)
