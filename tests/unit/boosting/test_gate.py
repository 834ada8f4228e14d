"""A gate: the margin is chosen on rows that no table has seen, and both exits learn."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.boosting.boost import boost
from bncc.boosting.front import MOST_DIFFERING
from bncc.boosting.gate import HeldOut, held_out, with_gate
from bncc.boosting.learn import held_out_of, learn_tables, refit, refit_tables
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import FOLDS, sums_of
from bncc.errors import OptionError
from bncc.model.gate import Gate, margins
from tests.unit.boosting.samples import N_CLASSES, N_STATES, few_samples

SETTINGS = BoostSettings(
    n_tables=9, rows=6, gate=3, engine="numpy", float_epochs=2, quantized_epochs=3, batch_size=64
)
HELD = HeldOut(
    np.array([9, 9, 7, 5, 5, 2, 0, 0, 0, 0]),
    np.array([0, 0, 0, 1, 0, 0, 1, 0, 0, 0], dtype=bool),
    np.ones(10),
)


def learned(asked, samples):
    recipe = recipe_of(asked, samples.X.shape[1], samples.n_classes)
    return refit(boost(samples, asked, recipe), samples, asked, recipe)


@pytest.mark.parametrize(
    ("most", "margin", "answers", "differing"),
    [(0.0, 7, 0.3, 0.0), (0.0999, 7, 0.3, 0.0), (0.1, 2, 0.6, 0.1), (1.0, 2, 0.6, 0.1)],
)
def test_the_smallest_margin_that_the_guard_admits_is_chosen(most, margin, answers, differing):
    """Rows of one margin are admitted together, and none on a tie."""
    gate, record = HELD.gate(4, most)
    assert gate == Gate(4, margin)
    assert record == {"answers": answers, "differing": differing}


def test_weights_count_in_the_guard():
    heavy = replace(HELD, weights=np.array([1, 1, 1, 5, 1, 1, 0, 0, 0, 0.0]))
    assert heavy.gate(4, 0.49)[0].margin == 7
    assert heavy.gate(4, 0.5)[0].margin == 2


def test_without_a_margin_that_is_sure_there_is_no_gate():
    others = replace(HELD, is_other=np.ones(10, dtype=bool))
    assert others.gate(4, 0.1) is None
    samples = few_samples()
    plain = refit_tables(
        boost(samples, SETTINGS, recipe_of(SETTINGS, 5, 3)), samples, SETTINGS,
        recipe_of(SETTINGS, 5, 3),
    )  # fmt: skip
    assert with_gate(plain, others, replace(SETTINGS, gate_differing=0.1)) is plain
    assert with_gate(plain, None, SETTINGS) is plain
    assert with_gate(plain, HELD, replace(SETTINGS, gate=9, n_tables=10)) is plain
    assert with_gate(plain, HELD, SETTINGS).gate == Gate(3, 7)
    assert with_gate(plain, HELD, replace(SETTINGS, gate_differing=0.1)).gate == Gate(3, 2)
    assert MOST_DIFFERING < 0.1


def test_the_first_tables_decide_where_their_margin_is_large():
    samples = few_samples(900)
    found = learned(replace(SETTINGS, gate_differing=0.02), samples)
    assert found.gate.tables == 3
    first, whole = sums_of(found, samples.X, 3), sums_of(found, samples.X)
    is_early = margins(first) >= found.gate.margin
    assert 0.05 < is_early.mean() < 1
    wanted = np.where(is_early[:, None], first, whole)
    assert np.array_equal(found.costs(samples.X), wanted)
    assert not np.array_equal(first, whole)
    assert found.gate_record["differing"] <= 0.02
    # Nearly as many rows as were held out are decided early.
    assert found.gate_record["answers"] == pytest.approx(is_early.mean(), abs=0.15)


def test_no_row_is_judged_by_tables_that_have_seen_it():
    samples = few_samples(300)
    seen = []

    def learn(some):
        seen.append({tuple(row) for row in some.X.tolist()})
        return learned(replace(SETTINGS, gate=0), some)

    found = held_out(samples, SETTINGS, learn)
    assert len(seen) == FOLDS
    assert len(found.margins) == 300
    unseen = sum(tuple(row) not in some for row in samples.X.tolist() for some in seen)
    assert unseen >= 250  # rows that occur once are left out once


def test_few_rows_and_few_tables_have_no_gate():
    assert held_out_of(few_samples(2), SETTINGS) is None
    samples = few_samples(60)
    constant = replace(samples, y=np.zeros_like(samples.y))
    assert held_out_of(constant, SETTINGS) is None
    same = replace(samples, X=np.zeros_like(samples.X))
    same.X[:1] = 1
    assert held_out_of(same, SETTINGS) is None
    assert learned(SETTINGS, constant).gate is None


def test_the_loss_at_the_gate_teaches_the_first_tables():
    """Their sum alone has a lower loss than that of tables that are only added up."""
    samples = few_samples(1500)
    asked = replace(SETTINGS, float_epochs=8, quantized_epochs=12, n_tables=12)
    recipe = recipe_of(asked, 5, N_CLASSES)
    boosted = boost(samples, asked, recipe)
    losses = []
    for gate in (0, 3):
        found = refit_tables(boosted, samples, replace(asked, gate=gate), recipe)
        sums = -sums_of(found, samples.X, 3) * 2.0**-found.frac_bits
        log_p = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
        losses.append(-log_p[np.arange(len(log_p)), samples.y].mean())
    assert losses[1] < 0.95 * losses[0]


def test_equal_arguments_give_equal_gates():
    samples = few_samples(600)
    options = replace(SETTINGS, gate_differing=0.05)
    both = [learn_tables(samples.X, samples.y, N_STATES, N_CLASSES, options) for _ in range(2)]
    assert both[0].gate == both[1].gate
    assert both[0].gate_record == both[1].gate_record


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gate": 9}, "gate=9 leaves none of tables=9 behind the gate"),
        ({"leaves": 4}, "gate=3 does not apply to the trees of leaves=4"),
        ({"front": 4}, "gate=3 does not apply to tables behind front=4"),
        ({"gate": -1}, "gate is -1"),
        ({"gate_differing": 1.0}, "gate-differing is 1.0"),
    ],
)
def test_what_cannot_have_a_gate_is_refused(options, words):
    with pytest.raises(OptionError, match=words):
        replace(SETTINGS, **options)
