"""The Huber hinge of log margins: by hand, and its slope against differences."""

import numpy as np
import pytest

from bncc.train.margin.fit import huber_hinge, log_margins, margin_loss


def test_the_hinge_is_straight_then_a_parabola_then_nothing():
    """With h = 0.5: 1 - t below 0.5, (1.5 - t)^2 / 2 up to 1.5, then 0."""
    loss, slope = huber_hinge(np.array([-2.0, 0.5, 1.0, 1.5, 9.0]))
    assert loss.tolist() == [3.0, 0.5, 0.125, 0.0, 0.0]
    assert slope.tolist() == [-1.0, -1.0, -0.5, 0.0, 0.0]


def test_a_margin_is_taken_to_the_soft_maximum_of_the_wrong_classes():
    """Two wrong classes at -3 nats are as one at -3 + ln 2 / eta."""
    log_d, shares = log_margins(np.log([[0.2, 0.01, 0.01]]), np.array([0]), 10.0)
    assert log_d == pytest.approx([np.log(20) - np.log(2) / 10])
    assert shares == pytest.approx(np.array([[0.0, 0.5, 0.5]]))


def test_with_two_classes_the_soft_maximum_is_exact():
    log_d, shares = log_margins(np.array([[-700.0, -1.5]]), np.array([0]), 0.1)
    assert log_d.tolist() == [-698.5]
    assert shares.tolist() == [[0.0, 1.0]]


def test_the_loss_of_weighted_samples_by_hand():
    """Log margins 2 and -1, lambda 0.5: t is 1 and -0.5, the losses 0.125 and 1.5."""
    log_joint = np.array([[-1.0, -3.0], [-2.0, -3.0], [0.0, -9.0]])
    loss, rows, slopes = margin_loss(
        log_joint, np.array([0, 1, 0]), np.array([2.0, 1.0, 5.0]), 0.5, 10.0
    )
    assert loss == 2 * 0.125 + 1.5
    assert rows.tolist() == [0, 1], "the third is beyond the margin"
    assert slopes.tolist() == [[-0.5, 0.5], [0.5, -0.5]]


def test_slopes_are_those_of_differences():
    rng = np.random.default_rng(0)
    log_joint, y, weights = rng.normal(size=(40, 4)), rng.integers(0, 4, 40), rng.random(40)
    given = y, weights, 0.7, 3.0
    _, rows, slopes = margin_loss(log_joint, *given)
    found = np.zeros((40, 4))
    found[rows] = slopes
    step = 1e-6
    for n, c in [(n, c) for n in range(40) for c in range(4)]:
        moved = [log_joint.copy(), log_joint.copy()]
        moved[0][n, c] -= step
        moved[1][n, c] += step
        below, above = (margin_loss(each, *given)[0] for each in moved)
        assert found[n, c] == pytest.approx((above - below) / (2 * step), abs=1e-7)


def test_a_lambda_of_0_asks_for_nothing():
    loss, rows, _ = margin_loss(np.zeros((3, 2)), np.zeros(3, dtype=int), np.ones(3), 0.0, 10.0)
    assert (loss, len(rows)) == (3.0, 0)
