"""The meaning of the instructions of the floating-point unit that bncc's C needs: no arithmetic."""

from collections.abc import Mapping
from struct import pack, unpack

from bncc.prove.instructions import Effect, Expr, Flags, Load, Set, Store
from bncc.prove.thumb_operands import SINGLES, Meaning, Parsed, plus


def _words(p: Parsed, k: int) -> list[str]:
    """Return the 32-bit registers of an operand: one, or the two halves of a double."""
    name = p.name_of(k)
    if name in SINGLES:
        return [name]
    if name[0] == "d" and name[1:].isdigit() and int(name[1:]) < 16:
        return [f"s{2 * int(name[1:])}", f"s{2 * int(name[1:]) + 1}"]
    return [p.target(k)]


def _load(p: Parsed) -> list[Effect]:
    _, address, _ = p.memory()
    return [Load(name, plus(address, 4 * k), 4) for k, name in enumerate(_words(p, 0))]


def _store(p: Parsed) -> list[Effect]:
    _, address, _ = p.memory()
    return [Store(plus(address, 4 * k), name, 4) for k, name in enumerate(_words(p, 0))]


def _push(p: Parsed) -> list[Effect]:
    words = [name for k in range(len(p)) for name in _words(p, k)]
    size = 4 * len(words)
    stores: list[Effect] = [
        Store(plus("sp", 4 * k - size), name, 4) for k, name in enumerate(words)
    ]
    return [*stores, Set("sp", plus("sp", -size))]


def _pop(p: Parsed) -> list[Effect]:
    words = [name for k in range(len(p)) for name in _words(p, k)]
    loads: list[Effect] = [Load(name, plus("sp", 4 * k), 4) for k, name in enumerate(words)]
    return [*loads, Set("sp", plus("sp", 4 * len(words)))]


def _move(p: Parsed) -> list[Effect]:
    words = [name for k in range(len(p)) for name in _words(p, k)]
    half = len(words) // 2
    # An operand that is one element of a vector makes the halves unequal.
    if len(words) != 2 * half or "[" in p.text or "sp" in words:
        raise p.unknown()
    return [Set(to, source) for to, source in zip(words[:half], words[half:], strict=True)]


def _constant(p: Parsed) -> list[Effect]:
    return [Set(_single(p, 0), unpack("<I", pack("<f", p.float_constant(1)))[0])]


def _single(p: Parsed, k: int) -> str:
    (name,) = _words(p, k)[:1]
    if p.name_of(k) not in SINGLES:
        raise p.unknown()
    return name


def _comparison(p: Parsed) -> list[Effect]:
    right: Expr = p.immediate(1) if p.is_immediate(1) else _single(p, 1)
    return [Set("fcmp0", _single(p, 0)), Set("fcmp1", right)]


def _to_flags(p: Parsed) -> list[Effect]:
    return [Flags("float", "fcmp0", "fcmp1")]


FLOATS: Mapping[str, Meaning] = {
    "vldr": _load,
    "vstr": _store,
    "vpush": _push,
    "vpop": _pop,
    "vmov": _move,
    "fconsts": _constant,
    "vcmp": _comparison,
    "vcmpe": _comparison,
    "fmstat": _to_flags,
}
