"""Scores of arcs and families, as sums of terms over the cells of tables of two features."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from bncc._types import FloatArray, IntArray
from bncc.structure.counts import PairBlock, class_counts, pair_blocks, single_tables
from bncc.structure.graph import Structure

Term = Callable[[IntArray, int], FloatArray]
"""``term(counts, n_cells)`` is the term of each cell, of the same shape as counts, in a table of
n_cells cells; 0 for a count of 0."""

LISTED_COUNTS = 1 << 16
"""Terms of smaller counts come from a look-up table; at most N / 65536 cells have larger ones."""


@dataclass(frozen=True, eq=False)
class TableSums:
    """Sums of one term, by the variables of the table."""

    none: float  # Over the one cell of N
    of_class: float  # Over N(c)
    single: FloatArray  # (n,) float64: Over N(x_i)
    single_class: FloatArray  # (n,) float64: Over N(x_i, c)
    # (n, n) float64 or None: Over N(x_i, x_j); symmetric, zero diagonal. None if not requested.
    pair: FloatArray | None
    pair_class: FloatArray  # (n, n) float64: Over N(x_i, x_j, c); symmetric, the diagonal is 0


def table_sums(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    terms: Sequence[Term],
    *,
    with_marginal: bool = True,
) -> tuple[TableSums, ...]:
    """
    Count all pairs once, and sum every term over their tables.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    singles = single_tables(X, y, n_states, n_classes)
    blocks = pair_blocks(X, y, n_states, n_classes, with_marginal=with_marginal)
    of_class = class_counts(y, n_classes)
    return sum_tables(of_class, singles, blocks, terms, with_marginal=with_marginal)


def sum_tables(
    of_class: IntArray,
    singles: Iterable[IntArray],
    blocks: Iterable[PairBlock],
    terms: Sequence[Term],
    *,
    with_marginal: bool = True,
) -> tuple[TableSums, ...]:
    """
    Sum every term over existing counts.

    Shapes: `of_class` (n_classes,) int64.
    """
    tables = list(singles)
    n = len(tables)
    with_class = [np.zeros((n, n)) for _ in terms]
    without = [np.zeros((n, n)) for _ in terms if with_marginal]
    for block in blocks:
        for term, sums in zip(terms, with_class if block.has_class else without, strict=True):
            _add(sums, block, term)
    return tuple(
        TableSums(
            float(term(of_class.sum(keepdims=True), 1).sum()),
            float(term(of_class, len(of_class)).sum()),
            np.array([term(table.sum(axis=1), len(table)).sum() for table in tables]),
            np.array([term(table, table.size).sum() for table in tables]),
            without[t] if with_marginal else None,
            with_class[t],
        )
        for t, term in enumerate(terms)
    )


def _add(sums: FloatArray, block: PairBlock, term: Term) -> None:
    total = term(block.counts, block.n_cells).sum(axis=(1, 3))
    if block.left is block.right:
        np.fill_diagonal(total, 0.0)
    else:
        sums[block.right[:, None], block.left] += total.T
    sums[block.left[:, None], block.right] += total


def log_gamma_term(alpha: float) -> Term:
    r"""Return BDeu's term :math:`\ln\Gamma(\alpha/m + k) - \ln\Gamma(\alpha/m)` of m cells."""

    def log_gamma(k: IntArray, n_cells: int) -> FloatArray:
        return np.asarray(gammaln(k + alpha / n_cells) - gammaln(alpha / n_cells))

    return _listed(log_gamma)


def log_likelihood_term() -> Term:
    r"""Return the term of likelihood and information: :math:`k \ln k`."""

    def x_log_x(k: IntArray, n_cells: int) -> FloatArray:
        return np.asarray(k * np.log(np.maximum(k, 1)))

    by_count = _listed(x_log_x)
    return lambda counts, n_cells: by_count(counts, 1)


def _listed(term: Term) -> Term:
    """Return a term with look-up tables for small counts, of half a megabyte, grown on demand."""

    @lru_cache(maxsize=32)
    def listed(n_cells: int, length: int) -> FloatArray:
        return term(np.arange(length), n_cells)

    def of_counts(counts: IntArray, n_cells: int) -> FloatArray:
        greatest = int(counts.max(initial=0))
        # Powers of two let blocks of similar size share a look-up table.
        length = min(1 << greatest.bit_length(), LISTED_COUNTS)
        if length > counts.size:
            return term(counts, n_cells)
        values = listed(n_cells, length)
        if greatest < length:
            return values[counts]
        is_small = counts < length
        found = values[np.where(is_small, counts, 0)]
        found[~is_small] = term(counts[~is_small], n_cells)
        return found

    return of_counts


def conditional_mutual_information(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int
) -> FloatArray:
    r"""
    Return I(X_i; X_j | C) of all pairs, from plain relative frequencies.

    .. math::
       I(X_i; X_j \mid C) = \frac1N \sum_{abc} N_{abc} \ln \frac{N_{abc} N_c}{N_{ac} N_{bc}}

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; returns (n_features, n_features)
    float64, symmetric, in nats, >= 0.

    References
    ----------
    Friedman, Geiger and Goldszmidt, Bayesian network classifiers, 1997, section 4.1.
    """
    terms = (log_likelihood_term(),)
    (sums,) = table_sums(X, y, n_states, n_classes, terms, with_marginal=False)
    return information_of_sums(sums, len(y))


def information_of_sums(sums: TableSums, n_samples: int) -> FloatArray:
    """
    Return I(X_i; X_j | C) of all pairs, overwriting the sums of N ln N.

    Shapes: returns (n_features, n_features) float64, as of `conditional_mutual_information`.
    """
    joint = sums.pair_class
    np.fill_diagonal(joint, sums.single_class)
    # In place: with ten thousand features each copy would take 800 MB.
    joint -= sums.single_class[:, None]
    joint -= sums.single_class[None, :] - sums.of_class
    joint /= max(n_samples, 1)
    return np.maximum(joint, 0.0, out=joint)


def bdeu(counts: IntArray, alpha: float) -> float:
    r"""
    Return the BDeu score of a node given its parents.

    .. math::
       \sum_j \ln\frac{\Gamma(\alpha/q)}{\Gamma(\alpha/q + N_{j})} +
       \sum_{jk} \ln\frac{\Gamma(\alpha/(qr) + N_{jk})}{\Gamma(\alpha/(qr))}

    Shapes: `counts` (q, r) int.
    """
    q, r = counts.shape
    parents = gammaln(alpha / q) - gammaln(alpha / q + counts.sum(axis=1))
    cells = gammaln(alpha / (q * r) + counts) - gammaln(alpha / (q * r))
    return float(parents.sum() + cells.sum())


def bdeu_gains(
    X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int, alpha: float
) -> FloatArray:
    """
    Return the BDeu gain of an arc between two features: s(X_i,{C,X_j}) - s(X_i,{C}).

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; returns (n_features, n_features)
    float64, gains in nats; symmetric, as BDeu scores equivalent graphs alike.

    References
    ----------
    S2, sections 2.1 and 3.
    """
    terms = (log_gamma_term(alpha),)
    (sums,) = table_sums(X, y, n_states, n_classes, terms, with_marginal=False)
    # With J(S) the sum of log-gamma terms over the joint table of S and C, a BDeu score is
    # s(X_i, pa) = J(X_i, pa) - J(pa), as alpha / q of the parents is alpha / cells of their table.
    gains = sums.pair_class
    gains -= sums.single_class[:, None]
    gains -= sums.single_class[None, :] - sums.of_class
    np.fill_diagonal(gains, -np.inf)
    return gains


NEGLIGIBLE_NATS = 1e-6
"""Gains below this are rounding errors: a feature with one state has gain 0 in theory."""


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """A decomposable score: s(X, parents) of all families that ETAN considers, in nats."""

    # s(C, {}), the same for every structure; needed to compare different prior strengths
    of_class: float
    alone: FloatArray  # (n,) float64: s(X_i, {})
    given_class: FloatArray  # (n,) float64: s(X_i, {C})
    given_feature: FloatArray  # (n, n) float64: s(X_i, {X_j}) at [i, j]; the diagonal is -inf
    given_both: FloatArray  # (n, n) float64: s(X_i, {C, X_j}) at [i, j]; the diagonal is -inf


def bdeu_families(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alphas: Sequence[float],
) -> tuple[FamilyScores, ...]:
    r"""
    Return the BDeu scores of all families, for several equivalent sample sizes at once.

    .. math::
       s(X, \Pi) = J(X, \Pi) - J(\Pi), \quad J(S) = \sum_{s}
       \ln\frac{\Gamma(\alpha/|S| + N_s)}{\Gamma(\alpha/|S|)}

    where the sum is over the :math:`|S|` joint states of the variables S.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, sections 2 and 4.
    """
    sums = table_sums(X, y, n_states, n_classes, [log_gamma_term(alpha) for alpha in alphas])
    return tuple(bdeu_families_of_sums(each) for each in sums)


def bic_families(X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int) -> FamilyScores:
    r"""
    Return the BIC scores of all families.

    .. math::
       s(X, \Pi) = \sum_{jk} N_{jk} \ln\frac{N_{jk}}{N_j} - \tfrac12 q (r - 1) \ln N

    with q the product of the parents' cardinalities, whether or not their states occur.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    (sums,) = table_sums(X, y, n_states, n_classes, (log_likelihood_term(),))
    return bic_families_of_sums(sums, n_states, n_classes, len(y))


def bdeu_families_of_sums(sums: TableSums) -> FamilyScores:
    """Return the BDeu scores of all families, overwriting the sums of log-gamma."""
    return _differences(sums)


def bic_families_of_sums(
    sums: TableSums, n_states: Sequence[int], n_classes: int, n_samples: int
) -> FamilyScores:
    """Return the BIC scores of all families, overwriting the sums of N ln N."""
    scores = _differences(sums)
    price = 0.5 * np.log(max(n_samples, 1))
    r = np.asarray(n_states, dtype=np.float64)
    scores.alone[:] -= price * (r - 1)
    scores.given_class[:] -= price * (r - 1) * n_classes
    per_pair = price * np.outer(r - 1, r)
    scores.given_feature[:] -= per_pair
    scores.given_both[:] -= per_pair * n_classes
    return FamilyScores(
        scores.of_class - float(price) * (n_classes - 1),
        scores.alone, scores.given_class, scores.given_feature, scores.given_both,
    )  # fmt: skip


def _differences(sums: TableSums) -> FamilyScores:
    """Return J(X_i, pa) - J(pa) of all families."""
    if sums.pair is None:
        raise ValueError("pairs without the class were not counted")
    given_feature, given_both = sums.pair, sums.pair_class
    given_feature -= sums.single[None, :]
    given_both -= sums.single_class[None, :]
    np.fill_diagonal(given_feature, -np.inf)
    np.fill_diagonal(given_both, -np.inf)
    return FamilyScores(
        sums.of_class - sums.none,
        sums.single - sums.none,
        sums.single_class - sums.of_class,
        given_feature,
        given_both,
    )


def score_of(structure: Structure, families: FamilyScores) -> float:
    """Return the score of a structure, including the class's own."""
    total = families.of_class
    for i, (parents, has_class) in enumerate(
        zip(structure.parents, structure.class_is_parent, strict=True)
    ):
        if len(parents) > 1:
            raise ValueError(f"feature {i} has more than one feature parent")
        if parents:
            pairs = families.given_both if has_class else families.given_feature
            total += float(pairs[i, parents[0]])
        else:
            total += float((families.given_class if has_class else families.alone)[i])
    return total
