"""Figures of a result, and the tables that compare classifiers."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from benchmarks.recordings.figures import (
    Shown,
    comparison,
    read,
    recalls,
    result_of,
    write,
)

LABELS = ("a", "b", "c")


def result(model="forest", y=(0, 0, 1, 1), said=(0, 1, 1, 1), costs=None, split="persons"):
    names = ("some", split, model)
    return result_of(names, LABELS, np.array(y), np.array(said), costs or {})


def test_a_result_has_the_error_the_f1_score_and_the_recalls():
    one = result()
    assert one.error == 25.0
    # c neither occurs nor is decided
    assert one.macro_f1 == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert one.recalls == {"a": 0.5, "b": 1.0, "c": None}
    assert one.missed.tolist() == [False, True, False, False]


def test_the_f1_score_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, said = rng.integers(0, 3, (2, 60))
    assert result(y=y, said=said).macro_f1 == pytest.approx(f1_score(y, said, average="macro"))


def test_a_row_compares_classifiers_and_their_costs():
    results = [result(), result("CNN", said=(0, 0, 1, 1), costs={"bytes": 9012})]
    shown = (Shown("forest"), Shown("CNN", ("bytes",)), Shown("bncc", ("flash", "RAM")))
    head, _, row = comparison(results, shown).splitlines()
    assert "CNN bytes | bncc error | bncc F1 | bncc flash | bncc RAM |" in head
    assert row == "| some | persons | 4 | 25.00 | 0.733 | 0.00 | 1.000 | 9,012 | - | - | - | - |"


def test_classifiers_with_different_test_windows_are_not_compared():
    with pytest.raises(ValueError, match="different test windows"):
        comparison([result(), result("CNN", y=(0, 1), said=(0, 1))], (Shown("forest"),))


def test_recalls_are_of_one_set_with_the_number_of_windows():
    text = recalls([result(), result("CNN", said=(1, 1, 0, 1))], "some")
    assert text.splitlines()[0] == "| some | split | a (2) | b (2) | c (0) |"
    assert text.splitlines()[2:] == [
        "| forest | persons | 50.0 | 100.0 | - |",
        "| CNN | persons | 0.0 | 50.0 | - |",
    ]


def test_results_are_read_as_they_were_written(tmp_path):
    results = [result(), result("CNN", costs={"bytes": 9012}, split="folds")]
    write(tmp_path / "some.csv", results)
    assert read(tmp_path / "some.csv") == results
