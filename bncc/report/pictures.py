"""The structures of chosen models as pictures, or in words where there is nothing to draw."""

from bncc.data.files import printable
from bncc.search.trial_result import Point, Study
from bncc.structure.catalog import SUM
from bncc.structure.graph import Structure
from bncc.structure.picture import structure_svg

_CLASS = "class"
_MOST = 256
"""Features that are drawn."""


def picture(point: Point, study: Study) -> str | None:
    """Draw the arcs between the features of a point."""
    names = study.facts.get("features") or []
    arcs = _arcs(point)
    if not arcs or len(names) != len(point.parents) or len(names) > _MOST:
        return None
    place = {name: i for i, name in enumerate(names)}
    try:
        structure = Structure(
            tuple(tuple(place[name] for name in _features(some)) for some in point.parents),
            tuple(some[-1:] == (_CLASS,) for some in point.parents),
        )
    except (KeyError, ValueError):
        return None
    return structure_svg(structure, [printable(str(name)) for name in names], caption=False)


def words(point: Point) -> str:
    """Return the structure of a point in a sentence."""
    if not point.is_network:
        return "Another classifier, to compare with; it has no network of features."
    if point.family == SUM:
        return "A sum of tables, each over a few cuts of a few features; it has no network of them."
    arcs = _arcs(point)
    if arcs == 0:
        return f"Naive Bayes: each of {len(point.parents):,} features depends on the class alone."
    return f"{len(point.parents):,} features with {arcs:,} arcs between them."


def _features(parents: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parents that are features; the class stands last."""
    return parents[:-1] if parents[-1:] == (_CLASS,) else parents


def _arcs(point: Point) -> int:
    return sum(len(_features(parents)) for parents in point.parents)
