"""The price of a program that decides on readings and on states: constants of both."""

from dataclasses import replace

import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.entry_price import EntryPrices
from bncc.lower.estimate import estimate
from bncc.lower.reading_cost import reading_terms
from bncc.lower.request import Request
from bncc.model.filter import Filter
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

BOTH = ("predict-raw", "scores")


@pytest.fixture(scope="module")
def model():
    """Return trained tables over signal strengths, which have many cuts."""
    dataset = dataset_of(read_table(str(bundled_path("wifi"))))
    options = {"tables": "12", "rows": "8"}
    settings = TrainSettings(structure="tables", structure_options=options, epochs=2)
    return train_model(dataset, settings).model


@pytest.mark.parametrize("kernel", ["cut-loop", "cut-packed", "cut-lanes"])
def test_lists_of_cuts_of_readings_and_of_states_have_a_price(model, kernel):
    def priced(entries):
        options = EmitOptions(
            "m", frozenset({"scores"}), kernel=kernel, compare="readings", target="cortex-m0",
            optimize="speed", priced=entries,
        )  # fmt: skip
        layout = emit_c(model, options).layout
        return layout, EntryPrices(Request(model, options)).priced(
            layout.program, layout.kernel, "readings"
        )

    layout, both = priced(BOTH)
    _, alone = priced(("scores",))
    listed = sum(each.n_bytes for each in layout.direct.arrays)
    code = reading_terms(layout.program, layout.kernel, "readings").code_bytes("cortex-m0", "-O2")
    assert both.flash - alone.flash - code == pytest.approx(listed, rel=0.1)
    _, raw = priced(("predict-raw",))
    assert both.flash > raw.flash


def test_scores_behind_compared_readings_are_estimated_once(model):
    def flash(*entries):
        with_filter = replace(model, filter=Filter(9))
        options = EmitOptions(
            "m", frozenset(entries), kernel="cut-loop", compare="readings", target="cortex-m0"
        )
        layout = emit_c(with_filter, options).layout
        assert layout.direct is not None
        return estimate(layout, "cortex-m0").flash

    alone, both = flash(), flash("filter", "scores-raw")
    apart = flash("filter") + flash("scores-raw")
    assert alone < both < apart - alone
