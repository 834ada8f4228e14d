"""C of emlearn: the same decisions as its trees, for every type of readings and votes."""

import subprocess

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from bncc.baselines.exporters import HEADERS, Style, elected, imported, trees_text, with_headers

RANDOM = np.random.default_rng(0)
WHOLE = RANDOM.integers(-4, 4, (600, 3)).astype(np.float64)
"""Small numbers of both signs: thresholds at and between them."""
CLOSE = 4 + WHOLE * 2.0**-21
"""Neighbors among floats: six decimals do not distinguish them, and no threshold fits
between them."""
CLASSES = (WHOLE[:, 0] > -2) + (WHOLE[:, 1] + WHOLE[:, 2] > -1).astype(np.int64)
MAIN = """#include "m.h"
#include <stdio.h>
int main(void)
{
    m_raw_t x[3];

    while (fread(x, sizeof x, 1, stdin) == 1) {
        putchar(peer_predict(x, 3));
    }
    return 0;
}
"""


def forest(X: np.ndarray) -> RandomForestClassifier:
    return RandomForestClassifier(4, max_leaf_nodes=12, random_state=0).fit(X, CLASSES)


def answers(text: str, style: Style, X: np.ndarray, folder) -> np.ndarray:
    body = f"#include <stdint.h>\ntypedef {style.c_type} m_raw_t;\n{text}\n"
    files = with_headers(imported("emlearn"), {"m.h": body, "main.c": MAIN}, HEADERS)
    for name, content in files.items():
        (folder / name).write_text(content)
    command = ("gcc", "-std=c99", "-O1", "main.c", "-o", "program", "-lm")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    dtype = {"int16_t": np.int16, "float": np.float32}[style.c_type]
    data = X.astype(dtype).tobytes()
    program = subprocess.run((folder / "program",), input=data, capture_output=True, check=True)
    return np.frombuffer(program.stdout, np.uint8).astype(np.int64)


@pytest.mark.cc
@pytest.mark.parametrize("leaf_bits", [0, 8])
@pytest.mark.parametrize(
    ("c_type", "method", "X"),
    [("int16_t", "inline", WHOLE), ("int16_t", "loadable", WHOLE), ("float", "inline", CLOSE)],
)
def test_the_c_decides_as_the_trees(c_type, method, X, leaf_bits, require_tool, need, tmp_path):
    require_tool("gcc")
    need("emlearn")
    style = Style(c_type, method, leaf_bits)
    estimator = forest(X)
    text = trees_text(imported("emlearn"), estimator, style)
    expected = elected(estimator.estimators_, X, leaf_bits)
    assert np.array_equal(answers(text, style, X, tmp_path), expected)


@pytest.mark.cc
@pytest.mark.parametrize(("c_type", "X"), [("int16_t", WHOLE), ("float", CLOSE)])
def test_as_shipped_it_decides_otherwise(c_type, X, require_tool, need, tmp_path):
    """The test above can fail."""
    require_tool("gcc")
    need("emlearn")
    estimator = forest(X)
    wrapped = imported("emlearn").convert(estimator, dtype=c_type, method="inline")
    wrong = answers(wrapped.save(name="peer"), Style(c_type), X, tmp_path)
    assert (wrong != elected(estimator.estimators_, X)).mean() > 0.05


def test_votes_and_probabilities_may_differ():
    """One confident tree outweighs two nearly undecided ones, but not their votes."""

    class Leaf:
        def __init__(self, shares):
            self.value = np.array([[shares]])

        def apply(self, X):
            return np.zeros(len(X), dtype=np.int64)

    class Tree:
        n_classes_ = 2

        def __init__(self, *shares):
            self.tree_ = Leaf(shares)

    trees = [Tree(1.0, 0.0), Tree(0.45, 0.55), Tree(0.45, 0.55)]
    one = np.zeros((1, 1))
    assert elected(trees, one).tolist() == [1]
    assert elected(trees, one, leaf_bits=8).tolist() == [0]
    assert elected(trees[:2], one).tolist() == [0]  # a tie: the smallest class
