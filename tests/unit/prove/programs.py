"""Linked programs that the tests of proofs read and call."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from bncc.device.cross import Toolchain, link_program
from bncc.device.image import Builder, model_object
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from bncc.prove.code import Code, code_of
from bncc.prove.replay import patched

ENTRIES = frozenset({"raw", "scores", "trusted"})


def linked_model(folder: Path, bench: Toolchain, model: Model, level: str = "-Os") -> Code:
    """Return the program of a model, named ``m``, with every entry point of `ENTRIES`."""
    built = sources(model, emit_c(model, EmitOptions("m", ENTRIES)).files)
    builder = Builder(folder, bench.target, bench.compiler)
    image = link_program(builder, bench.simulator, "harness", model_object(builder, built, level))
    return code_of(image.path, bench.target)


def linked(folder: Path, bench: Toolchain, source: str, names: list[str]) -> Code:
    """Return a program with functions in C or assembly, none of which may be dropped."""
    builder = Builder(folder, bench.target, bench.compiler, is_foreign=True)
    declared = "\n".join(f"extern char {name}[];" for name in names)
    kept = "\n".join(f"(void)*(volatile char *){name};" for name in names)
    builder.write(
        {"p.c": source, "main.c": f"{declared}\nint main(void)\n{{\n{kept}\nreturn 0;\n}}\n"}
    )
    parts = [builder.compile(f"{part}.c", f"{part}.o", "-Os") for part in ("p", "main")]
    return code_of(builder.link("p.elf", *parts).path, bench.target)


def mutants(code: Code, symbol: str, rng: Random, n: int) -> Iterator[Code]:
    """Yield programs with one bit changed from the start of a function on."""
    start, size = code.entry(symbol) & ~1, 600
    for _ in range(n):
        old = None
        while old is None:
            at = start + rng.randrange(size)
            old = code.bytes_at(at, 1)
        yield patched(code, at, bytes([old[0] ^ 1 << rng.randrange(8)]))
