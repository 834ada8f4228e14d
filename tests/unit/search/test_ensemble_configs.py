"""Forms of ensembles: their neighbors, and the options that train them."""

from dataclasses import replace

import pytest

from bncc.search.ensemble_configs import DICTIONARY, EnsembleConfig, neighbors
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import boost_settings_of


@pytest.mark.parametrize("n_classes", [2, 26])
@pytest.mark.parametrize(
    "form",
    [
        EnsembleConfig(),
        EnsembleConfig(4, 2),
        EnsembleConfig(128, 4),
        EnsembleConfig(16, 6, DICTIONARY),
    ],
)
def test_neighbors_differ_in_one_thing(form, n_classes):
    for other in neighbors(form, n_classes, are_numbers=True):
        changed = [name for name, value in vars(form).items() if value != getattr(other, name)]
        # The bits of a dictionary cost little, so it has more of them.
        assert len(changed) == 1 or changed == ["bits", "dictionary"]


def test_a_form_is_a_neighbor_of_its_neighbors():
    for form in (EnsembleConfig(), EnsembleConfig(32, 3), EnsembleConfig(8, 2, refit="soft")):
        assert all(
            form in neighbors(other, 2, are_numbers=True)
            for other in neighbors(form, 2, are_numbers=True)
        )


def test_only_many_classes_are_worth_a_dictionary():
    assert not any(form.dictionary for form in neighbors(EnsembleConfig(), 9, are_numbers=False))
    assert any(form.dictionary for form in neighbors(EnsembleConfig(), 10, are_numbers=False))


def test_rows_are_packed_without_gaps():
    assert EnsembleConfig(bits=3).row_bytes(10) == 4
    assert EnsembleConfig(bits=3).row_bytes(11) == 5
    assert EnsembleConfig(bits=4).row_bytes(2) == 1


def test_a_soft_refit_is_of_smaller_and_fewer_steps():
    firm, soft = (
        boost_settings_of(EnsembleConfig(refit=r).settings(TrainSettings(), 30))
        for r in ("firm", "soft")
    )
    assert (soft.n_tables, soft.rows, soft.bits) == (30, 16, 3)
    assert soft.lr < firm.lr
    assert soft.quantized_epochs < firm.quantized_epochs
    assert soft.weight_decay > firm.weight_decay


def test_what_is_named_of_a_refit_holds():
    base = replace(
        TrainSettings(structure="tables", epochs=3, lr=0.5), structure_options={"decay": "0.01"}
    )
    named = EnsembleConfig(refit="soft").settings(base, 9)
    assert (named.epochs, named.lr, named.structure_options["decay"]) == (3, 0.5, "0.01")
    assert named.dropout == 0.3


def test_columns_of_numbers_may_have_fewer_cuts():
    tried = {form.cuts for form in neighbors(EnsembleConfig(), 2, are_numbers=True)}
    assert tried == {255, 31, 7}
    assert {form.cuts for form in neighbors(EnsembleConfig(), 2, are_numbers=False)} == {255}
    assert EnsembleConfig(cuts=7).settings(TrainSettings(), 5).structure_options["cuts"] == "7"
