"""Error over table entries: the effect of prices, and the Pareto front."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.papers import s3, training
from bncc.papers import search as search_module
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.folds import FILES, Fold
from bncc.papers.s3 import EXPERIMENTS, QUICK_WEIGHTS, SIZE_COLUMNS, WEIGHTS
from bncc.papers.search import search
from bncc.papers.training import train_and_judge
from bncc.train.settings import TrainSettings
from tests.folds import write_papers_files

s3_size = partial(reproduce, EXPERIMENTS["s3-size"])
LITTLE = Effort(n_runs=2, epochs=1)


@pytest.fixture
def folder(tmp_path):
    """Return a folder of tiny files laid out as the papers' are."""
    write_papers_files(tmp_path)
    return tmp_path


def fold_of_a_pair() -> Fold:
    """Return rows whose class only the pair of the first two features determines."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (400, 4))
    y = (X[:, 0] == X[:, 1]).astype(np.int64)
    return Fold("pair", X[:300], y[:300], X[300:], y[300:], [3, 3, 3, 3], 2)


def test_a_high_price_leaves_naive_bayes_and_no_price_the_arc_that_tells():
    judged = [
        train_and_judge(
            fold_of_a_pair(),
            TrainSettings(
                structure="tan-subset", structure_options={"order": "identity", "step": "0.1"},
                float_=True, size_weight=weight, epochs=30, batch_size=50, lr=0.1,
            ),
            None,
        )
        for weight in (0.0, WEIGHTS[-1])
    ]  # fmt: skip
    unpriced, dear = judged
    assert unpriced.error == 0 < 0.2 < dear.error
    assert unpriced.entries > dear.entries == 2 + 4 * 3 * 2


def test_a_run_of_a_finished_log_trains_nothing(folder, monkeypatch):
    request = Request(
        folder, rows=("letter",), columns=("NB", "size weight 0.1", "TAN Subset"),
        effort=Effort(n_runs=2, epochs=1, log=folder / "log.jsonl"),
    )  # fmt: skip
    cells = s3_size(request)
    monkeypatch.setattr(training, "fit_jointly", None)
    monkeypatch.setattr(training, "fit_in_turn", None)
    assert s3_size(request) == cells


def test_prices_are_those_of_the_paper():
    assert (WEIGHTS[0], WEIGHTS[-1]) == (1e-7, 10.0)
    assert set(QUICK_WEIGHTS) < set(WEIGHTS)
    assert list(SIZE_COLUMNS)[:2] == ["NB", "size weight 10"]
    assert list(SIZE_COLUMNS)[-2:] == ["size weight 1e-07", "TAN Subset"]


def test_cells_tell_entries_and_the_front(folder):
    columns = ("NB", "size weight 10", "TAN Subset")
    told = []
    cells = s3_size(
        Request(folder, columns=columns, effort=LITTLE),
        lambda done, text: told.append((done, text)),
    )
    assert [(c["row"], c["column"]) for c in cells] == [(r, c) for r in FILES for c in columns]
    assert [cell["paper"] for cell in cells[:3]] == [12.93, None, 8.73]
    assert [cell["size_weight"] for cell in cells[:3]] == [None, 10.0, 0.0]
    assert [cell["n"] for cell in cells] == [20] * 9 + [30] * 3
    naive, tan = cells[0], cells[2]
    assert naive["entries"] == 2 + 4 * 2 * 2 <= tan["entries"]
    for cell in cells:
        said = f"{cell['entries']} entries{', on the front' if cell['is_on_front'] else ''}; chosen"
        assert cell["note"].startswith(said)
        assert ("our own preparation" in cell["note"]) == (cell["row"] == "mnist")
    assert any(cell["is_on_front"] for cell in cells[:3])
    assert told[0] == (0.0, "letter")
    assert told[1][1].startswith("letter TAN Subset training 1 of")
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_price_is_tried_near_the_best_settings_without_one(folder, monkeypatch):
    tried, found = [], []

    def spy(fold, drawn, **how):
        tried.append((fold.name, drawn))
        found.append(search(fold, drawn, **how))
        return found[-1]

    for module in (search_module, s3):
        monkeypatch.setattr(module, "search", spy)
    columns = ("NB", "size weight 0.1", "TAN Subset")
    effort = Effort(n_runs=21, epochs=1)
    s3_size(Request(folder, rows=("satimage",), columns=columns, effort=effort))
    assert [name for name, _ in tried] == ["satimage.npz 1"] * 3
    unpriced, naive, priced = (drawn for _, drawn in tried)
    assert {settings.size_weight for settings in unpriced} == {0.0}
    assert {settings.structure for settings in naive} == {"naive"}
    (best,) = found[0].settings
    assert priced[0] == replace(best, size_weight=0.1)
    assert len({settings.lr for settings in priced}) == len(priced) == 3
    assert {settings.seed for settings in priced} == {best.seed}
    assert {settings.size_weight for settings in priced} == {0.1}


def test_quick_is_some_prices_on_letter(folder):
    cells = s3_size(Request(folder, quick=True, effort=LITTLE))
    assert {cell["row"] for cell in cells} == {"letter"}
    assert [cell["size_weight"] for cell in cells] == [None, *QUICK_WEIGHTS, 0.0]


def test_unknown_rows_and_columns_are_refused(folder):
    with pytest.raises(OptionError, match="s3-size has no row 'mnist14'"):
        s3_size(Request(folder, rows=("mnist14",)))
    with pytest.raises(OptionError, match="s3-size has no column 'TAN All'"):
        s3_size(Request(folder, columns=("TAN All",)))
