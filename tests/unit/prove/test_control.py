"""Jumps by tables, as compilers make of a `switch`: each case is followed, and no other place."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from click.testing import CliRunner

from bncc.checker.__main__ import main as checker
from bncc.cli.main import main
from bncc.fixed_point import QFormat
from bncc.model.file import save_model
from bncc.prove.code import Code
from bncc.prove.instructions import Instruction, Jump, Load, Set, UnknownInstruction
from bncc.prove.prove import prove
from bncc.prove.replay import patched
from bncc.prove.values import UndecidedError
from bncc.structure.graph import forest
from tests.models import feature, model_of
from tests.unit.prove.made_up_programs import START, TABLE, Program, agrees, to
from tests.unit.prove.programs import linked

pytest.importorskip("capstone")

ANSWERS = (3, 0, 5, 1, 6, 2, 4)
"""The class of each state."""
FAR = 300
"""Instructions of a case that is too long for a table of bytes."""
PLACES = (("cortex-m3", 0), ("cortex-m4", 0), ("cortex-m4", FAR), ("rv32", 0), ("cortex-m0", 0))
"""Targets, and the instructions that the first case has more."""


def permuting():
    """Return a model of two features whose class is an answer to the first one."""
    n = len(ANSWERS)
    costs = [[int(c != answer) for c in range(n)] for answer in ANSWERS]
    features = [feature("x", n), feature("y", 3)]
    return model_of(features, forest([None, None]), QFormat(2, 2), [0] * n, [costs, [[0] * n] * 3])


def switch(n_more: int = 0) -> str:
    """Return a function whose cases compilers cannot make numbers of."""
    cases = "\n".join(
        f'case {k}: __asm__ volatile("{";".join(["nop"] * n)}"); return {answer};'
        for k, answer in enumerate(ANSWERS)
        for n in [k + 1 + (n_more if k == 0 else 0)]
    )
    return (
        "int f_predict(const unsigned char *x);\n"
        f"int f_predict(const unsigned char *x)\n{{\nif (x[1] > 2) return -1;\n"
        f"switch (x[0]) {{\n{cases}\n}}\nreturn -1;\n}}\n"
    )


@pytest.fixture(scope="module", params=PLACES)
def code(require_bench, require_gcc, request, tmp_path_factory):
    """Return a linked program with a `switch`; its library routine on cortex-m0 is that of gcc."""
    target, n_more = request.param
    bench = (
        require_gcc(target) if target == "cortex-m0" else require_bench(target, simulator="unicorn")
    )
    found = linked(tmp_path_factory.mktemp("switch"), bench, switch(n_more), ["f_predict"])
    of_thumb = 2 if n_more else 1
    assert entries(found)[1] == (4 if target == "rv32" else of_thumb)  # tbh or tbb
    return found


def entries(code: Code) -> tuple[int, int, list[int]]:
    """Return address, size and numbers of the table that the function jumps by."""
    start, n = code.symbols["f_predict"], len(ANSWERS)
    if code.target.name == "rv32":
        for at, data in code.sections:
            words = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
            for k in range(len(words) - n):
                if all(start < word < start + 200 for word in words[k : k + n]):
                    return at + 4 * k, 4, words[k : k + n]
    at = next(a for a in range(start, start + 100, 2) if is_jump(code, a)) + 4
    size = (
        2 if code.target.name != "cortex-m0" and (code.bytes_at(at - 2, 1) or b"")[0] & 0x10 else 1
    )  # tbh [pc, r3, lsl #1]
    found = code.bytes_at(at, n * size)
    assert found is not None
    return (
        at,
        size,
        [int.from_bytes(found[k : k + size], "little") for k in range(0, len(found), size)],
    )


def is_jump(code: Code, at: int) -> bool:
    """Return whether a jump by a table of offsets begins at an address."""
    first = code.bytes_at(at, 2) or b""
    if code.target.name == "cortex-m0":
        return first[1] >> 3 == 0b11110  # bl __gnu_thumb1_case_uqi, behind which is the table
    return first == b"\xdf\xe8"  # tbb or tbh


def changed(code: Code, k: int, number: int) -> Code:
    """Return a program with another number in its table."""
    at, size, _ = entries(code)
    return patched(code, at + k * size, number.to_bytes(size, "little"))


@pytest.mark.firmware
def test_every_case_is_followed(code):
    for entry in ("predict", "trusted"):
        verdict = prove(permuting(), code, "f_predict", entry)
        assert verdict.status == "proved", verdict.sentence


@pytest.mark.firmware
def test_a_wrong_target_is_refuted(code):
    _, _, numbers = entries(code)
    for k, number in enumerate(numbers):
        other = changed(code, k, numbers[(k + 1) % len(numbers)])
        assert other.sections != code.sections
        verdict = prove(permuting(), other, "f_predict", "predict")
        assert (verdict.status, verdict.input and verdict.input["x"]) == ("refuted", k)
        assert (verdict.expected, verdict.actual) == (ANSWERS[k], ANSWERS[(k + 1) % len(ANSWERS)])
        assert number != numbers[(k + 1) % len(numbers)]


def wrong_numbers(code: Code) -> Iterator[int]:
    """Yield numbers that lead before the function, far behind it and into the table."""
    if code.target.name == "rv32":
        yield from (code.symbols["f_predict"] - 2, code.symbols["main"], entries(code)[0])
    elif entries(code)[1] == 1:
        yield from (0, 255)
    else:
        yield from (0, 0xFFFF)


@pytest.mark.firmware
def test_a_target_that_is_no_case_is_never_proved(code):
    for number in wrong_numbers(code):
        verdict = prove(permuting(), changed(code, 4, number), "f_predict", "predict")
        assert verdict.status != "proved"


@pytest.mark.firmware
def test_an_index_beyond_the_table_is_never_proved(require_bench, tmp_path, code):
    """Without its comparison, the program jumps by what is behind its table."""
    text = switch().replace("return -1;\n}\n", "__builtin_unreachable();\n}\n")
    bench = require_bench(code.target.name, simulator="unicorn")
    unchecked = linked(tmp_path, bench, text, ["f_predict"])
    assert prove(permuting(), unchecked, "f_predict", "trusted").status == "proved"
    assert prove(permuting(), unchecked, "f_predict", "predict").status != "proved"


@pytest.mark.firmware
def test_the_checker_follows_each_case(code, tmp_path):
    save_model(permuting(), tmp_path / "m.bncc")
    (tmp_path / "p.elf").write_bytes(code.content)
    proof = tmp_path / "m.proof"
    arguments = [
        "prove", str(tmp_path / "m.bncc"), "--target", code.target.name,
        "--elf", str(tmp_path / "p.elf"), "--symbol", "f_predict", "-o", str(proof),
    ]  # fmt: skip
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert checker([str(proof), str(tmp_path / "p.elf"), str(tmp_path / "m.bncc")]) == 0


def jumping(numbers, *lines) -> Program:
    """Return a program that jumps by a table of bytes at an index of 0 to 3, then some lines."""
    program = Program(
        (Load("r2", "r0", 1), Set("r2", ("and", "r2", 3))),
        (Load("tmp0", ("add", TABLE, "r2"), 1), Jump(("add", START, ("shl", "tmp0", 1)))),
        *lines,
    )  # fmt: skip
    code = replace(program.code, sections=((TABLE, bytes(numbers)),))
    program.code = code
    return program


CASES = (
    (Set("r0", 10), to(6)),
    (Set("r0", 20), to(6)),
    (Set("r0", 30), to(6)),
    (Set("r0", 40),),
    (Jump("lr"),),
)


def test_paths_meet_after_the_cases():
    run = agrees(jumping((2, 3, 4, 5), *CASES))
    assert len(run.ends) == 1
    assert run.ends[0].steps == 4


def test_several_indices_may_have_one_case():
    agrees(jumping((5, 2, 2, 5), *CASES))


@pytest.mark.parametrize(("number", "why"), [(100, "nothing at"), (0x7F, "nothing at")])
def test_a_target_outside_of_the_function_is_undecided(number, why):
    with pytest.raises(UndecidedError, match=why):
        jumping((2, 3, number, 5), *CASES).run()


def test_a_target_in_another_function_behind_is_undecided():
    program = jumping((2, 3, 7, 5), *CASES, (Set("r0", 1),), (Jump("lr"),))
    symbols = {**program.code.symbols, "g": START + 12}
    program.code = replace(program.code, symbols=symbols)
    with pytest.raises(UndecidedError, match="leaves the function"):
        program.run()


def test_a_target_within_an_it_block_is_undecided():
    program = jumping((2, 3, 4, 5), *CASES)
    program.lines[4] = replace(program.lines[4], is_inner=True)
    with pytest.raises(UndecidedError, match="IT block"):
        program.run()


def test_a_target_within_an_instruction_is_undecided():
    program = jumping((2, 3, 4, 5), *CASES)
    program.lines[3] = replace(program.lines[3], size=4)
    with pytest.raises(UndecidedError, match="within an instruction"):
        program.run()


def calling(*numbers: int) -> Program:
    """Return a program whose routine for a `switch` returns to a case behind its call."""
    program = Program(
        (Load("r2", "r0", 1), Set("r2", ("and", "r2", 3)), Set("r5", "lr")),
        (Set("lr", START + 4), to(6, is_call=True)),
        (Set("r0", 99),),  # Where compilers have the table: no instruction
        (Set("r0", 10), Jump("r5")),
        (Set("r0", 20), Jump("r5")),
        (Set("r0", 30), Jump("r5")),
        (Load("tmp0", ("add", TABLE, "r2"), 1), Jump(("add", "lr", ("shl", "tmp0", 1)))),
        functions=(6,),
    )  # fmt: skip
    program.code = replace(program.code, sections=((TABLE, bytes(numbers)),))
    # As a table may be decoded: over the first case too.
    program.lines[2] = replace(program.lines[2], size=4)
    return program


def test_a_routine_returns_to_cases_behind_its_call():
    run = agrees(calling(1, 2, 3, 2))
    assert {end.steps for end in run.ends} == {4}


@pytest.mark.parametrize("number", [0, 100])
def test_a_routine_that_returns_to_its_table_or_outside_of_the_caller_is_undecided(number):
    with pytest.raises(UndecidedError, match=r"leaves the function|nothing at"):
        calling(1, 2, number, 2).run()


NO_CODE = (Set("r0", 99),)


class WithTables(Program):
    """A program with tables behind its calls, which are no instructions."""

    def decode(self, address: int) -> Instruction:
        one = super().decode(address)
        if one.effects == NO_CODE:
            raise UnknownInstruction(f"a table at {address:#x}")
        return one


def test_a_second_routine_of_a_switch_whose_table_is_no_code_is_followed():
    program = WithTables(
        (Load("r2", "r0", 1), Set("r2", ("and", "r2", 1)), Set("r5", "lr")),
        (Set("lr", START + 4), to(9, is_call=True)),
        NO_CODE,
        (Set("r4", 10), to(5)),
        (Set("r4", 20),),
        (Set("lr", START + 12), to(9, is_call=True)),
        NO_CODE,
        (Set("r0", ("add", "r4", 1)), Jump("r5")),
        (Set("r0", ("add", "r4", 2)), Jump("r5")),
        (Load("tmp0", ("add", TABLE, "r2"), 1), Jump(("add", "lr", ("shl", "tmp0", 1)))),
        functions=(9,),
    )
    program.code = replace(program.code, sections=((TABLE, bytes((1, 2))),))
    agrees(program)
