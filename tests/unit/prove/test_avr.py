"""AVR's decoder: the meaning of instructions, compared with simavr, and what it refuses."""

import re
import subprocess
from itertools import chain, cycle

import pytest

from benchmarks.campaigns.avr_semantics import Simulator, conform
from bncc.model.reference import predict, scores
from bncc.prove import avr, avr_chains
from bncc.prove import avr_meaning as meaning
from bncc.prove.code import Code
from bncc.prove.concrete import Bytes, State, execute
from bncc.prove.instructions import Jump, Set, UnknownInstruction
from bncc.targets import TARGETS
from tests import models as hand
from tests.unit.prove.programs import linked_model


def code_of_words(*words: int) -> Code:
    return Code(TARGETS["avr"], ((0, b"".join(w.to_bytes(2, "little") for w in words)),), {}, "")


def decoded(*words: int):
    return avr.Decoder(code_of_words(*words)).decode(0)


@pytest.fixture(scope="module")
def simulator(require_bench, require_tool, tmp_path_factory) -> Simulator:
    require_bench("avr", simulator="simavr")
    require_tool("gcc")
    return Simulator(tmp_path_factory.mktemp("shim"))


@pytest.mark.no_cover
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
        ("adc", meaning._adding(has_carry=False), (0x1F28, 0)),
        ("cpc", meaning._subtracting(has_carry=False, keeps=False), (0x0739, 0)),
        ("sbc", meaning._subtracting(has_carry=True, keeps=False), (0x0B4A, 0)),
        ("cp", meaning._subtracting(has_carry=True, keeps=False), (0x1728, 0)),
        ("neg", lambda to, _: meaning.subtracted((to,), (0,), (to,), has_carry=False), (0x9521,)),
        ("asr", meaning._shifting(0), (0x9525, 0)),
        ("ror", meaning._shifting("sign"), (0x9527, 0)),
        ("inc", meaning._counting(1, 0x7F), (0x9523,)),
        ("com", lambda to, _: meaning._complement(to, 0)[:-1], (0x9520,)),
        ("eor", meaning._logic("or"), (0x2728,)),
    ],
)
def test_a_wrong_meaning_is_noticed(simulator, monkeypatch, name, wrong, words):
    """Each by the comparison with simavr alone, which finds nothing before."""
    assert not conform(600, 3, simulator, cycle(words)).differences
    monkeypatch.setattr(meaning, "_ARITHMETIC", {**meaning._ARITHMETIC, name: wrong})
    result = conform(600, 3, simulator, cycle(words), report=lambda _: None, most=1)
    assert result.differences


CHAINS = {
    "comparison": (0x1728, 0x0739, 0x074A),  # cp r18, r24; cpc r19, r25; cpc r20, r26
    "constants": (0x1728, 0xE0F5, 0x073F, 0xE8F0, 0x074F),  # with ldi r31 before each cpc
    "difference": (0x1AC8, 0x0AD8, 0xE78F, 0x0AE8, 0xE880, 0x0AF8),  # sub r12, r24; ... ldi r24
    "immediate": (0x5A2B, 0x4FC3, 0x4010),
    "sum": (0x0F28, 0x1F39, 0x1F4A, 0x1F5B),  # add r18, r24; adc r19, r25; ...
    "doubled": (0x0F22, 0x1F33, 0x1F44),
    "carried": (0x1F28, 0x1F39, 0x1F4A),
    "borrowed": (0x0B28, 0x0B39, 0x0B4A),
    "signs": (0x0BAA, 0x0BBB),  # sbc r26, r26; sbc r27, r27
    "shift": (0x9536, 0x9527, 0x9517),  # lsr r19; ror r18; ror r17
    "signed shift": (0x9535, 0x9527),
    "flash": (0x9125, 0x9135, 0x9144),  # lpm r18, Z+; lpm r19, Z+; lpm r20, Z
    "frame": (0xB60F, 0x94F8, 0xBFDE, 0xBE0F, 0xBFCD),  # a write of sp by r28 and r29
}


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_is_its_instructions(simulator, name):
    """Decoded as one, also from the middle on; all effects are those of simavr."""
    words = CHAINS[name]
    assert decoded(*words, 0, 0).n_counted == len(words)
    for start in range(len(words)):
        result = conform(400, 7 + start, simulator, cycle((*words[start:], 0)))
        assert not result.differences
    assert conform(400, 7, simulator, cycle((*words, 0))).chains > 40


@pytest.mark.parametrize(
    ("words", "n"),
    [
        ((0x0F28, 0x1F32), 1),  # adc r19, r18 reads the sum
        ((0x1728, 0xE020, 0x0739), 3),  # ldi r18 after cp r18
        ((0x1B28, 0xE020, 0x0B39), 1),  # ldi r18 after sub r18
        ((0x1728, 0xE030, 0x0739), 1),  # cpc r19 of a constant
        ((0x0F28, 0x0739), 1),  # add, cpc
        ((0x0F28, 0x1F39, 0x1F4A, 0x1F5B, 0x1F6C), 4),
        ((0x1F28, 0x1F39, 0x1F4A, 0x1F5B), 3),  # with a carry
        ((0x9536, 0x9537), 1),  # lsr r19; ror r19
        ((0x9125, 0x91E4), 1),  # lpm r18, Z+; lpm r30, Z
        ((0x9124, 0x9135), 1),  # lpm r18, Z; lpm r19, Z+
        ((0xB60F, 0x94F8, 0xBFDE, 0xBE0F, 0xBFDD), 5),
        ((0xB60F, 0x94F8, 0xBFDE, 0xBE1F, 0xBFCD), 1),  # another register for the flags
        ((0xB60F, 0x94E8, 0xBFDE, 0xBE0F, 0xBFCD), 1),  # clt
    ],
)
def test_a_chain_ends_where_a_step_depends_on_one_before(words, n):
    assert decoded(*words, 0, 0).n_counted == n


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("rule", "wrong", "name"),
    [
        ("added", lambda a, b, *, has_carry: meaning.added(a, b, has_carry=True), "sum"),
        ("shifted_right", lambda top, r: meaning.shifted_right("sign", r), "shift"),
        ("spread", lambda r, x: meaning.spread(r[::-1], x), "flash"),
        ("cat", lambda r: meaning.cat(r[::-1]), "frame"),
    ],
)
def test_a_wrong_chain_is_noticed(simulator, monkeypatch, rule, wrong, name):
    monkeypatch.setattr(avr_chains, rule, wrong)
    words = cycle((*CHAINS[name], 0))
    assert conform(600, 3, simulator, words, report=lambda _: None, most=1).differences


@pytest.mark.parametrize("n_bytes", range(2, 7))
def test_a_chain_compares_whole_numbers(n_bytes):
    """The flags are those of the numbers, of more bytes than one chain has too."""
    words = [0x1400, *(0x0400 for _ in range(n_bytes - 1))]
    words = [word | k << 4 | (8 + k) for k, word in enumerate(words)]  # cp r0, r8; cpc r1, r9
    decoder = avr.Decoder(code_of_words(*words, 0))
    top = 1 << 8 * n_bytes
    for left, right in ((0, 1), (1, 0), (top - 1, top // 2), (top // 2, top - 1), (255, 256)):
        registers = dict.fromkeys(meaning.REGISTERS, 0)
        for k in range(n_bytes):
            registers |= {f"r{k}": left >> 8 * k & 255, f"r{8 + k}": right >> 8 * k & 255}
        state = State(registers, Bytes())
        at = 0
        while at < 2 * n_bytes:
            at = execute(decoder.decode(at), state)
        signed = [x - top if x >= top // 2 else x for x in (left, right)]
        assert state.registers["C"] == (left < right)
        assert state.registers["S"] == (signed[0] < signed[1])
        assert state.registers["Z"] == (left == right)


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


@pytest.mark.no_cover
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
    decoder = avr.Decoder(code, has_chains=False)
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
    content |= {meaning.DATA + x + k: byte for k, byte in enumerate(row)}
    registers = dict.fromkeys(meaning.REGISTERS, 0)
    pointers = chain.from_iterable(value.to_bytes(2, "little") for value in (y, x))
    registers |= {f"r{22 + k}": byte for k, byte in enumerate(pointers)}
    content |= {meaning.DATA + 0x40FF: back >> 1 & 0xFF, meaning.DATA + 0x40FE: back >> 9}
    memory = Bytes(content)
    state = State(registers | {"sp": 0x40FD}, memory)
    at = code.entry(symbol)
    while at != back:
        at = execute(decoder.decode(at), state)
    result = state.registers["r24"] | state.registers["r25"] << 8
    return result, bytes(memory.content[meaning.DATA + y + k] for k in range(n_output))
