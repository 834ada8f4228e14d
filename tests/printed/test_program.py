"""The interpreter of emitted C: numbers as in C99, and an error for what C99 leaves undefined."""

import pytest

from tests.printed.program import CProgram
from tests.printed.types import CError


def result(body, *values, head="", kind="uint32_t", parameters="uint32_t a, uint32_t b", **widths):
    """Return what a function with this body returns."""
    text = f"{head}\n{kind} f({parameters})\n{{\n{body}\n}}\n"
    return CProgram({"m.c": text}, **widths).call("f", *values)


@pytest.mark.parametrize(
    ("expression", "a", "b", "wanted"),
    [
        ("a + b", 2**32 - 1, 3, 2),
        ("a - b", 1, 2, 2**32 - 1),
        ("(uint8_t)(a + b)", 200, 100, 44),
        ("~a & b", 5, 7, 2),
        ("(a > b) ? a : b", 4, 9, 9),
        ("(a << 3) >> b", 5, 2, 10),
        ("(uint32_t)(int32_t)(0U - (a ^ b)) == 0U", 7, 7, 1),
        ("(a != 0U) && (b < a)", 3, 1, 1),
    ],
)
def test_unsigned_numbers_wrap(expression, a, b, wanted):
    assert result(f"return {expression};", a, b) == wanted


def test_numbers_are_promoted_to_an_int_of_the_machine():
    body = "uint8_t c = (uint8_t)a; return (c << 8) > 0;"
    assert result(body, 1, 0, int_bits=16) == 1
    with pytest.raises(CError, match="overflows"):
        result(body, 200, 0, int_bits=16)
    assert result(body, 200, 0, int_bits=32) == 1


@pytest.mark.parametrize(
    ("body", "story"),
    [
        ("uint8_t c; return c + a + b;", "c is read before it is set"),
        ("uint8_t c[2]; c[0] = 1U; c[1] = 2U; return c[a] + b;", "moved by 7"),
        ("uint8_t c[7]; return c[a] + b;", "element 7 of 7"),
        ("return b << (a + 25U);", "<< 32"),
        ("int16_t c = (int16_t)(a << 13); return (uint32_t)c + b;", "out of range"),
        ("int32_t c = 2147483647; return (uint32_t)(c + (int32_t)a) + b;", "overflows"),
        ("m_rom[0] = (uint8_t)(a + b); return 0U;", "constant"),
        ("const uint16_t *p = &m_rom[a]; return *p + b;", "is assigned to"),
    ],
)
def test_what_is_undefined_is_an_error(body, story):
    with pytest.raises(CError, match=story):
        result(body, 7, 1, head="static const uint8_t m_rom[8] = {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U};")


def test_directives_choose_what_a_plain_compiler_sees():
    head = """
#define M_TWO 2U
#define M_FOUR (M_TWO + M_TWO) /* a comment "with a string */
#if defined(__AVR__) || !defined(M_TWO)
#error "no"
#elif M_TWO != 2U
#error "nor this"
#else
#define M_ROM
#endif
static const char m_text[] M_ROM = {"a \\042/* b"};
"""
    assert result("return M_FOUR + (m_text[0] == m_text[6]);", 0, 0, head=head) == 4
    assert result("return (uint32_t)m_text[2];", 0, 0, head=head) == ord('"')


def test_loops_pointers_and_structs_are_followed():
    head = "typedef struct { uint16_t sums[3]; uint8_t left; } m_t;"
    body = """
    m_t s;
    m_t *p = &s;
    const uint8_t *at = x;
    uint8_t i;

    for (i = 0U; i < 3U; i++) {
        s.sums[i] = 0U;
        if (i == 1U) {
            continue;
        }
        while (s.sums[i] < 300U) {
            p->sums[i] = (uint16_t)(p->sums[i] + *at);
            if (*at > 100U) {
                break;
            }
        }
        at++;
    }
    p->left = 5U;
    do {
        s.left--;
    } while (s.left > 2U);
    return s.sums[0] + s.sums[1] + s.sums[2] + s.left;
    """
    given = ([40, 101, 0], 0)
    assert result(body, given, head=head, parameters="const uint8_t x[3]") == 320 + 0 + 101 + 2
