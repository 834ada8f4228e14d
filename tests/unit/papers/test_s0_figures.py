"""Figures 2 and 3 of S0: what a column pins, and its cells."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.papers import search as search_module
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s0 import RUNS_AND_EPOCHS
from bncc.papers.s0_figures import BY_ORDER, COLUMNS_OF, EXPERIMENTS, LAMBDAS, OVER_LAMBDA, SHARE
from bncc.papers.training import Judged
from bncc.structure.candidates import find_candidates
from tests.folds import write_images, write_papers_files

s0_figure2 = partial(reproduce, EXPERIMENTS["s0-figure2"])
s0_figure3 = partial(reproduce, EXPERIMENTS["s0-figure3"])


@pytest.fixture
def folder(tmp_path):
    write_papers_files(tmp_path)
    write_images(tmp_path)
    return tmp_path


@pytest.fixture
def tried(monkeypatch):
    """Replace trainings, and return their settings."""
    tried = []

    def fake(fold, settings, split, n_restarts):
        tried.append(settings)
        return Judged(0.25, 7)

    monkeypatch.setattr(search_module, "train_and_judge", fake)
    return tried


def test_the_columns_are_those_of_the_paper():
    assert len(LAMBDAS) == 5
    assert [len(columns) for columns in OVER_LAMBDA.values()] == [25, 25, 25, 25]
    assert "TAN All lambda 10" in OVER_LAMBDA["letter"]
    assert "TAN All lambda 10" not in OVER_LAMBDA["usps"]
    assert [len(BY_ORDER[row]) for row in ("letter", "satimage", "usps", "mnist")] == [
        10, 5, 12, 12,
    ]  # fmt: skip
    assert {"order A, 1 parent", "order C, 8 parents"} <= set(BY_ORDER["mnist"])


def test_a_lambda_is_that_of_all_settings_also_near_the_best(folder, tried):
    request = Request(folder, rows=("letter",), columns=("NB HYB lambda 31.6",))
    (cell,) = s0_figure2(request)
    assert {settings.lambda_ for settings in tried} == {31.6}
    assert len({settings.gamma for settings in tried}) == RUNS_AND_EPOCHS["letter"][0] // SHARE
    assert {settings.epochs for settings in tried} == {RUNS_AND_EPOCHS["letter"][1]}
    assert (cell["paper"], cell["ours"], cell["lambda_"]) == (None, 25.0, 31.6)


def test_an_order_is_that_of_all_settings(folder, tried):
    request = Request(folder, rows=("satimage",), columns=("order 2",), effort=Effort(6, 1))
    (cell,) = s0_figure3(request)
    assert {settings.seed for settings in tried} == {2}
    assert len({settings.lr for settings in tried}) > 3
    assert cell["n"] == 100


def test_subsets_of_two_parents_are_part_of_those_of_eight():
    found = []
    for k in (2, 8):
        cut = BY_ORDER["letter"][f"subset 3, {k} parents"]
        rng = np.random.default_rng(cut.pinned["seed"])
        found.append(find_candidates(cut.structure, 16, cut.options, rng).graph().parents)
    assert all(set(few) <= set(many) for few, many in zip(*found, strict=True))
    assert all(j < i for i, parents in enumerate(found[1]) for j in parents)


def test_real_trainings_make_the_cells_of_each_row(folder):
    request = Request(folder, rows=("usps",), columns=("order A, 2 parents",), effort=Effort(2, 1))
    (cell,) = s0_figure3(request)
    assert (cell["row"], cell["n"]) == ("usps", 20)
    assert "; hybrid tables won" in cell["note"]
    (cell,) = s0_figure2(
        Request(folder, rows=("mnist",), columns=("TAN Random lambda 10",), effort=Effort(2, 1))
    )
    assert "our own preparation" in cell["note"]
    assert "lambda and gamma 10 " in cell["note"]


def test_quick_is_two_columns_of_letter(folder, tried):
    for table, experiment in (("s0-figure2", s0_figure2), ("s0-figure3", s0_figure3)):
        cells = experiment(Request(folder, quick=True, effort=Effort(2, 1)))
        assert [(cell["row"], cell["column"]) for cell in cells] == [
            ("letter", column) for column in [*COLUMNS_OF[table]["letter"]][:2]
        ]


def test_what_a_row_does_not_have_is_refused(folder):
    request = Request(folder, rows=("letter",), columns=("order 1",))
    with pytest.raises(OptionError, match="s0-figure3 has no order 1 of letter"):
        s0_figure3(request)
    with pytest.raises(OptionError, match="s0-figure2 has no column 'NB'"):
        s0_figure2(replace(request, columns=("NB",)))
