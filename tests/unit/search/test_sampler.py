"""Sampling as a function of seed, trial and option."""

import math
from collections.abc import Iterator

import optuna
import pytest

from bncc.search.sampler import KeyedSampler, sampler_of, suggested
from bncc.search.space import Domain

FLOAT = Domain(low=0.01, high=10.0, log=True)
INTEGER = Domain(low=1, high=64, log=True)
PLAIN = Domain(low=-3, high=3)
CHOICES = Domain(("a", "b", "c"))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def draw(study: optuna.Study, *names: str) -> dict[str, object]:
    domains = {"f": FLOAT, "i": INTEGER, "p": PLAIN, "c": CHOICES}
    trial = study.ask()
    return {name: suggested(trial, name, domains[name]) for name in names}


def study(seed: int) -> optuna.Study:
    return optuna.create_study(sampler=KeyedSampler(seed))


def test_a_value_depends_on_seed_trial_and_name_alone() -> None:
    first, other = study(3), study(3)
    found = [draw(first, "f", "i", "p", "c") for _ in range(40)]
    again = [draw(other, "c", "i") for _ in range(40)]
    assert again == [{"c": each["c"], "i": each["i"]} for each in found]
    assert [draw(study(4), "f") for _ in range(1)] != [{"f": found[0]["f"]}]


def test_values_fill_their_domains() -> None:
    found = study(0)
    drawn = [draw(found, "f", "i", "p", "c") for _ in range(300)]
    values = [each["f"] for each in drawn]
    assert all(isinstance(v, float) and 0.01 <= v <= 10 for v in values)
    # Half of a logarithmic range is below the geometric mean of its ends.
    below = sum(isinstance(v, float) and v < math.sqrt(0.1) for v in values)
    assert 110 < below < 190
    integers = {each["i"] for each in drawn}
    assert all(isinstance(v, int) for v in integers)
    assert {1, 2, 3} <= integers <= set(range(1, 65))
    assert {each["p"] for each in drawn} == set(range(-3, 4))
    assert {each["c"] for each in drawn} == {"a", "b", "c"}


def test_a_set_value_is_not_drawn() -> None:
    trial = study(0).ask()
    assert suggested(trial, "x", Domain((False,))) is False
    assert trial.params == {}


@pytest.mark.parametrize("name", ["tpe", "nsga2"])
def test_samplers_of_optuna_start_elsewhere_in_each_trial(name: str) -> None:
    def first(seed: int, number: int) -> object:
        sampler = sampler_of(name, seed, number)  # type: ignore[arg-type]
        return draw(optuna.create_study(sampler=sampler), "f")

    assert first(0, 1) == first(0, 1)
    assert first(0, 1) != first(0, 2)
    assert first(0, 1) != first(1, 1)
