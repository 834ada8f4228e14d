"""S4's study on made-up networks of the sizes of asia and sachs."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import DataError, OptionError
from bncc.network.bif import bif_text
from bncc.network.inference import sample
from bncc.network.network import Network, Variable
from bncc.papers import s4_study
from bncc.papers.s2_data import Protocol
from bncc.papers.s2_study import study as study_s2
from bncc.papers.s4_study import (
    HC,
    LEARNERS,
    MMHC,
    NETWORKS,
    PRICED,
    QUICK,
    Draw,
    judge,
    learn_graphs,
    network_files,
    read_network,
    study,
    try_draw,
)
from bncc.structure.dags.dag_score import Columns, arcs_of, structural_distance
from bncc.structure.dags.neighbors import parents_and_children


def made_up(n_variables, n_arcs, seed):
    """Return a network of binary variables whose arcs go from smaller to larger ones."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(n_variables) for j in range(max(0, i - 4), i)]
    chosen = [pairs[k] for k in rng.choice(len(pairs), n_arcs, replace=False)]
    parents = tuple(tuple(j for i, j in chosen if i == child) for child in range(n_variables))
    tables = tuple(
        np.stack([p, 1 - p], axis=1)
        for p in (rng.choice([0.05, 0.3, 0.9], 2 ** len(of)) for of in parents)
    )
    variables = tuple(Variable(f"v{i}", ("no", "yes")) for i in range(n_variables))
    return Network(variables, parents, tables)


@pytest.fixture
def files(tmp_path):
    """Return two networks by the names of the slides."""
    for name in ("asia", "sachs"):
        text = bif_text(made_up(*NETWORKS[name], seed=len(name)))
        (tmp_path / f"{name}.bif").write_text(text, encoding="utf-8")
    return network_files(tmp_path, ("asia", "sachs"))


def test_files_are_found_by_name_and_missing_ones_named(files, tmp_path):
    assert [path.name for path in files.values()] == ["asia.bif", "sachs.bif"]
    (tmp_path / "networks").mkdir()
    with pytest.raises(DataError, match=r"networks' has no asia\.bif .* with --data"):
        network_files(tmp_path, ("asia",))


def test_a_network_of_another_size_is_refused(files):
    with pytest.raises(DataError, match="has 8 variables and 8 arcs, and S4's child 20 and 25"):
        read_network("child", files["asia"])


def test_every_learner_is_judged_on_rows_that_it_has_not_seen(files):
    draw = Draw("asia", files["asia"], 300, 1)
    found = try_draw(draw)
    assert tuple(found) == LEARNERS
    network = read_network("asia", files["asia"])
    train, test = (
        Columns(np.ascontiguousarray(sample(network, n, seed).T), network.n_states)
        for n, seed in ((300, 1), (5000, 0))
    )
    true = tuple(tuple(sorted(parents)) for parents in network.parents)
    dags = learn_graphs(train, 1)
    for name, dag in dags.items():
        assert found[name] == judge(dag, true, test)
        distance = structural_distance(dag, true)
        assert (found[name].shd, found[name].n_arcs) == (distance.total, len(arcs_of(dag)))
        assert found[name].shd_of_patterns == distance.of_patterns
    sets = parents_and_children(train)
    assert all(sets[i, j] for name in LEARNERS if name != HC for j, i in arcs_of(dags[name]))
    assert not all(sets[i, j] for j, i in arcs_of(dags[HC]))
    assert found[HC].kl > found[MMHC].kl >= found[PRICED].kl > 0
    other = try_draw(replace(draw, seed=2))
    assert {name: other[name].bdeu for name in other} != {name: found[name].bdeu for name in found}


def test_a_log_keeps_results_to_the_bit_and_nothing_is_tried_twice(files, tmp_path, monkeypatch):
    log, told = tmp_path / "log", []
    first = study(files, (100,), 2, log=log, advance=lambda *each: told.append(each))
    assert [(d.network, d.n_rows, d.seed) for d in first] == [
        ("asia", 100, 1), ("asia", 100, 2), ("sachs", 100, 1), ("sachs", 100, 2),
    ]  # fmt: skip
    assert told[-1] == (1.0, "sachs, 100 rows, sample 2")
    monkeypatch.setattr(s4_study, "try_draw", lambda _: pytest.fail("tried again"))
    assert study(files, (100,), 2, log=log) == first
    with pytest.raises(OptionError, match="not a checkpoint of this version of S2's study"):
        study_s2({}, Protocol(), log=log)


def test_a_draw_is_told_from_others(files):
    draw = Draw("asia", files["asia"], 100, 1)
    others = [
        replace(draw, network="sachs"), replace(draw, path=files["sachs"]),
        replace(draw, n_rows=500), replace(draw, seed=2),
    ]  # fmt: skip
    assert len({each.key for each in (draw, *others)}) == 5


@pytest.mark.shared
def test_the_networks_of_the_slides_have_their_sizes(shared_data):
    for name, path in network_files(shared_data, tuple(NETWORKS)).items():
        read_network(name, path)
    assert set(QUICK) < set(NETWORKS)


@pytest.mark.shared
def test_what_holds_of_child(shared_data):
    found = try_draw(Draw("child", network_files(shared_data, ("child",))["child"], 1000, 1))
    assert found["Tabu"].bdeu >= found["MMHC"].bdeu
    assert all(reached.shd <= 8 for reached in found.values())
