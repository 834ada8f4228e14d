"""Streamed features on the host: the decision of all at once, and every misuse refused."""

import pytest
from hypothesis import HealthCheck, given, settings

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.on_device import verify
from tests import models as hand
from tests.agreement.large import LARGE
from tests.agreement.mistakes import bumped, replaced, verify_files
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "stream", "trusted"})
BY_NAME = {**hand.NAMED, **LARGE}


def emitted(model, **options):
    return emit_c(model, EmitOptions("m", ENTRIES, **options))


@pytest.mark.parametrize("name", BY_NAME)
def test_the_decision_is_that_of_all_features_at_once(require_tool, name):
    """States and readings, valid or not, each row in another order."""
    require_tool("gcc")
    model = BY_NAME[name]()
    outcome = verify(model, emission=emitted(model), opt_level="-Os", n_random=100)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("name", ["category_with_missing", "general_network", "wide_states"])
def test_nothing_is_touched_out_of_bounds(require_tool, name):
    require_tool("gcc")
    model = BY_NAME[name]()
    emission = emitted(model, optimize="speed")
    outcome = verify(model, emission=emission, sanitize=True, opt_level="-O1", n_random=50)
    assert outcome.agree, outcome.first_mismatch


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(model=models())
def test_any_model_agrees(require_tool, model):
    require_tool("gcc")
    outcome = verify(model, emission=emitted(model), opt_level="-O1", n_random=50)
    assert outcome.agree, outcome.first_mismatch


TWICE = "    if ((s->fed[i >> 3] & bit) != 0U) {\n        return M_ERR_TWICE;\n    }\n"
HELD_TWICE = "    if (s->x[i] != M_UNFED) {\n        return M_ERR_TWICE;\n    }\n"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("naive_integer", TWICE, ""),
        ("tan_float", HELD_TWICE, ""),
        ("naive_integer", "    s->left--;\n", ""),
        ("naive_integer", "cost[c] = 0U;", "cost[c] = (m_cost_t)(c << 2);"),
        ("naive_integer", "return M_ERR_PARTIAL;", "return 0;"),
        ("tan_float", "#define M_UNFED 255U", "#define M_UNFED 1U"),
        ("tan_float", "    s->x[i] = value;\n", "    s->x[i] = 0U;\n"),
        ("tan_float", "s->left = M_N_FEATURES;", "s->left = 0U + M_N_FEATURES;"),
    ],
)
def test_a_mistake_in_the_text_is_seen(require_tool, name, old, new):
    """All mistakes but the last, which changes nothing and has to pass."""
    require_tool("gcc")
    model = BY_NAME[name]()
    files = dict(emitted(model).files)
    files["m.c"] = replaced(files["m.c"], old, new)
    outcome = verify_files(model, files, opt_level="-O1", n_random=100)
    assert outcome.agree == (old == "s->left = M_N_FEATURES;")


@pytest.mark.parametrize(("array", "k"), [("first_reader", 1), ("reader", 0)])
def test_a_wrong_index_of_tables_is_seen(require_tool, array, k):
    require_tool("gcc")
    model = hand.tan_float()
    files = dict(emitted(model).files)
    files["m.c"] = bumped(files["m.c"], array, k)
    outcome = verify_files(model, files, opt_level="-O1", n_random=100)
    assert not outcome.agree


GUARD = "    if (i >= M_N_FEATURES) {\n        return M_ERR_FEATURE;\n    }\n"


@pytest.mark.parametrize("behind", ["    return m_feed(", "    if (value > "])
def test_a_feature_beyond_the_last_that_is_let_in_is_seen(require_tool, behind):
    """Detected by a sanitizer, or because it is not refused."""
    require_tool("gcc")
    model = hand.naive_integer()
    files = dict(emitted(model).files)
    files["m.c"] = replaced(files["m.c"], GUARD + behind, behind)
    outcome = verify_files(model, files, sanitize=True, opt_level="-O1", n_random=9)
    assert not outcome.agree
