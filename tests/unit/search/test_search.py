"""The best that fits is found: among forms and families, by rows held out, within the budget."""

from dataclasses import replace

import pytest

from bncc.data.catalog import bundled_path
from bncc.data.readers import read_table
from bncc.data.target import dataset_of
from bncc.errors import BudgetError
from bncc.model.card import model_facts
from bncc.search import search as module
from bncc.search import sums
from bncc.search.budget import Budget, Price
from bncc.search.search import search
from bncc.search.sums import Form, first_tables, guess, neighbors
from bncc.structure.grids import Grids
from bncc.train.settings import TrainSettings

BASE = TrainSettings(epochs=4)
CODE = 200
"""Bytes that the priced C of these tests has beside its tables."""


@pytest.fixture(scope="module")
def wifi():
    return dataset_of(read_table(bundled_path("wifi")))


@pytest.fixture
def priced(monkeypatch):
    """Price models by their table bits, as quickly as that."""
    asked = []

    def price(model, budget, readings, *, is_timed=False):
        asked.append(model)
        flash = CODE + model_facts(model)["table_bits"] // 8
        return Price(flash, 10 * len(model.tables), "size", is_measured=False)

    monkeypatch.setattr(module, "price_of", price)
    monkeypatch.setattr(sums, "price_of", price)
    return asked


def test_what_is_found_fits_and_errs_least_of_all_that_was_tried(wifi, priced):
    budget = Budget("cortex-m0", flash=CODE + 120)
    found = search(wifi, BASE, budget)
    assert found.price.share(budget) <= 1
    assert all(one.price.share(budget) <= 1 for one in found.tried)
    assert {one.settings.structure for one in found.tried} >= {"tables", "naive"}
    best = min(found.tried, key=lambda one: (one.error, one.price.flash))
    assert best.settings.structure == found.settings.structure
    assert best.settings.total_bits == found.settings.total_bits
    assert found.result.model.training["error_validation"] < 0.1


def test_sums_take_most_of_the_budget(wifi, priced):
    budget = Budget("cortex-m0", flash=CODE + 300)
    found = search(wifi, BASE, budget, families=("tables",))
    assert isinstance(found.result.model.structure, Grids)
    assert max(one.price.share(budget) for one in found.tried) > 0.85


def test_a_named_family_is_the_only_one_tried(wifi, priced):
    found = search(wifi, BASE, Budget("cortex-m0", flash=CODE + 400), families=("naive",))
    assert [one.settings.structure for one in found.tried] == ["naive"]
    assert found.result.model.training["structure"] == "naive"


def test_networks_have_the_most_bits_that_fit(wifi, priced):
    wide = search(wifi, BASE, Budget("cortex-m0", flash=10**6), families=("naive",))
    entries = model_facts(wide.result.model)["table_entries"]
    limit = CODE + entries * 3 // 8
    tight = search(wifi, BASE, Budget("cortex-m0", flash=limit), families=("naive",))
    assert (wide.settings.total_bits, tight.settings.total_bits) == (6, 3)


@pytest.mark.parametrize(
    "named",
    [
        {"parameters": "bdeu", "structure": "naive", "structure_options": {"alpha": "2.5"}},
        {"structure": "tan-subset", "structure_options": {"parents": "2", "widths": "2"}},
    ],
)
def test_a_named_network_keeps_its_options(wifi, priced, named):
    base = replace(BASE, **named)
    found = search(wifi, base, Budget("cortex-m0", flash=10**6), families=(base.structure,))
    assert found.settings.structure_options == base.structure_options


def test_decisions_that_take_too_long_do_not_fit(wifi, priced):
    budget = Budget("cortex-m0", instructions=50)
    found = search(wifi, BASE, budget, families=("tables",))
    assert len(found.result.model.tables) <= 5


def test_where_nothing_fits_it_is_said(wifi, priced):
    with pytest.raises(BudgetError, match="nothing that was tried fits in 100 bytes of flash on"):
        search(wifi, BASE, Budget("cortex-m0", flash=100))


def test_progress_is_told_up_to_the_end(wifi, priced):
    heard = []
    budget = Budget("cortex-m0", flash=CODE + 60)
    search(wifi, BASE, budget, families=("naive",), tell=lambda *said: heard.append(said))
    assert heard[-1][0] == 1.0
    assert "naive" in heard[0][1]


def test_neighbors_differ_in_one_thing():
    for n_classes in (2, 26):
        for form in (Form(), Form(4, 2), Form(128, 4), Form(16, 3, 256)):
            for other in neighbors(form, n_classes):
                changed = [
                    a != b for a, b in zip(vars(form).values(), vars(other).values(), strict=True)
                ]
                assert sum(changed) == 1
    assert all(not form.dictionary for form in neighbors(Form(), 2))


def test_a_guess_is_never_too_small():
    form = Form(rows=16, bits=3)
    assert form.row_bytes(10) == 4
    assert form.row_bytes(11) == 8
    assert replace(form, dictionary=256).row_bytes(26) == 1
    assert guess(form, Budget("avr", flash=700), 10) == 10
    assert guess(form, Budget("avr", flash=10), 10) == 1


def test_some_tables_of_a_sum_are_a_model(wifi):
    from bncc.model.model import check_model
    from bncc.train.fit_sum import fit_sum

    model = fit_sum(wifi, Form().settings(BASE, 5))
    part = first_tables(model, 2)
    check_model(part)
    assert len(part.tables) == 2
