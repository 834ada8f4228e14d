"""The public names of a header."""

from bncc.emit.emitter import ENTRIES, EmitOptions, emit_c
from bncc.emit.packages import interface_of
from bncc.model.rules import EXTRAS
from tests import models as hand
from tests.ranged import ranged


def test_types_functions_and_constants_are_told_apart():
    header = emit_c(ranged(hand.tan_float()), EmitOptions("gait", ENTRIES - EXTRAS.keys())).files[
        "gait.h"
    ]
    found = interface_of(header, "gait")
    assert found.types == ("gait_cost_t", "gait_raw_t", "gait_state_t")
    assert set(found.functions) == {
        "gait_predict", "gait_predict_trusted", "gait_predict_raw", "gait_states", "gait_scores",
        "gait_begin", "gait_feed", "gait_feed_raw", "gait_end", "gait_class_name",
        "gait_predict_missing", "gait_predict_raw_missing", "gait_predict_raw_checked",
        "gait_scores_raw",
    }  # fmt: skip
    assert {"GAIT_N_FEATURES", "GAIT_N_CLASSES", "GAIT_ERR_STATE", "GAIT_FEATURE_X1"} < set(
        found.constants
    )
    assert "GAIT_H" not in found.constants


def test_comments_and_other_models_are_no_interface():
    header = "/* gait_old(x) */\n#define GAIT_A 1\nint gait_b(void); int other_c(void);\n"
    found = interface_of(header, "gait")
    assert (found.types, found.functions, found.constants) == ((), ("gait_b",), ("GAIT_A",))
