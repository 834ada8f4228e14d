"""
Decoder of AVR with a 16-bit program counter: instructions from their bits, chains as one.

``r0`` to ``r31`` hold 8 bits, ``sp`` 16. The flags ``C``, ``Z``, ``N``, ``V``, ``S``, ``H``, ``T``
and ``I`` are registers of one bit. Data space begins at `DATA`, as in ELF files, flash at 0;
addresses of code are in bytes. The run must not let an address of data space fall below `RAM`,
where a processor has its registers and ports: their instructions have other effects.

Compilers compute with numbers of several bytes by chains such as ``add``, ``adc`` or ``cp``,
``cpc``, ``cpc``. A decoded instruction is a whole chain (`bncc.prove.avr_chains`), so that its
effects are those of one operation on whole numbers. A jump into a chain gets the rest of it, which
is decoded from there.

Instructions of ports other than the stack pointer and the flags, and those that compilers do not
use for a classifier, raise `UnknownInstruction`.
"""

from bncc.prove.avr_chains import chain_of
from bncc.prove.avr_meaning import Operands, Read, meaning
from bncc.prove.code import Code
from bncc.prove.instructions import Instruction
from bncc.prove.instructions import UnknownInstruction as Unknown

_PATTERNS = """
    nop    0000000000000000
    movw   00000001ddddrrrr
    cpc    000001rdddddrrrr
    sbc    000010rdddddrrrr
    add    000011rdddddrrrr
    cpse   000100rdddddrrrr
    cp     000101rdddddrrrr
    sub    000110rdddddrrrr
    adc    000111rdddddrrrr
    and    001000rdddddrrrr
    eor    001001rdddddrrrr
    or     001010rdddddrrrr
    mov    001011rdddddrrrr
    cpi    0011KKKKddddKKKK
    sbci   0100KKKKddddKKKK
    subi   0101KKKKddddKKKK
    ori    0110KKKKddddKKKK
    andi   0111KKKKddddKKKK
    ldd.Z  10q0qq0ddddd0qqq
    ldd.Y  10q0qq0ddddd1qqq
    std.Z  10q0qq1ddddd0qqq
    std.Y  10q0qq1ddddd1qqq
    lds    1001000ddddd0000
    ld.Z+  1001000ddddd0001
    ld.-Z  1001000ddddd0010
    lpm.Z  1001000ddddd0100
    lpm.Z+ 1001000ddddd0101
    ld.Y+  1001000ddddd1001
    ld.-Y  1001000ddddd1010
    ld.X   1001000ddddd1100
    ld.X+  1001000ddddd1101
    ld.-X  1001000ddddd1110
    pop    1001000ddddd1111
    sts    1001001ddddd0000
    st.Z+  1001001ddddd0001
    st.-Z  1001001ddddd0010
    st.Y+  1001001ddddd1001
    st.-Y  1001001ddddd1010
    st.X   1001001ddddd1100
    st.X+  1001001ddddd1101
    st.-X  1001001ddddd1110
    push   1001001ddddd1111
    com    1001010ddddd0000
    neg    1001010ddddd0001
    swap   1001010ddddd0010
    inc    1001010ddddd0011
    asr    1001010ddddd0101
    lsr    1001010ddddd0110
    ror    1001010ddddd0111
    dec    1001010ddddd1010
    bset   100101000sss1000
    bclr   100101001sss1000
    jmp    1001010kkkkk110k
    call   1001010kkkkk111k
    ret    1001010100001000
    ijmp   1001010000001001
    icall  1001010100001001
    adiw   10010110KKddKKKK
    sbiw   10010111KKddKKKK
    mul    100111rdddddrrrr
    in     10110AAdddddAAAA
    out    10111AAdddddAAAA
    rjmp   1100kkkkkkkkkkkk
    rcall  1101kkkkkkkkkkkk
    ldi    1110KKKKddddKKKK
    brbs   111100kkkkkkksss
    brbc   111101kkkkkkksss
    bld    1111100ddddd0bbb
    bst    1111101ddddd0bbb
    sbrc   1111110ddddd0bbb
    sbrs   1111111ddddd0bbb
"""
"""Bits of each instruction; a letter gathers the bits of an operand, the highest first."""
_LONG = ("lds", "sts", "jmp", "call")
_HIGH = ("cpi", "sbci", "subi", "ori", "andi", "ldi")
"""Those that know the registers from r16 on."""


def _table() -> tuple[tuple[str, int, int, str], ...]:
    """Return name, mask of the fixed bits, their values, and pattern."""
    rows = (line.split() for line in _PATTERNS.strip().splitlines())
    return tuple(
        (
            name,
            int("".join("1" if bit in "01" else "0" for bit in pattern), 2),
            int("".join(bit if bit in "01" else "0" for bit in pattern), 2),
            pattern,
        )
        for name, pattern in rows
    )


_TABLE = _table()


class Decoder:
    """Instructions of a linked program by their addresses."""

    def __init__(self, code: Code, *, has_chains: bool = True) -> None:
        self._code = code
        self._has_chains = has_chains
        self._cache: dict[int, Instruction] = {}

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address in bytes, with those of its chain."""
        if address not in self._cache:
            self._cache[address] = self._decoded(address)
        return self._cache[address]

    def _decoded(self, address: int) -> Instruction:
        first = self.read(address)
        chain = chain_of(self.read, address) if self._has_chains else None
        if chain is not None:
            size = sum(one.size for one in chain.reads)
            text = "; ".join(one.text for one in chain.reads)
            return Instruction(address, size, text, chain.effects, n_counted=len(chain.reads))
        skipped = self.read(address + 2).size if first.name in ("cpse", "sbrc", "sbrs") else 0
        effects = meaning(first, address, skipped)
        return Instruction(address, first.size, first.text, effects)

    def read(self, address: int) -> Read:
        """Return name, operands and bytes of the single instruction at an address."""
        word = self._word(address)
        for name, mask, value, pattern in _TABLE:
            if word & mask == value:
                operands = _operands(name, pattern, word)
                if name not in _LONG:
                    return Read(name, operands, 2)
                after = self._word(address + 2)
                return Read(name, {**operands, "k": operands.get("k", 0) << 16 | after}, 4)
        raise Unknown(f"unknown instruction {word:04x} at {address:#x}")

    def _word(self, address: int) -> int:
        content = None if address % 2 else self._code.bytes_at(address, 2)
        if content is None:
            raise Unknown(f"no instruction can be at {address:#x}")
        return int.from_bytes(content, "little")


def _operands(name: str, pattern: str, word: int) -> Operands:
    operands: dict[str, int] = {}
    for k, bit in enumerate(pattern):
        if bit not in "01":
            operands[bit] = operands.get(bit, 0) << 1 | word >> (15 - k) & 1
    if name in _HIGH:
        operands["d"] += 16
    return operands
