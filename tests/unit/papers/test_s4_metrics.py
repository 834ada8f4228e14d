"""S4's table from results made by hand."""

from pathlib import Path

import pytest

from bncc.errors import OptionError
from bncc.papers import s4
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s4 import EXPERIMENTS, PAPER, ROWS, SIZES, cells_of, compare_to_cl
from bncc.papers.s4_study import LEARNERS, Draw, Reached


def reached(bdeu, shd=4, kl=0.5):
    return Reached(bdeu, 2 * bdeu, kl, shd, shd + 1, 9)


def results_of(values):
    """Return results from BDeu scores by network, learner and sample, the others like CL."""
    return {
        Draw(network, Path(network), 500, seed): {
            name: reached(by_learner.get(name, by_learner["CL"])[seed]) for name in LEARNERS
        }
        for network, by_learner in values.items()
        for seed in range(len(by_learner["CL"]))
    }


RESULTS = results_of(
    {
        "asia": {"CL": [-100.0, -90.0, -150.0], "MMHC": [-110.0, -1.0, -120.0]},
        "alarm": {"CL": [-200.0], "MMHC": [-190.0]},
        "child": {"CL": [-50.0], "MMHC": [-50.0 - 1e-12]},
    }
)


def test_ratios_are_of_medians_and_wins_are_counted_by_network():
    found = compare_to_cl(RESULTS, 500, "BDeu", "MMHC")
    assert found.ratio == pytest.approx((1.1 + 0.95 + 1.0) / 3)
    assert (found.won, found.lost, found.tied) == (1, 1, 1)
    assert compare_to_cl(RESULTS, 500, "BIC", "MMHC").won == 1
    assert compare_to_cl(RESULTS, 500, "SHD", "MMHC").tied == 3


def test_less_distance_is_better_and_a_ratio_to_nothing_is_left_out():
    results = {
        draw: {name: reached(-1.0, shd=shd if name == "CL" else 3) for name in LEARNERS}
        for draw, shd in zip(RESULTS, (0, 0, 0, 6, 3), strict=True)
    }
    found = compare_to_cl(results, 500, "SHD", "HC")
    assert (found.won, found.lost, found.tied, found.left_out) == (1, 1, 1, ("asia",))
    assert found.ratio == pytest.approx((3 / 6 + 1) / 2)
    first, _ = cells_of(results, "SHD HC", 500)
    assert first["note"] == "without asia: CL has 0"


def test_a_ratio_to_nothing_at_all_is_none():
    results = {draw: {name: reached(-1.0, kl=0.0) for name in LEARNERS} for draw in RESULTS}
    assert compare_to_cl(results, 500, "KL", "HC").ratio is None


def test_cells_stand_beside_the_papers():
    ratio, won = cells_of(RESULTS, "BDeu MMHC", 500)
    assert (ratio["paper"], ratio["column"], ratio["n"]) == (1.06, "500", 3)
    assert (won["paper"], won["ours"], won["note"]) == (0, 1, "1 tied with CL")
    ratio, won = cells_of(RESULTS, "BDeu CL", 500)
    assert (ratio["paper"], ratio["ours"]) == (1.0, 1.0)
    assert (won["paper"], won["ours"], won["note"]) == (10, 1, "against MMHC, 1 tied")
    ratio, won = cells_of(RESULTS, "SHD HC", 500)
    assert ratio["paper"] is won["paper"] is None


def test_wins_of_the_paper_add_up_to_ten_networks_but_for_ties():
    for measure in ("BDeu", "BIC", "KL", "SHD"):
        pairs = zip(PAPER[measure, "CL"], PAPER[measure, "MMHC"], strict=True)
        sums = [int(a.split()[1]) + int(b.split()[1]) for a, b in pairs]
        has_ties = measure in ("KL", "SHD")
        assert sums == ([10, 10, 10, 9, 9, 9] if has_ties else [10] * len(SIZES))


@pytest.mark.parametrize(
    ("request_", "sizes", "n_draws", "n_networks"),
    [
        (Request(Path(), quick=True), (500, 1000), 3, 6),
        (Request(Path()), (100, 500, 1000, 5000), 5, 10),
        (Request(Path(), columns=("50000", "100 won")), (100, 50000), 5, 10),
        (Request(Path(), quick=True, effort=Effort(n_runs=2)), (500, 1000), 2, 6),
    ],
)
def test_what_is_asked_for_is_run(monkeypatch, request_, sizes, n_draws, n_networks):
    asked = []

    def noted(files, sizes, n_draws, *rest):
        asked.append((len(files), tuple(sizes), n_draws))
        return {
            Draw("asia", Path(), n, 1): {name: reached(-1.0) for name in LEARNERS} for n in sizes
        }

    monkeypatch.setattr(s4, "study", noted)
    monkeypatch.setattr(s4, "network_files", lambda folder, names: dict.fromkeys(names))
    cells = reproduce(EXPERIMENTS["s4-metrics"], request_)
    assert asked == [(n_networks, sizes, n_draws)]
    columns = request_.columns or tuple(c for n in sizes for c in (f"{n}", f"{n} won"))
    assert {cell["column"] for cell in cells} == set(columns)
    assert len(cells) == len(ROWS) * len(columns)


def test_an_unknown_size_is_refused():
    with pytest.raises(OptionError, match="s4-metrics has no column '200'; choose from '100'"):
        reproduce(EXPERIMENTS["s4-metrics"], Request(Path(), columns=("200",)))
