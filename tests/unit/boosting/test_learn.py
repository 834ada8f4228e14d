"""From states and classes to integer tables: repeatable, and as accurate as measured."""

import numpy as np
import pytest

from bncc.boosting.learn import learn_tables, samples_of
from bncc.boosting.settings import BoostSettings
from bncc.errors import DataError
from tests.unit.boosting.samples import N_CLASSES, N_STATES, few_samples

SHORT = BoostSettings(n_tables=4, rows=4, float_epochs=1, quantized_epochs=1)


def everything(learned) -> tuple[object, ...]:
    parts = (*learned.tables, learned.prior)
    return learned.grids, learned.frac_bits, *(part.tobytes() for part in parts)


def learned_from(settings, **options):
    samples = few_samples()
    return learn_tables(samples.X, samples.y, N_STATES, N_CLASSES, settings, **options)


@pytest.mark.parametrize("engine", ["numpy", None])
@pytest.mark.parametrize("dictionary", [0, 5])
def test_equal_seeds_give_equal_bytes(engine, dictionary):
    drawn = {"engine": engine, "dictionary": dictionary, "feature_share": 0.5}
    first, again, other = (
        learned_from(BoostSettings(n_tables=4, rows=6, float_epochs=1, seed=seed, **drawn))
        for seed in (3, 3, 4)
    )
    assert everything(first) == everything(again)
    assert everything(first) != everything(other)


def test_only_ratios_of_weights_matter():
    weights = np.arange(400) % 4
    ones = learned_from(SHORT, weights=weights)
    assert everything(ones) == everything(learned_from(SHORT, weights=weights * 8.0))
    assert everything(ones) != everything(learned_from(SHORT))


def test_it_tells_of_tables_then_of_epochs_and_ends_early():
    told = []
    learned_from(SHORT, progress=lambda *step: told.append(step))
    steps = [f"table {n} of 4" for n in (1, 2, 3, 4)] + ["epoch 1 of 2", "epoch 2 of 2"]
    assert [words for _, words in told] == steps
    assert [share for share, _ in told] == pytest.approx([n / 6 for n in range(1, 7)])
    assert len(learned_from(SHORT, should_stop=lambda: True).tables) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.array([[2]])}, "below its feature's n_states"),
        ({"X": np.array([[-1]])}, "below its feature's n_states"),
        ({"y": np.array([2])}, r"not in 0 \.\. 1"),
        ({"weights": np.array([0.0])}, "not all 0"),
        ({"weights": np.array([-1.0])}, "none negative"),
        ({"weights": np.array([np.nan])}, "weights must be 1 numbers"),
        ({"weights": np.ones(2)}, "weights must be 1 numbers"),
        ({"X": np.empty((0, 1), int), "y": np.empty(0, int)}, "no rows"),
    ],
)
def test_samples_out_of_range_are_refused(changes, message):
    given = {"X": np.array([[1]]), "y": np.array([0]), "weights": None} | changes
    with pytest.raises(DataError, match=message):
        samples_of(given["X"], given["y"], [2], 2, given["weights"])


@pytest.mark.shared
@pytest.mark.cc
def test_satimage_with_twenty_tables(require_tool, shared_data):
    """9.1 % were measured; a binomial standard error is 0.8."""
    require_tool("gcc")
    data = np.load(shared_data / "paper" / "satimage.npz")
    X, y = data["x_tr_fold1"], data["t_tr_fold1"]
    learned = learn_tables(X, y, [256] * X.shape[1], 6, BoostSettings(n_tables=20))
    wrong = learned.costs(data["x_te_fold1"]).argmin(axis=1) != data["t_te_fold1"]
    assert wrong.mean() < 0.105
