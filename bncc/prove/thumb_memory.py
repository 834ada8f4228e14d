"""
The meaning of Thumb's loads and stores.

Some processors load and store a single word or halfword at any address. Several registers, and pc,
are loaded from multiples of 4 only.
"""

from collections.abc import Mapping, Sequence

from bncc.prove.instructions import Effect, Expr, Jump, Load, Set, Store
from bncc.prove.thumb_operands import Meaning, Parsed, plus

SIZES = {"b": 1, "h": 2, "r": 4}


def _load(p: Parsed) -> list[Effect]:
    updated, address, update = p.memory()
    target, size = p.name_of(0), SIZES[p.name[-1]]
    if target in ("sp", updated):
        raise p.unknown()
    if target == "pc":
        return [Load("tmp0", address, 4), *update, Jump("tmp0", p.condition, keeps_thumb=True)]
    return [Load(p.target(), address, size, p.name[3:4] == "s", p.loads_anywhere), *update]


def _store(p: Parsed) -> list[Effect]:
    updated, address, update = p.memory()
    if p.target() == updated:
        raise p.unknown()
    return [Store(address, p.target(), SIZES[p.name[-1]], p.loads_anywhere), *update]


def _load_two(p: Parsed) -> list[Effect]:
    updated, address, update = p.memory()
    pair = [p.target(0), p.target(1)]
    if pair[0] == pair[1] or updated in pair or "sp" in pair:
        raise p.unknown()
    return [Set("tmp1", address), *loads(pair, "tmp1"), *update]


def _store_two(p: Parsed) -> list[Effect]:
    updated, address, update = p.memory()
    pair = [p.target(0), p.target(1)]
    if updated in pair:
        raise p.unknown()
    return [*stores(pair, address), *update]


def loads(registers: Sequence[str], address: Expr) -> list[Effect]:
    """Return the loads of registers from consecutive words."""
    return [Load(name, plus(address, 4 * k), 4) for k, name in enumerate(registers)]


def stores(registers: Sequence[str], address: Expr) -> list[Effect]:
    """Return the stores of registers to consecutive words."""
    return [Store(plus(address, 4 * k), name, 4) for k, name in enumerate(registers)]


def _push(p: Parsed) -> list[Effect]:
    registers = [p.target(k) for k in range(len(p))]
    # From the base, so that all addresses are sp and a constant.
    words: list[Effect] = [
        Store(plus("sp", 4 * (k - len(registers))), name, 4) for k, name in enumerate(registers)
    ]
    return [*words, Set("sp", plus("sp", -4 * len(registers)))]


def _pop(p: Parsed) -> list[Effect]:
    names = [p.name_of(k) for k in range(len(p))]
    return _load_list(p, names, "sp", 0, 4 * len(names))


def _load_multiple(p: Parsed) -> list[Effect]:
    names = [p.name_of(k) for k in range(1, len(p))]
    size = 4 * len(names)
    start, step = (-size, -size) if p.name == "ldmdb" else (0, size)
    return _load_list(p, names, p.target(), start, step if p.is_updating else 0)


def _load_list(p: Parsed, names: Sequence[str], base: str, start: int, step: int) -> list[Effect]:
    """Return the loads of a list of registers; pc, if any, comes last, and is jumped to."""
    is_jump = names[-1] == "pc"
    registers = [*names[:-1], "tmp0"] if is_jump else list(names)
    if "sp" in registers or (step and base in registers):
        raise p.unknown()
    effects: list[Effect] = []
    at = base
    if base in registers:
        effects, at = [Set("tmp1", base)], "tmp1"
    effects += [Load(name, plus(at, start + 4 * k), 4) for k, name in enumerate(registers)]
    if step:
        effects.append(Set(base, plus(base, step)))
    return [*effects, Jump("tmp0", p.condition, keeps_thumb=True)] if is_jump else effects


def _store_multiple(p: Parsed) -> list[Effect]:
    base, registers = p.target(), [p.target(k) for k in range(1, len(p))]
    if (p.is_updating and base in registers[1:]) or "sp" in registers:
        raise p.unknown()
    size = 4 * len(registers)
    start, step = (-size, -size) if p.name == "stmdb" else (0, size)
    words: list[Effect] = [
        Store(plus(base, start + 4 * k), name, 4) for k, name in enumerate(registers)
    ]
    return [*words, Set(base, plus(base, step))] if p.is_updating else words


MEMORY: Mapping[str, Meaning] = {
    **dict.fromkeys(("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh"), _load),
    **dict.fromkeys(("str", "strb", "strh"), _store),
    "ldrd": _load_two,
    "strd": _store_two,
    "push": _push,
    "pop": _pop,
    "ldm": _load_multiple,
    "ldmdb": _load_multiple,
    "stm": _store_multiple,
    "stmdb": _store_multiple,
}
