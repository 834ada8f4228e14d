"""A look-up by the upper bits of a reading in the C: the highest byte of a sum is the state."""

from bncc.lower.c.c99 import ArrayText, array
from bncc.lower.discretizers.trees import Guide
from bncc.lower.raw_arrays import CUT_BITS


def guide_array(guide: Guide, kind: str, suffix: str, title: str) -> ArrayText:
    """
    Return the entries of a guide as what is added to a reading less the first.

    With B bits to a sum, of which the highest byte is the state, an entry of bound b and state s is
    ``(s + 1) 2**(B - 8) - 1 - b``. Added to b it is the last sum of state s, and added to any other
    reading of its group it is less than ``2**(B - 8)`` from there.
    """
    bits = CUT_BITS[kind]
    sums = [
        (((state + 1) << (bits - 8)) - 1 - (bound - guide.first)) % 2**bits
        for bound, state in guide.entries
    ]
    meaning = f"What makes the highest of {bits // 8} bytes the state of {title}."
    return array(f"guide_{suffix}", bits, sums, meaning)


def guide_lines(guide: Guide, kind: str, suffix: str, name: str) -> list[str]:
    """Return the statements that find the state of a reading with an entry."""
    bits = CUT_BITS[kind]
    # An int16_t less the first one then stays in a register of 32 bits where that is shorter.
    word = "uint32_t" if bits == 32 else "uint_fast16_t"
    above = f"({word}){'bits' if kind == 'float32' else 'value'}"
    if guide.first:
        above += f" {'-' if guide.first > 0 else '+'} {abs(guide.first)}U"
        above = above if bits == 32 else f"({word})({above})"
    entry = f"{name}_rom_uint{bits}(&{name}_guide_{suffix}[above >> {guide.shift}])"
    return [
        f"const {word} above = {above};",
        "",
        f"if (above < {len(guide.entries) << guide.shift}U) {{",
        f"    return (uint8_t)((above + {entry}) >> {bits - 8});",
        "}",
    ]
