"""S2's study over data sets: its log, its processes, and results on three real sets."""

import json
from dataclasses import replace

import pytest

from bncc.errors import OptionError
from bncc.papers import s2_study
from bncc.papers.runs import Log
from bncc.papers.s2_data import Protocol, set_files
from bncc.papers.s2_study import (
    AODE,
    NETWORKS,
    PERCENTS,
    PROGRAM,
    WITH_MISSING,
    missing_name,
    set_key,
    study,
    try_set,
)
from tests.uci import write_set

FOLDS = Protocol(n_folds=3)
JUDGED = {*NETWORKS, AODE, *(missing_name(name, p) for name in WITH_MISSING for p in PERCENTS)}


@pytest.fixture
def files(tmp_path):
    """Return two small sets."""
    for k, name in enumerate(("one", "two")):
        write_set(tmp_path / f"{name}.arff", seed=k)
    return set_files(tmp_path)


def test_every_learner_is_judged_on_every_row(files):
    found = try_set(("one", files["one"], FOLDS))
    assert (found.n_rows, found.n_folds) == (60, 3)
    assert set(found.error) == set(found.log_loss) == JUDGED
    assert set(found.bdeu) == set(NETWORKS)
    for error in found.error.values():
        assert error * 60 / 100 == pytest.approx(round(error * 60 / 100))
    assert found.error["ETAN"] < 40, "the class can be told"
    assert try_set(("one", files["one"], FOLDS)) == found


def test_repeats_are_averaged(files):
    parts = [try_set(("one", files["one"], replace(FOLDS, seed=0)))]
    both = try_set(("one", files["one"], replace(FOLDS, n_repeats=2)))
    assert both.n_folds == 6
    assert both.error["NB"] * 120 / 100 == pytest.approx(round(both.error["NB"] * 120 / 100))
    assert both.bdeu["NB"] != parts[0].bdeu["NB"], "the second repeat has other folds"
    assert both.bdeu["NB"] == pytest.approx(parts[0].bdeu["NB"], rel=0.02)


def test_a_log_keeps_results_to_the_bit_and_nothing_is_tried_twice(files, tmp_path, monkeypatch):
    log, told = tmp_path / "log", []
    first = study(files, FOLDS, log=log, advance=lambda *each: told.append(each))
    assert list(first) == ["one", "two"]
    assert sorted(name for _, name in told) == ["one", "two"]
    assert [done for done, _ in told] == [0.5, 1.0]
    text = log.read_text()
    log.write_text(text[:-20])  # killed while it wrote the last
    assert study(files, FOLDS, log=log) == first
    monkeypatch.setattr(s2_study, "try_set", lambda _: pytest.fail("tried again"))
    assert study(files, FOLDS, log=log) == first


def test_a_log_tells_sets_and_protocols_apart(files, tmp_path):
    key = set_key(("one", files["one"], FOLDS))
    assert key == set_key(("one", files["one"], FOLDS))
    others = [
        set_key(("two", files["one"], FOLDS)),
        set_key(("one", files["two"], FOLDS)),
        set_key(("one", files["one"], replace(FOLDS, whole_set=True))),
        set_key(("one", files["one"], replace(FOLDS, n_repeats=2))),
    ]
    assert len({key, *others}) == 5
    Log(tmp_path / "log", PROGRAM).add(key, {"n_rows": 1})
    assert Log(tmp_path / "log", PROGRAM)[key] == {"n_rows": 1}
    assert others[0] not in Log(tmp_path / "log", PROGRAM)


def test_a_log_of_another_version_is_refused(files, tmp_path, monkeypatch):
    log = tmp_path / "log"
    Log(log, PROGRAM)
    monkeypatch.setattr(s2_study, "PROGRAM", replace(PROGRAM, texts=("data",)))
    with pytest.raises(OptionError, match=r"no checkpoint of this version .* name another file"):
        study(files, FOLDS, log=log)
    log.write_text("not JSON\n")
    with pytest.raises(OptionError, match="no checkpoint"):
        study(files, FOLDS, log=log)
    log.write_text(json.dumps([1]) + "\n")
    with pytest.raises(OptionError, match="no checkpoint"):
        study(files, FOLDS, log=log)


def test_two_processes_find_what_one_finds(files):
    assert study(files, FOLDS, jobs=2) == study(files, FOLDS)


@pytest.mark.shared
def test_what_holds_of_real_sets(shared_data):
    names = ("iris", "vote", "zoo")
    files = {name: path for name, path in set_files(shared_data).items() if name in names}
    for name, result in study(files, Protocol(n_folds=4)).items():
        for other in ("NB", "TAN", "S-ETAN"):
            assert result.bdeu["ETAN"] >= result.bdeu[other] - 1e-6, name
        assert result.bdeu["A-ETAN"] >= max(result.bdeu["ETAN"], result.bdeu["SA-ETAN"]) - 1e-6
        assert result.error["A-ETAN"] < 35
        for learner in WITH_MISSING:
            lost = result.log_loss[missing_name(learner, PERCENTS[-1])]
            assert lost > result.log_loss[learner], name
