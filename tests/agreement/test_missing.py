"""Missing features on the host: the C equals the definition in Python."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from bncc.device.agreement import compare
from bncc.device.host import build_library
from bncc.device.inputs.cases import Case
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.model import missing
from bncc.model.missing import why_not
from bncc.on_device import verify
from tests import models as hand
from tests.agreement.large import LARGE
from tests.agreement.mistakes import bumped, replaced, verify_files
from tests.missing_oracle import drawn_model, joint_models
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"missing", "raw", "scores", "trusted"})


BY_NAME = {name: make for name, make in {**hand.NAMED, **LARGE}.items() if why_not(make()) is None}
TREE = ([None, 0, 1, 1, 0, None, 4, 6], [2, 3, 4, 2, 3, 3, 4, 2])
DRAWN = {
    "narrow costs": drawn_model(*TREE, QFormat(3, 1)),
    "wide sums": drawn_model(*TREE, QFormat(11, 1), seed=1),
    "many fraction bits": drawn_model(*TREE, QFormat(2, 12), seed=2),
    "chain": drawn_model([1, 2, 3, 4, None], [3, 2, 4, 2, 3], QFormat(4, 2), seed=3),
    "class at some": drawn_model(
        *TREE, QFormat(4, 0), seed=4, of_class=[False, True, True, False, True, True, False, True]
    ),
    "naive": drawn_model([None] * 5, [3, 2, 1, 4, 2], QFormat(4, 0), seed=5),
    **joint_models(),
    "many entries": drawn_model(None, [10, 9, 250], QFormat(4, 0), 6, parents=[(), (), (0, 1)]),
}


def emitted(model, **options):
    return emit_c(model, EmitOptions("m", ENTRIES, **options))


@pytest.mark.parametrize("name", BY_NAME)
def test_any_gap_has_the_decision_of_python(require_tool, name):
    require_tool("gcc")
    model = BY_NAME[name]()
    outcome = verify(model, emission=emitted(model), opt_level="-Os", n_random=300)
    assert outcome.agree, outcome.first_mismatch
    assert "10, 30 and 50% missing" in outcome.strength


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_touched_out_of_bounds(require_tool, name):
    require_tool("gcc")
    model = DRAWN[name]
    emission = emitted(model, optimize="size")
    outcome = verify(model, emission=emission, sanitize=True, opt_level="-O1", n_random=600)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("name", ["several parents", "class with parents", "class alone"])
def test_every_state_with_every_gap_agrees(require_tool, name):
    require_tool("gcc")
    model = DRAWN[name]
    rows = np.array(list(product(*(range(-1, n) for n in model.n_states))))
    is_missing = rows < 0
    X = np.maximum(rows, 0)
    case = Case(
        "missing", X.astype(np.uint8), missing.predict(model, X, is_missing), is_missing=is_missing
    )
    with build_library(sources(model, emitted(model).files), opt_level="-O1") as machine:
        outcome = compare(machine, [case])
    assert outcome.agree, outcome.first_mismatch
    assert outcome.checked == np.prod(np.add(model.n_states, 1))


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(model=models())
def test_any_model_agrees(require_tool, model):
    require_tool("gcc")
    assume(why_not(model) is None)
    outcome = verify(model, emission=emitted(model), opt_level="-O1", n_random=60)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("place[up] = 0U;", ""),
        ("m_clear(own, (uint16_t)((uint16_t)last + 1U));", ""),
        ("apart < 1596U", "apart < 1000U"),
        ("sum = (int16_t)(sum + *more);", ""),
        ("cost << 7", "cost << 6"),
        ("(uint8_t)(pair >> 4) : (uint8_t)(pair & 15U)", "(uint8_t)(pair & 15U) : pair"),
        ("if ((x[i] != M_MISSING)\n            && (x[i]", "if ((x[i] == M_MISSING)\n || (x[i]"),
        ("(missing_bits[i >> 3] & (uint8_t)(1U << (i & 7U)))", "missing_bits[i >> 3]"),
        ("if ((c == 0U) || (cost < least))", "if ((c == 0U) || (cost <= least))"),
    ],
)
def test_a_mistake_in_the_text_is_seen(require_tool, old, new):
    see_mistake(require_tool, DRAWN["narrow costs"], old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("place[M_N_FEATURES] = m_rom_uint16(&m_table_at[M_N_FEATURES]);", ""),
        ("is_read = 1U;", ""),
        ("joint->state[k] = 0U;\n", "\n"),
        ("*at - m_rom_uint16(&m_arc_span[a])", "*at - m_rom_uint16(&m_arc_span[0])"),
        ("is_next = 1U;", ""),
        ("total = (int16_t)(total - m_cost_at((uint16_t)(*at + c)));", ""),
        ("if ((c == 0U) || (sum < least))", "if ((c == 0U) || (sum <= least))"),
    ],
)
def test_a_mistake_in_the_odometer_is_seen(require_tool, old, new):
    name = "class with parents" if "N_FEATURES" in old else "several parents"
    see_mistake(require_tool, DRAWN[name], old, new)


def see_mistake(require_tool, model, old, new):
    """Require that the check detects a change of the C's text."""
    require_tool("gcc")
    files = dict(emitted(model).files)
    files["m.c"] = replaced(files["m.c"], old, new)
    outcome = verify_files(model, files, opt_level="-O1", n_random=600)
    assert not outcome.agree


@pytest.mark.parametrize(
    ("array", "k"),
    [
        ("all_costs", 5), ("all_prior", 1), ("table_at", 3), ("node_feature", 2),
        ("row_stride", 1), ("sums_at", 6), ("correction", 16),
    ],
)  # fmt: skip
def test_a_wrong_number_is_seen(require_tool, array, k):
    see_number(require_tool, DRAWN["narrow costs"], array, k)


@pytest.mark.parametrize(
    ("array", "k"),
    [
        ("all_costs", 5), ("table_at", 3), ("upward", 3), ("arcs_at", 2), ("arc_table", 1),
        ("arc_stride", 4), ("arc_span", 1), ("correction", 16),
    ],
)  # fmt: skip
def test_a_wrong_number_of_the_odometer_is_seen(require_tool, array, k):
    see_number(require_tool, DRAWN["several parents"], array, k)


def see_number(require_tool, model, array, k):
    """Require that the check detects a change of an entry."""
    require_tool("gcc")
    files = dict(emitted(model).files)
    files["m.c"] = bumped(files["m.c"], array, k, 50 if array == "correction" else 1)
    outcome = verify_files(model, files, opt_level="-O1", n_random=3000)
    assert not outcome.agree
