"""Figures and settings in words."""

from collections.abc import Iterable

from bncc.resources import functions_of
from bncc.search.trial_result import Choice, Footprint, Point, Rate
from bncc.structure.catalog import SUM

BASELINE = "baseline."
"""What options of baselines begin with."""
_LEFT_OUT = tuple(f"{BASELINE}{name}" for name in ("name", "lr", "epochs", "batch-size"))


def kinds(points: Iterable[Point]) -> tuple[str, str]:
    """Return what families are called, one and several: structures, unless there are baselines."""
    if all(point.is_network for point in points):
        return "Structure", "Structures"
    return "Family", "Families"


def settings(point: Point) -> str:
    """Return what tells a classifier from others in a sentence, such as "naive with 3 bits"."""
    if not point.is_network:
        return baseline(point)
    has_arcs = any(set(names) - {"class"} for names in point.parents)
    is_bare = point.family not in ("naive", SUM) and not has_arcs
    name = f"{point.family} (no arcs, so naive)" if is_bare else point.family
    if point.q_format is None:
        return f"{name} in floats"
    bits = sum(point.q_format)
    return f"{name} with {bits} {'bit' if bits == 1 else 'bits'}"


def baseline(point: Point) -> str:
    """Return a baseline with what makes it large or small, such as "tree (leaves 48)"."""
    options = {
        name.removeprefix(BASELINE): value
        for name, value in point.params.items()
        if name.startswith(BASELINE) and name not in _LEFT_OUT
    }
    words = ", ".join(f"{name} {_plain(value)}" for name, value in options.items())
    return f"{point.family} ({words})" if words else point.family


def percent(share: float) -> str:
    """Return a share of 0 .. 1 in percent, with one decimal, two below 1 %."""
    return f"{_figure(share)} %"


def _plain(value: Choice) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _figure(share: float) -> str:
    return f"{100 * share + 1e-9:.{1 if share == 0 or share >= 0.00995 else 2}f}"


def interval(rate: Rate) -> str:
    """Return the ends of an interval in percent, such as "10.1 to 12.4"."""
    low, high = rate.interval
    return f"{_figure(low)} to {_figure(high)}"


def points_between(less: float, more: float) -> str:
    """Return the difference of two shares in percentage points, such as "0.8 points"."""
    text = f"{100 * (more - less):.{1 if more - less >= 0.00095 else 2}f}"
    return f"{text} {'point' if text == '1.0' else 'points'}"


def memory(n_bytes: int) -> str:
    """Return a size of memory, such as "4 KB" or "900 bytes"; a KB has 1024 bytes."""
    return f"{n_bytes // 1024} KB" if n_bytes and n_bytes % 1024 == 0 else f"{n_bytes:,} bytes"


def pace(cost: Footprint) -> str:
    """Return the time of a call, such as "611 instructions a call of predict (from states)"."""
    return f"{cost.mean:,.0f} {cost.unit} a call of {functions_of(cost.entries)}"
