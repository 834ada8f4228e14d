"""Types of interpreted C, and the rules of C for numbers of those types."""

import struct
from dataclasses import dataclass


class CError(AssertionError):
    """Undefined or implementation-defined behavior of C."""


@dataclass(frozen=True)
class Int:
    """An integer type."""

    bits: int
    signed: bool

    def holds(self, value):
        """Return whether the type has a value."""
        if self.signed:
            return -(1 << (self.bits - 1)) <= value < 1 << (self.bits - 1)
        return 0 <= value < 1 << self.bits


@dataclass(frozen=True)
class Float:
    """A float of 32 bits."""


@dataclass(frozen=True)
class Pointer:
    """A pointer; its value is (cells, index), where cells is the list that holds the object."""

    to: object


@dataclass(frozen=True)
class Array:
    """An array; `n` is None where it is a parameter or takes its length from its entries."""

    of: object
    n: int | None


@dataclass(frozen=True)
class Record:
    """A struct or a union."""

    fields: tuple
    is_union: bool = False


def promoted(kind, int_bits):
    """Return the type after the integer promotions: int, where int holds all values."""
    if isinstance(kind, Int) and (kind.bits < int_bits or (kind.bits == int_bits and kind.signed)):
        return Int(int_bits, True)
    return kind


def common(a, b, int_bits):
    """Return the type of a sum of two operands: the usual arithmetic conversions."""
    a, b = promoted(a, int_bits), promoted(b, int_bits)
    if Float() in (a, b):
        return Float()
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return Int(a.bits, a.signed and b.signed)


def checked(value, kind):
    """Return the value of an operation in its type: unsigned wraps, signed must not overflow."""
    if kind.signed:
        if not kind.holds(value):
            raise CError(f"{value} overflows a signed type of {kind.bits} bits")
        return value
    return value & ((1 << kind.bits) - 1)


def converted(value, kind):
    """Return a value converted to a type, as by an assignment or a cast."""
    if isinstance(kind, Int):
        if isinstance(value, tuple):
            raise CError("a pointer becomes an integer")
        if isinstance(value, float):
            raise CError("a float becomes an integer")
        if kind.signed and not kind.holds(value):
            raise CError(f"{value} is out of range of a signed type of {kind.bits} bits")
        return value & ((1 << kind.bits) - 1) if not kind.signed else value
    if isinstance(kind, Float):
        return struct.unpack("<f", struct.pack("<f", value))[0]
    return value


def literal(text, int_bits):
    """Return the value and the type of an integer constant."""
    digits = text.rstrip("uUlL")
    value = int(digits, 0) if digits == "0" or not digits.startswith("0") else int(digits, 16)
    suffix = text[len(digits) :].lower()
    is_hex = digits[:2].lower() == "0x"
    widths = [int_bits, 32, 64] if "l" not in suffix else [32, 64]
    for bits in widths:
        for signed in (True, False):
            may_be = not signed if "u" in suffix else signed or is_hex
            if may_be and Int(bits, signed).holds(value):
                return value, Int(bits, signed)
    raise CError(f"no type has {text}")


class Union(dict):
    """The object of a union of 32 bits; a value stored in one member is read from another."""

    def __init__(self, fields):
        super().__init__()
        self.bits = None
        for name, kind in fields:
            assert kind in (Float(), Int(32, True), Int(32, False))
            self[name] = _Member(self, kind)


class _Member:
    """The one cell of a member of a union."""

    def __init__(self, union, kind):
        self.union, self.kind = union, kind
        self.format = {Float(): "<f", Int(32, True): "<i", Int(32, False): "<I"}[kind]

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return None if self.union.bits is None else struct.unpack(self.format, self.union.bits)[0]

    def __setitem__(self, index, value):
        self.union.bits = struct.pack(self.format, value)


class Rom(list):
    """Cells of a constant array that record which indices were read."""

    def __init__(self, cells):
        super().__init__(cells)
        self.seen = set()

    def __getitem__(self, index):
        self.seen.add(index)
        return super().__getitem__(index)
