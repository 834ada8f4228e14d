"""Studies in words: figures, settings, recommendations by budget, and methods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bncc.resources import functions_of
from bncc.search.trial_result import Choice, Footprint, Point, Rate, Study
from bncc.structure.catalog import SUM

BASELINE = "baseline."
"""Prefix of the options of baselines."""
BOOSTED = "boosted tables"
"""Ensembles of small decision tables."""
_LEFT_OUT = tuple(f"{BASELINE}{name}" for name in ("name", "lr", "epochs", "batch-size"))


def kinds(points: Iterable[Point]) -> tuple[str, str]:
    """Return the noun for families, singular and plural: structures, unless there are baselines."""
    if all(point.is_network for point in points):
        return "Structure", "Structures"
    return "Family", "Families"


def settings(point: Point) -> str:
    """Return a short description of a classifier, such as "naive with 3 bits"."""
    if not point.is_network:
        return baseline(point)
    has_arcs = any(set(names) - {"class"} for names in point.parents)
    is_bare = point.family not in ("naive", SUM) and not has_arcs
    name = f"{point.family} (no arcs, so naive)" if is_bare else point.family
    name = BOOSTED if point.family == SUM else name
    if point.q_format is None:
        return f"{name} in floats"
    bits = sum(point.q_format)
    return f"{name} with {bits} {'bit' if bits == 1 else 'bits'}"


def baseline(point: Point) -> str:
    """Return a baseline with the options that determine its size, such as "tree (leaves 48)"."""
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


def word(value: Choice) -> str:
    """Return a value in the form of a command line, numbers with all digits."""
    return str(value).lower() if isinstance(value, bool) else str(value)


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
    return f"{cost.mean:,.0f} {cost.unit} per call of {functions_of(cost.entries)}"


BUDGETS = tuple(256 * 2**k for k in range(11))
"""Default budgets in bytes: 256 to 256 KB."""


@dataclass(frozen=True)
class Advice:
    """Recommendation for a budget."""

    budget: int  # Bytes
    point: Point | None  # The most accurate on validation rows that fits; None if none fits
    sentences: tuple[str, str]  # Accuracy and footprint, and a comparison with half the budget


def advise(study: Study, target: str | None, budgets: Sequence[int] = ()) -> tuple[Advice, ...]:
    """Recommend a classifier for each flash budget."""
    sized = _sized(study.points, target)
    if not sized:
        return ()
    found: list[Advice] = []
    for budget in sorted(set(budgets or BUDGETS)):
        advice = _within(budget, sized, target)
        same = advice.point is None or (found and found[-1].point is advice.point)
        if budgets or not same:
            found.append(advice)
    # The sizes of a tiny or a huge study may be below or above all powers of two.
    return tuple(found) or (_within(min(size for size, _ in sized), sized, target),)


Sized = list[tuple[int, Point]]


def _sized(points: Sequence[Point], target: str | None) -> Sized:
    """Return the points with their bytes, the most accurate first, then the smallest."""
    sized = []
    for point in points:
        if target is None:
            sized.append(((point.bits + 7) // 8, point))
        elif (cost := point.footprint(target)) is not None:
            sized.append((cost.flash, point))
    return sorted(sized, key=lambda entry: (entry[1].validation.mean, entry[0], entry[1].number))


def _within(budget: int, sized: Sized, target: str | None) -> Advice:
    where = f"flash on {target}" if target else "tables"
    size, point = _best(budget, sized)
    if point is None:
        size, least = min(sized, key=lambda entry: (entry[0], entry[1].number))
        return Advice(
            budget,
            None,
            (
                f"No measured model fits in {memory(budget)} of {where}.",
                f"The smallest is {settings(least)}: {size:,} bytes, with an error rate of "
                f"{percent(least.validation.mean)} on validation rows.",
            ),
        )
    tested = "" if point.test is None else f" and {percent(point.test.mean)} on test rows"
    cost = point.footprint(target) if target else None
    time = f"{point.operations:,} additions per decision" if cost is None else pace(cost)
    first = (
        f"In {memory(budget)} of {where}, the most accurate model is {settings(point)}, with an "
        f"error rate of {percent(point.validation.mean)} ({interval(point.validation)}) on "
        f"validation rows{tested}; it takes {size:,} bytes and {time}."
    )
    return Advice(budget, point, (first, _cheaper(budget, point, sized, target)))


def _best(most: float, sized: Sized) -> tuple[int, Point | None]:
    return next(((size, point) for size, point in sized if size <= most), (0, None))


def _cheaper(budget: int, point: Point, sized: Sized, target: str | None) -> str:
    """Compare a recommendation with that for half the budget."""
    what = "flash" if target else "memory"
    half, other = _best(budget / 2, sized)
    if other is None:
        return f"No measured model fits in half as much {what}."
    if other is point:
        return f"It fits in half as much {what}, too."
    smaller = f"{settings(other)} in {half:,} bytes"
    more = other.validation.mean - point.validation.mean
    if more < 0.00005:
        return f"Half as much {what} is as accurate: {smaller}."
    within = other.validation.mean <= point.validation.interval[1]
    doubt = ", within the interval" if within else ""
    points = points_between(point.validation.mean, other.validation.mean)
    return f"Half as much {what} adds {points} to the error rate{doubt}: {smaller}."


METHODS = (
    (
        "Selection",
        "Models are compared and selected by their error rate on validation rows, which are "
        "excluded from training, averaged over the seeds of a trial. Test rows are not used for "
        "selection; their error rate is reported separately.",
    ),
    (
        "Interval",
        "Wilson's 95 % interval, with the number of validation rows summed over the seeds. Rows "
        "are assumed independent, with --groups and --ordered too, so it is too narrow there. "
        "It applies to one trial; for the best of many it is optimistic, and the test error rate "
        "shows by how much.",
    ),
    (
        "Pareto front",
        "A trial is on the front if every trial of at most its footprint has a higher error rate. "
        "A step is marked as significant if the upper end of its interval is below the mean error "
        "rate of the previous significant step; the first step always is. Trials are evaluated "
        "on the same rows, so this is a rule of thumb, not a test.",
    ),
    (
        "Hypervolume",
        "The share of a box that a family's front dominates, 0 to 100 %: error rates from 0 to "
        "the largest of all trials, and the logarithm of the footprint from the smallest to the "
        "largest of all trials of the study on that target. It depends on which trials were run.",
    ),
    (
        "Flash, RAM, stack",
        "Bytes of the named entry points, compiled for the target, with all library routines "
        "that they use, as bncc bench reports them. The stack is not part of the RAM.",
    ),
    (
        "Instructions, cycles",
        "The mean number of executed instructions per call of the slowest named entry point, on "
        "a simulator; cycles on AVR. Call and return are included. predict takes states; "
        "predict_raw takes readings. The largest is that of the inputs tried, not a bound.",
    ),
    (
        "Operations",
        "Additions per decision: C (D + 1) for C classes and D features, each with one table "
        "look-up. There are no multiplications.",
    ),
    (
        "Table bits",
        "Bits of all table entries and the prior, before compiler passes, which reduce them.",
    ),
)
"""Heads and texts of the methods."""
