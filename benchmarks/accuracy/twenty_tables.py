"""Tables of `benchmarks.accuracy.twenty_sets`, and their counts and averages."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import fmean

from benchmarks.shared.decisions import CLEAR, Figures, is_clearly_better, mcnemar, p_by_parts
from benchmarks.shared.markdown import NOTHING, table

FEW = 7
"""Largest number of classes of the first of two groups of sets."""
GROUPS: Mapping[str, Callable[[int], bool]] = {
    f"at most {FEW} classes": lambda n_classes: n_classes <= FEW,
    "more classes": lambda n_classes: n_classes > FEW,
}


@dataclass(frozen=True)
class Row:
    """A data set with a budget: the classifiers that are compared."""

    name: str
    n_classes: int
    budget: int  # Bytes
    ours: Figures
    tree: Figures | None  # None if none is within the limits
    forest: Figures | None
    earlier: Figures | None  # None if it was not searched
    commit: str  # Version that searched

    @property
    def others(self) -> dict[str, Figures | None]:
        """Classifiers to compare ours with, by name."""
        return {"tree": self.tree, "forest": self.forest, "d593a37": self.earlier}


@dataclass(frozen=True)
class Tally:
    """Outcomes of a comparison over several sets."""

    wins: int
    ties: int
    losses: int
    n_better: int  # Sets where ours is clearly better
    n_worse: int
    difference: float  # Mean of our error less the other, percentage points


def tally(pairs: Sequence[tuple[Figures, Figures]]) -> Tally:
    """Return the outcomes of ours against others; there is a pair at least."""
    return Tally(
        wins=sum(ours.wrong < other.wrong for ours, other in pairs),
        ties=sum(ours.wrong == other.wrong for ours, other in pairs),
        losses=sum(ours.wrong > other.wrong for ours, other in pairs),
        n_better=sum(is_clearly_better(ours, other) for ours, other in pairs),
        n_worse=sum(is_clearly_better(other, ours) for ours, other in pairs),
        difference=fmean(ours.error - other.error for ours, other in pairs),
    )


def summary(rows: Sequence[Row]) -> str:
    """Return the outcomes for each budget and baseline."""
    lines = []
    for budget in _budgets(rows):
        some = [row for row in rows if row.budget == budget]
        for name in ("tree", "forest", "d593a37"):
            pairs = [(row.ours, other) for row in some if (other := row.others[name]) is not None]
            if pairs:
                lines.append((f"{budget:,}", name, *_tally_cells(tally(pairs), len(some))))
    head = (
        "flash", "against", "wins", "ties", "losses", "clearly better", "clearly worse",
        "mean difference", "not compared",
    )  # fmt: skip
    return table(head, lines)


def _tally_cells(found: Tally, n_sets: int) -> tuple[str, ...]:
    n_compared = found.wins + found.ties + found.losses
    counts = (found.wins, found.ties, found.losses, found.n_better, found.n_worse)
    return (*map(str, counts), f"{found.difference:+.2f}", str(n_sets - n_compared))


def averages(rows: Sequence[Row]) -> str:
    """Return the mean instructions of ours for each budget and group of sets."""
    lines = []
    for budget in _budgets(rows):
        for words, holds in GROUPS.items():
            some = [row for row in rows if row.budget == budget and holds(row.n_classes)]
            if some:
                lines.append((f"{budget:,}", words, *_average_cells(some)))
    head = (
        "flash", "sets", "number", "mean instr.", "of d593a37", "largest mean", "worst case",
    )  # fmt: skip
    return table(head, lines)


def _average_cells(rows: Sequence[Row]) -> tuple[str, ...]:
    slowest = max(rows, key=lambda row: row.ours.mean)
    worst = max(rows, key=lambda row: row.ours.worst)
    before = [row.earlier.mean for row in rows if row.earlier is not None]
    return (
        str(len(rows)),
        f"{fmean(row.ours.mean for row in rows):,.0f}",
        f"{fmean(before):,.0f}" if len(before) == len(rows) else NOTHING,
        f"{slowest.ours.mean:,.0f} ({slowest.name})",
        f"{worst.ours.worst:,} ({worst.name})",
    )


def set_rows(rows: Sequence[Row], budget: int) -> str:
    """Return the figures of ours and of both baselines for each set."""
    head = ["set", "classes", *(f"bncc {what}" for what in ("error", "flash", "mean", "worst"))]
    for name in ("tree", "forest"):
        head += [f"{name} {what}" for what in ("error", "flash", "mean", "p")]
    lines = []
    for row in (one for one in rows if one.budget == budget):
        ours = row.ours
        cells = [row.name, str(row.n_classes), *_cells(ours), f"{ours.worst:,}"]
        for other in (row.tree, row.forest):
            cells += [NOTHING] * 4 if other is None else [*_cells(other), _p_cell(ours, other)]
        lines.append(cells)
    return table(head, lines)


def dependent_rows(rows: Sequence[Row], names: Container[str]) -> str:
    """Return both tests for sets whose rows are in order of time."""
    lines = [
        (
            row.name, f"{row.budget:,}", kind, f"{row.ours.wrong:,}", f"{other.wrong:,}",
            f"{mcnemar(row.ours, other):.1g}", f"{p_by_parts(row.ours, other):.3f}",
        )
        for row in rows
        if row.name in names
        for kind, other in row.others.items()
        if other is not None
    ]  # fmt: skip
    head = ("set", "budget", "against", "errors bncc", "errors other", "p McNemar", "p parts")
    return table(head, lines)


def earlier_rows(rows: Sequence[Row]) -> str:
    """Return ours compared with the earlier choice, for each set and budget."""
    lines = [
        (
            row.name, f"{row.budget:,}", f"{row.ours.error:.2f}", f"{row.earlier.error:.2f}",
            f"{row.ours.error - row.earlier.error:+.2f}", _p_cell(row.ours, row.earlier),
            f"{row.ours.flash:,}", f"{row.earlier.flash:,}",
            f"{row.ours.mean:,.0f}", f"{row.earlier.mean:,.0f}",
        )
        for row in rows
        if row.earlier is not None
    ]  # fmt: skip
    figures = [f"{what} {of}" for what in ("flash", "instr.") for of in ("now", "d593a37")]
    head = ("set", "budget", "error now", "error d593a37", "difference", "p", *figures)
    return table(head, lines)


def chosen_rows(rows: Sequence[Row], budget: int) -> str:
    """Return the selected classifiers."""
    lines = [
        (row.name, *(one.words if one else NOTHING for one in (row.ours, *others)), row.commit)
        for row in rows
        if row.budget == budget
        for others in [(row.tree, row.forest)]
    ]
    return table(("set", "bncc", "tree", "forest", "commit"), lines)


@dataclass(frozen=True)
class Equal:
    """Smallest flash of ours at the error of the earlier choice."""

    name: str
    budget: int  # Flash budget of the earlier choice, bytes
    earlier: int  # Smallest flash of an earlier choice with at most the error of this one
    ours: int  # Smallest flash of ours with at most its error; if there is none, the largest
    is_reached: bool  # False if no budget of ours reaches the error

    @property
    def ratio(self) -> float:
        """Our flash over the earlier; a lower bound if the error is not reached."""
        return self.ours / self.earlier


def at_equal_error(
    name: str, budget: int, earlier: Mapping[int, Figures], ours: Sequence[Figures]
) -> Equal:
    """
    Return the smallest of ours and of all earlier choices with no more errors than one of these.

    The earlier choices are given by budget. They are reduced as ours are, since a choice for a
    smaller budget can be as accurate.
    """
    wrong = earlier[budget].wrong
    least = min(one.flash for one in earlier.values() if one.wrong <= wrong)
    enough = [one.flash for one in ours if one.wrong <= wrong]
    flash = min(enough) if enough else max(one.flash for one in ours)
    return Equal(name, budget, least, flash, bool(enough))


def equal_rows(equals: Sequence[Equal]) -> str:
    """Return flash at equal error for each set and budget, and the geometric means."""
    lines = [
        (
            f"{budget:,}", one.name, f"{one.earlier:,}",
            f"{'' if one.is_reached else '> '}{one.ours:,}",
            f"{'' if one.is_reached else '> '}{one.ratio:.2f}",
        )
        for budget in sorted({each.budget for each in equals})
        for one in equals
        if one.budget == budget
    ]  # fmt: skip
    for budget in sorted({each.budget for each in equals}):
        some = [each for each in equals if each.budget == budget]
        beyond = "" if all(each.is_reached for each in some) else "> "
        mean = geometric_mean([each.ratio for each in some])
        name = f"geometric mean of {len(some)}"
        lines.append((f"{budget:,}", name, "", "", f"{beyond}{mean:.2f}"))
    return table(("budget", "set", "flash d593a37", "flash now", "ratio"), lines)


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values."""
    return exp(fmean(map(log, values)))


def _budgets(rows: Sequence[Row]) -> list[int]:
    return sorted({row.budget for row in rows})


def _cells(one: Figures) -> tuple[str, str, str]:
    return f"{one.error:.2f}", f"{one.flash:,}", f"{one.mean:,.0f}"


def _p_cell(ours: Figures, other: Figures) -> str:
    """Return the p-value, in bold and with its direction where the difference is clear."""
    p = mcnemar(ours, other)
    if p >= CLEAR:
        return f"{p:.3f}"
    return f"**{p:.1g} {'better' if ours.wrong < other.wrong else 'worse'}**"
