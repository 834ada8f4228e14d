"""The entry points for missing features in the C: interface and footprint."""

import re

import pytest

from bncc.emit import emitter
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.lower.missing.plan import plan_missing
from bncc.lower.missing.text import missing_text
from tests.missing_oracle import drawn_model, joint_models, one_state_each
from tests.models import naive_integer, sum_of_tables, tan_float, wide_states

ENTRIES = frozenset({"missing"})


def files_of(model, **options):
    return emit_c(model, EmitOptions("m", ENTRIES, **options)).files


def test_without_the_option_there_is_nothing_of_it():
    files = emit_c(tan_float(), EmitOptions("m")).files
    assert "missing(" not in files["m.h"]
    assert "correction" not in files["m.c"]


def test_both_entry_points_are_there():
    header = files_of(tan_float())["m.h"]
    assert "#define M_MISSING 255U" in header
    assert "int16_t m_predict_missing(const uint8_t x[M_N_FEATURES]);" in header
    assert "int16_t m_predict_raw_missing(const m_raw_t *x," in header


def test_without_thresholds_there_are_no_bits():
    header = files_of(wide_states())["m.h"]
    assert "#define M_MISSING 65535U" in header
    assert "raw_missing" not in header


def test_naive_bayes_needs_no_corrections():
    code = files_of(naive_integer())["m.c"]
    assert "m_correction" not in code
    assert "m_all_costs" in code


def test_no_operation_but_additions_comparisons_and_shifts():
    drawn = drawn_model([None, 0], [2, 3], QFormat(3, 12))
    for model in (naive_integer(), tan_float(), drawn, *joint_models().values()):
        code = files_of(model)["m.c"]
        part = code[code.index("/* Missing features */") : code.index("/* Entry points */")]
        part = re.sub(r"/\*.*?\*/", "", part, flags=re.DOTALL)
        assert not re.search(r"[\w)\]] [*/%] [\w(]", part)


def test_no_distance_is_compared_with_more_than_its_type_holds():
    code = files_of(one_state_each())["m.c"]
    assert "uint16_t apart;" in code
    assert "if (apart < 65535U) {" in code


def test_the_most_joint_states_are_told():
    models = joint_models()
    header = " ".join(files_of(models["class with parents"])["m.h"].replace(" * ", "").split())
    assert "no known feature and no class below them drop out" in header
    assert "at most 36, enumerated for each class" in header
    header = " ".join(files_of(models["several parents"])["m.h"].replace(" * ", "").split())
    assert "no known feature below them drop out" in header
    assert "at most 72, enumerated" in header
    code = files_of(models["wide states and sums"])["m.c"]
    assert "at most 600 for each class" in code
    assert "uint16_t state[2];" in code


def test_a_tree_is_not_summed_over_joint_states():
    assert "joint" not in files_of(tan_float())["m.c"]
    assert "joint states" not in files_of(tan_float())["m.h"]


def test_two_narrow_costs_share_a_byte():
    narrow = missing_text(plan_missing(drawn_model([None, 0], [2, 3], QFormat(3, 1))), 8)
    wide = missing_text(plan_missing(drawn_model([None, 0], [2, 3], QFormat(3, 3))), 8)
    assert narrow.is_narrow
    assert not wide.is_narrow
    assert (narrow.arrays[0].n_bytes, wide.arrays[0].n_bytes) == (12, 24)


def test_an_estimate_knows_of_it():
    model = tan_float()
    without = emit_c(model, EmitOptions("m", kernel="planes")).estimate
    found = emit_c(model, EmitOptions("m", ENTRIES, kernel="planes")).estimate
    assert found.flash > without.flash + 200
    assert found.instructions == without.instructions


def test_a_sum_of_tables_is_refused_before_any_pass_runs(monkeypatch):
    monkeypatch.setattr(emitter, "optimize_each", None)
    with pytest.raises(
        ModelError, match="missing features cannot be marginalized in boosted tables"
    ):
        files_of(sum_of_tables())
