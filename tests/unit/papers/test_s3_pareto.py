"""Bayesian and neural networks compared: their costs, and the Pareto front."""

from dataclasses import replace
from functools import partial

import pytest

from bncc.errors import OptionError
from bncc.papers import s3, s3_networks, training
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s3_networks import (
    EXPERIMENTS,
    PARETO_COLUMNS,
    PARETO_QUICK_COLUMNS,
    log_of_networks,
)
from tests.folds import write_images, write_papers_files

s3_pareto = partial(reproduce, EXPERIMENTS["s3-pareto"])
SOME = ("CNN relu 1x", "NB 1 bit", "TAN 2 bits", "FC relu 3 bits")


@pytest.fixture
def folder(tmp_path):
    """Return a folder of tiny files laid out as the papers' are; usps has images of 4 x 4."""
    write_papers_files(tmp_path)
    write_images(tmp_path)
    return tmp_path


def cell(row, column, ours, **costs):
    return {"row": row, "column": column, "paper": None, "ours": ours, "n": 9, "note": "", **costs}


@pytest.fixture
def measured(monkeypatch):
    """Replace experiments by cells, and return the requests."""
    asked = []
    bayesian = (
        cell("letter", "NB 1 bit", 9.0, bits=1, entries=40, operations=10),
        cell("letter", "NB 2 bits", 9.0, bits=2, entries=40, operations=10),
        cell("usps", "NB 2 bits", 9.0, bits=2, entries=40, operations=10),
    )
    neural = (
        cell("letter", "FC relu 1 bit", 8.0, bits=50, operations=90),
        cell("usps", "FC relu 1 bit", 8.0, bits=50, operations=10),
    )

    def put(experiments, name, cells):
        def parts(request):
            asked.append(request)
            return {
                c["column"] + c["row"]: (c["row"], c["column"])
                for c in cells
                if c["row"] in request.rows
            }

        def run(place, request, advance):
            advance(0.0, "at work")
            return [c for c in cells if (c["row"], c["column"]) == place]

        fake = replace(experiments[name], parts=parts, run=run)
        monkeypatch.setitem(experiments, name, fake)

    put(s3.EXPERIMENTS, "s3-bits", bayesian)
    put(s3_networks.EXPERIMENTS, "s3-budget", neural)
    return asked


def test_the_models_are_those_of_the_other_figures():
    assert len(PARETO_COLUMNS) == 2 * 8 + 2 * 8 + 2 * 8 + 2 * 9
    assert not [name for name in PARETO_COLUMNS if "float" in name or "one-hot" in name]
    assert set(PARETO_QUICK_COLUMNS) < set(PARETO_COLUMNS)


def test_what_another_model_betters_in_all_three_is_off_the_front(folder, measured):
    told = []
    request = Request(folder, rows=("letter", "usps"), effort=Effort(log=folder / "all.jsonl"))
    cells = s3_pareto(request, lambda done, text: told.append((done, text)))
    found = {
        (c["row"], c["column"]): (c["memory_bits"], c["is_on_front"])
        for c in cells
        if c["row"] in request.rows
    }
    assert found == {
        ("letter", "NB 1 bit"): (40, True),
        ("letter", "NB 2 bits"): (80, False),
        ("letter", "FC relu 1 bit"): (50, True),
        ("usps", "NB 2 bits"): (80, False),
        ("usps", "FC relu 1 bit"): (50, True),
    }
    assert list(found) == sorted(found, key=lambda key: key[0])
    assert [c["note"] for c in cells[:2]] == [
        "40 bits, 10 operations, on the front", "80 bits, 10 operations",
    ]  # fmt: skip
    assert [request.effort.log.name for request in measured] == ["all.jsonl", "all.networks.jsonl"]
    assert [what for _, what in told] == [
        "letter", "letter NB 1 bit at work", "letter NB 2 bits at work",
        "letter FC relu 1 bit at work", "usps", "usps NB 2 bits at work",
        "usps FC relu 1 bit at work",
    ]  # fmt: skip
    assert [done for done, _ in told] == pytest.approx([0, 0, 1 / 6, 1 / 3, 0.5, 0.5, 0.75])


def test_each_experiment_is_asked_for_its_own_columns(folder, measured):
    columns = ("CNN relu 4x", "NB 2 bits", "NB 1 bit")
    s3_pareto(Request(folder, rows=("usps",), columns=columns))
    assert [request.columns for request in measured] == [columns[1:], columns[:1]]
    measured.clear()
    s3_pareto(Request(folder, rows=("usps",), columns=("TAN 8 bits",)))
    assert [request.columns for request in measured] == [("TAN 8 bits",)]
    measured.clear()
    s3_pareto(Request(folder, quick=True))
    assert [(request.rows, request.quick) for request in measured] == [(("usps",), True)] * 2
    assert sum((request.columns for request in measured), ()) == PARETO_QUICK_COLUMNS


@pytest.mark.no_cover
def test_a_model_costs_what_its_own_experiment_says(folder):
    """Real trainings; and a second run trains nothing, from its two logs."""
    effort = Effort(n_runs=2, epochs=1, log=folder / "log.jsonl")
    cells = s3_pareto(Request(folder, rows=("usps",), columns=SOME, effort=effort))
    assert [c["column"] for c in cells] == ["NB 1 bit", "TAN 2 bits", "CNN relu 1x", SOME[3]]
    naive, tan, convolution, dense = cells
    states = 2 + 15 * 3
    assert (naive["memory_bits"], naive["operations"]) == (2 * (1 + states), 2 * (1 + 16))
    assert tan["memory_bits"] > 2 * 2 * (1 + states)
    assert tan["operations"] == naive["operations"] < convolution["operations"]
    assert dense["memory_bits"] > 64
    assert any(c["is_on_front"] for c in cells)
    assert log_of_networks(effort.log).is_file()
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (training, "fit_jointly"), (training, "fit_in_turn"), (s3_networks, "train_one"),
        ):  # fmt: skip
            patch.setattr(module, name, None)
        again = s3_pareto(Request(folder, rows=("usps",), columns=SOME, effort=effort))
    assert again == cells


def test_no_log_is_two_of_none():
    assert log_of_networks(None) is None


def test_unknown_columns_are_refused(folder):
    with pytest.raises(OptionError, match="s3-pareto has no column 'NB float'"):
        s3_pareto(Request(folder, columns=("NB float",)))
