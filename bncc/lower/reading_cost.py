"""
Estimated cost of kernels that compare readings instead of states.

The weights are those of the kernels that compare states; what readings add was set by hand to some
20 measured programs on Cortex-M0 at -O2 and is multiplied by 2.5 for AVR. It is not fitted yet:
``benchmarks/fit/fit_reading_costs.py`` measures and fits it.
"""

from dataclasses import dataclass

from bncc.lower.cost_model import OF_READINGS, Level, weighted
from bncc.lower.cut_conditions import CutCondition, cut_condition
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_packed.layout import AGAIN, MARK_BITS, MORE, CutPackedKernel
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.reading_keys import ComparedIntegers, compared_integers
from bncc.program.ir import Program, width_of


@dataclass(frozen=True)
class ReadingTerms:
    """Sizes of a kernel that compares readings."""

    rom_bytes: int  # Bytes of the constants that it reads
    key_bytes: int  # Bytes of stack of the integers that a loop compares
    work: tuple[float, ...]  # Terms of executed instructions, and code: of code size
    code: tuple[float, ...]


def reading_terms(program: Program, kernel: Kernel) -> ReadingTerms:
    """Return the terms of a kernel's variant that compares readings."""
    if isinstance(kernel, CutKernel):
        return _of_lines(program, kernel)
    compared = compared_integers(program)
    is_float = program.features[compared.features[0]].kind == "float32" and not compared.is_keys
    keys = compared.features if compared.is_keys else ()
    n_floats = sum(program.features[f].kind == "float32" for f in keys)
    marks = [program.features[f].missing_state > 0 for f in keys]
    of_keys = (len(keys), n_floats, sum(marks), compared.bits // 8)
    key_bytes = len(keys) * compared.bits // 8
    if isinstance(kernel, CutLoopKernel):
        n_cuts = sum(kernel.n_cuts)
        before = sum(each.size for each in kernel.entries) * kernel.entry_bits // 8
        listed = _loop_bytes(kernel, compared)
    elif isinstance(kernel, CutPackedKernel):
        n_cuts = kernel.n_cuts
        before = n_cuts * kernel.entry_bits // 8
        listed = n_cuts * _packed_bits(kernel, compared) // 8
    else:
        raise TypeError(f"the kernel '{kernel.family}' compares no readings")
    rom_bytes = kernel.rom_bytes - before + listed + n_cuts * compared.bits // 8
    doubled = n_cuts if isinstance(kernel, CutLoopKernel) and kernel.is_doubled else 0
    work = (*kernel.work, n_cuts * is_float, doubled * compared.bits // 8, *of_keys[:3])
    return ReadingTerms(rom_bytes, key_bytes, work, (*kernel.code, int(is_float), *of_keys))


def _loop_bytes(kernel: CutLoopKernel, compared: ComparedIntegers) -> int:
    place = _places(compared)
    entries = [kernel.reading_entries(t, place) for t in range(len(kernel.cuts))]
    bits = width_of(max(max(some) for some in entries))
    return sum(map(len, entries)) * bits // 8


def _packed_bits(kernel: CutPackedKernel, compared: ComparedIntegers) -> int:
    place = _places(compared)
    largest = max(place[each.feature] for cuts in kernel.cuts for each in cuts)
    return width_of((largest << MARK_BITS) | AGAIN | MORE)


def _places(compared: ComparedIntegers) -> dict[int, int]:
    used = compared.features
    return {f: used.index(f) if compared.is_keys else f for f in used}


def _of_lines(program: Program, kernel: CutKernel) -> ReadingTerms:
    """Return the terms of straight-line code: each comparison is one of its own."""
    read = [each for cuts in kernel.cuts for each in cuts]
    found = [
        cut_condition(program.features[each.feature], least, "x", "m")
        for each in read
        for least in each.least
    ]
    n_words = sum(_is(each, "word") for each in found)
    n_ordered = sum(each.terms[3] for each in found)
    n_int32 = sum(_is(each, "int32") for each in found)
    n_short = sum(_is(each, "int16") or _is(each, "int8") for each in found)
    n_plain = sum(each.sides is None for each in found)
    n_numbers = sum(each.n_numbers for each in found)
    terms = (*kernel.work, n_words, n_ordered, n_int32, n_short, n_plain, n_numbers)
    return ReadingTerms(kernel.rom_bytes, 0, terms, terms)


def _is(condition: CutCondition, kind: str) -> bool:
    return condition.sides is not None and condition.sides[0] == kind


def reading_work(
    program: Program, kernel: Kernel, target: str | None = None, level: Level = "-O2"
) -> int:
    """Return what one decision from readings executes."""
    terms = reading_terms(program, kernel).work
    return max(1, round(weighted(kernel.family + OF_READINGS, target, level, terms, which=0)))


def reading_code(
    program: Program, kernel: Kernel, target: str | None = None, level: Level = "-O2"
) -> int:
    """Return the bytes of code of a classifier that only decides on readings."""
    terms = reading_terms(program, kernel).code
    return max(0, round(weighted(kernel.family + OF_READINGS, target, level, terms, which=1)))
