"""The textbook classifier equals the model; otherwise it would not be a baseline."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bncc.device.agreement import compare
from bncc.device.host import build_library
from bncc.device.inputs.cases import Effort, cases
from bncc.device.sources import sources
from bncc.emit.textbook import misfit, textbook_c
from bncc.fixed_point import QFormat
from bncc.model.reference import predict
from bncc.structure.graph import forest
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS, host_compilers
from tests import models as hand
from tests.agreement.large import LARGE, letter_like, random_model
from tests.agreement.mistakes import verify_files
from tests.firmware.machines import MACHINES
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
BY_NAME = {name: make for name, make in {**hand.NAMED, **LARGE}.items() if misfit(make()) is None}
C99 = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS)
CPP17 = ("-xc++", "-std=c++17", *STRICT_FLAGS)


def check(model, files):
    return verify_files(model, files, opt_level="-O1", n_random=300)


def largest_sums():
    """Return a model whose sums are 65535 and 65534: with one more unit class 0 would win."""
    n = 257
    tables = [[[255, 255 - (i == 0)]] for i in range(n)]
    features = [hand.feature(f"x{i}", 1) for i in range(n)]
    plain = random_model(features, forest([None] * n), 2, QFormat(8, 0))
    arrays = tuple(np.array(table) for table in tables)
    return replace(plain, prior=np.array([0, 0]), tables=arrays)


BY_NAME["largest_sums"] = largest_sums


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", BY_NAME)
def test_it_agrees_at_every_level(require_tool, compiler, name):
    """At all levels that `bncc bench` builds it with, raw readings included."""
    require_tool(compiler)
    model = BY_NAME[name]()
    files, inputs = textbook_c(model, "m", raw=True).files, list(cases(model, effort=Effort(300)))
    (tool,) = host_compilers(compiler)
    for level in ("-O2", "-O3", "-Os"):
        with build_library(sources(model, files), compiler=tool, opt_level=level) as library:
            assert library.entries == {"predict", "trusted", "raw"}
            outcome = compare(library, inputs)
        assert outcome.agree, (level, outcome.first_mismatch)


@pytest.mark.parametrize("name", BY_NAME)
def test_it_agrees_under_sanitizers(require_tool, name):
    """No undefined behavior, and no access out of bounds."""
    require_tool("gcc")
    model = BY_NAME[name]()
    outcome = verify_files(
        model, textbook_c(model, "m", raw=True).files, sanitize=True, opt_level="-O1",
        n_random=300,
    )  # fmt: skip
    assert outcome.agree, outcome.first_mismatch


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(models(max_bits=8, only_networks=True))
def test_that_of_any_model_agrees(require_tool, model):
    """Any features, structure and costs that fit."""
    require_tool("gcc")
    assert misfit(model) is None
    outcome = check(model, textbook_c(model, "m", raw=True).files)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.firmware
@pytest.mark.parametrize("language", [C99, CPP17], ids=["c99", "c++17"])
@pytest.mark.parametrize("name", ["host-gcc", "host-clang", "atmega1284p", "cortex-m0", "rv32ic"])
def test_the_strict_flags_find_nothing(name, language, require_tool, tmp_path):
    """On the host and for three microcontrollers; models too large for an AVR are skipped there."""
    machine = MACHINES[name]
    is_avr = machine.compiler == "avr-gcc"
    require_tool(machine.compiler)
    if language is CPP17:
        require_tool(re.sub("gcc$", "g++", machine.compiler))
    if language is CPP17 and is_avr:
        language = ("-xc++", "-std=c++1z", *STRICT_FLAGS)  # avr-gcc 5 knows only the first name
    built = []
    for model_name, make in BY_NAME.items():
        for raw in (False, True):
            book = textbook_c(make(), f"{model_name}{raw:d}", raw=raw)
            if not (is_avr and book.avr_misfit):
                built.append(f"{book.name}.c")
                for file, text in book.files.items():
                    (tmp_path / file).write_text(text, encoding="utf-8")
    assert built
    machine.compile(tmp_path, tuple(built), *language, "-O2")


@pytest.mark.firmware
def test_an_avr_compiler_stops_at_what_an_avr_cannot_hold(require_tool, tmp_path):
    """With the reason, not with a message about an array's size alone."""
    require_tool("avr-gcc")
    for file, text in textbook_c(LARGE["large_tables"](), "m").files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"#error .*bytes of constants are more than"):
        MACHINES["atmega1284p"].compile(tmp_path, ("m.c",))


def bumped(text: str, array: str, k: int, by: int = 1) -> str:
    """Return the C with entry k of an array changed."""
    found = re.search(rf"\b{array}\[[^=]* PROGMEM = \{{\n(.*?)\n\}};", text, re.DOTALL)
    assert found, f"the C has no array {array}"
    plain = re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group()), found.group(1), flags=re.DOTALL)
    number = list(re.finditer(r"-?\d+", plain))[k]
    start = found.start(1) + number.start()
    return f"{text[:start]}{int(number.group()) + by}{text[start + len(number.group()) :]}"


def test_a_swapped_tie_rule_is_seen(require_tool):
    """The largest index of least cost instead of the smallest."""
    require_tool("gcc")
    files = textbook_c(hand.ties(), "m").files
    assert files["m.c"].count("sum[c] < sum[best]") == 1
    wrong = files["m.c"].replace("sum[c] < sum[best]", "sum[c] <= sum[best]")
    assert not check(hand.ties(), {**files, "m.c": wrong}).agree


@pytest.mark.parametrize(
    ("array", "k"),
    [
        ("first_row", 5), ("parent", 15), ("stride", 9), ("n_states", 3), ("prior", 7),
        ("threshold_int16", 11), ("first_threshold", 4), ("missing_state", 6),
    ],
)  # fmt: skip
def test_a_wrong_number_is_seen(require_tool, array, k):
    """In any array; the prior by more than one unit, because no scores would show it."""
    require_tool("gcc")
    model = letter_like()
    files = textbook_c(model, "m").files
    by = 40 if array == "prior" else -1
    outcome = check(model, {**files, "m.c": bumped(files["m.c"], array, k, by)})
    assert not outcome.agree


@pytest.mark.parametrize("k", range(0, 28, 3))
def test_a_wrong_cost_is_seen_when_it_changes_a_decision(require_tool, k):
    """Only then: every joint state is tried."""
    require_tool("gcc")
    model = hand.tan_float()
    costs = np.concatenate(model.tables).ravel()
    costs[k] += 17
    ends = np.cumsum([table.size for table in model.tables])[:-1]
    parts = zip(np.split(costs, ends), model.tables, strict=True)
    other = replace(model, tables=tuple(part.reshape(table.shape) for part, table in parts))
    X = hand.all_states(model)
    files = textbook_c(model, "m").files
    outcome = check(model, {**files, "m.c": bumped(files["m.c"], "table", k, 17)})
    assert outcome.agree == np.array_equal(predict(model, X), predict(other, X))


def test_a_wrong_index_of_parents_is_seen(require_tool):
    """A network whose features have several parents."""
    require_tool("gcc")
    model = hand.general_network()
    files = textbook_c(model, "m").files
    for array, k in (("first_parent", 3), ("parent", 3), ("first_row", 3)):
        wrong = bumped(files["m.c"], array, k, -1)
        assert not check(model, {**files, "m.c": wrong}).agree, array


def test_sums_of_one_byte_are_seen(require_tool):
    """Already on a model of 6-bit costs."""
    require_tool("gcc")
    files = textbook_c(letter_like(), "m").files
    wrong = (
        files["m.c"]
        .replace("uint16_t sum[", "uint8_t sum[")
        .replace("(uint16_t)(sum[c]", "(uint8_t)(sum[c]")
    )
    assert wrong != files["m.c"]
    assert not check(letter_like(), {**files, "m.c": wrong}).agree
