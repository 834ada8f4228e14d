"""Operations of C on numbers and pointers, and the cells that hold objects."""

import operator

from tests.printed.types import Array, CError, Int, Pointer, Record, Union, checked

ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def cells_of(kind):
    """Return cells that are not set."""
    if isinstance(kind, Array):
        return [cell for _ in range(kind.n) for cell in cells_of(kind.of)]
    if isinstance(kind, Record):
        if kind.is_union:
            return [Union(kind.fields)]
        return [{name: cells_of(each) for name, each in kind.fields}]
    return [None]


def inside(cells, k):
    if not 0 <= k < len(cells):
        raise CError(f"element {k} of {len(cells)} is accessed")
    return k


def moved(pointer, by):
    cells, k = pointer
    if not 0 <= k + by <= len(cells):
        raise CError(f"a pointer to element {k} of {len(cells)} is moved by {by}")
    return cells, k + by


def operand(value, kind):
    """Return an operand converted to the common type; -1 becomes a large unsigned number."""
    return value if kind.signed else value & ((1 << kind.bits) - 1)


def shifted(op, kind, a, b):
    def shift(frame):
        value, by = a(frame), b(frame)
        if not 0 <= by < kind.bits or value < 0:
            raise CError(f"{value} {op} {by} in a type of {kind.bits} bits")
        return checked(value << by, kind) if op == "<<" else value >> by

    return kind, shift


def of_pointers(op, left, a, right, b, int_bits):
    if isinstance(left, Int):
        left, a, right, b = right, b, left, a
    if isinstance(right, Int):
        sign = {"+": 1, "-": -1}[op]
        return left, lambda frame: moved(a(frame), sign * b(frame))
    compare = COMPARISONS[op]

    def compared(frame):
        (cells, i), (others, j) = a(frame), b(frame)
        if cells is not others:
            raise CError("pointers into different objects are compared")
        return int(compare(i, j))

    return Int(int_bits, True), compared


def check_assignable(kind, given):
    """Check that pointers stay what they are; numbers are converted."""
    if Pointer in (type(kind), type(given)) and kind != given:
        raise CError(f"{given} is assigned to {kind}")
