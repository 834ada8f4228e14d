"""Models emitted, then verified and measured: what is compared with what, and what is refused."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bncc import on_device
from bncc.device import agreement
from bncc.device.cross import find_toolchain
from bncc.device.machine import HarnessError
from bncc.device.measure import SPEED_LEVELS, bench_inputs
from bncc.device.meter import Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_as, emit_c, emit_candidate
from bncc.emit.provenance import code_digest
from bncc.emit.textbook import textbook_c
from bncc.errors import ToolchainError
from bncc.fixed_point import QFormat
from bncc.on_device import bench_target, measure_missing, verify
from bncc.targets import TARGETS, find_target
from tests import models as hand
from tests.agreement.mistakes import replaced
from tests.models import sum_of_tables, tan_float
from tests.ranged import ranged


@pytest.fixture
def gcc(require_tool):
    return require_tool("gcc")


def test_verify_is_found_where_it_was():
    """It was documented as `bncc.device.agreement.verify`."""
    assert agreement.verify is verify
    with pytest.raises(AttributeError, match="has no attribute 'verified'"):
        _ = agreement.verified


@pytest.mark.cc
@pytest.mark.usefixtures("gcc")
def test_verify_without_an_emission_emits_all_entries():
    """The usual call."""
    assert verify(hand.tan_float()).agree


def emitted(model, entries, **options):
    return emit_c(model, EmitOptions("m", frozenset(entries), **options))


@pytest.mark.cc
@pytest.mark.usefixtures("gcc")
def test_streams_and_missing_features_of_a_second_emission_are_tried_on_a_sample():
    """The first is checked in full, and counted alone."""
    model = hand.tan_float()
    first = emitted(model, {"scores", "raw"})
    alone = verify(model, emission=first, n_random=20)
    both = verify(model, emission=first, also=emitted(model, {"stream", "missing"}), n_random=20)
    assert both.agree
    assert both.checked == alone.checked
    assert both.strength.startswith(f"{alone.strength}, ")
    assert re.search(r", \d+ of them also fed feature by feature, 20 random", both.strength)


@pytest.mark.cc
@pytest.mark.usefixtures("gcc")
@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("end = m_rom_uint8(&m_first_reader[i + 1U]);", "end = k;", "feed of states"),
        ("return m_decide_missing(x);", "return (int16_t)(m_decide_missing(x) ^ 1);", "missing of"),
        ("return m_decide_missing(state);", "return 0;", "raw_missing of"),
    ],
)
def test_a_mistake_in_the_second_emission_is_found(old, new, told):
    model = hand.tan_float()
    also = emitted(model, {"stream", "missing"})
    assert old in also.files["m.c"], old
    also = replace(also, files={**also.files, "m.c": also.files["m.c"].replace(old, new)})
    outcome = verify(model, emission=emitted(model, {"raw"}), also=also, n_random=20)
    assert not outcome.agree
    assert outcome.mismatches > 0
    assert outcome.first_mismatch.startswith(told)


@pytest.mark.firmware
@pytest.mark.parametrize("target", TARGETS)
def test_ours_and_the_textbook_are_measured_alike(require_bench, target):
    """The baseline gets its better level for each figure, and the ratio is of the means."""
    bench, model = require_bench(target), hand.tan_float()
    inputs = bench_inputs(model, n_rows=4)
    report = bench_target(model, TARGETS[target], inputs)
    assert (report.target, report.unit) == (target, TARGETS[target].unit)
    assert (report.toolchain, report.simulator) == (str(bench.compiler), bench.place)
    assert report.baseline_misfit is None

    written = emit_c(model, EmitOptions("m"))  # what emit-c writes, which has no trusted
    options = EmitOptions("m", frozenset({"trusted"}))
    trusting = emit_candidate(model, written.choice.chosen, options)  # in the same layout
    by_level = {}
    for name, files, levels in (
        ("ours", written.files, ("-O2",)),
        ("trusting", trusting.files, ("-O2",)),
        ("textbook", textbook_c(model, "m").files, (*SPEED_LEVELS, "-Os")),
    ):
        for level in levels:
            with Meter(sources(model, files), bench, level) as meter:
                by_level[name, level] = meter.footprint(("predict", "raw")), meter.costs(inputs)
    ours, ours_costs = by_level["ours", "-O2"]
    assert "trusted" not in ours_costs
    ours_costs = {**ours_costs, "trusted": by_level["trusting", "-O2"][1]["trusted"]}
    assert (report.ours.optimization, report.ours.flash, report.ours.ram) == ("-O2", ours.flash, 0)
    for entry in ("predict", "trusted", "raw"):
        assert report.ours.costs[entry].mean == ours_costs[entry].mean
        best = min(by_level["textbook", level][1][entry].mean for level in SPEED_LEVELS)
        assert report.baseline.costs[entry].mean == best
        assert report.ratio[entry] == best / ours_costs[entry].mean
    small, small_costs = by_level["textbook", "-Os"]
    assert (report.baseline.flash, report.baseline.ram) == (small.flash, small.ram)
    assert report.baseline.stack == max(small_costs[e].stack for e in ("predict", "raw"))
    assert report.baseline.optimization.startswith("flash -Os, predict -O")
    assert report.ratio["flash"] == small.flash / ours.flash


@pytest.mark.firmware
def test_a_model_without_thresholds_has_no_raw_figures(require_bench):
    """Neither in bytes nor in stack nor in instructions."""
    require_bench("cortex-m0")
    model = hand.general_network()
    inputs = bench_inputs(model, n_rows=3)
    both = []
    for entries in (frozenset({"trusted"}), frozenset({"trusted", "raw"})):
        emission = emit_c(model, EmitOptions("m", entries, kernel="plain"))
        both.append(bench_target(model, TARGETS["cortex-m0"], inputs, emission=emission))
    assert both[0].ratio["raw"] is None
    assert both[0].ours.flash == both[1].ours.flash
    assert both[0].ours.stack == both[1].ours.stack


@pytest.mark.firmware
def test_the_textbook_counts_what_takes_the_same(require_bench):
    """Readings for checked ones, states for scores."""
    require_bench("cortex-m0")
    model = ranged(hand.tan_float())
    inputs = bench_inputs(model, n_rows=3)

    @cache
    def book(*entries):
        options = EmitOptions("m", frozenset(entries) - {"predict", "predict-raw"})
        report = bench_target(
            model, TARGETS["cortex-m0"], inputs, emission=emit_c(model, options), entries=entries
        )
        return report.baseline.kept, report.baseline.flash

    assert book("checked") == book("predict-raw")
    assert book("checked")[0] == ("raw",)
    assert book("scores") == book("predict")
    assert book("checked", "scores")[0] == ("raw", "predict")


@pytest.mark.firmware
def test_a_model_that_fits_no_textbook_is_measured_alone(require_bench):
    """With the reason."""
    require_bench("cortex-m0")
    model = replace(hand.ties(), q_format=QFormat(9, 0), prior=np.array([300, 0, 1]))
    model = replace(model, tables=tuple(table + 200 for table in model.tables))
    model.tables[0][0, 0] = 300
    report = bench_target(model, TARGETS["cortex-m0"], bench_inputs(model, n_rows=3))
    assert report.baseline is None
    assert "8-bit tables and a cost of the model is 300" in report.baseline_misfit
    assert set(report.ratio.values()) == {None}
    assert report.ours.flash > 50


@pytest.mark.firmware
def test_a_textbook_that_does_not_link_is_told(require_bench, monkeypatch):
    """In the words of the linker's error; ours is reported all the same."""
    require_bench("cortex-m0")
    links = Meter.footprint

    def fails(self, kept):
        if "table[" in self._built.files["m.c"]:
            raise ToolchainError("the program does not fit")
        return links(self, kept)

    monkeypatch.setattr(Meter, "footprint", fails)
    model = hand.tan_float()
    report = bench_target(model, TARGETS["cortex-m0"], bench_inputs(model, n_rows=2))
    assert report.baseline is None
    assert report.baseline_misfit == "the program does not fit"


@pytest.mark.firmware
@pytest.mark.parametrize("target", TARGETS)
def test_figures_of_a_program_that_decides_wrong_are_refused(require_bench, target):
    """Any entry point, ours or the textbook's."""
    bench, model = require_bench(target), hand.tan_float()
    inputs = bench_inputs(model, n_rows=12)
    emission = emit_c(model, EmitOptions("m", frozenset({"trusted"})))
    head = "int16_t m_predict_trusted(const uint8_t x[M_N_FEATURES])\n{\n"
    for entry, before, argument in (
        ("predict", "        return M_ERR_STATE;\n    }\n", "x"),
        ("trusted", head, "x"),
        ("raw", "    m_states(x, state);\n", "state"),
    ):
        right = f"{before}    return m_decide({argument});"
        other = f"{before}    return (int16_t)(1 - m_decide({argument}));"
        source = replaced(emission.files["m.c"], right, other)
        wrong = replace(emission, files=dict(emission.files) | {"m.c": source})
        told = (
            f"^{entry} on {bench.simulator.tool(target).name}.* differs from the model on 12 "
            "of 12 inputs"
        )
        with pytest.raises(HarnessError, match=told) as error:
            bench_target(model, TARGETS[target], inputs, emission=wrong)
        assert error.value.exit_code == 1


def cost_of(model):
    (bench,) = find_toolchain(find_target("avr"))
    inputs = bench_inputs(model, n_rows=20)
    emission = emit_c(model, EmitOptions("m"))
    return measure_missing(model, bench, inputs, opt_level="-O2", emission=emission)


@pytest.mark.firmware
def test_a_decision_with_missing_features_is_counted(require_tool):
    require_tool("avr-gcc")
    cost = cost_of(tan_float())
    assert 0 < cost.min < cost.mean < cost.max
    assert len(cost.classes) == 20


@pytest.mark.firmware
@pytest.mark.parametrize("entries", [frozenset(), frozenset({"missing"})])
def test_missing_features_are_measured_in_the_layout_of_the_others(
    require_bench, monkeypatch, entries
):
    """Whatever layout a limit or a kernel gave them, and even if the limit is used up."""
    require_bench("cortex-m0")
    model, built = hand.naive_integer(), []

    def counted(model, sources, *args, **how):
        built.append(sources)

    monkeypatch.setattr(on_device, "missing_cost", counted)
    for kernel in ("plain", "looped"):
        emission = emit_c(model, EmitOptions("m", entries, kernel=kernel, max_flash=2000))
        emission = emit_as(model, replace(emission.options, max_flash=1), emission)
        inputs = bench_inputs(model, n_rows=2)
        bench_target(model, TARGETS["cortex-m0"], inputs, emission=emission, with_missing=True)
        asked = EmitOptions("m", frozenset({"missing"}), kernel=kernel)
        found, same = built.pop(), emit_c(model, asked)
        assert code_digest(found.files, found.name) == code_digest(same.files, same.name)
    assert not built


@pytest.mark.firmware
def test_what_cannot_be_summed_out_has_no_cost(require_tool):
    require_tool("avr-gcc")
    assert cost_of(sum_of_tables()) is None
