"""Networks in the memory or with the operations of naive Bayes: samples and cells."""

from functools import partial

import pytest

from bncc.baselines.plan import Task
from bncc.errors import OptionError
from bncc.papers import s3_networks
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.folds import FILES
from bncc.papers.s3_networks import (
    COLUMNS,
    EXPERIMENTS,
    QUICK_COLUMNS,
    QUICK_RUNS,
    RUNS_AND_EPOCHS,
    draw_trials,
)
from bncc.papers.training import Judged
from tests.folds import write_images, write_papers_files

s3_budget = partial(reproduce, EXPERIMENTS["s3-budget"])
LITTLE = Effort(n_runs=2, epochs=1)
USPS = Task((3,) * 256, 10)


@pytest.fixture
def folder(tmp_path):
    """Return a folder of tiny files laid out as the papers' are; usps has images of 4 x 4."""
    write_papers_files(tmp_path)
    write_images(tmp_path)
    return tmp_path


@pytest.fixture
def untrained(monkeypatch):
    """Rank trainings by their bits per weight, and return the requested trainings."""
    seen = []

    def judged(fold, trial, is_judged):
        seen.append((fold.name, trial, is_judged))
        return Judged(trial.plan.bits / 100 + (not is_judged) / 1000, trial.plan.parameter_bits)

    monkeypatch.setattr(s3_networks, "train_one", judged)
    return seen


@pytest.mark.parametrize("name", ["FC relu 3 bits", "FC one-hot sign 8 bits", "CNN relu 2 bits"])
def test_networks_have_the_memory_of_naive_bayes(name):
    column = COLUMNS[name]
    plans = [trial.plan for trial in draw_trials(USPS, column, 12, 1, 50)]
    limit = column.bits * 10 * (1 + 3 * 256)
    assert all(0.5 < plan.parameter_bits / limit < 2 for plan in plans)
    assert {plan.activation for plan in plans} == {column.activation}
    assert len({(plan.bits, plan.has_norm, len(plan.layers)) for plan in plans}) > 6


@pytest.mark.parametrize("multiple", [2, 8, 64, 256])
def test_convolutions_do_a_multiple_of_the_work_of_naive_bayes(multiple):
    plans = [t.plan for t in draw_trials(USPS, COLUMNS[f"CNN relu {multiple}x"], 12, 1, 50)]
    limit = multiple * 10 * (1 + 256)
    assert all(0.6 < plan.operations / limit < 1.6 for plan in plans)
    assert {plan.family for plan in plans} == {"cnn"}


def test_more_runs_begin_with_the_same_ones():
    column = COLUMNS["FC relu 1 bit"]
    assert draw_trials(USPS, column, 3, 1, 50) == draw_trials(USPS, column, 9, 1, 50)[:3]


def test_rows_held_out_choose_and_test_rows_judge(folder, monkeypatch):
    """Each fold chooses the best of eight networks, the first of equals, and trains it."""
    seen = []

    def judged(fold, trial, is_judged):
        seen.append((fold.name, trial, is_judged))
        bits = trial.plan.bits if fold.name.endswith("1") else 9 - trial.plan.bits
        return Judged(bits / 100 + (not is_judged) / 1000, 1)

    monkeypatch.setattr(s3_networks, "train_one", judged)
    request = Request(
        folder, rows=("satimage",), columns=("FC relu 3 bits",), effort=Effort(8, 5, 1)
    )
    told = []
    (cell,) = s3_budget(request, lambda done, text: told.append((done, text)))
    judging = [trial for name, trial, held in seen if name == "satimage.npz 1" and held]
    low = min(judging, key=lambda trial: trial.plan.bits)
    high = max(judging, key=lambda trial: trial.plan.bits)
    assert low.plan.bits < high.plan.bits
    assert [(name, trial) for name, trial, held in seen if not held] == [
        (f"satimage.npz {k}", low if k == 1 else high) for k in range(1, 6)
    ]
    assert len(seen) == 5 * (len({*judging}) + 1)
    assert {trial.settings.epochs for trial in judging} == {5}
    assert cell["ours"] == pytest.approx((low.plan.bits + 4 * (9 - high.plan.bits)) / 5 + 0.1)
    assert cell["bits"] == round((low.plan.parameter_bits + 4 * high.plan.parameter_bits) / 5)
    assert (cell["paper"], cell["n"], cell["budget"]) == (None, 100, 3)
    assert cell["note"].count(f"validation {low.plan.bits}.00 %, best of 8") >= 1
    assert told[0] == (0.0, "satimage FC relu 3 bits")
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_each_row_has_an_effort_of_its_own(folder, untrained):
    rows = ("letter", "usps")
    s3_budget(Request(folder, rows=rows, columns=("FC sign 1 bit",)))
    for row in rows:
        mine = [trial for name, trial, held in untrained if name == f"{FILES[row]} 1" and held]
        assert (len(mine), mine[0].settings.epochs) == RUNS_AND_EPOCHS[row]


def test_quick_is_some_columns_of_usps(folder, untrained):
    cells = s3_budget(Request(folder, quick=True))
    assert [(cell["row"], cell["column"]) for cell in cells] == [
        ("usps", column) for column in QUICK_COLUMNS
    ]
    assert sum(held for _, _, held in untrained) == QUICK_RUNS * len(QUICK_COLUMNS)


def test_convolutions_are_for_images(folder, untrained):
    columns = ("FC relu 1 bit", "CNN relu 1x")
    cells = s3_budget(Request(folder, rows=("letter", "usps"), columns=columns, effort=LITTLE))
    assert [(cell["row"], cell["column"]) for cell in cells] == [
        ("letter", columns[0]), ("usps", columns[0]), ("usps", columns[1]),
    ]  # fmt: skip
    with pytest.raises(OptionError, match="letter has no images to convolve"):
        s3_budget(Request(folder, rows=("letter",), columns=columns[1:]))


def test_a_run_of_a_finished_log_trains_nothing(folder, monkeypatch):
    request = Request(
        folder, rows=("usps",), columns=("FC relu 3 bits", "CNN relu 1x"),
        effort=Effort(n_runs=2, epochs=1, log=folder / "log.jsonl"),
    )  # fmt: skip
    cells = s3_budget(request)
    assert all(0 <= cell["ours"] <= 100 for cell in cells)
    monkeypatch.setattr(s3_networks, "train_one", None)
    assert s3_budget(request) == cells


def test_unknown_rows_and_columns_are_refused(folder):
    with pytest.raises(OptionError, match="s3-budget has no row 'mnist14'"):
        s3_budget(Request(folder, rows=("mnist14",)))
    with pytest.raises(OptionError, match="s3-budget has no column 'FC relu 9 bits'"):
        s3_budget(Request(folder, columns=("FC relu 9 bits",)))
