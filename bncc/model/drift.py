"""
Drift: the counters of a device, compared with those to expect after training.

Classes, bins of margins, unknown readings and switches are each compared by a chi-square test of
homogeneity, with Holm's correction for all tests. A significant difference can be tiny if there
are many decisions, so that a change also needs a least total variation distance.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from bncc.errors import DataError
from bncc.model.counters import FULL, Counters, Counts

LEAST_EXPECTED = 5.0
"""Least expected number of a category; smaller ones are joined, as the chi-square test needs it."""
_UNCOUNTED = "last"
"""Member of the struct that is no counter, and may be read out with the others."""
_MOST_SENTENCES = 3


@dataclass(frozen=True)
class ReadOut:
    """Counters as the owner of a device read them out."""

    name: str
    counts: Counts


@dataclass(frozen=True)
class Comparison:
    """Some counters of a device, compared with training."""

    counters: str  # ``classes``, ``margins``, ``unknown`` or ``switches``
    shares: tuple[float, ...]  # By category, in the read-out
    training: tuple[float, ...]  # By category, as expected after training
    distance: float  # Total variation distance: half the sum of differences of shares
    p: float  # Without correction
    p_adjusted: float  # With Holm's correction
    changed: bool
    sentences: tuple[str, ...]  # The largest differences


@dataclass(frozen=True)
class Drift:
    """Changes in a read-out."""

    read_out: ReadOut
    comparisons: tuple[Comparison, ...]  # The largest distance first; none without decisions

    @property
    def changed(self) -> bool:
        """True if anything changed."""
        return any(each.changed for each in self.comparisons)


def read_outs_of(
    path: str, names: Sequence[str], rows: Sequence[Sequence[str]], counters: Counters
) -> list[ReadOut]:
    """Return the read-outs of a table whose columns are named as the members in C."""
    columns = [name.strip() for name in names]
    has_unknown = counters.expected.unknown is not None and "unknown" in columns
    layout = counters.layout(has_unknown=has_unknown)
    if not {"stays", "switches"} & {*columns}:
        layout = replace(layout, is_in_time=False)
    is_named = columns[0] not in (*layout.names, _UNCOUNTED)
    for name in layout.names:
        if columns.count(name) != 1:
            found_words = f"{n} columns" if (n := columns.count(name)) else "no column"
            raise DataError(
                f"'{path}' has {found_words} '{name}'; name one column like each member of the "
                "struct of counters"
            )
    other = sorted({*columns[is_named:]} - {*layout.names, _UNCOUNTED})
    if other:
        raise DataError(
            f"'{path}' has the column '{other[0]}', which the model does not count; name columns "
            "like the members of the struct, with at most a name or a time in front"
        )
    if not rows:
        raise DataError(f"'{path}' has no rows under its header; add a row for each read-out")
    places = [columns.index(name) for name in layout.names]
    found = []
    for number, row in enumerate(rows, start=1):
        where = f"'{path}', row {number}"
        if len(row) != len(columns):
            raise DataError(
                f"{where}: expected {len(columns)} cells, found {len(row)}; fix the row"
            )
        values = [_counter(where, columns[place], row[place]) for place in places]
        counts = layout.counts(values)
        # Each of the counters may have lost 1 by being halved and rounded down.
        if abs(counts.n - sum(counts.margins)) > len(values):
            raise DataError(
                f"{where}: classes have {counts.n} decisions and margins {sum(counts.margins)}; "
                "read out all counters of one moment, of this model"
            )
        found.append(ReadOut(row[0].strip() if is_named else f"row {number}", counts))
    return found


def _counter(where: str, name: str, cell: str) -> int:
    text = cell.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and int(text) < FULL):
        raise DataError(
            f"{where}: '{text}' in column '{name}' is not a counter; use a number, 0 .. {FULL - 1}"
        )
    return int(text)


def drifts_of(
    counters: Counters,
    classes: Sequence[str],
    read_outs: Sequence[ReadOut],
    *,
    alpha: float,
    least_distance: float,
) -> list[Drift]:
    """Return what changed in each read-out, at a level of significance for all tests together."""
    held = counters.expected
    pairs = [[*_pairs(held, each.counts)] for each in read_outs]
    tests = [p_value(expected, found) for each in pairs for _, expected, found in each]
    adjusted = iter(zip(tests, holm(tests), strict=True))
    drifts = []
    for read_out, each in zip(read_outs, pairs, strict=True):
        comparisons = []
        for name, expected, found in each:
            p, p_adjusted = next(adjusted)
            training, shares = _shares(expected), _shares(found)
            distance = sum(abs(a - b) for a, b in zip(shares, training, strict=True)) / 2
            sentences = _sentences(name, shares, training, counters.margins, classes)
            changed = p_adjusted < alpha and distance >= least_distance
            comparisons.append(
                Comparison(
                    name, shares, training, distance, p, p_adjusted, changed, tuple(sentences)
                )
            )
        comparisons.sort(key=lambda comparison: (-comparison.distance, comparison.counters))
        drifts.append(Drift(read_out, tuple(comparisons)))
    return drifts


def _pairs(held: Counts, found: Counts) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Yield the name of each group of counters, and its categories in training and on a device."""
    if not found.n or not sum(found.margins):
        return
    yield "classes", held.classes, found.classes
    if len(held.margins) > 1:
        yield "margins", held.margins, found.margins
    if held.unknown is not None and found.unknown is not None:
        # Rounding can leave one more unknown reading than decisions.
        known = max(0, found.n - found.unknown)
        yield "unknown", (held.n - held.unknown, held.unknown), (known, found.unknown)
    if found.stays is not None and found.switches is not None:
        assert held.stays is not None
        assert held.switches is not None
        steps = (held.stays, held.switches), (found.stays, found.switches)
        if all(map(sum, steps)):
            yield "switches", *steps


def _shares(counts: Sequence[int]) -> tuple[float, ...]:
    return tuple(n / sum(counts) for n in counts)


def p_value(expected: Sequence[int], found: Sequence[int]) -> float:
    """
    Return the p-value of a chi-square test of homogeneity of two samples of categories.

    Categories with few decisions are joined; 1 if only one is left.
    """
    from scipy.stats import chi2_contingency

    pairs = sorted(zip(expected, found, strict=True), key=sum)
    share = min(sum(expected), sum(found)) / (sum(expected) + sum(found))
    while len(pairs) > 1 and share * sum(pairs[0]) < LEAST_EXPECTED:
        (a, b), (c, d), *rest = pairs
        pairs = sorted([(a + c, b + d), *rest], key=sum)
    if len(pairs) < 2:
        return 1.0
    return float(chi2_contingency(np.array(pairs).T, correction=False).pvalue)


def holm(tests: Sequence[float]) -> list[float]:
    """Return p-values with Holm's correction for all of them."""
    order = sorted(range(len(tests)), key=lambda k: tests[k])
    raised = accumulate((min(1.0, (len(tests) - i) * tests[k]) for i, k in enumerate(order)), max)
    adjusted = dict(zip(order, raised, strict=True))
    return [adjusted[k] for k in range(len(tests))]


def _sentences(
    name: str,
    shares: Sequence[float],
    training: Sequence[float],
    limits: Sequence[int],
    classes: Sequence[str],
) -> Iterator[str]:
    """Yield the largest differences in words, the largest first."""
    if name == "classes":
        gaps = [abs(a - b) for a, b in zip(shares, training, strict=True)]
        order = sorted(range(len(gaps)), key=lambda c: -gaps[c])
        for c in order[:_MOST_SENTENCES]:
            if gaps[c] >= max(gaps) / 2:
                yield f"class {classes[c]!r}: {_percent(shares[c], training[c], 'of decisions')}"
        return
    if name == "margins":
        below = [*accumulate(shares)], [*accumulate(training)]
        k = max(range(len(limits) - 1), key=lambda k: abs(below[0][k] - below[1][k]))
        what = f"margins below {limits[k + 1]}"
        yield f"{what}: {_percent(below[0][k], below[1][k], 'of decisions')}"
        return
    what = "readings of no known class" if name == "unknown" else "switches of the class"
    yield f"{what}: {_percent(shares[1], training[1], 'of decisions')}"


def _percent(share: float, training: float, of: str) -> str:
    return f"{100 * share:.1f} % {of}, {100 * training:.1f} % in training"
