"""A form pays where the choice without it is slower, or as fast and less accurate."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy.paying_forms import form_rows, without_each
from bncc.resources import Resources, Span
from bncc.search.choice import chosen_of
from bncc.search.evaluation import Evaluation
from bncc.train.settings import TrainSettings

TABLES = TrainSettings(structure="tables", structure_options={"tables": "20", "rows": "8"})
TREES = replace(TABLES, structure_options={"tables": "4", "leaves": "16", "cut-bits": "8"})
FRONT = replace(TREES, structure_options={**TREES.structure_options, "front": "32"})


def candidate(settings, time, wrong):
    span = {"predict-raw": Span(time, float(time), time)}
    price = Resources(
        "cortex-m4", 900, 0, 8, span, None, ("predict-raw",), "size", "-Os", "estimated"
    )
    losses = np.repeat([1.0, 0.0], [wrong, 400 - wrong])
    return Evaluation(settings, (wrong / 400,), (wrong / 400,), price, losses=losses)


def test_the_choice_without_each_of_its_forms():
    tried = [candidate(FRONT, 60, 40), candidate(TREES, 300, 40), candidate(TABLES, 9000, 40)]
    chosen = chosen_of(tried, "balanced")
    found = without_each(tried, chosen)
    assert set(found) == {"front", "branching tables", "cuts of the highest bits"}
    assert found["front"] == [[60, 0.1], [300, 0.1]]
    assert found["branching tables"] == [[60, 0.1], [9000, 0.1]]
    assert without_each(tried[:2], chosen)["branching tables"][1] is None


@pytest.mark.parametrize(
    ("other", "pays"),
    [
        ([300.0, 0.1], True), ([65.0, 0.1], False), ([60.0, 0.11], True), ([60.0, 0.1], False),
        ([50.0, 0.2], False), (None, True),
    ],
)  # fmt: skip
def test_a_form_pays_in_time_or_in_error(other, pays):
    paid = {"front": [[60.0, 0.1], other]}
    table = form_rows({("phoneme", 1024): paid, ("phoneme", 4096): paid, ("vowel", 4096): {}})
    assert f"| front | 2 | {int(pays)} | {'phoneme (1, 4)' * pays}" in table
    assert "| one tree | 0 | 0 | " in table
