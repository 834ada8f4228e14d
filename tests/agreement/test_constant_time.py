"""
Constant-time C: the same decisions, and no jump depends on a reading or a state.

Valgrind tracks every bit that comes from an input marked as undefined and reports when a jump
depends on one. Look-up addresses depend on inputs by design: these targets have no caches.
"""

import re
import subprocess
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES, FREE_OF_BRANCHES
from bncc.on_device import verify
from tests import models as hand
from tests.agreement.large import LARGE
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})
BY_NAME = {**hand.NAMED, **LARGE}

SOME = (
    "naive_integer", "ties", "category_with_missing", "general_network", "int32_thresholds",
    "sum_255", "sum_256", "sum_65535", "sum_65536", "wide_states", "wide_costs", "mixed_kinds",
    "letter_like_float", "three_cost_arrays",
)  # fmt: skip

RUN = """
#include <stdlib.h>
#include <valgrind/memcheck.h>
#include "{name}.h"

#define STATE {state}
#define READINGS {readings}

static volatile int16_t kept;

void {name}_run(void);
void {name}_run(void)
{{
    STATE *x = calloc({NAME}_N_FEATURES, sizeof *x);
    {name}_cost_t s[{NAME}_N_CLASSES] = {{ 0 }};

    VALGRIND_MAKE_MEM_UNDEFINED(x, {NAME}_N_FEATURES * sizeof *x);
    kept = {name}_predict(x);
    kept = {name}_predict_trusted(x);
    kept = {name}_scores(x, s);
    {{
        {name}_raw_t *r = calloc(READINGS, sizeof *r);

        VALGRIND_MAKE_MEM_UNDEFINED(r, READINGS * sizeof *r);
        kept = {name}_predict_raw(r);
        free(r);
    }}
    free(x);
}}
"""


def emitted(model, *, name="m", constant_time=True, **options):
    return emit_c(model, EmitOptions(name, ENTRIES, constant_time=constant_time, **options))


def jumps(found, compiler, level, folder):
    """Return how many jumps depend on an input in each emission, in one program and run.

    Parameters
    ----------
    found : dict of str to Emission
        Emissions by name; each begins all its symbols with its name.
    """
    for name, emission in found.items():
        layout = emission.layout
        readings = len(layout.program.features) if layout.raw and layout.raw.is_array else 1
        text = RUN.format(
            name=name, NAME=name.upper(), state=f"uint{layout.state_bits}_t", readings=readings
        )
        for file, content in {**emission.files, f"{name}_run.c": text}.items():
            (folder / file).write_text(content, encoding="utf-8")
    calls = "".join(f"void {name}_run(void);\n" for name in found)
    body = "".join(f"    {name}_run();\n" for name in found)
    main = f"{calls}\nint main(void)\n{{\n{body}    return 0;\n}}\n"
    (folder / "main.c").write_text(main, encoding="utf-8")
    sources = [f"{name}{part}.c" for name in found for part in ("", "_run")]
    command = [compiler, level, *sources, "main.c", "-o", "jumps"]
    subprocess.run(command, cwd=folder, check=True)
    checked = ["valgrind", "-q", "--error-exitcode=9", "./jumps"]
    done = subprocess.run(checked, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 9), done.stderr
    counts = dict.fromkeys(found, 0)
    _, *reports = done.stderr.split("Conditional jump or move depends on uninitialised value")
    for report in reports:
        # The first of the callers; uses of a value in another emission may follow.
        counts[re.search(r" (\w+)_run\b", report).group(1)] += 1
    return counts


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
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
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
    found = {name: emitted(BY_NAME[name](), name=name) for name in TELLING}
    assert jumps(found, compiler, level, tmp_path) == dict.fromkeys(TELLING, 0)


def test_no_jump_of_any_kernel_depends_on_an_input(require_tool, tmp_path):
    require_tool("gcc")
    require_tool("valgrind")
    model = BY_NAME["letter_like_1_bit"]()
    found = {}
    for k, family in enumerate(FREE_OF_BRANCHES):
        target = "avr" if family == "bytes" else None
        with suppress(OptionError):  # it has no layout for the model
            found[f"kernel{k}"] = emitted(model, name=f"kernel{k}", kernel=family, target=target)
    assert len(found) > 3
    assert jumps(found, "gcc", "-Os", tmp_path) == dict.fromkeys(found, 0)


def test_the_check_sees_the_jumps_of_ordinary_code(require_tool, tmp_path):
    """The report names the emission of each finding."""
    require_tool("gcc")
    require_tool("valgrind")
    ordinary = ("int32_thresholds", "tan_float", "letter_like")
    found = {
        name: emitted(BY_NAME[name](), name=name, constant_time=name not in ordinary)
        for name in {*TELLING, *ordinary}
    }
    counts = jumps(found, "gcc", "-Os", tmp_path)
    assert {name for name, n in counts.items() if n} == set(ordinary)


def test_sums_that_fill_their_type_are_compared_as_well():
    """In a type with a bit to spare; by the borrow itself where there is none."""
    types = {name: emitted(BY_NAME[name]()).layout.constant_time for name in BY_NAME}
    assert {each.least.type for each in types.values()} == {"uint8_t", "uint16_t", "uint32_t"}
    assert types["sum_255"].least.type == "uint16_t"
    assert types["sum_65535"].least.type == "uint32_t"


def test_packed_is_refused_with_the_remedy():
    assert set(FAMILIES) - set(FREE_OF_BRANCHES) == {"packed", *FOR_CUTS, *FOR_TREES}
    with pytest.raises(OptionError, match="'packed' depends on states; name another"):
        emitted(hand.tan_float(), kernel="packed")
