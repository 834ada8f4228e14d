"""Thumb instructions and their effects; `test_concrete` compares them with a simulator."""

import pytest

from bncc.prove.code import Code
from bncc.prove.instructions import Flags, Jump, Load, Set, Store, UnknownInstruction
from bncc.targets import find_target

pytest.importorskip("capstone", reason="capstone is not installed")

from bncc.prove.thumb import Decoder

AT = 0x1000


def decoder(text: str, target: str = "cortex-m4") -> Decoder:
    return Decoder(Code(find_target(target), ((AT, bytes.fromhex(text)),), {}, ""))


def effects(text: str) -> list:
    return list(decoder(text).decode(AT).effects)


def add(a, b):
    return ("add", a, b)


SHIFTED = ("shl", "r3", 4)
DATA = {
    "d118": ("adds r1, r2, r3", [Flags("add", "r2", "r3"), Set("r1", add("r2", "r3"))]),
    "0131": ("adds r1, #1", [Flags("add", "r1", 1), Set("r1", add("r1", 1))]),
    "02eb0311": ("add.w r1, r2, r3, lsl #4", [Set("r1", add("r2", SHIFTED))]),
    "5142": ("rsbs r1, r2, #0", [Flags("sub", 0, "r2"), Set("r1", ("sub", 0, "r2"))]),
    "7944": ("add r1, pc", [Set("r1", add("r1", AT + 4))]),
    "02a1": ("adr r1, #8", [Set("r1", AT + 12)]),
    "5141": (
        "adcs r1, r2",
        [
            Set("tmp0", add(add("r1", "r2"), ("flag", "cs"))),
            Flags("adc", "r1", "r2"),
            Set("r1", "tmp0"),
        ],
    ),
    "40f1380b": ("adc fp, r0, #0x38", [Set("r11", add(add("r0", 0x38), ("flag", "cs")))]),
    "b1eb031f": ("cmp.w r1, r3, lsl #4", [Flags("sub", "r1", SHIFTED)]),
    "11f1050f": ("cmn.w r1, #5", [Flags("add", "r1", 5)]),
    "0520": ("movs r0, #5", [Set("tmp0", 5), Flags("logic", "tmp0"), Set("r0", "tmp0")]),
    "1146": ("mov r1, r2", [Set("r1", "r2")]),
    "c1f23421": ("movt r1, #0x1234", [Set("r1", ("or", ("zext", "r1", 16), 0x1234_0000))]),
    "11f0004f": ("tst.w r1, #-0x80000000", [Flags("logic", ("and", "r1", 1 << 31), carry=1)]),
    "11f0ff1f": ("tst.w r1, #0xff00ff", [Flags("logic", ("and", "r1", 0xFF00FF))]),
    "22ea0301": ("bic.w r1, r2, r3", [Set("r1", ("and", "r2", ("xor", "r3", 0xFFFFFFFF)))]),
    "6ff00301": ("mvn r1, #3", [Set("r1", 0xFFFF_FFFC)]),
    "d100": (
        "lsls r1, r2, #3",
        [
            Set("tmp0", ("shl", "r2", 3)),
            Flags("logic", "tmp0", carry=("and", ("shr", "r2", 29), 1)),
            Set("r1", "tmp0"),
        ],
    ),
    "1110": (
        "asrs r1, r2, #0x20",
        [
            Set("tmp0", ("sar", "r2", 32)),
            Flags("logic", "tmp0", carry=("shr", "r2", 31)),
            Set("r1", "tmp0"),
        ],
    ),
    "5ffa92f1": ("uxtb.w r1, r2, ror #8", [Set("r1", ("zext", ("ror", "r2", 8), 8))]),
    "42fa83f1": ("sxtab r1, r2, r3", [Set("r1", add("r2", ("sext", "r3", 8)))]),
    "c2f3c301": ("ubfx r1, r2, #3, #4", [Set("r1", ("zext", ("shr", "r2", 3), 4))]),
    "6ff3c601": ("bfc r1, #3, #4", [Set("r1", ("and", "r1", 0xFFFF_FF87))]),
    "02fb0341": ("mla r1, r2, r3, r4", [Set("r1", add("r4", ("mul", "r2", "r3")))]),
    "b2fbf3f1": (
        "udiv r1, r2, r3",
        [Set("r1", ("ite", ("eq", "r3", 0), 0, ("udiv", "r2", "r3")))],
    ),
}
MEMORY = {
    "0249": ("ldr r1, [pc, #8]", [Load("r1", AT + 12, 4, anywhere=True)]),
    "52f82310": (
        "ldr.w r1, [r2, r3, lsl #2]",
        [Load("r1", add("r2", ("shl", "r3", 2)), 4, anywhere=True)],
    ),
    "d156": ("ldrsb r1, [r2, r3]", [Load("r1", add("r2", "r3"), 1, True, anywhere=True)]),
    "02f8011b": (
        "strb r1, [r2], #1",
        [Store("r2", "r1", 1, anywhere=True), Set("r2", add("r2", 1))],
    ),
    "52f8041d": (
        "ldr r1, [r2, #-0x4]!",
        [Load("r1", ("sub", "r2", 4), 4, anywhere=True), Set("r2", ("sub", "r2", 4))],
    ),
    "d1e90212": (
        "ldrd r1, r2, [r1, #8]",
        [Set("tmp1", add("r1", 8)), Load("r1", "tmp1", 4), Load("r2", add("tmp1", 4), 4)],
    ),
    "10b5": (
        "push {r4, lr}",
        [
            Store(("sub", "sp", 8), "r4", 4),
            Store(("sub", "sp", 4), "lr", 4),
            Set("sp", ("sub", "sp", 8)),
        ],
    ),
    "10bd": (
        "pop {r4, pc}",
        [
            Load("r4", "sp", 4),
            Load("tmp0", add("sp", 4), 4),
            Set("sp", add("sp", 8)),
            Jump("tmp0", keeps_thumb=True),
        ],
    ),
    "06c8": (
        "ldm r0!, {r1, r2}",
        [Load("r1", "r0", 4), Load("r2", add("r0", 4), 4), Set("r0", add("r0", 8))],
    ),
    "03c8": (
        "ldm r0, {r0, r1}",
        [Set("tmp1", "r0"), Load("r0", "tmp1", 4), Load("r1", add("tmp1", 4), 4)],
    ),
}
JUMPS = {
    "a6e7": ("b #0xf50", [Jump(0xF50)]),
    "a5d0": ("beq #0xf4e", [Jump(0xF4E, ("flag", "eq"))]),
    "31b1": ("cbz r1, #0x1010", [Jump(0x1010, ("eq", "r1", 0))]),
    "31b9": ("cbnz r1, #0x1010", [Jump(0x1010, ("ult", 0, "r1"))]),
    "fff7abff": ("bl #0xf5a", [Set("lr", AT + 5), Jump(0xF5A, is_call=True)]),
    "9847": (
        "blx r3",
        [Set("tmp0", "r3"), Set("lr", AT + 3), Jump("tmp0", is_call=True, keeps_thumb=True)],
    ),
    "7047": ("bx lr", [Jump("lr", keeps_thumb=True)]),
    "dfe803f0": (
        "tbb [pc, r3]",
        [Load("tmp0", ("add", AT + 4, "r3"), 1), Jump(("add", AT + 4, ("shl", "tmp0", 1)))],
    ),
    "d2e811f0": (
        "tbh [r2, r1, lsl #1]",
        [
            Load("tmp0", ("add", "r2", ("shl", "r1", 1)), 2),
            Jump(("add", AT + 4, ("shl", "tmp0", 1))),
        ],
    ),
    "00bf": ("nop", []),
}
FLOATS = {
    "d0ed010a": ("vldr s1, [r0, #4]", [Load("s1", add("r0", 4), 4)]),
    "8ded029b": (
        "vstr d9, [sp, #8]",
        [Store(add("sp", 8), "s18", 4), Store(add("sp", 12), "s19", 4)],
    ),
    "10ee900a": ("vmov r0, s1", [Set("r0", "s1")]),
    "51ec120b": ("vmov r0, r1, d2", [Set("r0", "s4"), Set("r1", "s5")]),
    "f7ee000a": ("vmov.f32 s1, #1.000000e+00", [Set("s1", 0x3F80_0000)]),
    "f5eec00a": ("vcmpe.f32 s1, #0", [Set("fcmp0", "s1"), Set("fcmp1", 0)]),
    "f1ee10fa": ("vmrs apsr_nzcv, fpscr", [Flags("float", "fcmp0", "fcmp1")]),
    "6ded018a": ("vpush {s17}", [Store(("sub", "sp", 4), "s17", 4), Set("sp", ("sub", "sp", 4))]),
}
ALL = DATA | MEMORY | JUMPS | FLOATS


@pytest.mark.parametrize("code", ALL)
def test_an_instruction_has_these_effects(code: str) -> None:
    text, expected = ALL[code]
    instruction = decoder(code).decode(AT)
    assert (instruction.text, list(instruction.effects)) == (text, expected)
    assert (instruction.address, instruction.size) == (AT, len(code) // 2)
    assert instruction.condition is None


ALIGNED = {
    "0868": False,  # ldr r0, [r1]
    "0888": False,  # ldrh r0, [r1]
    "8a5e": False,  # ldrsh r2, [r1, r2]
    "0860": False,  # str r0, [r1]
    "0880": False,  # strh r0, [r1]
    "d1f800f0": True,  # ldr.w pc, [r1]
    "0cc9": True,  # ldm r1!, {r2, r3}
    "0cc1": True,  # stm r1!, {r2, r3}
    "11e90c00": True,  # ldmdb r1, {r2, r3}
    "21e90c00": True,  # stmdb r1!, {r2, r3}
    "d1e90023": True,  # ldrd r2, r3, [r1]
    "c1e90023": True,  # strd r2, r3, [r1]
    "0cb4": True,  # push {r2, r3}
    "0cbc": True,  # pop {r2, r3}
    "d1ed000a": True,  # vldr s1, [r1]
    "c1ed000a": True,  # vstr s1, [r1]
    "2ded028a": True,  # vpush {s16, s17}
    "bdec028a": True,  # vpop {s16, s17}
}
"""Loads and stores, and whether v7-M faults unless their addresses are multiples of the size."""


@pytest.mark.parametrize(
    ("target", "code"),
    [
        *((f"cortex-m{k}", code) for k in (4, 7) for code in ALIGNED),
        *(("cortex-m3", code) for code in ALIGNED if code[2:4] not in ("ec", "ed")),  # No floats
        *(("cortex-m0", code) for code in ALIGNED if len(code) == 4),
    ],
)
def test_what_a_processor_accesses_at_any_address(target: str, code: str) -> None:
    """One word or halfword by v7-M; v6-M faults wherever an address is not aligned."""
    accesses = [e for e in decoder(code, target).decode(AT).effects if isinstance(e, Load | Store)]
    is_aligned = ALIGNED[code] or target == "cortex-m0"
    assert {access.anywhere for access in accesses} == {not is_aligned}


@pytest.mark.parametrize(
    "code", [*(code for code in ALIGNED if len(code) == 8), "02eb0311", "08b1", "08b9", "08bf0120"]
)
def test_v6m_has_few_wide_instructions_and_no_it_block(code: str) -> None:
    """An image for Cortex-M4 is no program of a Cortex-M0."""
    with pytest.raises(UnknownInstruction):
        decoder(code + "00bf00bf", "cortex-m0").decode(AT)
    decoder(code + "00bf00bf").decode(AT)
    for kept in ("fff7feff", "bff35f8f"):  # bl, dmb
        decoder(kept, "cortex-m0").decode(AT)


@pytest.mark.parametrize("code", ["d1ed000a", "50fa82f0", "10fb0212"])
def test_v7m_has_no_instructions_of_v7em(code: str) -> None:
    """They are a load of a float, an addition of a byte, and a product of halves."""
    with pytest.raises(UnknownInstruction):
        decoder(code, "cortex-m3").decode(AT)
    for target in ("cortex-m4", "cortex-m7"):
        assert decoder(code, target).decode(AT).effects


@pytest.mark.parametrize(("first", "second"), [(0, 2), (2, 0), (4, 2)])
def test_a_jump_into_an_it_block_is_not_known(first: int, second: int) -> None:
    """The code is b AT + 4, it eq, addeq r0, #1: the addition would have no condition."""
    one = decoder("00e008bf0130")
    one.decode(AT + first)
    with pytest.raises(UnknownInstruction, match="into"):
        one.decode(AT + second)


def test_a_shift_by_a_register_takes_the_lowest_byte_and_may_exceed_32() -> None:
    value = effects("9140")[0]  # lsls r1, r2
    n = ("zext", "r2", 8)
    assert value == Set("tmp0", ("shl", "r1", ("ite", ("ult", n, 33), n, 32)))


def test_a_count_of_zeros_is_a_sum_over_powers_of_2() -> None:
    (assigned,) = effects("b2fa82f1")  # clz r1, r2
    depth, value = 0, assigned.value
    while value[0] == "add":
        assert value[2] == ("ult", "r2", 1 << 31 - depth)
        depth, value = depth + 1, value[1]
    assert (depth, value) == (31, ("ult", "r2", 1))


def test_the_instructions_of_an_it_block_have_conditions_and_set_no_flags() -> None:
    block = decoder("14bf8918a3000130")  # ite ne; addne; lsleq; adds
    it, first, second, after = (block.decode(AT + k) for k in (0, 2, 4, 6))
    assert (it.effects, it.condition) == ((), None)
    assert first.effects == (Set("r1", add("r1", "r2")),)
    assert first.condition == ("flag", "ne")
    assert second.effects == (Set("r3", ("shl", "r4", 2)),)
    assert second.condition == ("flag", "eq")
    assert after.condition is None
    assert isinstance(after.effects[0], Flags)


def test_a_comparison_in_an_it_block_sets_flags() -> None:
    block = decoder("28bf8842")  # it hs; cmphs r0, r1
    block.decode(AT)
    compared = block.decode(AT + 2)
    assert compared.effects == (Flags("sub", "r0", "r1"),)
    assert compared.condition == ("flag", "cs")


def test_a_jump_in_an_it_block_has_its_condition() -> None:
    block = decoder("08bf7047")  # it eq; bxeq lr
    block.decode(AT)
    returned = block.decode(AT + 2)
    assert (returned.effects, returned.condition) == (
        (Jump("lr", ("flag", "eq"), keeps_thumb=True),),
        None,
    )
    block = decoder("08bf10bd")  # it eq; popeq {r4, pc}
    block.decode(AT)
    returned = block.decode(AT + 2)
    assert returned.condition == ("flag", "eq")
    assert returned.effects[-1] == Jump("tmp0", ("flag", "eq"), keeps_thumb=True)


@pytest.mark.parametrize("jump", ["7047", "00e0", "f746"])
def test_a_jump_that_is_not_the_last_of_an_it_block_is_not_known(jump: str) -> None:
    """The code is itt eq, a jump (bx lr, b, mov pc, lr) and moveq r0, #0."""
    with pytest.raises(UnknownInstruction, match="not last in its IT block"):
        decoder(f"04bf{jump}0020").decode(AT)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("dfe800e0", "bytes"),  # tbb without a bit that should be one, and with one too many
        ("dfe820f0", "bytes"),
        ("dde800f0", "tbb"),  # from sp
        ("dfe80df0", "tbb"),
        ("08bfdfe800f0", "tbb"),
        ("abbe", "bkpt"),
        ("4fea3201", "rrx"),
        ("02eb3301", "rrx"),  # add.w r1, r2, r3, rrx
        ("8744", "add pc"),
        ("71ee210a", "vadd"),
        ("f4ee410b", "vcmp.f64"),
        ("08bf0100", "movs"),  # not allowed in an IT block, nor what capstone makes of it
        ("08bf08bf0846", "it eq"),  # a block in a block
        ("b5fa84f0", "clz"),  # two different sources
        ("52f8042d", "ldr"),  # ldr r2, [r2, #-4]!
        ("7247", "bx lr"),  # a bit that should be zero, as in those below
        ("83ea0285", "eor"),
        ("4fead183", "lsr"),
        ("c2f32313", "ubfx"),
        ("c2f70313", "ubfx"),
        ("5ffac3f2", "uxtb"),
        ("ffffffff", "bytes ffffffff"),
        ("00f0", "no code"),  # half an instruction
    ],
)
def test_what_is_not_known_is_an_error_that_names_it(code: str, named: str) -> None:
    with pytest.raises(UnknownInstruction, match=named):
        decoder(code).decode(AT)


def test_no_part_of_an_unknown_block_is_decoded_alone() -> None:
    """The code is itt eq, nopeq, which is not known, and moveq r0, r1."""
    block = decoder("04bf00bf0846")
    for _ in range(2):
        with pytest.raises(UnknownInstruction):
            block.decode(AT)


def test_a_far_call_is_no_bit_field() -> None:
    (*_, jump) = decoder("c0f723f8").decode(AT).effects
    assert isinstance(jump, Jump)
    assert jump.is_call


def test_an_instruction_is_decoded_once() -> None:
    block = decoder("1146")
    assert block.decode(AT) is block.decode(AT)
