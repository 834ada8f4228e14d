"""AVR's decoder: the meaning of instructions, compared with simavr, and what it refuses."""

import re
import subprocess
from itertools import chain, cycle

import pytest

from benchmarks.campaigns.avr_semantics import Simulator, conform
from bncc.model.reference import predict, scores
from bncc.prove import avr
from bncc.prove.code import Code
from bncc.prove.concrete import Bytes, State, execute
from bncc.prove.instructions import Jump, Set, UnknownInstruction
from bncc.targets import TARGETS
from tests import models as hand
from tests.unit.prove.programs import linked_model

CHAIN = (0x1728, 0x0739, 0x0B4A)  # cp r18, r24; cpc r19, r25; sbc r20, r26


def code_of_words(*words: int) -> Code:
    return Code(TARGETS["avr"], ((0, b"".join(w.to_bytes(2, "little") for w in words)),), {}, "")


def decoded(*words: int):
    return avr.Decoder(code_of_words(*words)).decode(0)


@pytest.fixture(scope="module")
def simulator(require_bench, require_tool, tmp_path_factory) -> Simulator:
    require_bench("avr", simulator="simavr")
    require_tool("gcc")
    return Simulator(tmp_path_factory.mktemp("shim"))


@pytest.mark.firmware
def test_the_meaning_is_that_of_simavr(simulator):
    """Registers, flags, the next address and memory, in random runs; every instruction occurs."""
    result = conform(15_000, 5, simulator)
    assert not result.differences
    names = {line.split()[0] for line in avr._PATTERNS.strip().splitlines()}
    assert names - {"nop"} <= set(result.executions)


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("adc", avr._adding(takes_carry=False), (0x1F28,)),
        ("cpc", avr._subtracting(in_chain=False, keeps=False), CHAIN),
        ("sbc", avr._subtracting(in_chain=True, keeps=False), CHAIN),
        ("cp", avr._subtracting(in_chain=True, keeps=False), CHAIN),
        ("neg", lambda to, _: avr._difference(to, 0, False, to), (0x9521,)),
        ("asr", avr._shifting(0), (0x9525,)),
        ("ror", avr._shifting("sign"), (0x9527,)),
        ("inc", avr._counting(1, 0x7F), (0x9523,)),
        ("com", lambda to, _: avr._complement(to, 0)[:-4], (0x9520,)),
        ("eor", avr._logic("or"), (0x2728,)),
    ],
)
def test_a_wrong_meaning_is_noticed(simulator, monkeypatch, name, wrong, words):
    """Each by the comparison with simavr alone, which finds nothing before."""
    assert not conform(600, 3, simulator, cycle(words)).differences
    monkeypatch.setattr(avr, "_ARITHMETIC", {**avr._ARITHMETIC, name: wrong})
    result = conform(600, 3, simulator, cycle(words), report=lambda _: None, most=1)
    assert result.differences


@pytest.mark.parametrize("n_bytes", range(2, 7))
def test_a_chain_compares_whole_numbers(n_bytes):
    """The carry is that of the numbers; up to four bytes it is seen as one comparison."""
    words = [0x1400, *(0x0400 for _ in range(n_bytes - 1))]
    words = [word | k << 4 | (8 + k) for k, word in enumerate(words)]  # cp r0, r8; cpc r1, r9
    decoder = avr.Decoder(code_of_words(*words))
    top = 1 << 8 * n_bytes
    for left, right in ((0, 1), (1, 0), (top - 1, top // 2), (top // 2, top - 1), (255, 256)):
        registers = dict.fromkeys(avr.REGISTERS, 0) | {"width": 8}
        for k in range(n_bytes):
            registers |= {f"r{k}": left >> 8 * k & 255, f"r{8 + k}": right >> 8 * k & 255}
        state = State(registers, Bytes())
        for at in range(0, 2 * n_bytes, 2):
            execute(decoder.decode(at), state)
        signed = [x - top if x >= top // 2 else x for x in (left, right)]
        assert state.registers["C"] == (left < right)
        assert state.registers["S"] == (signed[0] < signed[1])
        assert state.registers["Z"] == (left == right)
        if n_bytes <= 4:
            assert (state.registers["left"], state.registers["right"]) == (left, right)


@pytest.mark.parametrize(
    ("words", "effects"),
    [
        ((0xE1E2,), (Set("r30", 0x12),)),
        ((0x01FC,), (Set("r30", "r24"), Set("r31", "r25"))),
        ((0xF7F1,), (Jump(0x1_FFFE, ("eq", "Z", 0)),)),
        ((0xCFFF,), (Jump(0),)),
        ((0xFD27, 0x940E, 0), (Jump(6, ("eq", ("and", ("shr", "r18", 7), 1), 0)),)),
        ((0xFD27, 0x2F28), (Jump(4, ("eq", ("and", ("shr", "r18", 7), 1), 0)),)),
    ],
)
def test_an_instruction_has_its_effects(words, effects):
    """Constants, moves, jumps, and skips of one and of two words."""
    assert decoded(*words).effects == effects


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((0x9518,), "unknown instruction 9518"),  # reti
        ((0x9588,), "unknown instruction 9588"),  # sleep
        ((0x95D8,), "unknown instruction 95d8"),  # elpm
        ((0xB105,), "in of port 0x5"),
        ((0xB905,), "out of port 0x5"),
        ((0x91ED,), None),  # ld r30, X+
        ((0x91FD, 0), None),
        ((0x91BD,), "ld X\\+ of a part of its pointer"),  # ld r27, X+
        ((0x940E,), "no instruction can be at 0x2"),  # half a call
        ((0x940D, 0), "jmp to word 0x10000, beyond a counter of 16 bits"),
        ((0xFD27,), "no instruction can be at 0x2"),  # skips nothing
    ],
)
def test_an_unknown_instruction_is_refused(words, told):
    """Those of ports and of the system, undefined ones, and halves."""
    if told is None:
        assert decoded(*words).effects
        return
    with pytest.raises(UnknownInstruction, match=told):
        decoded(*words)


@pytest.mark.firmware
@pytest.mark.parametrize("level", ["-Os", "-O2"])
@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "general_network"])
def test_a_program_answers_as_the_model(require_bench, tmp_path, name, level):
    """Executed by the decoder's effects; instructions have the sizes that objdump shows."""
    bench = require_bench("avr")
    model = hand.NAMED[name]()
    code = linked_model(tmp_path, bench, model, level)
    X = hand.all_states(model)
    for row, y, expected in zip(X.tolist(), predict(model, X), scores(model, X), strict=True):
        assert run(code, "m_predict", bytes(row), 0)[0] == y
        answer, output = run(code, "m_scores", bytes(row), model.n_classes)
        assert (answer, list(output)) == (y, expected.tolist())
    listing = subprocess.run(
        ["avr-objdump", "-d", tmp_path / "harness.elf"], capture_output=True, text=True, check=True
    ).stdout
    lines = re.findall(r"^ +([0-9a-f]+):\t([0-9a-f ]+)\t(\w+)", listing, re.MULTILINE)
    decoder = avr.Decoder(code)
    n_known = 0
    for address, content, mnemonic in lines:
        try:
            instruction = decoder.decode(int(address, 16))
        except UnknownInstruction:
            continue
        n_known += 1
        assert instruction.size == len(content.split())
        same = {"lsl": "add", "rol": "adc", "tst": "and", "clr": "eor", "ldd": "ld", "std": "st"}
        short = instruction.text.split()[0].partition(".")[0]
        if not mnemonic.startswith(("br", "se", "cl")):
            assert same.get(short, short) == same.get(mnemonic, mnemonic)
    assert n_known > 0.9 * len(lines)


def run(code: Code, symbol: str, row: bytes, n_output: int) -> tuple[int, bytes]:
    """Return the result and the output of a call by effects."""
    decoder = avr.Decoder(code)
    x, y, back = 0x200, 0x300, 0xFFFE
    content = {start + k: byte for start, data in code.sections for k, byte in enumerate(data)}
    content |= {avr.DATA + x + k: byte for k, byte in enumerate(row)}
    registers = dict.fromkeys(avr.REGISTERS, 0)
    pointers = chain.from_iterable(value.to_bytes(2, "little") for value in (y, x))
    registers |= {f"r{22 + k}": byte for k, byte in enumerate(pointers)}
    content |= {avr.DATA + 0x40FF: back >> 1 & 0xFF, avr.DATA + 0x40FE: back >> 9}
    memory = Bytes(content)
    state = State(registers | {"sp": 0x40FD, "width": 8}, memory)
    at = code.entry(symbol)
    while at != back:
        at = execute(decoder.decode(at), state)
    result = state.registers["r24"] | state.registers["r25"] << 8
    return result, bytes(memory.content[avr.DATA + y + k] for k in range(n_output))
