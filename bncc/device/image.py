"""A program for a target: compiled, linked, and the contents of its ELF file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from bncc.device.sources import Sources, support_file
from bncc.errors import MisfitError, ToolchainError
from bncc.targets.base import Target
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS, Tool, run

MOST_OBJECTS = 64
"""Largest number of objects of glue code that are kept."""
_STUB = ".stub"
_TEXT = ".text."
_STACK_SIZES = ".stack_sizes"
"""Section of clang: a function's address, and the bytes of its frame in LEB128."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_INCLUDED = re.compile(r'#include "([^"]+)"')
_OBJECTION = re.compile(r'#error "\w+: (.+)"')
"""Error message in emitted C that cannot serve a target, a sentence with the remedy."""
_OVERFLOW = re.compile(r"will not fit in region|overflow|relocation truncated|out of range")
"""Linker messages for a program that is too large."""

_STRICT = (*STRICT_FLAGS, *STRICT_C_FLAGS)
_LENIENT = ("-Wno-error=maybe-uninitialized",)
_COMMON = (
    "-std=c99", "-ffunction-sections", "-fdata-sections", "-fomit-frame-pointer",
    "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g0",
)  # fmt: skip
_ZIG_ONLY = ("-fno-sanitize=undefined", "-fno-stack-protector")


@dataclass(frozen=True)
class Image:
    """A linked program."""

    path: Path  # The ELF file
    target: Target  # Target that it runs on

    @cached_property
    def _sections(self) -> tuple[tuple[int, bool, bool], ...]:
        """Size, writability and presence in the file of every section that occupies memory."""
        with self.path.open("rb") as file:
            return tuple(
                (
                    section["sh_size"],
                    bool(section["sh_flags"] & SH_FLAGS.SHF_WRITE),
                    section["sh_type"] != "SHT_NOBITS",
                )
                for section in ELFFile(file).iter_sections()
                if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section.name != _STUB
            )

    @property
    def flash(self) -> int:
        """Bytes of code, constants and initial values, without the stub classifier."""
        return sum(size for size, _, is_stored in self._sections if is_stored)

    @property
    def ram(self) -> int:
        """Bytes of variables, without the stack."""
        return sum(size for size, is_writable, _ in self._sections if is_writable)

    @cached_property
    def symbols(self) -> Mapping[str, int]:
        """Addresses by name."""
        with self.path.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            if not isinstance(table, SymbolTableSection):
                return {}
            return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}

    @cached_property
    def segments(self) -> tuple[tuple[int, bytes], ...]:
        """Load address and content of every segment in the file."""
        with self.path.open("rb") as file:
            return tuple(
                (segment["p_paddr"], segment.data())
                for segment in ELFFile(file).iter_segments()
                if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]
            )


@dataclass(frozen=True)
class Builder:
    """Compiles and links for one target with one compiler, in one folder."""

    folder: Path  # Folder of sources and objects
    target: Target  # The target
    tool: Tool  # A compiler that builds for it
    # True if the classifier's C is not bncc's: warnings are then ignored, and it may use the
    # mathematics library
    is_foreign: bool = False
    # True for measurements, which a doubt of the compiler about an initialization must not stop:
    # gcc 12 does not see that the first round of a loop over tables initializes all sums
    is_metered: bool = False

    @property
    def code_flags(self) -> tuple[str, ...]:
        """The options that affect code, without the optimization level."""
        return tuple(flag for flag in self._flags if not flag.startswith(("-W", "-pedantic", "-g")))

    @property
    def _flags(self) -> tuple[str, ...]:
        zig = _ZIG_ONLY if self.tool.name == "ziglang" else ()
        return (*self.target.flags[self.tool.name], *self._warnings, *_COMMON, *zig)

    @property
    def _warnings(self) -> tuple[str, ...]:
        if not self.is_foreign:
            is_lenient = self.is_metered and self.tool.name.endswith("gcc")
            return (*_STRICT, *(_LENIENT if is_lenient else ()))
        return ("-w",) if self._has_headers else ("-w", "-ffreestanding")

    @property
    def _has_headers(self) -> bool:
        """True if the compiler includes a C library, with its headers and mathematics."""
        return self.target.brings_runtime or self._has_libc()

    def write(self, files: Mapping[str, str]) -> None:
        """Write sources into the folder."""
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8", newline="\n")

    def compile(
        self, source: str, to: str, opt_level: str, *defines: str, flags: tuple[str, ...] = ()
    ) -> str:
        """Compile one source of the folder and return the name of the object."""
        command = (*self._command(opt_level, *defines), *flags, "-c", source, "-o", to)
        try:
            run(command, self.folder)
        except ToolchainError as error:
            said = _OBJECTION.search(str(error))
            raise MisfitError(said[1]) if said else error from None
        return to

    def compile_glue(self, source: str, to: str, opt_level: str, *defines: str) -> str:
        """
        Compile a file of this package with the headers in the folder; return the object's name.

        Models that have the same functions and types have the same glue, which is compiled once.
        """
        text = support_file(source)
        headers = tuple(sorted(self._included(text).items()))
        found = _compiled(self._command(opt_level, *defines), source, text, headers)
        (self.folder / to).write_bytes(found)
        return to

    def _included(self, text: str) -> Mapping[str, str]:
        """Return the headers of the folder that a text includes, also indirectly, by name."""
        found: dict[str, str] = {}
        new = _INCLUDED.findall(text)
        while new:
            name = new.pop()
            if name not in found and (self.folder / name).exists():
                header = (self.folder / name).read_text(encoding="utf-8")
                found[name] = _COMMENT.sub(" ", header)
                new += _INCLUDED.findall(header)
        return found

    def _command(self, opt_level: str, *defines: str) -> tuple[str, ...]:
        macros = (f"-D{define}" for define in defines)
        return (*self.tool.command, *self._flags, opt_level, *macros)

    def link(self, to: str, *objects: str) -> Image:
        """Link objects with start-up code and the compiler's libraries."""
        command = (*self.tool.command, *self.target.flags[self.tool.name], "-Wl,--gc-sections")
        parts, libraries = ((), ()) if self.target.brings_runtime else self._bare
        if self.is_foreign and self._has_headers:
            libraries = ("-lm", *libraries)
        try:
            run((*command, *parts, *objects, *libraries, "-o", to), self.folder)
        except ToolchainError as error:
            if _OVERFLOW.search(str(error)) is None:
                raise
            raise MisfitError(
                f"the program does not fit in the memory of {self.target.name}; train with fewer "
                "bits or fewer features"
            ) from None
        return Image(self.folder / to, self.target)

    @cached_property
    def _bare(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return link inputs for a bare-metal image: options with start-up code, and libraries."""
        script = support_file("bare.ld")
        places = {"ROM": hex(self.target.rom), "RAM": hex(self.target.ram),
                  "ALIGN": str(self.target.code_align)}  # fmt: skip
        for name, value in places.items():
            script = script.replace(f"@{name}@", value)
        self.write({"bare.ld": script})
        start = self.compile_glue("startup.c", "startup.o", "-O2")
        options = ("-T", "bare.ld", "-Wl,--entry=bncc_start")
        if self.tool.name == "ziglang":
            return (*options, start), ()  # brings its own runtime library
        if self._has_libc():
            return (*options, "-nostartfiles", start), ("-lc", "-lgcc")
        memory = self.compile_glue("memory.c", "memory.o", "-O2")
        return (*options, "-static", "-nostdlib", start, memory), ("-lgcc",)

    def _has_libc(self) -> bool:
        """Return whether the compiler includes a C library for bare-metal targets."""
        if not self.tool.name.endswith("-eabi-gcc"):
            return False
        return _finds_libc((*self.tool.command, *self.target.flags[self.tool.name]))


@lru_cache(maxsize=MOST_OBJECTS)
def _compiled(
    command: tuple[str, ...], source: str, text: str, headers: tuple[tuple[str, str], ...]
) -> bytes:
    """Compile a source with some headers, by their names and texts, and return the object."""
    with TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        for file, content in ((source, text), *headers):
            (folder / file).write_text(content, encoding="utf-8", newline="\n")
        run((*command, "-c", source, "-o", "glue.o"), folder)
        return (folder / "glue.o").read_bytes()


@cache
def _finds_libc(command: tuple[str, ...]) -> bool:
    """Return whether a compiler with some flags finds a C library."""
    return Path(run((*command, "-print-file-name=libc.a"), Path()).strip()).is_absolute()


def calls_of(path: Path) -> Mapping[str, frozenset[str]]:
    """Return the functions that each function of an object calls or jumps to, except itself."""
    called: dict[str, set[str]] = {}
    with path.open("rb") as file:
        elf = ELFFile(file)
        for section in elf.iter_sections():
            if not isinstance(section, RelocationSection) or _TEXT not in section.name:
                continue
            caller = section.name.partition(_TEXT)[2]
            symbols = elf.get_section(section["sh_link"])
            assert isinstance(symbols, SymbolTableSection)
            for relocation in section.iter_relocations():
                symbol = symbols.get_symbol(relocation["r_info_sym"])
                at = symbol["st_shndx"]
                home = f"{_TEXT}{symbol.name}" if at == "SHN_UNDEF" else elf.get_section(at).name
                if home.startswith(_TEXT) and home not in (_TEXT, f"{_TEXT}{caller}"):
                    called.setdefault(caller, set()).add(home.removeprefix(_TEXT))
    return {caller: frozenset(names) for caller, names in called.items()}


def frames_of(path: Path) -> Mapping[str, int]:
    """Return the bytes of every function's stack frame, from clang's ``-fstack-size-section``."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        return {
            elf.get_section(section["sh_link"]).name.partition(_TEXT)[2]: _uleb128(
                section.data()[elf.elfclass // 8 :]
            )
            for section in elf.iter_sections()
            if section.name == _STACK_SIZES
        }


def _uleb128(data: bytes) -> int:
    """Return the number encoded in LEB128 bytes, 7 bits each, the lowest first."""
    return sum((byte & 0x7F) << 7 * k for k, byte in enumerate(data))


def model_object(builder: Builder, built: Sources, opt_level: str) -> str:
    """Compile an emitted model and return the name of its object."""
    builder.write(built.files)
    return builder.compile(built.main, f"{built.name}{opt_level}.o", opt_level)
