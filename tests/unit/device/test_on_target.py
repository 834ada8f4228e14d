"""Measuring on a target: over which inputs, what is compared with what, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Table
from bncc.device.machine import HarnessError
from bncc.device.measure import SPEED_LEVELS
from bncc.device.meter import Meter
from bncc.device.on_target import bench_inputs, bench_target
from bncc.device.targets import TARGETS
from bncc.discretize.readings import states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.errors import DataError, ToolchainError
from bncc.fixed_point import QFormat
from tests import models as hand
from tests.agreement.large import letter_like, mixed_kinds
from tests.agreement.mistakes import replaced
from tests.ranged import ranged


def readings(n):
    values = np.arange(n, dtype=np.int64) - n // 2
    columns = (Column(name, "integer", values, values == 3) for name in ("light", "pressure"))
    return Table(tuple(columns))


@pytest.mark.parametrize("model", [mixed_kinds(), letter_like("float32"), hand.wide_states()])
def test_without_data_readings_follow_random_states(model):
    """They discretize to them, all are in range, and the seed alone decides."""
    inputs = bench_inputs(model, n_rows=50)
    assert inputs.X.shape == inputs.R.shape == (50, model.n_features)
    assert (states_of_raw(model.features, inputs.R) == inputs.X).all()
    assert (inputs.X < np.array(model.n_states)).all()
    again, other = bench_inputs(model, n_rows=50), bench_inputs(model, n_rows=50, seed=1)
    assert (again.X == inputs.X).all()
    assert (other.X != inputs.X).any()


def test_rows_are_chosen_from_the_data():
    """Each at most once, in the order of the table, missing cells as they are."""
    model, table = hand.naive_integer(), readings(400)
    inputs = bench_inputs(model, table, n_rows=100)
    pressure, light = inputs.R.T
    marked = pressure == -(2**15)
    assert (np.diff(pressure[~marked]) > 0).all()
    assert (light == pressure).all()
    assert (states_of_raw(model.features, inputs.R) == inputs.X).all()
    assert len(bench_inputs(model, readings(7), n_rows=100).X) == 7
    assert (bench_inputs(model, readings(7), n_rows=100).R == -(2**15)).any()
    with pytest.raises(DataError, match="column"):
        bench_inputs(model, readings(5).without(["light"]))


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
    trusting = emit_c(model, EmitOptions("m", frozenset({"trusted"})))
    by_level = {}
    for name, files, levels in (
        ("ours", written.files, ("-O2",)),
        ("trusting", trusting.files, ("-O2",)),
        ("textbook", textbook_c(model, "m").files, (*SPEED_LEVELS, "-Os")),
    ):
        for level in levels:
            with Meter(model, files, bench, level) as meter:
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

    def book(*entries):
        options = EmitOptions("m", frozenset(entries) - {"predict", "predict-raw"})
        report = bench_target(model, TARGETS["cortex-m0"], inputs, options=options, entries=entries)
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
        told = f"^{entry} on {bench.simulator.tool(target).name}.* decides 12 of 12 inputs"
        with pytest.raises(HarnessError, match=told) as error:
            bench_target(model, TARGETS[target], inputs, emission=wrong)
        assert error.value.exit_code == 1
