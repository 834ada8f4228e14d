"""Calls of linked functions in unicorn: answers, counts, and every rule that a call may break."""

from itertools import product

import numpy as np
import pytest

from bncc.device.machine import pack, row_dtype
from bncc.discretize.readings import state_dtype, states_of_raw
from bncc.errors import ToolchainError
from bncc.model.reference import predict, scores
from bncc.prove.code import Code
from bncc.prove.replay import Replay, patched
from bncc.targets import TARGETS
from tests import models as hand
from tests.unit.prove.programs import linked, linked_model

pytestmark = pytest.mark.firmware

PLACES = ("cortex-m0", "cortex-m4", "rv32")
MODELS = {
    "naive_integer": ([-6, -5, -4, 99, 100, 101, -32768], [-1, 0, 1, -32768]),
    "tan_float": ([0.5, 0.51, np.nan], [-2, -1.25, 0, 3, 3.5, -np.nan], [-0.0, 1e-45, -1]),
}
RULES = r"""
#include <stdint.h>
static const uint8_t table[4] = {1, 2, 3, 4};
int good(const uint8_t *x, uint8_t *y)
{
    y[0] = x[0];
    y[2] = table[x[1]];
    return -(int)x[2];
}
int over(const volatile uint8_t *x) { return x[3]; }
int under(const volatile uint8_t *x) { return x[-1]; }
int wide(const volatile uint8_t *x) { return *(const volatile uint32_t *)x; }
int writes(volatile uint8_t *x) { x[0] = 1; return 0; }
int output(const uint8_t *x, volatile uint8_t *y) { (void)x; y[3] = 1; return 0; }
int reads_output(const uint8_t *x, volatile uint8_t *y) { (void)x; return y[-1]; }
int nowhere(void) { return *(volatile int *)0x60000000; }
int constants(void) { return *(volatile uint8_t *)@END@; }
int code(void) { *(volatile uint8_t *)@START@ = 1; return 0; }
int jumps(void) { ((void (*)(void))0x60000001)(); return 0; }
int forever(void) { for (;;) { __asm__ volatile("" ::: "memory"); } }
int traps(void) { __asm__ volatile("@TRAP@"); return 0; }
int above(void) { int a; __asm__ volatile("@ABOVE@" : "=r"(a)); return a; }
int deep(void) { int a[64]; a[0] = 3; __asm__ volatile("" :: "r"(a) : "memory"); return a[0]; }
"""
NAKED = r"""
__asm__(".text\n.balign 4\n.globl clobbers\n@FUNCTION@\nclobbers:\n@CLOBBER@\n"
        ".globl unbalanced\n@FUNCTION2@\nunbalanced:\n@UNBALANCED@\n");
"""
ASSEMBLY = {
    "cortex": {
        "TRAP": "bkpt 1",
        "ABOVE": "ldr %0, [sp, #64]",
        "CLOBBER": "movs r0, #1\\nmov r8, r0\\nbx lr\\n",
        "UNBALANCED": "sub sp, #8\\nbx lr\\n",
        "FUNCTION": ".thumb_func\\n.type clobbers, %function\\n",
        "FUNCTION2": ".thumb_func\\n.type unbalanced, %function\\n",
    },
    "rv32": {
        "TRAP": "ebreak",
        "ABOVE": "lw %0, 64(sp)",
        "CLOBBER": "li s3, 1\\nret\\n",
        "UNBALANCED": "addi sp, sp, -16\\nret\\n",
        "FUNCTION": ".type clobbers, @function\\n",
        "FUNCTION2": ".type unbalanced, @function\\n",
    },
}
BROKEN = {
    "over": "read of 1 byte at 0x20000003, outside the input or output",
    "under": "read of 1 byte at 0x1fffffff, outside the input or output",
    "wide": "read of 4 bytes at 0x20000000, outside the input or output",
    "writes": "write of 1 byte at 0x20000000, outside the memory of a call",
    "output": "write of 1 byte at 0x20300003, outside the input or output",
    "reads_output": "read of 1 byte at 0x202fffff, outside the input or output",
    "nowhere": "read of 4 bytes at 0x60000000, outside the memory of a call",
    "constants": "outside the constants",
    "code": "outside the memory of a call",
    "jumps": "jump of",
    "traps": " at 0x",  # unicorn says trap, or on RV32 invalid instruction
    "above": "outside the caller's frame",
    "clobbers": "return without restoring ",
    "unbalanced": "return without restoring sp",
}


@pytest.fixture(scope="module", params=PLACES)
def bench(require_bench, request):
    return require_bench(request.param, simulator="unicorn")


@pytest.fixture(scope="module")
def rules(bench, tmp_path_factory) -> Code:
    """Link functions that break one rule each."""
    start = bench.target.rom
    table = ASSEMBLY["rv32" if bench.target.name == "rv32" else "cortex"]
    source = RULES + NAKED
    for key, text in {**table, "START": f"{start:#x}u", "END": f"{start + 0xFFF:#x}u"}.items():
        source = source.replace(f"@{key}@", text)
    names = ["good", "forever", "deep", *BROKEN]
    return linked(tmp_path_factory.mktemp("rules"), bench, source, names)


@pytest.mark.parametrize("name", MODELS)
def test_the_answers_are_those_of_the_reference(bench, tmp_path, name):
    """Classes from states and readings, and scores; counting changes nothing."""
    model = hand.NAMED[name]()
    code = linked_model(tmp_path, bench, model)
    X = hand.all_states(model)
    states = X.astype(state_dtype(model.n_states))
    for symbol, is_counted in product(("m_predict", "m_predict_trusted"), (False, True)):
        replay = Replay(code, symbol, is_counted=is_counted)
        calls = [replay.call(row.tobytes()) for row in states]
        assert [call.outcome for call in calls] == predict(model, X).tolist()
        assert all(call.ended and call.violation is None for call in calls)
        assert all((call.instructions > 5) is is_counted for call in calls)
    replay = Replay(code, "m_scores")
    for row, expected in zip(states, scores(model, X), strict=True):
        call = replay.call(row.tobytes(), model.n_classes)
        assert (call.scores, call.violation) == (bytes(expected.tolist()), None)
    wrong = replay.call(b"\xff" * len(X[0]), model.n_classes)
    assert (wrong.outcome, wrong.scores) == (-1, bytes(model.n_classes))
    R = np.array(list(product(*MODELS[name])))
    replay = Replay(code, "m_predict_raw")
    answers = [replay.call(row.tobytes()) for row in pack(R, row_dtype(model.features))]
    assert [call.outcome for call in answers] == predict(
        model, states_of_raw(model.features, R)
    ).tolist()
    assert all(call.ended for call in answers)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_reported(rules, name):
    """With the address; the call has not ended."""
    call = Replay(rules, name).call(b"\1\2\3", 3)
    assert call.violation is not None
    assert BROKEN[name] in call.violation
    if not call.violation.startswith("return"):
        assert not call.ended


def test_a_call_leaves_no_trace(rules):
    """Neither a violation nor the size of an input before changes an answer."""
    replay = Replay(rules, "good")
    for x, outcome, output in (
        (b"\7\0\1", -1, b"\7\x5a\1"),
        (b"\7\3\xff", -255, b"\7\x5a\4"),
    ):
        assert replay.call(x[:2], 3).violation is not None
        call = replay.call(x, 3)
        assert (call.outcome, call.scores, call.ended) == (outcome, output, True)


def test_a_loop_ends_at_its_limit(rules):
    """It did not return and broke no rule."""
    call = Replay(rules, "forever").call(b"\0", most=1000)
    assert (call.ended, call.violation) == (False, None)


def test_the_stack_is_measured(rules):
    """From the lowest byte that was written."""
    call = Replay(rules, "deep").call(b"\0")
    assert (call.outcome, call.ended) == (3, True)
    assert 256 <= call.stack <= 272


def test_a_patched_program_answers_otherwise(rules):
    """The table's last entry, found by its bytes; the original stays."""
    start, data = next((a, d) for a, d in rules.sections if b"\1\2\3\4" in d)
    address = start + data.index(b"\1\2\3\4") + 3
    changed = patched(rules, address, b"\x99")
    assert rules.bytes_at(address, 1) == b"\4"
    assert Replay(changed, "good").call(b"\0\3\0", 3).scores[2] == 0x99
    assert Replay(rules, "good").call(b"\0\3\0", 3).scores[2] == 4
    with pytest.raises(ValueError, match="no code or constants of 2 bytes"):
        patched(rules, start + len(data) - 1, b"\0\0")


def test_what_cannot_be_called_is_refused(rules):
    """A function that is not there, and a processor whose calls are not known."""
    with pytest.raises(ToolchainError, match="no symbol 'bad'"):
        Replay(rules, "bad")
    other = Code(TARGETS["x86"], ((0, b"\xc3"),), {"f": 0}, "")
    with pytest.raises(ToolchainError, match="no calls can be replayed on x86"):
        Replay(other, "f")
