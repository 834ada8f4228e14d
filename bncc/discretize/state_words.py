"""Ranges of states in words: the readings that have them."""

from bncc.discretize.feature import Feature


def between(feature: Feature, first: int, last: int) -> str:
    """Return the readings of a range of states, as a clause about the feature."""
    if _are_labels(feature, first, last):
        return f"{feature.name} is {_labels(feature, first, last)}"
    above, up_to, has_missing = _ends(feature, first, last)
    more = "" if above is None else f"> {above:.6g}"
    less = "" if up_to is None else f"<= {up_to:.6g}"
    numbers = " and ".join(part for part in (more, less) if part) or "any"
    return f"{feature.name} {numbers}" + (" or missing" if has_missing else "")


def span(feature: Feature, first: int, last: int) -> str:
    """Return the readings of a range of states in a few characters, without the name."""
    if feature.kind == "state":
        ends = f"{first} .. {last}" if last > first else str(first)
        return f"> {first - 1}" if first and last == feature.n_states - 1 > first else ends
    if _are_labels(feature, first, last):
        return _labels(feature, first, last).replace("missing", "?")
    above, up_to, has_missing = _ends(feature, first, last)
    if above is None:
        words = "any" if up_to is None else f"≤ {up_to:.4g}"
    else:
        words = f"> {above:.4g}" if up_to is None else f"{above:.4g} .. {up_to:.4g}"
    return words + (" or ?" if has_missing else "")


def _are_labels(feature: Feature, first: int, last: int) -> bool:
    """Return whether states have labels: categories, or a missing reading only."""
    is_missing = first > len(feature.thresholds) or last < _first_reading(feature)
    return is_missing or not feature.is_numeric


def _ends(
    feature: Feature, first: int, last: int
) -> tuple[int | float | None, int | float | None, bool]:
    """Return the readings at both ends, and whether a state means a missing reading."""
    cuts, begin = feature.thresholds, _first_reading(feature)
    above = cuts[first - 1] if first > begin else None
    up_to = cuts[last] if last < len(cuts) else None
    return above, up_to, first < begin or last > len(cuts)


def _first_reading(feature: Feature) -> int:
    """Return the first state of readings: in boosted tables the missing state may be below it."""
    return int(feature.has_missing_below)


def _labels(feature: Feature, first: int, last: int) -> str:
    known = feature.categories
    states = range(first, last + 1)
    return " or ".join(known[s] if s < len(known) else _nameless(feature, s) for s in states)


def _nameless(feature: Feature, state: int) -> str:
    return str(state) if feature.kind == "state" else "missing"
