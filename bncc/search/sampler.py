"""Samplers of a trial's options: random as a function of the seed, TPE, or NSGA-II."""

import math
import random
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, NSGAIISampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial

from bncc.search.space import Domain
from bncc.search.storage import quiet
from bncc.search.trial_result import Choice

SamplerName = Literal["random", "tpe", "nsga2"]


def sampler_of(name: SamplerName, seed: int, number: int) -> BaseSampler:
    """Return the sampler for one trial."""
    if name == "random":
        return KeyedSampler(seed)
    start = _keyed(seed, number, name).randrange(2**32)
    with quiet():
        return TPESampler(seed=start) if name == "tpe" else NSGAIISampler(seed=start)


class KeyedSampler(BaseSampler):
    """Sample each value as a function of seed, trial number and option name only."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Sample no values jointly."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Sample no values jointly."""
        return {}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Sample one value."""
        return _drawn(_keyed(self._seed, trial.number, param_name), param_distribution)


def suggested(trial: Trial, name: str, domain: Domain) -> Choice:
    """Return the value of an option in a trial, sampled on first use."""
    if len(domain.choices) == 1:
        return domain.choices[0]
    if domain.choices:
        choice = trial.suggest_categorical(name, domain.choices)
        assert choice is not None
        return choice
    low, high = domain.low, domain.high
    assert low is not None
    assert high is not None
    if isinstance(low, int) and isinstance(high, int):
        return trial.suggest_int(name, low, high, log=domain.log)
    return trial.suggest_float(name, low, high, log=domain.log)


def _keyed(*key: object) -> random.Random:
    return random.Random(int.from_bytes(sha256(repr(key).encode()).digest()))


def _drawn(rng: random.Random, domain: BaseDistribution) -> Any:
    if isinstance(domain, CategoricalDistribution):
        return domain.choices[rng.randrange(len(domain.choices))]
    if isinstance(domain, IntDistribution):
        if not domain.log:
            return rng.randint(domain.low, domain.high)
        value = _log_uniform(rng, domain.low - 0.5, domain.high + 0.5)
        return min(max(round(value), domain.low), domain.high)
    assert isinstance(domain, FloatDistribution)
    if domain.log:
        return min(max(_log_uniform(rng, domain.low, domain.high), domain.low), domain.high)
    return rng.uniform(domain.low, domain.high)


def _log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))
