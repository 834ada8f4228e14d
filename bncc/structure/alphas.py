"""Choosing an equivalent sample size: the one of highest BDeu."""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.structure.counts import class_family_counts, family_counts
from bncc.structure.graph import Structure
from bncc.structure.option_readers import LEAST, MOST, Options
from bncc.structure.scores import bdeu

DEFAULT_ALPHAS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 50.0, 70.0)
"""The grid of S2, section 4."""


def alphas_of(options: Options) -> tuple[float, ...]:
    """Return the equivalent sample sizes to choose among."""
    text = options.get("alphas")
    if text is None:
        return DEFAULT_ALPHAS
    try:
        alphas = [float(part) for part in text.split(",")]
    except ValueError:
        alphas = []
    if not alphas or not all(LEAST <= a <= MOST for a in alphas) or len(set(alphas)) < len(alphas):
        raise OptionError(
            f"structure option alphas={text} is not a list of different positive numbers; "
            "try alphas=1,2,5,10"
        )
    return tuple(sorted(alphas))


def best_alpha(
    structure: Structure,
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    alphas: Sequence[float],
) -> float:
    """
    Return the equivalent sample size at which a structure has its highest BDeu score.

    For a structure that scores highest among all structures and alphas, this is the alpha that it
    was found at.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.

    References
    ----------
    S2, section 4.
    """
    of_class = class_family_counts(X, y, structure, n_states, n_classes)
    totals = np.array([bdeu(of_class, alpha) for alpha in alphas])
    for i, has_class in enumerate(structure.class_is_parent):
        cells = family_counts(X, y, structure, n_states, n_classes, i)
        tables = np.moveaxis(cells, 1, 2).reshape(-1, n_states[i]) if has_class else cells.sum(2)
        totals += [bdeu(tables, alpha) for alpha in alphas]
    return float(alphas[int(totals.argmax())])
