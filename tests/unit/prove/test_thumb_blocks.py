"""Wrong programs with IT blocks, whose instructions a proof takes for others, are not proved."""

import pytest

from bncc.prove.prove import prove
from bncc.prove.replay import Replay
from tests.unit.prove.programs import linked
from tests.unit.prove.test_control import ANSWERS, permuting

pytest.importorskip("capstone")

HEAD = """
.syntax unified
.thumb
.text
.global f_predict
.type f_predict, %function
.thumb_func
f_predict:
"""
CASES = "\n".join(f"c{k}: movs r0, #{answer}\nb.n common" for k, answer in enumerate(ANSWERS))
TABLE = "\n".join(f".byte (c{k} - table) / 2" for k in range(len(ANSWERS)))
REFUSED = f"""{HEAD}
ldrb r3, [r0]
cmp r3, #6
bhi common
tbb [pc, r3]
table:
{TABLE}
.byte 0
{CASES}
common:
adr r2, second
movs r1, #0
cmp r3, #3
it ne
tbbne [r2, r1]
place:
movs r0, #4
bx lr
good:
bx lr
.p2align 2
second:
.byte (good - place) / 2
.byte 0
"""
"""
Returns 4 for state 3, where its second jump by a table is not executed.

The decoder refuses `tbbne` once, within its block. A second run, for the targets of the first
table, decodes it alone, as `tbb`.
"""
REFUSED_NOP = f"""{HEAD}
ldrb r3, [r0]
cmp r3, #6
bhi common
tbb [pc, r3]
table:
{TABLE}
.byte 0
{CASES.replace("movs r0", "movs r1")}
common:
movs r0, #4
cmp r3, #3
itt eq
nopeq
moveq r0, r1
bx lr
"""
"""
Returns 4 for each state but 3: its last move is executed for that one alone.

The decoder refuses `nopeq` once, and then takes what is behind it for `mov`.
"""
REFUSED_CALL = f"""{HEAD}
ldrb r3, [r0]
adr r2, answers
cmp r3, #6
bhi tail
push {{r4, lr}}
bl g
pop {{r4, pc}}
tail:
b.w g
.p2align 2
answers:
.byte {", ".join(map(str, ANSWERS))}, 0
.type g, %function
.thumb_func
g:
ldrb r1, [r2, r3]
movs r0, #4
cmp r3, #3
itt eq
nopeq
moveq r0, r1
bx lr
"""
"""As the program above, without a jump by a table: the block is in the order of two functions."""
OVERLAPPING = f"""{HEAD}
ldrb r3, [r0]
mov r12, r11
subw r2, r0, #0xf08
cmp r3, #3
beq overlap + 2
overlap:
.inst.n 0xf892
.inst.n 0xbf08
movs r3, #3
mov r11, r12
adr r2, answers
ldrb r0, [r2, r3]
bx lr
.p2align 2
answers:
.byte {", ".join(map(str, ANSWERS))}, 0
"""
"""
Returns the answer of state 3 for all states.

The halfword 0xbf08 is `it eq` where the jump leads, and the second half of
``ldrb r11, [r2, #0xf08]`` else: what follows is executed always, or for `eq` alone.
"""
NESTED = f"""{HEAD}
ldrb r3, [r0]
adr r2, answers
ldrb r1, [r2, r3]
movs r0, #4
cmp r3, #3
.inst.n 0xbf08
.inst.n 0xbf08
mov r0, r1
bx lr
.p2align 2
answers:
.byte {", ".join(map(str, ANSWERS))}, 0
"""
"""
Moves the answer for state 3 alone in the simulator: the second `it eq` begins a block.

Arm calls an `it` in the block of another one unpredictable.
"""
WRONG = {
    "refused": (REFUSED, 3),
    "refused-nop": (REFUSED_NOP, 0),
    "refused-call": (REFUSED_CALL, 0),
    "overlapping": (OVERLAPPING, 0),
    "nested": (NESTED, 0),
}
"""Programs, each with a state for which it returns another class than the model."""


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m3", "cortex-m4"])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_with_an_it_block_is_not_proved(require_gcc, tmp_path, target, name):
    text, state = WRONG[name]
    lines = "\n".join(f'"{line}\\n"' for line in text.strip().splitlines())
    code = linked(tmp_path, require_gcc(target), f"__asm__({lines});\n", ["f_predict"])
    with_simulator = Replay(code, "f_predict").call(bytes([state, 0]))
    assert with_simulator.ended
    assert with_simulator.outcome != ANSWERS[state]
    verdict = prove(permuting(), code, "f_predict", "trusted")
    assert verdict.status != "proved", verdict.sentence
