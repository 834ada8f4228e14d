"""Machine code to prove: a model's C, compiled and linked for a target, or an image of the user."""

import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from bncc.device.cross import Toolchain, link_program
from bncc.device.image import Builder, model_object
from bncc.device.meter import METERED
from bncc.device.sources import Sources
from bncc.emit.emitter import Emission
from bncc.errors import OptionError, ToolchainError, extra_command
from bncc.model.model import Model
from bncc.on_device import sources_of
from bncc.prove.code import Code, code_of
from bncc.prove.run import Recorder
from bncc.prove.verdict import Verdict
from bncc.resources import FUNCTIONS
from bncc.targets.base import Target
from bncc.toolchain.tools import load_decoder

TARGETS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32", "avr")
"""Targets with decoders."""
ALL = ("predict-raw", "predict", "trusted", "scores")
"""Entry points of ``--entry all``."""
ENTRIES = (*ALL, "scores-raw")
"""Entry points that proofs cover, of `bncc.resources.FUNCTIONS`."""
_MACHINES: Mapping[str, int] = {
    **dict.fromkeys(TARGETS, 40), "rv32": 243, "avr": 83,
}  # fmt: skip
"""Processor in the header of an ELF file: EM_ARM, EM_RISCV or EM_AVR."""
_SCORE = re.compile(r"typedef uint(\d+)_t \w+_cost_t;")
_HEADER = 20
"""Bytes of an ELF file up to and including its processor."""
_FLAGS = slice(36, 40)
"""Flags of the processor in an ELF file."""
_AVR_FAMILIES = (3, 4, 5, 25, 31, 35, 51)
"""Families of AVR with ``movw`` and return addresses of 16 bits, by the flags of an ELF file."""


def require_decoder() -> None:
    """Refuse to work without capstone."""
    if find_spec("capstone") is None:
        raise ToolchainError(
            "a proof needs capstone, which decodes machine code; run " + extra_command("prove")
        )
    load_decoder()


def check_target(name: str) -> None:
    """Refuse a target without a decoder."""
    if name not in TARGETS:
        raise OptionError(f"proofs do not cover {name} yet; use --target {' or '.join(TARGETS)}")


def check_entries(entries: Iterable[str]) -> None:
    """Refuse entry points that proofs do not cover."""
    for entry in sorted(set(entries) - {*ENTRIES}):
        provable = f"{', '.join(ENTRIES[:-1])} and {ENTRIES[-1]}"
        raise OptionError(
            f"bncc prove covers {provable}, not {entry}; name some of these with --entry"
        )


def chosen_entries(model: Model, entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entry points to prove: by default predict-raw, predict without thresholds."""
    has_thresholds = any(feature.thresholds for feature in model.features)
    named = set(entries)
    check_entries(named - {"all"})
    if "all" in named:
        named |= set(ALL) - (set() if has_thresholds else {"predict-raw"})
    named = named or {"predict-raw" if has_thresholds else "predict"}
    return tuple(entry for entry in ENTRIES if entry in named)


def entries_named(symbol: str | None) -> tuple[str, ...]:
    """Return the entry point that emitted C gives a function's name to; empty for other names."""
    name = "" if symbol is None else symbol
    return tuple(entry for entry in ENTRIES if name.endswith(f"_{FUNCTIONS[entry]}"))


def check_entry(code: Code, symbol: str, entry: str) -> None:
    """Refuse a function of another entry point if the one of the entry point exists too."""
    for own in entries_named(symbol):
        meant = symbol.removesuffix(FUNCTIONS[own]) + FUNCTIONS[entry]
        is_alike = (own, entry) == ("predict", "trusted")  # It decides alike for valid states
        if own != entry and meant in code.symbols and not is_alike:
            raise OptionError(
                f"{symbol} is the function of --entry {own}; leave out --entry {entry}, or use "
                f"--symbol {meant}"
            )


def symbol_of(built: Sources, entry: str) -> str:
    """Return the function of an entry point in emitted C; refuse one that the C lacks."""
    if METERED[entry] not in built.entries:
        raise OptionError(
            f"the C of this model has no {FUNCTIONS[entry]}; leave out --entry {entry}"
        )
    return f"{built.name}_{FUNCTIONS[entry]}"


def score_size_of(emission: Emission) -> int:
    """Return the bytes of a score; 1 if the C has none."""
    found = _SCORE.search("".join(emission.files.values()))
    return int(found[1]) // 8 if found else 1


@dataclass(frozen=True)
class LinkedProgram:
    """Machine code with the symbols of the entry points to prove."""

    code: Code
    symbols: Mapping[str, str]  # By entry point
    toolchain: str | None = None  # Compiler and level
    kernel: str | None = None
    score_size: int = 1  # Bytes of a score


def linked_program(
    model: Model, emission: Emission, bench: Toolchain, level: str, entries: Iterable[str]
) -> LinkedProgram:
    """Return the program of emitted C."""
    code, symbols = build(model, emission, bench, level, entries)
    toolchain = f"{bench.compiler} {level}"
    return LinkedProgram(code, symbols, toolchain, emission.kernel, score_size_of(emission))


def verdict_of(
    model: Model,
    program: LinkedProgram,
    entry: str,
    *,
    time_limit: float | None = None,
    digest: str = "",
    recorder: Recorder | None = None,
) -> Verdict:
    """Return the verdict about one entry point, with the digests of program and model."""
    from bncc.prove.prove import prove  # only here: it loads the decoder

    found = prove(
        model,
        program.code,
        program.symbols[entry],
        entry,
        time_limit=time_limit,
        score_size=program.score_size,
        recorder=recorder,
    )
    return replace(found, elf=program.code.sha256, toolchain=program.toolchain, model=digest)


def build(
    model: Model, emission: Emission, bench: Toolchain, opt_level: str, entries: Iterable[str]
) -> tuple[Code, dict[str, str]]:
    """
    Compile and link emitted C, and return its machine code with the symbol of each entry point.

    The program is the test harness, which calls every entry point. The model is an object of its
    own, so that no entry point is inlined into a caller.
    """
    built = sources_of(model, emission)
    symbols = {entry: symbol_of(built, entry) for entry in entries}
    with TemporaryDirectory(prefix="bncc-") as folder:
        builder = Builder(Path(folder), bench.target, bench.compiler, is_metered=True)
        model_at = model_object(builder, built, opt_level)
        image = link_program(builder, bench.simulator, "harness", model_at)
        code = code_of(image.path, bench.target)
    for symbol in symbols.values():
        code.entry(symbol)
    return code, symbols


def image_of(path: Path, target: Target, symbol: str) -> Code:
    """Read an ELF file of the user; refuse one for another processor or without the symbol."""
    with path.open("rb") as file:
        header = file.read(_FLAGS.stop)
    if len(header) < _HEADER or header[:4] != b"\x7fELF":
        raise OptionError(f"{path} is not an ELF file; pass a linked program")
    # 32 bits, least significant byte first
    if (
        header[4:6] != b"\x01\x01"
        or struct.unpack("<H", header[18:20])[0] != _MACHINES[target.name]
    ):
        raise OptionError(f"{path} is not a program for {target.name}; pass another --target")
    family = int.from_bytes(header[_FLAGS], "little") & 0x7F
    if target.name == "avr" and family not in _AVR_FAMILIES:
        raise OptionError(
            f"{path} is for a processor of the family avr{family}; proofs cover AVRs with a "
            "16-bit program counter, up to 128 KiB of flash"
        )
    if struct.unpack("<H", header[16:18])[0] == 1:
        raise OptionError(f"{path} is an object that is not linked; pass the linked program")
    try:
        code = code_of(path, target)
    except OSError:
        raise
    except Exception:  # elftools raises whatever its parser meets in a damaged file
        raise OptionError(f"{path} is a damaged ELF file; link the program again") from None
    code.entry(symbol)
    return code
