"""Baselines in a sweep: half of the samples, from the named ones, networks as before."""

import pytest

from bncc.baselines.learn import FAMILIES, family_of
from bncc.errors import OptionError
from bncc.search.baseline_space import (
    NAME,
    baseline_settings,
    is_baseline,
    named_baselines,
    with_baselines,
)
from bncc.search.config import baseline_words
from bncc.search.option_domains import BASELINE_KEYS, BASELINES, CLASSIFIER
from bncc.search.space import read_space
from tests.spaces import drawer


def test_the_options_are_those_of_the_families() -> None:
    """The sweep names them without importing a single learner."""
    assert tuple(FAMILIES) == BASELINES
    keys = {key for family in FAMILIES.values() for key in (*family.defaults, *family.budgets)}
    assert {"name", *keys} == set(BASELINE_KEYS)


def test_networks_are_drawn_as_without_baselines() -> None:
    """The same options with the same domains, and nothing of baselines."""
    plain = read_space("default")
    both = with_baselines(plain, BASELINES)
    for seed in range(100):
        drawn = both.draw(drawer(seed))
        if not is_baseline(drawn):
            assert set(drawn) <= {CLASSIFIER, *plain.options}
            assert {"structure", "bits", "optimize"} <= set(drawn)


def test_as_many_baselines_as_networks_and_all_that_are_named() -> None:
    space = with_baselines(read_space("default"), ("tree", "dnn"))
    drawn = [space.draw(drawer(seed)) for seed in range(400)]
    baselines = [d for d in drawn if is_baseline(d)]
    assert 150 < len(baselines) < 250
    assert {d[NAME] for d in baselines} == {"tree", "dnn"}
    assert not any("structure" in d for d in baselines)


@pytest.mark.parametrize("name", BASELINES)
def test_every_family_takes_what_is_drawn_for_it(name: str) -> None:
    space = with_baselines(read_space("default"), (name,))
    drawn = [d for d in (space.draw(drawer(seed)) for seed in range(60)) if is_baseline(d)]
    for params in drawn:
        settings = baseline_settings(params, seed=3)
        assert settings.family == name
        assert settings.seed == 3
        options = family_of(name).options(settings.options)
        assert set(options) >= set(settings.options)
        assert sum(budget in options for budget in ("memory", "operations")) <= 1


def test_words_name_all_that_was_drawn() -> None:
    params = {
        CLASSIFIER: "baseline", NAME: "dnn", "discretize": "width", "n-bins": 5,
        "baseline.bits": 2, "baseline.norm": False, "baseline.memory": 1.5,
    }  # fmt: skip
    assert baseline_words(params) == (
        "--classifier", "dnn", "--discretize", "width", "--n-bins", "5",
        "--option", "bits=2", "--option", "norm=no", "--option", "memory=1.5",
    )  # fmt: skip


def test_all_is_what_the_data_allow() -> None:
    assert named_baselines("all", 256) == BASELINES
    assert named_baselines("all", 16) == BASELINES[:-1]
    assert named_baselines(" cnn, tree ", 256) == ("tree", "cnn")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tree,oak", "no baseline is called 'oak'"),
        (" , ", "names nothing"),
        ("cnn", "no square image"),
    ],
)
def test_what_cannot_be_had_is_said(text: str, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        named_baselines(text, 17)


def test_a_family_says_which_options_it_has() -> None:
    with pytest.raises(OptionError, match="no option 'leafs'; there are leaves, by"):
        family_of("tree").options({"leafs": 3})
    with pytest.raises(OptionError, match="no baseline is called 'oak'"):
        family_of("oak")


def test_one_budget_takes_the_place_of_the_other() -> None:
    options = family_of("dnn").options({"operations": 2.0})
    assert "memory" not in options
    assert options["operations"] == 2.0


def test_a_space_that_draws_the_classifier_itself_takes_no_more() -> None:
    both = with_baselines(read_space("default"), ("tree",))
    with pytest.raises(OptionError, match="drop --baselines"):
        with_baselines(both, ("tree",))
