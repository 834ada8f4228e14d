"""The meaning of Thumb's instructions on registers: arithmetic, logic, shifts, bit fields."""

from collections.abc import Mapping
from functools import reduce

from bncc.prove.instructions import Effect, Expr, Flags, Jump, Set
from bncc.prove.thumb_operands import WORD, Meaning, Parsed, inverted, last_bit_out


def _arithmetic(p: Parsed) -> list[Effect]:
    left, right, kind = p.value(-2), p.value(-1), p.name
    if kind == "rsb":
        left, right, kind = right, left, "sub"
    total: Expr = ("add" if kind in ("add", "adc") else "sub", left, right)
    if kind == "adc":
        total = ("add", total, ("flag", "cs"))
    if kind == "sbc":
        total = ("sub", total, ("flag", "cc"))
    target = p.target()
    if not p.sets_flags:
        return [Set(target, total)]
    if kind in ("add", "sub"):
        return [Flags(kind, left, right), Set(target, total)]
    return [Set("tmp0", total), Flags(kind, left, right), Set(target, "tmp0")]


def _comparison(p: Parsed) -> list[Effect]:
    return [Flags("sub" if p.name == "cmp" else "add", p.value(0), p.value(1))]


def _address(p: Parsed) -> list[Effect]:
    return [Set(p.target(), p.pc + p.immediate(1) & WORD)]


def _move(p: Parsed) -> list[Effect]:
    if p.name_of(0) == "pc":
        return [Jump(p.value(1), p.condition)]
    return _with_logic_flags(p, p.value(1), p.carry(1))


def _move_top(p: Parsed) -> list[Effect]:
    return [Set(p.target(), ("or", ("zext", p.target(), 16), p.immediate(1) << 16))]


def _logic(p: Parsed) -> list[Effect]:
    left, right, op = p.value(-2), p.value(-1), OPERATORS[p.name]
    if p.name in ("bic", "orn", "mvn"):
        right = inverted(right)
    value = right if p.name == "mvn" else (op, left, right)
    return _with_logic_flags(p, value, p.carry(-1))


OPERATORS = {
    "and": "and", "bic": "and", "orr": "or", "orn": "or", "eor": "xor", "mvn": "",
    "tst": "and", "teq": "xor",
}  # fmt: skip


def _with_logic_flags(p: Parsed, value: Expr, carry: Expr | None) -> list[Effect]:
    """Return the assignment of a value to the first operand, and of the flags if they are set."""
    if p.name in ("tst", "teq"):
        return [Flags("logic", value, carry=carry)]
    target = p.target()
    if not p.sets_flags:
        return [Set(target, value)]
    return [Set("tmp0", value), Flags("logic", "tmp0", carry=carry), Set(target, "tmp0")]


def _shift(p: Parsed) -> list[Effect]:
    x, op = p.value(-2), {"lsl": "shl", "lsr": "shr", "asr": "sar", "ror": "ror"}[p.name]
    if p.is_immediate(-1):
        k = p.immediate(-1)
        return _with_logic_flags(p, (op, x, k), last_bit_out(op, x, k) if k else None)
    n: Expr = ("zext", p.value(-1), 8)
    most: Expr = ("ite", ("ult", n, 33), n, 32)
    value: Expr = (op, x, n if op == "ror" else most)
    carry: Expr = ("and", ("shr", x, ("sub", most, ("ult", 0, n))), 1)
    if op == "ror":
        carry = ("shr", value, 31)
    elif op == "sar":
        carry = ("and", ("sar", x, ("sub", most, ("ult", 0, n))), 1)
    elif op == "shl":
        carry = ("and", ("shr", x, ("sub", 32, most)), 1)
    if op in ("shl", "shr"):
        carry = ("ite", ("ult", 32, n), 0, carry)
    return _with_logic_flags(p, value, ("ite", ("eq", n, 0), ("flag", "cs"), carry))


def _extension(p: Parsed) -> list[Effect]:
    kind = "sext" if p.name[0] == "s" else "zext"
    value: Expr = (kind, p.value(-1), 8 if p.name[-1] == "b" else 16)
    return [Set(p.target(), ("add", p.value(1), value) if p.name[3] == "a" else value)]


def _extension_of_two(p: Parsed) -> list[Effect]:
    return [Set(p.target(), ("and", p.value(1), 0x00FF_00FF))]


def _extract(p: Parsed) -> list[Effect]:
    low, width = p.immediate(2), p.immediate(3)
    x = p.value(1)
    kind = "sext" if p.name == "sbfx" else "zext"
    return [Set(p.target(), (kind, ("shr", x, low) if low else x, width))]


def _insert(p: Parsed) -> list[Effect]:
    low, width = p.immediate(-2), p.immediate(-1)
    field = (1 << width) - 1
    kept: Expr = ("and", p.target(), field << low ^ WORD)
    if p.name == "bfc":
        return [Set(p.target(), kept)]
    return [Set(p.target(), ("or", kept, ("shl", ("and", p.value(1), field), low)))]


def _product(p: Parsed) -> list[Effect]:
    if p.name == "mul":
        return _with_logic_flags(p, ("mul", p.value(1), p.value(2)), None)
    product: Expr = ("mul", p.value(1), p.value(2))
    kind = "add" if p.name == "mla" else "sub"
    return [Set(p.target(), (kind, p.value(3), product))]


def _long_product(p: Parsed) -> list[Effect]:
    x, y = p.value(2), p.value(3)
    if p.target(0) == p.target(1):
        raise p.unknown()
    return [Set("tmp0", ("umulh", x, y)), Set(p.target(0), ("mul", x, y)), Set(p.target(1), "tmp0")]


def _half_product(p: Parsed) -> list[Effect]:
    """Return the product of halves, lower or upper; that its sum may set the Q flag is left out."""
    product: Expr = ("mul", *(_half(p.value(1 + k), p.name[-2 + k]) for k in range(2)))
    return [Set(p.target(), ("add", product, p.value(3)) if p.name[:4] == "smla" else product)]


def _half(x: Expr, which: str) -> Expr:
    return ("sar", x, 16) if which == "t" else ("sext", x, 16)


def _quotient(p: Parsed) -> list[Effect]:
    x, y = p.value(-2), p.value(-1)
    return [Set(p.target(), ("ite", ("eq", y, 0), 0, ("udiv", x, y)))]


def _byte_order(p: Parsed) -> list[Effect]:
    x = _same_source(p)
    swapped: Expr = (
        "or",
        ("and", ("shl", x, 8), 0xFF00_FF00),
        ("and", ("shr", x, 8), 0x00FF_00FF),
    )
    values: dict[str, Expr] = {
        "rev": ("ror", swapped, 16),
        "rev16": swapped,
        "revsh": ("sext", swapped, 16),
    }
    return [Set(p.target(), values[p.name])]


def _same_source(p: Parsed) -> Expr:
    """Return the source; capstone shows also what is unpredictable, that it differs from itself."""
    if not p.has_source_twice:
        raise p.unknown()
    return p.value(1)


def _leading_zeros(p: Parsed) -> list[Effect]:
    """Return the count: as many powers of 2 are greater than the number, of 32."""
    below: list[Expr] = [("ult", _same_source(p), 1 << k) for k in range(32)]
    return [Set(p.target(), reduce(lambda total, term: ("add", total, term), below))]


def _named(meaning: Meaning, *names: str) -> dict[str, Meaning]:
    return dict.fromkeys(names, meaning)


HALF_PRODUCTS = tuple(f"sm{k}{x}{y}" for k in ("ul", "la") for x in "bt" for y in "bt")
DATA: Mapping[str, Meaning] = {
    **_named(_arithmetic, "add", "adc", "sub", "sbc", "rsb"),
    **_named(_comparison, "cmp", "cmn"),
    **_named(_address, "adr"),
    **_named(_move, "mov", "movs"),
    **_named(_move_top, "movt"),
    **_named(_logic, *OPERATORS),
    **_named(_shift, "lsl", "lsr", "asr", "ror"),
    **_named(_extension, "uxtb", "uxth", "sxtb", "sxth", "uxtab", "uxtah", "sxtab", "sxtah"),
    **_named(_extension_of_two, "uxtb16"),
    **_named(_extract, "ubfx", "sbfx"),
    **_named(_insert, "bfi", "bfc"),
    **_named(_product, "mul", "mla", "mls"),
    **_named(_long_product, "umull"),
    **_named(_half_product, *HALF_PRODUCTS),
    **_named(_quotient, "udiv"),
    **_named(_byte_order, "rev", "rev16", "revsh"),
    **_named(_leading_zeros, "clz"),
}
