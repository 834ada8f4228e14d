"""Programs by hand that are wrong: no certificate of one is accepted, whatever it claims."""

import io
import subprocess
from dataclasses import dataclass, field
from hashlib import sha256
from struct import pack, unpack_from
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from bncc.discretize.feature import Feature
from bncc.errors import ToolchainError
from bncc.fixed_point import QFormat
from bncc.model.file import to_bytes
from bncc.model.model import Model
from bncc.prove.code import code_of
from bncc.structure.graph import forest
from bncc.targets import find_target
from tests.models import feature, model_of

pytest.importorskip("capstone")

from bncc.checker.check import MOST_WORK, Check
from bncc.checker.model import Model as ModelFile
from bncc.checker.model import Program
from bncc.checker.values import RejectedError

pytestmark = pytest.mark.firmware


def copying() -> Model:
    """Return a model whose class is the state of its only feature."""
    return model_of([feature("x", 2)], forest([None]), QFormat(2, 2), [0, 0], [[[0, 1], [1, 0]]])


def constant() -> Model:
    """Return a model of two features whose first class always costs less by one."""
    tables = [[[1, 1], [2, 2]]] * 2
    features = [feature("x", 2), feature("y", 2)]
    return model_of(features, forest([None, None]), QFormat(2, 2), [0, 1], tables)


def falling() -> Model:
    """Return a model whose first class never costs more: one less in one of two states."""
    return model_of([feature("x", 2)], forest([None]), QFormat(2, 2), [0, 0], [[[0, 0], [0, 1]]])


MOST_COST = (1 << 31) - 1


def wide() -> Model:
    """Return a model whose first class costs more than 2^32 more than the second one."""
    tables = [[[MOST_COST, 0]] * 2] * 3
    features = [feature(f"x{k}", 2) for k in range(3)]
    return model_of(features, forest([None] * 3), QFormat(31, 0), [0, 0], tables)


@dataclass(frozen=True)
class Wrong:
    """A program with a right one, and what a certificate of it claims."""

    text: str
    right: tuple[str, str]  # A part of the text, and what replaces it
    why: str
    model: Model = field(default_factory=copying)
    built_for: str = "cortex-m4"
    target: str = "cortex-m4"
    orders: dict[str, Any] = field(default_factory=dict)  # By symbol


WRONG = {
    "carry of an address": Wrong(
        """
        ldrb r2, [r0]
        movs r1, #0
        mvns r1, r1
        mov r3, sp
        adds r3, r3, r1
        bcs 1f
        mov r0, r2
        bx lr
    1:  movs r0, #1
        bx lr
        """,
        ("mov r3, sp", "movs r3, #0"),
        "a multiple of an address",
        built_for="cortex-m0",
        target="cortex-m0",
    ),
    "jump into a block": Wrong(
        """
        ldrb r2, [r0]
        movs r3, #0
        mov r0, r2
        cmp r3, #1
    2:  it eq
    3:  moveq r0, #1
        cbnz r3, 1f
        movs r3, #1
        cmp r3, #0
        b 3b
    1:  bx lr
        """,
        ("b 3b", "b 2b"),
        "a jump into or out of a block",
    ),
    "instruction that the processor has not": Wrong(
        """
        ldrb r2, [r0]
        movs r0, #0
        uxtab r0, r0, r2
        bx lr
        """,
        ("uxtab r0, r0, r2", "adds r0, r0, r2"),
        "v7-M has no instruction uxtab",
        target="cortex-m3",
    ),
    "address before an instruction that is not at a word": Wrong(
        """
        ldrb r2, [r0]
        b 1f
        .align 2
    4:  .byte 0, 0, 0, 1
    1:  movs r3, #0
        subw r3, pc, #8
        ldrb r0, [r3, r2]
        bx lr
        """,
        (".byte 0, 0, 0, 1", ".byte 0, 1, 0, 0"),
        r"class 0 is returned, and \[1\] may cost less",
    ),
    "scale of a comparison beyond all sums": Wrong(
        """
        ldrb r1, [r0]
        ldrb r2, [r0, #1]
        adr r3, 4f
        lsls r0, r1, #1
        adds r3, r3, r0
        ldrb r3, [r3, r2]
        adds r1, r1, r2
        cmp r3, r1
        .global order
        .type order, %function
    order: blt 1f
        movs r0, #1
        bx lr
    1:  movs r0, #0
        bx lr
        .align 2
    4:  .byte 0, 1, 1, 2
        """,
        ("movs r0, #1", "movs r0, #0"),
        "a sum of too large numbers",
        model=constant(),
        built_for="cortex-m0",
        target="cortex-m0",
        orders={"order": [[0, 1, 1, 1 << 62, 0, 62]]},
    ),
    "side of a comparison that the bounds of costs do not exclude": Wrong(
        """
        ldrb r1, [r0]
        movs r0, #0
        cmp r1, #0
        .global order
        .type order, %function
    order: bgt 1f
        movs r0, #1
    1:  bx lr
        """,
        ("movs r0, #1", "movs r0, #0"),
        r"class 1 is returned, and \[0\] may cost less",
        model=falling(),
        built_for="cortex-m0",
        target="cortex-m0",
        orders={"order": [[0, 1, 1, 1, 0, 0]]},
    ),
    "order of an address that may wrap around": Wrong(
        """
        adds r3, r4, #4
        cmp r3, r4
        bcc 1f
        ldrb r0, [r0]
        bx lr
    1:  movs r0, #0
        bx lr
        """,
        ("bcc 1f", "nop"),
        "a multiple of an address",
        built_for="cortex-m0",
        target="cortex-m0",
    ),
    "read far below the stack": Wrong(
        """
        movs r3, #0xf0
        lsls r3, r3, #24
        add r3, sp
        ldr r3, [r3]
        ldrb r0, [r0]
        bx lr
        """,
        ("ldr r3, [r3]", "movs r3, #0"),
        "of stack: outside",
        built_for="cortex-m0",
        target="cortex-m0",
    ),
    "difference of costs beyond a word": Wrong(
        """
        movs r0, #0
        cmp r0, #1
        .global order
        .type order, %function
    order: beq 1f
        bx lr
    1:  movs r0, #1
        bx lr
        """,
        ("movs r0, #0", "movs r0, #1"),
        r"class 0 is returned, and \[1\] may cost less",
        model=wide(),
        built_for="cortex-m0",
        target="cortex-m0",
        orders={"order": [[0, 1, 1 - 3 * MOST_COST, 1, 32, 0]]},
    ),
    "sum with a number that differs between inputs": Wrong(
        """
        ldrb r2, [r0]
        lsls r3, r2, #1
        movs r1, #1
        rsbs r1, r1, #0
        adds r1, r1, r3
        bge 1f
        mov r0, r2
        bx lr
    1:  movs r0, #0
        bx lr
        """,
        ("movs r0, #0", "movs r0, #1"),
        r"class 0 is returned, and \[1\] may cost less",
        built_for="cortex-m0",
        target="cortex-m0",
    ),
}


@pytest.fixture(scope="module")
def built(require_gcc, tmp_path_factory):
    """Return ``built(wrong, text)``: the bytes of a program."""

    def of(wrong: Wrong, text: str) -> bytes:
        folder = tmp_path_factory.mktemp("wrong")
        compiler = require_gcc(wrong.built_for).compiler.path
        head = ".syntax unified\n.thumb\n.global f\n.type f, %function\nf:\n"
        (folder / "f.s").write_text(f"{head}{text}\n")
        asked = [f"-mcpu={wrong.built_for}", "-mthumb", "-nostdlib", "-Wl,-e,f", "-o", "f.elf"]
        subprocess.run([compiler, *asked, "f.s"], cwd=folder, check=True, capture_output=True)
        return (folder / "f.elf").read_bytes()

    return of


def claims_of(wrong: Wrong, elf: bytes) -> dict[str, Any]:
    """Return a certificate without states in which paths meet."""
    symbols = Program(elf).symbols
    orders = {str(symbols[name]): order for name, order in wrong.orders.items()}
    return {
        "format": 7, "elf": sha256(elf).hexdigest(), "target": wrong.target, "entry": "trusted",
        "model": sha256(to_bytes(wrong.model)).hexdigest(), "symbol": "f", "score_bytes": 0,
        "instructions": 100, "stack": 0, "work": MOST_WORK, "maps": [], "terms": [], "values": [],
        "axes": [[0, 1, 2, 128, 129]] * wrong.model.n_features,
        "states": [{"next": [], "orders": orders}],
    }  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_rejected(built, name):
    wrong = WRONG[name]
    elf = built(wrong, wrong.text)
    with pytest.raises(RejectedError, match=wrong.why):
        Check(claims_of(wrong, elf), elf, to_bytes(wrong.model)).run()


@pytest.mark.parametrize(
    "name", [name for name in WRONG if name != "scale of a comparison beyond all sums"]
)
def test_the_program_without_the_defect_is_accepted(built, name):
    wrong = WRONG[name]
    assert wrong.right[0] in wrong.text
    elf = built(wrong, wrong.text.replace(*wrong.right))
    assert Check(claims_of(wrong, elf), elf, to_bytes(wrong.model)).run() > 0


def test_claims_of_other_types_have_no_other_meaning(built):
    """A list of booleans selects points, and a list of classes adds a dimension."""
    wrong = WRONG["carry of an address"]
    elf = built(wrong, wrong.text)
    claims = claims_of(wrong, elf) | {"maps": [[[True] * 10]]}
    own = Check(claims, elf, to_bytes(wrong.model))
    assert own.maps[0][1].tolist() == [1] * 10
    assert own.maps[0][1].dtype == int
    with pytest.raises((TypeError, ValueError)):
        own.model.difference([0], [1])


def test_intervals_that_pass_the_largest_number_are_refused():
    """Their lengths would be positive modulo 2^64, and leave out readings."""
    feature = Feature("x", "float32", 3, thresholds=(1.0, 2.0), missing_state=2)
    table = [[0, 1], [1, 0], [0, 1]]
    model = model_of([feature], forest([None]), QFormat(2, 2), [0, 0], [table])
    nan, last = 0xFF80_0010, 0xFF80_0001
    laps = [last + (1 << 61), nan + (1 << 62) + (1 << 61), nan - (1 << 62)]
    starts = [0, *laps, 0x7F80_0001, 1 << 31, (1 << 31) + 1, last]
    with pytest.raises(RejectedError, match="not ascending"):
        ModelFile(to_bytes(model), "predict-raw", [starts])


@pytest.mark.parametrize("read", [Program, None])
def test_a_section_that_is_not_what_is_loaded_is_refused(built, tmp_path, read):
    """Its header names a copy of the right code, while wrong code is loaded."""
    wrong = WRONG["carry of an address"]
    elf = bytearray(built(wrong, wrong.text.replace(*wrong.right)))
    code = ELFFile(io.BytesIO(elf)).get_section_by_name(".text")
    at = elf.index(pack("<I", code["sh_offset"]), *unpack_from("<I", elf, 32))
    copy, elf[code["sh_offset"]] = code.data(), elf[code["sh_offset"]] ^ 1
    elf[at : at + 4] = pack("<I", len(elf))
    elf += copy
    (tmp_path / "f.elf").write_bytes(elf)
    if read:
        with pytest.raises(RejectedError, match="not what is loaded"):
            read(bytes(elf))
    else:
        with pytest.raises(ToolchainError, match="not loaded as it is"):
            code_of(tmp_path / "f.elf", find_target("cortex-m4"))
