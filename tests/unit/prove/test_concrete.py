"""Instructions executed on numbers: all operations, and a sample of the comparison with unicorn."""

import json
import random
from dataclasses import replace
from importlib.util import find_spec

import pytest

from bncc.prove.concrete import FLAGS, OPERATIONS, Bytes, State, evaluate, execute
from bncc.prove.instructions import CONDITIONS, Flags, Instruction, Jump, Load, Set, Store
from tests.conftest import ROOT

TOP = 0x8000_0000
ONES = 0xFFFF_FFFF
ONE, TWO, NAN, MINUS_0 = 0x3F80_0000, 0x4000_0000, 0x7FC0_0001, TOP


def state(**registers: int) -> State:
    return State(registers, Bytes())


def instruction(*effects, condition=None) -> Instruction:
    return Instruction(0x100, 2, "test", effects, condition)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (("add", ONES, 2), 1),
        (("sub", 1, 2), ONES),
        (("mul", 0x10001, 0x10001), 0x20001),
        (("and", 12, 10), 8),
        (("or", 12, 10), 14),
        (("xor", 12, 10), 6),
        (("shl", 3, 31), TOP),
        (("shl", 3, 32), 0),
        (("shr", TOP, 31), 1),
        (("shr", TOP, 32), 0),
        (("sar", TOP, 31), ONES),
        (("sar", TOP, 32), ONES),
        (("sar", 4, 1), 2),
        (("ror", 1, 1), TOP),
        (("ror", 0x1234_5678, 32), 0x1234_5678),
        (("ror", 0x1234_5678, 40), 0x7812_3456),
        (("zext", 0x1FF, 8), 0xFF),
        (("zext", ONES, 32), ONES),
        (("sext", 0x80, 8), 0xFFFF_FF80),
        (("sext", 0x17F, 8), 0x7F),
        (("sext", ONES, 32), ONES),
        (("eq", 3, 3), 1),
        (("ult", 3, TOP), 1),
        (("ult", 3, 3), 0),
        (("slt", 3, TOP), 0),
        (("slt", TOP, 3), 1),
        (("ite", 1, 5, ("udiv", 1, 0)), 5),
        (("ite", 0, ("udiv", 1, 0), 6), 6),
        (("umulh", ONES, ONES), 0xFFFF_FFFE),
        (("udiv", TOP, 3), 0x2AAA_AAAA),
        (("urem", TOP, 3), 2),
        (("fadd", ONE, ONE), TWO),
        (("fadd", 0x7F7F_FFFF, 0x7F7F_FFFF), 0x7F80_0000),
        (("fadd", 0x7F80_0000, 0xFF80_0000), 0x7FC0_0000),
        (("fadd", ONE, 0x3380_0000), ONE),  # 1 + 2^-24: half a unit, to the even
        (("feq", 0, MINUS_0), 1),
        (("feq", NAN, NAN), 0),
        (("flt", ONE, TWO), 1),
        (("flt", MINUS_0, 0), 0),
        (("flt", ONE, NAN), 0),
        (("fle", ONE, ONE), 1),
        (("fle", NAN, ONE), 0),
        (("add", "a", ("add", "b", 1)), 43),
        (("cat", "a", "b", 0, 0x80), 0x8000_0228),
        (("byte", 0x8000_0228, 1), 2),
        (("byte", 0x8000_0228, 3), 0x80),
        (("pack", 1, 0, "b"), 9),
    ],
)
def test_an_expression_has_this_value(expression, value: int) -> None:
    assert evaluate(expression, state(a=40, b=2)) == value


def test_every_operation_and_condition_is_known() -> None:
    assert tuple(FLAGS) == CONDITIONS
    assert len(OPERATIONS) == 23


@pytest.mark.parametrize(
    ("flags", "nzcv"),
    [
        (Flags("sub", 3, 3), (0, 1, 1, 0)),
        (Flags("sub", 2, 3), (1, 0, 0, 0)),
        (Flags("sub", TOP, 1), (0, 0, 1, 1)),
        (Flags("add", ONES, 1), (0, 1, 1, 0)),
        (Flags("add", 0x7FFF_FFFF, 1), (1, 0, 0, 1)),
        (Flags("adc", ONES, 0), (0, 1, 1, 0)),  # with the carry of the state, 1
        (Flags("sbc", 3, 3), (0, 1, 1, 0)),
        (Flags("logic", TOP), (1, 0, 1, 1)),  # carry and overflow as they were
        (Flags("logic", 0, carry=0), (0, 1, 0, 1)),
        (Flags("float", ONE, TWO), (1, 0, 0, 0)),
        (Flags("float", 0, MINUS_0), (0, 1, 1, 0)),
        (Flags("float", TWO, ONE), (0, 0, 1, 0)),
        (Flags("float", TWO, NAN), (0, 0, 1, 1)),
    ],
)
def test_flags_are_those(flags: Flags, nzcv: tuple) -> None:
    after = State({}, Bytes(), n=1, z=1, c=1, v=1)
    execute(instruction(flags), after)
    assert (after.n, after.z, after.c, after.v) == nzcv


def test_conditions_are_those_of_a_comparison() -> None:
    def signed(x: int) -> int:
        return x - 2 * TOP if x >= TOP else x

    numbers = (0, 1, 5, TOP - 1, TOP, ONES)
    for a in numbers:
        for b in numbers:
            after = state()
            execute(instruction(Flags("sub", a, b)), after)
            found = {name: evaluate(("flag", name), after) for name in CONDITIONS}
            difference = signed(a) - signed(b)
            overflows = not -TOP <= difference < TOP
            expected = {
                "eq": a == b, "ne": a != b, "cs": a >= b, "cc": a < b, "hi": a > b, "ls": a <= b,
                "ge": difference >= 0, "lt": difference < 0, "gt": difference > 0,
                "le": difference <= 0, "vs": overflows, "vc": not overflows,
                "mi": (a - b) % (2 * TOP) >= TOP, "pl": (a - b) % (2 * TOP) < TOP,
            }  # fmt: skip
            assert found == expected


def test_loads_and_stores_are_little_endian_and_extend() -> None:
    after = state(a=0x80, b=0x1234_F6F8)
    execute(
        instruction(
            Store("a", "b", 4),
            Load("byte", "a", 1),
            Load("signed_byte", "a", 1, is_signed=True),
            Load("signed_half", "a", 2, is_signed=True),
            Store(("add", "a", 1), 0xFFFF_FF00, 1),
            Load("word", "a", 4),
        ),
        after,
    )
    found = [after.registers[name] for name in ("byte", "signed_byte", "signed_half", "word")]
    assert found == [0xF8, 0xFFFF_FFF8, 0xFFFF_F6F8, 0x1234_00F8]
    with pytest.raises(KeyError):
        execute(instruction(Load("word", ("add", "a", 1), 4)), after)


def test_effects_happen_in_their_order_and_jumps_by_their_conditions() -> None:
    after = state(a=1, b=2)
    two = instruction(Set("a", "b"), Set("b", "a"), Jump(0x200, ("eq", "b", 2)))
    assert execute(two, after) == 0x200
    assert after.registers == {"a": 2, "b": 2}
    assert execute(instruction(Jump(0x200, ("eq", "b", 3))), after) == 0x102
    assert execute(instruction(Set("a", 7), Jump(0x200), condition=("flag", "eq")), after) == 0x102
    assert after.registers["a"] == 2
    after.z = 1
    assert execute(instruction(Set("a", 7), Jump(0x200), condition=("flag", "eq")), after) == 0x200


ENCODINGS = json.loads((ROOT / "tests/fixtures/thumb_encodings.json").read_text())
"""One encoding of each form that `benchmarks.campaigns.instruction_semantics` found in programs."""


def sample(target: str, n: int, states: int = 6, names: tuple = (), change=None):
    from benchmarks.campaigns.instruction_semantics import compare
    from benchmarks.campaigns.instruction_variants import drawn_units

    units = drawn_units(map(bytes.fromhex, ENCODINGS[target]), n, random.Random(31))
    kept = [unit for unit in units if not names or unit.names[0] in names]
    if change is not None:
        kept = [replace(u, instructions=tuple(map(change, u.instructions))) for u in kept]
    return compare(target, kept, states, 31)


@pytest.fixture
def simulator(missing) -> None:
    for name in ("capstone", "unicorn"):
        if find_spec(name) is None:
            missing(f"{name} is not installed")


@pytest.mark.no_cover
@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("target", "mnemonics", "n"), [("cortex-m0", 39, 200), ("cortex-m4", 85, 700)]
)
def test_unicorn_agrees(target: str, mnemonics: int, n: int) -> None:
    found = sample(target, n)
    assert found.differences == []
    assert found.count > 4 * n
    assert len(found.executed) >= mnemonics


def with_wrong_flags(each: Instruction) -> Instruction:
    wrong = {"sub": "add", "add": "sub", "sbc": "sub", "adc": "add"}
    effects = tuple(
        replace(e, kind=wrong.get(e.kind, e.kind)) if isinstance(e, Flags) else e
        for e in each.effects
    )
    return replace(each, effects=effects)


def with_wrong_carry(each: Instruction) -> Instruction:
    def swapped(expression):
        if not isinstance(expression, tuple):
            return expression
        other = {("flag", "cs"): ("flag", "cc"), ("flag", "cc"): ("flag", "cs")}
        return other.get(expression, tuple(map(swapped, expression)))

    effects = tuple(
        replace(e, value=swapped(e.value)) if isinstance(e, Set) else e for e in each.effects
    )
    return replace(each, effects=effects)


def with_unsigned_loads(each: Instruction) -> Instruction:
    effects = tuple(replace(e, is_signed=False) if isinstance(e, Load) else e for e in each.effects)
    return replace(each, effects=effects)


@pytest.mark.no_cover
@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("names", "change", "what"),
    [
        (("cmp", "sub"), with_wrong_flags, "flags are"),
        (("add",), with_wrong_flags, "flags are"),
        (("sbc",), with_wrong_flags, "flags are"),
        (("adc",), with_wrong_flags, "flags are"),
        (("adc",), with_wrong_carry, "r"),
        (("sbc",), with_wrong_carry, "r"),
        (("ldrsh", "ldrsb"), with_unsigned_loads, "r"),
    ],
)
def test_a_wrong_meaning_differs_from_unicorn(names: tuple, change, what: str) -> None:
    found = sample("cortex-m0", 100, 300, names)
    assert found.differences == []
    assert found.count > 50
    (first, *_) = sample("cortex-m0", 100, 300, names, change).differences
    assert first.split("): ")[1].startswith(what)


@pytest.mark.usefixtures("simulator")
def test_a_command_counts_the_executions() -> None:
    found = sample("cortex-m4", 60)
    assert found.units <= 60
    assert (found + found).count == 2 * found.count
    text = str(found)
    assert f"{found.count:,} executions of {found.units:,} units, 0 differences" in text
    assert all(f"\n{name} " in text for name in found.executed)
