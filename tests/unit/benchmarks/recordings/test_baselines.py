"""Baselines on recordings: folds, the network, the list of rich features, and resumption."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.recordings import baselines, network, rich_features
from benchmarks.recordings import windowed as windowing
from benchmarks.recordings.baselines import MODELS, PATH, Baselines, by_forest, by_network, measured
from benchmarks.recordings.figures import read
from benchmarks.recordings.sets import SETS, find_set
from benchmarks.recordings.windowed import rich, windowed
from bncc.recordings.recording import Recording, Recordings, sample_format, unbroken


def waves(n_recordings=8, n=400):
    """Return recordings of slow and of fast waves, by turns."""
    rng, found = np.random.default_rng(0), []
    for k in range(n_recordings):
        angle = np.arange(n) * (0.2 if k % 2 else 0.9)
        samples = np.stack([np.sin(angle), np.cos(angle), 0 * angle], axis=1) * 500
        samples = (samples + rng.normal(0, 20, samples.shape)).round().astype(np.int32)
        labels = np.full(n, k % 2, dtype=np.int64)
        found.append(Recording(f"r{k}", None, samples, labels, unbroken(n)))
    return Recordings(
        tuple(found), ("acc_x", "acc_y", "acc_z"), sample_format("int16"), ("fast", "slow"), None,
        "recording", None, "label",
    )  # fmt: skip


ONE = find_set("cgestures")


def test_windows_have_the_samples_of_their_features():
    found = windowed(ONE, waves())
    assert found.samples.shape == (8 * 13, 100, 3)
    assert found.integers[:, 0].tolist() == found.samples[:, :, 0].sum(axis=1).tolist()
    assert found.y.tolist() == [k % 2 for k in range(8) for _ in range(13)]


def test_every_window_of_a_fold_is_decided_by_a_classifier_of_the_others():
    found, asked = windowed(ONE, waves(4)), []

    def decide(trained, is_tested):
        asked.append((set(found.recording[trained]), set(found.recording[is_tested])))
        return 1 - found.y[is_tested], {"bytes": 10 - len(asked)}

    one = measured(("a", "b", "c"), found, np.array([0, 1, -1, -1]), decide)
    assert asked == [({1, 2, 3}, {0}), ({0, 2, 3}, {1})]
    assert (one.n_test, one.error, one.costs) == (26, 100.0, {"bytes": 9})


def test_a_forest_and_a_network_learn_waves(monkeypatch):
    monkeypatch.setattr(network, "N_EPOCHS", 10)
    monkeypatch.setattr(baselines, "N_TREES", 10)
    found = windowed(ONE, waves())
    folds = np.array([-1] * 6 + [0, 0])
    forest = measured(("waves", "last", "forest"), found, folds, by_forest(found.integers, found.y))
    small = measured(("waves", "last", "CNN"), found, folds, by_network(found, found.recording))
    assert (forest.error, small.error) == (0, 0)
    # Weights and biases of three convolutions and a dense layer
    convolutions = 3 * 5 * 16 + 16 + 16 * 5 * 32 + 32 + 32 * 5 * 32 + 32
    assert small.costs["int8 bytes"] == convolutions + 32 * 4 * 2 + 2
    products = 3 * 5 * 16 * 100 + 16 * 5 * 32 * 50 + 32 * 5 * 32 * 25 + 32 * 4 * 2
    assert small.costs["products"] == products


def test_written_results_replace_those_of_the_same_classifiers():
    before = read(PATH)
    new = replace(before[3], misses="new")
    found = baselines.merged(before, [new])
    assert found == [*before[:3], new, *before[4:]]
    assert baselines.merged(before[1:], before[:1]) == before


def test_a_network_learns_from_some_of_many_windows(monkeypatch):
    rows = np.arange(3, 20)
    assert baselines.drawn(rows).tolist() == rows.tolist()
    monkeypatch.setattr(baselines, "MOST_WINDOWS", 5)
    some = baselines.drawn(rows)
    assert sorted({*some.tolist()} & {*rows.tolist()}) == some.tolist()
    assert len(some) == 5


def test_the_list_of_rich_features_has_three_domains_and_takes_the_rate():
    facts = json.loads(rich_features.PATH.read_text("utf-8"))
    assert (facts["library"], facts["version"]) == ("tsfel", "0.2.0")
    assert {one["domain"] for one in facts["features"]} == {"spectral", "statistical", "temporal"}
    rates = [parameters["fs"] for _, parameters in rich_features.listed(50) if "fs" in parameters]
    assert set(rates) == {50}


def test_values_that_are_not_finite_become_zero(monkeypatch):
    found = {
        "one": lambda signal: signal.sum(), "two": lambda signal, fs: (np.nan, fs),
        "three": lambda signal: {"names": ["a"], "values": np.array([-np.inf])},
    }  # fmt: skip
    monkeypatch.setattr(rich_features, "functions", lambda names: [found[name] for name in names])
    listed = [("one", {}), ("two", {"fs": 7}), ("three", {})]
    monkeypatch.setattr(rich_features, "listed", lambda rate: listed)
    windows = np.array([[[1, 4], [2, 5], [3, 6]]])
    assert rich_features.rich_features(windows, 7).tolist() == [[6, 0, 7, 0, 15, 0, 7, 0]]


def test_rich_features_are_computed_in_blocks_once(tmp_path, monkeypatch):
    rates = []

    def run(words, check, env):
        *_, source, target, rate = words
        np.save(target, np.load(source).sum(axis=1) * 10)
        rates.append((rate, env["OMP_NUM_THREADS"]))

    monkeypatch.setattr(windowing.subprocess, "run", run)
    monkeypatch.setattr(windowing, "BLOCK", 2)
    samples = np.arange(3 * 2).reshape(3, 2, 1)
    for _ in range(2):
        assert rich(tmp_path / "some", samples, 50, "python").tolist() == [[10], [50], [90]]
    assert rates == [("50", "1")] * 2


def test_rich_features_of_another_version_are_refused(monkeypatch):
    monkeypatch.setattr(rich_features, "version", lambda name: "0.1.9")
    with pytest.raises(SystemExit, match=r"TSFEL is 0\.1\.9"):
        rich_features.functions(["calc_max"])


def test_known_results_are_not_measured_again(tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(baselines, "load", lambda data, one: loads.append(one.name) or waves())
    monkeypatch.setattr(baselines, "N_TREES", 3)
    for _ in range(2):
        options = ["-o", str(tmp_path), "--sets", "cgestures", "--models", "forest"]
        ended = CliRunner().invoke(baselines.main, options)
        assert ended.exit_code == 0, ended.output
    assert loads == ["cgestures"]
    assert "| cgestures | every 2nd recording | 52 |" in ended.output
    (one,) = Baselines(tmp_path).results([ONE])
    assert (one.set, one.model) == ("cgestures", "forest")


@pytest.mark.parametrize("option", ["--sets", "--models"])
def test_unknown_names_are_refused(tmp_path, option):
    ended = CliRunner().invoke(baselines.main, ["-o", str(tmp_path), option, "letter"])
    assert ended.exit_code == 2
    assert "'letter'" in ended.output


def test_the_results_in_the_file_are_of_known_splits_and_the_same_windows():
    results = read(PATH)
    splits = {(one.name, split.name) for one in SETS for split in one.splits}
    assert {(one.set, one.split) for one in results} <= splits
    assert {one.model for one in results} == {*MODELS}
    rows = baselines.tables(results).splitlines()
    assert "| pump | odd recordings | 1,775 |" in "\n".join(rows)
    for one in results:
        assert len(one.missed) == one.n_test
        assert 100 * one.missed.mean() == pytest.approx(one.error)
