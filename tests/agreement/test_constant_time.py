"""
C without branches on its input: the same decisions, and nothing jumps by a reading or a state.

Valgrind follows every bit that comes from an input marked as undefined and complains when a jump
depends on one. Addresses of look-ups depend on inputs by design: these machines have no caches.
"""

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings

from bncc.device.agreement import verify
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FREE_OF_BRANCHES
from tests import models as hand
from tests.agreement.large import LARGE
from tests.strategies import models

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})
BY_NAME = {**hand.NAMED, **LARGE}

SOME = (
    "naive_integer", "ties", "category_with_missing", "general_network", "int32_thresholds",
    "sum_255", "sum_256", "sum_65535", "sum_65536", "wide_states", "wide_costs", "mixed_kinds",
    "letter_like_float", "three_cost_arrays",
)  # fmt: skip

MAIN = """
#include <stdlib.h>
#include <valgrind/memcheck.h>
#include "m.h"

static volatile int16_t kept;

int main(void)
{
    STATE *x = calloc(M_N_FEATURES, sizeof *x);
    m_cost_t s[M_N_CLASSES] = { 0 };

    VALGRIND_MAKE_MEM_UNDEFINED(x, M_N_FEATURES * sizeof *x);
    kept = m_predict(x);
    kept = m_predict_trusted(x);
    kept = m_scores(x, s);
#ifdef READINGS
    {
        m_raw_t *r = calloc(READINGS, sizeof *r);

        VALGRIND_MAKE_MEM_UNDEFINED(r, READINGS * sizeof *r);
        kept = m_predict_raw(r);
        free(r);
    }
#endif
    free(x);
    return 0;
}
"""


def emitted(model, *, constant_time=True, **options):
    return emit_c(model, EmitOptions("m", ENTRIES, constant_time=constant_time, **options))


def jumps(emission, compiler, level, folder):
    """Return what valgrind says of jumps that depend on an input."""
    for file, text in emission.files.items():
        (folder / file).write_text(text, encoding="utf-8")
    (folder / "jumps.c").write_text(MAIN)
    layout = emission.layout
    readings = len(layout.program.features) if layout.raw and layout.raw.is_array else 1
    defines = [f"-DSTATE=uint{layout.state_bits}_t", f"-DREADINGS={readings}"]
    command = [compiler, level, *defines, "m.c", "jumps.c", "-o", "jumps"]
    subprocess.run(command, cwd=folder, check=True)
    checked = ["valgrind", "-q", "--error-exitcode=9", "./jumps"]
    done = subprocess.run(checked, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 9), done.stderr
    return done.stderr.count("Conditional jump or move depends on uninitialised value")


@pytest.mark.parametrize("name", SOME)
def test_the_decision_is_the_same(require_tool, name):
    require_tool("gcc")
    model = BY_NAME[name]()
    outcome = verify(model, emission=emitted(model), opt_level="-Os", n_random=100)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("family", FREE_OF_BRANCHES)
@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "three_classes_2_bits"])
def test_every_kernel_decides_the_same(require_tool, name, family):
    require_tool("gcc")
    model = BY_NAME[name]()
    try:
        emission = emitted(model, kernel=family, target="avr" if family == "bytes" else None)
    except OptionError:
        return  # it has no layout for the model
    outcome = verify(model, emission=emission, sanitize=True, opt_level="-O1", n_random=100)
    assert outcome.agree, outcome.first_mismatch


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(model=models())
def test_any_model_agrees(require_tool, model):
    require_tool("gcc")
    outcome = verify(model, emission=emitted(model), opt_level="-O1", n_random=50)
    assert outcome.agree, outcome.first_mismatch


TELLING = ("int32_thresholds", "tan_float", "mixed_kinds", "sum_65536", "letter_like")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O2"])
def test_no_jump_depends_on_an_input(require_tool, compiler, level, tmp_path):
    require_tool(compiler)
    require_tool("valgrind")
    found = {name: jumps(emitted(BY_NAME[name]()), compiler, level, tmp_path) for name in TELLING}
    assert found == dict.fromkeys(TELLING, 0)


@pytest.mark.parametrize("family", FREE_OF_BRANCHES)
def test_no_jump_of_any_kernel_depends_on_an_input(require_tool, family, tmp_path):
    require_tool("gcc")
    require_tool("valgrind")
    model = BY_NAME["letter_like_1_bit"]()
    try:
        emission = emitted(model, kernel=family, target="avr" if family == "bytes" else None)
    except OptionError:
        return  # it has no layout for the model
    assert jumps(emission, "gcc", "-Os", tmp_path) == 0


@pytest.mark.parametrize("name", ["int32_thresholds", "tan_float", "letter_like"])
def test_the_check_sees_the_jumps_of_ordinary_code(require_tool, name, tmp_path):
    require_tool("gcc")
    require_tool("valgrind")
    assert jumps(emitted(BY_NAME[name](), constant_time=False), "gcc", "-Os", tmp_path) > 0


def test_sums_that_fill_their_type_are_compared_as_well():
    """In a type with a bit to spare; by the borrow itself where there is none."""
    types = {name: emitted(BY_NAME[name]()).layout.constant_time for name in BY_NAME}
    assert {each.least.type for each in types.values()} == {"uint8_t", "uint16_t", "uint32_t"}
    assert types["sum_255"].least.type == "uint16_t"
    assert types["sum_65535"].least.type == "uint32_t"


def test_packed_is_refused_with_the_remedy():
    assert set(FAMILIES) - set(FREE_OF_BRANCHES) == {"packed", *FOR_CUTS}
    with pytest.raises(OptionError, match="'packed' takes depends on states; name another"):
        emitted(hand.tan_float(), kernel="packed")
