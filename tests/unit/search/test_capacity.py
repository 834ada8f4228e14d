"""As many tables as fit: found in a few tries, for any size of the C around them."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import DataError
from bncc.pricing import TOO_LARGE
from bncc.resources import Budget
from bncc.search import evaluation
from bncc.search.capacity import (
    HIGH_BYTE_NODE_BYTES,
    LEAF_BYTES,
    LEAF_STEPS,
    MOST_TABLES,
    NODE_BYTES,
    NODE_STEPS,
    Capacity,
    Line,
    counted,
)
from bncc.search.ensemble_configs import DICTIONARY, EnsembleConfig
from bncc.search.evaluation import Evaluator, SearchInput, sizes_of
from bncc.search.log import Log
from bncc.structure.decision_tables import BranchingTable, DecisionTable
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import price_by_tables, resources

BASE = TrainSettings(epochs=2, validation=0.2)
FORM = EnsembleConfig(rows=4)


@pytest.fixture(scope="module")
def robot():
    return dataset_of(read_table(bundled_path("robot")))


def room_for(dataset, budget):
    return Capacity(Evaluator(SearchInput(dataset, BASE, budget), Log(None, {}, DataError)))


def fitted(robot, budget, monkeypatch, price=price_by_tables):
    tried = []

    def priced(model, *others, **named):
        tried.append(len(model.tables))
        return price(model, *others, **named)

    monkeypatch.setattr(evaluation, "price_of", priced)
    monkeypatch.setattr(evaluation, "memory_price_of", priced)
    room = room_for(robot, budget)
    return room.fitted(FORM, room.guess(FORM)), tried


@pytest.mark.parametrize("flash", [260, 500, 800])
def test_a_few_tries_fill_most_of_the_flash(robot, monkeypatch, flash):
    budget = Budget("avr", flash=flash)
    found, tried = fitted(robot, budget, monkeypatch)
    assert 0.9 < budget.utilization(found.price)
    assert budget.admits(found.price)
    assert len(tried) <= 4
    assert found.n_tables == tried[-1] or max(tried) > found.n_tables


def test_decisions_may_take_more_tables_than_are_usual(robot, monkeypatch):
    found, _ = fitted(robot, Budget("avr", instructions=900), monkeypatch)
    assert 80 < found.n_tables <= 90


def test_tables_that_take_more_than_is_counted_are_fewer(robot, monkeypatch):
    def dear(model, *others, **named):
        return resources(50 + 40 * len(model.tables))

    found, tried = fitted(robot, Budget("avr", flash=1000), monkeypatch, dear)
    assert found.n_tables in (22, 23)
    assert len(tried) <= 4


def test_what_no_line_describes_comes_to_an_end(robot, monkeypatch):
    def steep(model, *others, **named):
        return resources(len(model.tables) ** 6)

    found, tried = fitted(robot, Budget("avr", flash=1000), monkeypatch, steep)
    assert found.n_tables in (1, 2, 3)
    assert len(tried) <= 12


def test_nothing_fits_where_one_table_does_not(robot, monkeypatch):
    found, _ = fitted(robot, Budget("avr", flash=100), monkeypatch)
    assert found is None


def test_what_was_priced_tells_what_others_take(robot, monkeypatch):
    monkeypatch.setattr(evaluation, "price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "memory_price_of", price_by_tables)
    room = room_for(robot, Budget("avr", flash=600))
    before = room.guess(EnsembleConfig(rows=8))
    assert not room.knows(EnsembleConfig(rows=8))
    room.fitted(FORM, 20)
    assert room.knows(EnsembleConfig(rows=8))
    assert not room.knows(EnsembleConfig(bits=2))
    after = room.guess(EnsembleConfig(rows=8))
    # There are 200 bytes of code where 300 are usual.
    assert after > before


def test_rows_cuts_and_tables_are_counted():
    grids = (DecisionTable((0,), ((1,),)), DecisionTable((0, 2), ((1, 5), (3,))))
    counts = counted(EnsembleConfig(bits=4), sizes_of(grids), 6)
    assert len(counts) == MOST_TABLES
    assert counts[:2, 0].tolist() == [3 * 2 + 2 + 1, 3 * 8 + 8 + 2]
    # Others are like the mean of these.
    assert counts[3, 0] == pytest.approx(2 * counts[1, 0])
    assert counts[1, 1] == 2 * counts[0, 1] + 20


def test_rows_of_a_dictionary_are_bytes():
    grids = tuple(DecisionTable((0,), (tuple(range(15)),)) for _ in range(40))
    plain, shared = (
        counted(EnsembleConfig(bits=4, dictionary=d), sizes_of(grids), 6)[39, 0]
        for d in (0, DICTIONARY)
    )
    assert plain - shared == 3 * (640 - 256) - 640


TREES = EnsembleConfig(leaves=16, bits=4)


def test_nodes_and_leaves_of_trees_are_counted():
    tree = BranchingTable((0, 1, 0), (3, 5, 1), (1, -1, -3), (2, -2, -4))
    assert sizes_of((tree,)) == [(4, 3)]
    counts = counted(TREES, sizes_of((tree, tree)), 7)
    leaf = LEAF_BYTES + 8  # seven lanes of eight bits in two words
    assert counts[:3, 0].tolist() == [n * (3 * NODE_BYTES + 4 * leaf) for n in (1, 2, 3)]
    assert counts[1, 1] == 2 * counts[0, 1] == 2 * (3 * NODE_STEPS + LEAF_STEPS)
    alone = counted(replace(TREES, is_single=True), sizes_of((tree,)), 7)[0, 0]
    assert alone == 3 * NODE_BYTES + 4 * LEAF_BYTES
    high = counted(replace(TREES, cut_bits=8), sizes_of((tree,)), 2)[0, 0]
    assert high == 3 * HIGH_BYTE_NODE_BYTES + 4 * (LEAF_BYTES + 1)


def test_a_tree_that_is_not_grown_yet_is_full():
    counts = counted(TREES, (), 2)
    assert counts[0, 0] == 15 * NODE_BYTES + 16 * (LEAF_BYTES + 1)


def test_a_single_tree_is_one_table_whatever_fits(robot):
    form = EnsembleConfig(leaves=32, bits=4, is_single=True)
    room = room_for(robot, Budget("avr", flash=10**5))
    assert room.guess(form) == 1
    assert room.may_fit(form)
    assert not room_for(robot, Budget("avr", flash=300)).may_fit(form)


def test_time_is_estimated_by_two_points():
    points = [(np.array([100.0, steps]), resources(500, time)) for steps, time in ((50, 300),)]
    one = Line.through(points)
    assert one.time(np.array([0.0, 50.0])) == 300
    assert one.time(np.array([0.0, 25.0])) == 150
    two = Line.through([*points, (np.array([100.0, 150.0]), resources(500, 500))])
    assert (two.fixed, two.per_step) == (200, 2)
    # A kernel that is faster from one point to the next has no meaningful slope.
    odd = Line.through([*points, (np.array([100.0, 150.0]), resources(500, 200))])
    assert odd.time(np.array([0.0, 150.0])) == 200
    assert odd.per_step > 0


def test_prices_of_one_goal_do_not_tell_those_of_another(robot, monkeypatch):
    """Fast layouts take much flash; the line through them is not that of small ones."""

    def by_size(model, *others, **named):
        found = price_by_tables(model, *others, **named)
        if len(model.tables) > 20:
            return found
        return replace(found, flash=2 * found.flash, optimize="speed")

    monkeypatch.setattr(evaluation, "price_of", by_size)
    monkeypatch.setattr(evaluation, "memory_price_of", by_size)
    room = room_for(robot, Budget("avr", flash=600, instructions=10**6))
    found = room.fitted(FORM, 5)
    assert found.n_tables > 20
    assert {goal for _, goal in room._lines} == {"size", "speed"}
    small = room._lines[next(key for key in room._lines if key[1] == "size")]
    assert small.code < 300


def test_without_limits_there_are_as_many_tables_as_usual():
    counts = counted(FORM, (), 2)
    assert Line().most(counts, Budget("avr")) == 60
    assert Line().most(counts, Budget("avr", flash=1)) == 1


def test_c_that_cannot_be_measured_is_tried_once_and_teaches_nothing(robot, monkeypatch):
    """Neither the size of others nor whether they fit."""
    budget = Budget("cortex-m0", flash=2000)

    def fails(model, budget, readings, failed):
        failed("gcc failed: error")
        return resources(TOO_LARGE, TOO_LARGE)

    found, tried = fitted(robot, budget, monkeypatch, fails)
    assert found is None
    assert len(tried) == 1
    room = room_for(robot, budget)
    before = room.guess(FORM)
    assert room.fitted(FORM, before) is None
    assert room.guess(FORM) == before
    assert not room.knows(FORM)
