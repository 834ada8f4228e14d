"""Random values from search spaces, for tests."""

import random
from collections.abc import Callable

from bncc.search.space import Domain
from bncc.search.trial_result import Choice


def drawer(seed: int) -> Callable[[str, Domain], Choice]:
    """Return a random sampler for `bncc.search.space.Space.draw`."""
    rng = random.Random(seed)

    def ask(name: str, domain: Domain) -> Choice:
        if domain.choices:
            return rng.choice(domain.choices)
        assert domain.low is not None
        assert domain.high is not None
        if isinstance(domain.low, int):
            return rng.randint(domain.low, int(domain.high))
        return rng.uniform(domain.low, domain.high)

    return ask
