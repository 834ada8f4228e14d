"""Equivalent sample sizes: reading a list of them, and choosing one."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure.graph import Structure
from bncc.structure.learners.etan import DEFAULT_ALPHAS, alphas_of, best_alpha
from bncc.structure.scores import bdeu_families, score_of


def test_alphas_are_read_in_order():
    assert alphas_of({}) == DEFAULT_ALPHAS
    assert alphas_of({"alphas": "10,0.5,2"}) == (0.5, 2.0, 10.0)


@pytest.mark.parametrize("text", ["", "1,,2", "one", "0,1", "-1", "nan", "inf", "2,2.0", "1e-320"])
def test_other_lists_are_refused(text):
    with pytest.raises(OptionError, match=r"different positive numbers; try alphas=1,2,5,10"):
        alphas_of({"alphas": text})


def test_the_best_alpha_is_that_of_the_highest_score():
    generator = np.random.default_rng(5)
    X, y = generator.integers(0, 3, (300, 3)), generator.integers(0, 2, 300)
    X[:, 1] = (X[:, 0] + (generator.random(300) < 0.2)) % 3
    structure = Structure(((), (0,), (1,)), (True, False, True))
    alphas = (0.1, 1.0, 8.0, 90.0)
    scores = [score_of(structure, f) for f in bdeu_families(X, y, (3, 3, 3), 2, alphas)]
    assert best_alpha(structure, X, y, (3, 3, 3), 2, alphas) == alphas[int(np.argmax(scores))]


def test_the_first_of_equals_is_best():
    structure = Structure((), ())
    assert best_alpha(structure, np.zeros((0, 0), int), np.zeros(0, int), (), 2, (3.0, 1.0)) == 3.0
