"""Points of speed are kept by the mean error, and by the largest of all costs."""

import pytest

from benchmarks.peers.peer_points import Ours
from benchmarks.speed_points import Point
from bncc.search.ensemble_configs import EnsembleConfig

POINT = Point("usps", EnsembleConfig(), 10, 5.0, 1000, 100)


@pytest.mark.parametrize(
    ("errors", "flashes", "instructions", "kept"),
    [
        ((4.0, 6.0), (1000, 900), (100, 90), True),
        ((4.0, 6.1), (1000, 900), (100, 90), False),
        ((4.0, 4.0), (1001, 900), (100, 90), False),
        ((4.0, 4.0), (1000, 900), (101, 90), False),
    ],
)
def test_every_seed_stays_within_and_the_mean_error(errors, flashes, instructions, kept):
    found = [
        Ours("sum", "balanced", 0.0, *each)
        for each in zip(errors, flashes, instructions, strict=True)
    ]
    assert POINT.is_kept(found) == kept
