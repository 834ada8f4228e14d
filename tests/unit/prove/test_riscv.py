"""RV32IMC's decoder: the meaning of instructions, compared with unicorn, and what it refuses."""

from itertools import cycle

import pytest

from benchmarks.campaigns.riscv_semantics import conform
from bncc.prove import riscv
from bncc.prove.code import Code
from bncc.prove.concrete import Bytes, State, execute
from bncc.prove.instructions import Jump, Load, Set, Store, UnknownInstruction
from bncc.prove.replay import Replay
from bncc.targets import TARGETS
from tests import models as hand
from tests.unit.prove.programs import linked_model

AT = 0x8000_0000


def code_of_words(*words: str) -> Code:
    """Return a program of instructions in hexadecimal, as a listing shows them."""
    content = b"".join(bytes.fromhex(word)[::-1] for word in words)
    return Code(TARGETS["rv32"], ((AT, content),), {}, "")


def decoded(word: str):
    return riscv.Decoder(code_of_words(word)).decode(AT)


@pytest.mark.parametrize(
    ("word", "text", "effects"),
    [
        ("00b50533", "add a0, a0, a1", (Set("a0", ("add", "a0", "a1")),)),
        ("852e", "c.mv a0, a1", (Set("a0", "a1"),)),
        ("4501", "c.li a0, 0", (Set("a0", 0),)),
        ("80000537", "lui a0, 0x80000", (Set("a0", 0x8000_0000),)),
        ("00001517", "auipc a0, 1", (Set("a0", AT + 0x1000),)),
        ("fff50513", "addi a0, a0, -1", (Set("a0", ("add", "a0", 0xFFFF_FFFF)),)),
        ("40b00533", "neg a0, a1", (Set("a0", ("sub", 0, "a1")),)),
        ("00b03533", "snez a0, a1", (Set("a0", ("ult", 0, "a1")),)),
        ("00b51533", "sll a0, a0, a1", (Set("a0", ("shl", "a0", ("and", "a1", 31))),)),
        ("41f55513", "srai a0, a0, 0x1f", (Set("a0", ("sar", "a0", 31)),)),
        ("ffe51503", "lh a0, -2(a0)",
         (Load("a0", ("add", "a0", 0xFFFF_FFFE), 2, is_signed=True),)),
        ("4108", "c.lw a0, 0(a0)", (Load("a0", "a0", 4),)),
        ("c606", "c.swsp ra, 0xc(sp)", (Store(("add", "sp", 12), "ra", 4),)),
        ("00058023", "sb zero, 0(a1)", (Store("a1", 0, 1),)),
        ("00b04463", "bgtz a1, 8", (Jump(AT + 8, ("slt", 0, "a1")),)),
        ("feb57ee3", "bgeu a0, a1, -4", (Jump(AT - 4, ("eq", ("ult", "a0", "a1"), 0)),)),
        ("c119", "c.beqz a0, 6", (Jump(AT + 6, ("eq", "a0", 0)),)),
        ("008000ef", "jal 8", (Set("ra", AT + 4), Jump(AT + 8, is_call=True))),
        ("a001", "c.j 0", (Jump(AT),)),
        ("8082", "c.jr ra", (Jump("ra"),)),
        ("00430067", "jalr zero, t1, 4",
         (Set("tmp0", ("and", ("add", "t1", 4), 0xFFFF_FFFE)), Jump("tmp0"))),
        ("000080e7", "jalr ra",
         (Set("tmp0", ("and", "ra", 0xFFFF_FFFE)), Set("ra", AT + 4), Jump("tmp0", is_call=True))),
        ("00000013", "nop", ()),
        ("00000003", "lb zero, 0(zero)", (Load("tmp0", 0, 1, is_signed=True),)),
    ],
)  # fmt: skip
def test_an_instruction_has_its_effects(word, text, effects):
    """The kinds of instructions, each with its short form where compilers write one."""
    instruction = decoded(word)
    assert (instruction.text, instruction.effects) == (text, effects)
    assert (instruction.address, instruction.size) == (AT, len(word) // 2)
    assert instruction.condition is None


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("00000073", "'ecall'"),
        ("9002", "'c.ebreak'"),
        ("0000100f", "fence.i"),
        ("300022f3", "'csrr"),
        ("02a5f5c3", "unknown instruction"),  # fmadd.s
        ("1005252f", "lr.w"),
        ("0000", "unknown instruction"),
        ("1502", "'c.slli a0, 0x20'"),
        ("6581", "'c.lui a1, 0'|unknown instruction"),
    ],
)
def test_an_unknown_instruction_is_refused(word, told):
    """Those of other extensions, of the system, and reserved encodings, with their texts."""
    with pytest.raises(UnknownInstruction, match=told):
        decoded(word)


def test_there_is_no_instruction_outside_the_code():
    """Nor at an odd address, nor where its second half is missing."""
    decoder = riscv.Decoder(code_of_words("8082", "0533"))
    for address in (AT - 2, AT + 1, AT + 2, AT + 4):
        with pytest.raises(UnknownInstruction, match=f"no instruction can be at {address:#x}"):
            decoder.decode(address)
    assert decoder.decode(AT) is decoder.decode(AT)


@pytest.mark.no_cover
def test_the_meaning_is_that_of_unicorn():
    """All registers, the next address and memory, in random states; every instruction occurs."""
    pytest.importorskip("unicorn")
    result = conform(12_000, seed=7)
    assert not result.differences
    tables = (riscv._BINARY, riscv._IMMEDIATE, riscv._LOADS, riscv._STORES, riscv._BRANCHES)
    names = {"lui", "auipc", "jal", "jalr", *(name for table in tables for name in table)}
    compressed = {name for name, _ in riscv._FORMS if name.startswith("c.")}
    assert names | compressed - {"c.nop"} <= set(result.executions)
    refused = {name for name, is_legal in result.refused if is_legal} - {"(no instruction)"}
    floats = {"c.fld", "c.fldsp", "c.flw", "c.flwsp", "c.fsd", "c.fsdsp", "c.fsw", "c.fswsp"}
    assert refused - floats <= {"c.slli", "c.srai", "c.srli"}  # reserved: shifts by 32 and more


@pytest.mark.parametrize(
    ("table", "name", "wrong", "word"),
    [
        ("_BINARY", "sra", riscv._BINARY["srl"], "40b55533"),
        ("_BINARY", "sll", lambda a, b: ("shl", a, ("zext", b, 4)), "00b51533"),
        ("_BINARY", "slt", lambda a, b: ("ult", a, b), "00b52533"),
        ("_BINARY", "sltu", lambda a, b: ("slt", a, b), "00b53533"),
        ("_BINARY", "mulh", riscv._BINARY["mulhu"], "02b51533"),
        ("_BINARY", "mulhsu", riscv._BINARY["mulh"], "02b52533"),
        ("_BINARY", "div", riscv._BINARY["divu"], "02b54533"),
        ("_BINARY", "rem", lambda a, b: ("urem", a, riscv._or_one(b)), "02b56533"),
        ("_BINARY", "remu", riscv._BINARY["rem"], "02b57533"),
        ("_LOADS", "lb", (1, False), "00050503"),
        ("_LOADS", "lhu", (2, True), "00055503"),
        ("_STORES", "sh", 4, "00b51023"),
        ("_BRANCHES", "bge", ("slt", True), "00b55463"),
        ("_BRANCHES", "bltu", ("slt", True), "00b56463"),
        ("_FORMS", ("c.sub", 2), ("=sub", "0", "1", "0"), "8d0d"),
        ("_FORMS", ("blez", 2), ("=bge", "0", "=zero", "1"), "00a05463"),
        ("_FORMS", ("c.jalr", 1), ("=jalr", "=zero", "0", "=0"), "9502"),
    ],
)
def test_a_wrong_meaning_is_noticed(monkeypatch, table, name, wrong, word):
    """Each by the comparison with unicorn alone, which finds nothing before."""
    pytest.importorskip("unicorn")
    source = cycle([bytes.fromhex(word)[::-1]])
    assert not conform(400, 3, source).differences
    monkeypatch.setattr(riscv, table, {**getattr(riscv, table), name: wrong})
    assert conform(400, 3, source, report=lambda _: None, most=1).differences


@pytest.mark.firmware
@pytest.mark.parametrize("compiler", ["riscv64-unknown-elf-gcc", "ziglang"])
@pytest.mark.parametrize("level", ["-Os", "-O2"])
def test_a_program_runs_as_in_unicorn(require_bench, tmp_path, compiler, level):
    """A model's functions executed by the decoder's effects give the answers of the replay."""
    bench = require_bench("rv32", compiler, "unicorn")
    model = hand.tan_float()
    code = linked_model(tmp_path, bench, model, level)
    for symbol, n_output in (("m_predict", 0), ("m_scores", model.n_classes)):
        replay = Replay(code, symbol, is_counted=True)
        for row in [*hand.all_states(model).tolist(), [0, 9, 0]]:
            call = replay.call(bytes(row), n_output)
            assert run(code, symbol, bytes(row), n_output) == (
                call.outcome & 0xFFFF_FFFF, call.scores, call.instructions,
            )  # fmt: skip


def run(code: Code, symbol: str, row: bytes, n_output: int) -> tuple[int, bytes, int]:
    """Return the result, the output and the number of instructions of a call by effects."""
    decoder = riscv.Decoder(code)
    x, y, back = 0x1000, 0x2000, 0xFFF0
    content = {start + k: byte for start, data in code.sections for k, byte in enumerate(data)}
    content |= {x + k: byte for k, byte in enumerate(row)}
    registers = dict.fromkeys(riscv.REGISTERS[1:], 0)
    registers |= {"a0": x, "a1": y, "ra": back, "sp": 0x8000}
    memory = Bytes(content)
    state = State(registers, memory)
    at, count = code.entry(symbol), 0
    while at != back:
        at = execute(decoder.decode(at), state)
        count += 1
    return state.registers["a0"], bytes(memory.content[y + k] for k in range(n_output)), count
