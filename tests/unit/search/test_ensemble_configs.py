"""Forms of ensembles: their neighbors, and the options that train them."""

from dataclasses import replace

import pytest

from bncc.search import ensemble_configs as module
from bncc.search.ensemble_configs import (
    DICTIONARY,
    EnsembleConfig,
    neighbors,
    single_tables,
    starts,
)
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
        EnsembleConfig(leaves=16, bits=4),
        EnsembleConfig(leaves=8, bits=3, cut_bits=8),
        EnsembleConfig(leaves=256, bits=4, is_single=True),
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


def test_few_of_many_columns_are_tried():
    form = EnsembleConfig(inputs=12)
    every = neighbors(EnsembleConfig(), 2, are_numbers=True, n_columns=40)
    assert {one.inputs for one in every} == {0, 2, 4, 8, 16, 32}
    assert {one.inputs for one in neighbors(form, 2, are_numbers=True, n_columns=40)} == {
        0,
        8,
        12,
        16,
    }
    assert {one.inputs for one in neighbors(form, 2, are_numbers=True, n_columns=16)} == {0, 8, 12}
    one_column = EnsembleConfig(inputs=1)
    assert {one.inputs for one in neighbors(one_column, 2, are_numbers=True, n_columns=5)} == {
        0,
        1,
        2,
    }
    assert {one.inputs for one in neighbors(EnsembleConfig(), 2, are_numbers=True)} == {0}
    assert form.settings(TrainSettings(), 9).structure_options["inputs"] == "12"


def test_branching_tables_have_leaves_instead_of_rows():
    form = EnsembleConfig(leaves=16, bits=4)
    near = list(neighbors(form, 3, are_numbers=True, cut_bits=8))
    assert {other.leaves for other in near} == {8, 16, 32}
    assert {other.rows for other in near} == {form.rows}
    assert {other.bits for other in near} == {3, 4}
    assert {other.cut_bits for other in near} == {0, 8}
    assert {other.cuts for other in near} == {255, 63, 31}
    assert {n.bits for n in neighbors(form, 2, are_numbers=False)} == {3, 4, 8}
    assert {n.refit for n in near} == {"firm", "sharp"}
    options = replace(form, cut_bits=8).settings(TrainSettings(), 9).structure_options
    assert options == {"tables": "9", "leaves": "16", "cut-bits": "8"}
    assert "leaves" not in EnsembleConfig().settings(TrainSettings(), 9).structure_options


def test_high_halves_of_floats_are_tried_with_rows():
    """Trees have no lists of limits, but their neighbors try it too."""
    found = [form for form in starts(7, cut_bits=16, is_timed=False) if form.cut_bits]
    assert {(form.rows, form.is_branching, form.cut_bits) for form in found} == {
        (16, False, 16),
        (32, False, 16),
    }
    assert not any(form.cut_bits for form in starts(7, is_timed=False))
    for form in (found[0], EnsembleConfig(leaves=16, bits=4)):
        assert {n.cut_bits for n in neighbors(form, 7, are_numbers=True, cut_bits=16)} == {0, 16}
        assert {n.cut_bits for n in neighbors(form, 7, are_numbers=True)} == {form.cut_bits}


def test_every_form_is_one_that_is_learned():
    for n_classes in (2, 7):
        forms = [
            form
            for is_timed in (False, True)
            for form in starts(n_classes, cut_bits=8, is_timed=is_timed)
        ]
        for form in [*forms, *single_tables()]:
            for other in (form, *neighbors(form, n_classes, are_numbers=True, cut_bits=8)):
                settings = boost_settings_of(other.settings(TrainSettings(), 3), n_classes)
                assert (settings.leaves, settings.bits) == (other.leaves, other.bits)


def test_one_form_cuts_differences_of_bytes():
    """Its neighbors cut them too, so that the search continues with it."""
    assert not any(form.differences for form in starts(7, is_timed=False))
    found = starts(7, is_timed=False, are_bytes=True)
    (form,) = (form for form in found if form.differences)
    options = form.settings(TrainSettings(), 9).structure_options
    assert options == {"tables": "9", "rows": "16", "differences": "16"}
    assert {other.differences for other in neighbors(form, 7, are_numbers=True)} == {16}


def test_with_a_limit_on_time_alone_tables_may_be_large():
    assert max(form.rows for form in starts(7, is_timed=True)) > 128
    many = neighbors(EnsembleConfig(rows=256), 2, are_numbers=False, most_rows=512)
    assert {form.rows for form in many} == {128, 256, 512}


def test_a_form_that_is_left_out_is_not_tried(monkeypatch):
    monkeypatch.setattr(module, "FORMS", ("product",))
    assert not any(form.is_branching for form in starts(7, cut_bits=8, is_timed=False))
    assert single_tables() == ()
    monkeypatch.setattr(module, "FORMS", ("branching",))
    assert all(form.is_branching for form in starts(7, cut_bits=8, is_timed=False))


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
