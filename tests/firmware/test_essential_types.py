"""Rule 10.8 of MISRA C:2012 in every kernel, width of sums and type of readings."""

import pytest

from tests.agreement.discretizer_ways import FEATURES, emitted
from tests.agreement.wide_lanes import emissions
from tests.firmware.analyzed import all_of, few
from tests.firmware.machines import MODELS
from tests.printed.essential import forbidden_casts

pytestmark = pytest.mark.firmware
FEW = few()
WIDTHS = ((16, 16), (32, 32), (32, 64))
"""Bits of int and of the fast types: AVR, other targets, and x86-64."""


def found(files, name="m.c", widths=WIDTHS):
    """Return the forbidden casts of a file on machines of several widths."""
    return {
        cast
        for int_bits, fast_bits in widths
        for cast in forbidden_casts(files, name, int_bits=int_bits, fast_bits=fast_bits)
    }


@pytest.mark.parametrize("k", range(len(FEW)), ids=lambda k: str(FEW[k]))
def test_no_composite_expression_is_cast_to_another_category_or_a_wider_type(k):
    assert found(FEW[k].files, f"{FEW[k].options.name}.c") == set()


@pytest.mark.parametrize("kind", FEATURES)
def test_no_such_cast_finds_a_state(kind):
    """Look-up tables, guides and trees; widths take turns."""
    for k, method in enumerate(("tree", "bytes", "nibbles", "guided")):
        files = emitted(FEATURES[kind], method)
        assert found(files, widths=(WIDTHS[k % len(WIDTHS)],)) == set(), method


@pytest.mark.parametrize("name", ["letter_like_1_bit", "two_cost_arrays"])
def test_no_such_cast_is_in_words_of_64_bits(name):
    first = next(emissions(MODELS[name]()))
    assert "int64_t" in first.files["m.c"]
    assert found(first.files, widths=WIDTHS[1:]) == set()


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_no_such_cast_is_in_any_kernel(model):
    for analyzed in all_of(model):
        assert found(analyzed.files, f"{analyzed.options.name}.c") == set(), str(analyzed)


@pytest.mark.parametrize(
    ("expression", "is_forbidden"),
    [
        ("(uint16_t)(a + a)", True),
        ("(uint16_t)((uint16_t)a + a)", False),
        ("(uint8_t)(v - 5)", True),
        ("(uint8_t)((uint16_t)v - 5U)", False),
        ("(uint32_t)(b << 3)", True),
        ("(uint32_t)((uint32_t)b << 3)", False),
        ("(int16_t)(b ^ 1U)", True),
        ("(int16_t)(uint16_t)(b ^ 1U)", False),
        ("(uint16_t)((v > 1) ? (a + a) : 1U)", True),
        ("(uint16_t)((v > 1) ? a : b)", False),
        ("(uint8_t)((v > 1) & (v < 9))", True),
        ("(uint8_t)(v > 1)", False),
        ("(uint16_t)(1U + 3U)", False),
        ("(uint16_t)(a + 256U)", False),
        ("(uint16_t)(~a & 1U)", True),
        ("(int32_t)(v - 5)", True),
        ("(int32_t)(-v)", False),
    ],
)
def test_the_checker_knows_forbidden_casts(expression, is_forbidden):
    head = "uint32_t f(uint8_t a, uint16_t b, int16_t v)"
    files = {"m.c": f"{head}\n{{\n    return (uint32_t){expression};\n}}\n"}
    assert bool(found(files)) == is_forbidden
