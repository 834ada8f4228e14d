"""Instructions that multiply or divide, and library calls; emitted C must have neither."""

import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

X86 = (
    r"i?mul[bwlq]?|mulx[lq]?|i?div[bwlq]?|aa[dm]"  # integers
    r"|v?pmul\w*|v?pmadd\w*|vpdp\w*"  # packed integers
    r"|v?(mul|div|rcp|dp)[ps][sdh]|vf\w*(add|sub)\w*|fi?mul\w*|fi?div\w*"  # floating point
)
ARM32 = (
    r"muls?|mlas?|mls|[us]m(ul|la)l?l?s?|umaal|sm[lmu]\w+"
    r"|[us]div|vmul\w*|vml\w*|vn?fm\w*|vfn\w*|vdiv|vq?r?dml?\w*"
)
ARM64 = (
    r"f?n?mul[xh]?|[us]n?mull?2?|[us]mulh|f?n?m(add|sub|la|ls)\w*"
    r"|[us]m(add|sub|la|ls)l|[usf]div|sq\w*mul\w*"
)
AVR = r"f?muls?u?"
RISCV = r"mul(h|hu|hsu|w)?|(div|rem)u?w?|c\.mul|fn?m(ul|add|sub)\.[sdh]|fdiv\.[sdh]"
MIPS = r"(mult?|muh|div|mod|madd|msub)u?|n?m(ul|add|sub)\.(s|d|ps)|(div|recip|rsqrt)\.[sd]"
_PREFIXES = {"rep", "repz", "repnz", "repe", "repne", "lock", "bnd", "notrack", "data16"}

_ARM = (ARM32, "arm-none-eabi-")
MACHINES: Mapping[str, tuple[str, str]] = {
    "x86": (X86, ""),
    "avr": (AVR, "avr-"),
    "cortex-m0": _ARM,
    "cortex-m3": _ARM,
    "cortex-m4": _ARM,
    "cortex-m7": _ARM,
    "rv32": (RISCV, "riscv64-unknown-elf-"),
    "big-endian": (MIPS, "mips-linux-gnu-"),
}
"""Pattern of multiplications and divisions, and prefix of the binutils, by target."""


def host_instructions() -> str:
    """Return the pattern for the host's processor."""
    return {"x86_64": X86, "AMD64": X86, "aarch64": ARM64, "arm64": ARM64}[platform.machine()]


def mnemonics(binutils: str, *objects: Path) -> list[str]:
    """Return every instruction of some objects, without operands."""
    return [each for found in _mnemonics(binutils, *objects).values() for each in found]


def undefined(binutils: str, *objects: Path) -> set[str]:
    """Return the undefined symbols of some objects: library routines."""
    return set().union(*_undefined(binutils, *objects).values())


def contents(binutils: str, *objects: Path) -> dict[str, tuple[list[str], set[str]]]:
    """Return instructions and undefined symbols of each object by its file name."""
    instructions, symbols = _mnemonics(binutils, *objects), _undefined(binutils, *objects)
    return {path.name: (instructions[str(path)], symbols[str(path)]) for path in objects}


def _mnemonics(binutils: str, *objects: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {str(path): [] for path in objects}
    current: list[str] = []
    for line in _said(f"{binutils}objdump", "-d", "--no-show-raw-insn", *objects):
        if header := re.match(r"(.+):\s+file format ", line):
            current = found[header.group(1)]
        words = re.sub(r"^\s*[0-9a-f]+:\s*", "", line).split()
        if re.match(r"^\s+[0-9a-f]+:\t", line) and words:
            is_prefixed = words[0] in _PREFIXES and len(words) > 1
            current.append(words[1] if is_prefixed else words[0])
    return found


def _undefined(binutils: str, *objects: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {str(path): set() for path in objects}
    for line in _said(f"{binutils}nm", "-A", "-u", *objects):
        if symbol := re.fullmatch(r"(.+):\s+U (\S+)", line):
            found[symbol.group(1)].add(symbol.group(2))
    return found


def offenses(target: str, compiled: Path) -> set[str]:
    """Return the multiplications, divisions and library routines in an object for a target."""
    pattern, binutils = MACHINES[target]
    wrong = {each for each in mnemonics(binutils, compiled) if re.fullmatch(pattern, each)}
    return wrong | undefined(binutils, compiled)


def _said(*command: str | Path) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()
