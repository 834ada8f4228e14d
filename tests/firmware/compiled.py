"""Many emissions compiled together for one target, and inspected together.

A compiler takes many sources in one run and a disassembler many objects; the culprit is searched
only after a failure.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.firmware.machines import Machine

STANDARDS: Mapping[str, tuple[str, ...]] = {
    "c99": ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS),
    "c11": ("-std=c11", *STRICT_FLAGS, *STRICT_C_FLAGS),
    "c++17": ("-xc++", "-std=c++1z", *STRICT_FLAGS),
}


def classifier(files: Mapping[str, str]) -> dict[str, str]:
    """Return the C and the headers without self-test and vectors, which are slow to search."""
    wanted = re.compile(r"(?!.*_(?:selftest|vectors)\.[ch]$).*\.[ch]$")
    return {file: files[file] for file in files if wanted.match(file)}


def renamed(files: Mapping[str, str], name: str) -> dict[str, str]:
    """Return a classifier's files with another prefix of all names."""
    (old,) = (file[:-2] for file in files if file.endswith(".h") and f"{file[:-2]}.c" in files)
    pattern = re.compile(rf"\b(?:{old}|{old.upper()})(?=_|\.[ch]\b)")

    def other(found: re.Match[str]) -> str:
        return name if found[0] == old else name.upper()

    return {
        re.sub(rf"^{old}(?=_|\.)", name, file): pattern.sub(other, text)
        for file, text in classifier(files).items()
    }


def write_all(folder: Path, emissions: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """Write emissions into one folder, under names after their keys; return these names."""
    names = {key: f"m_{re.sub(r'[^a-z0-9]+', '_', key.lower())}" for key in emissions}
    assert len(set(names.values())) == len(names)
    for key, files in emissions.items():
        for file, text in renamed(files, names[key]).items():
            (folder / file).write_text(text, encoding="utf-8")
    return tuple(names.values())


def compile_as_one(
    machine: Machine, folder: Path, names: Sequence[str], flags: Sequence[str]
) -> None:
    """Compile sources as one, which takes half as long; a warning fails the test."""
    text = "".join(f'#include "{name}.c"\n' for name in names)
    (folder / "as_one.c").write_text(text, encoding="utf-8")
    machine.compile(folder, ("as_one.c",), *flags)


def faults(
    machine: Machine,
    folder: Path,
    names: Sequence[str],
    levels: Sequence[str],
    flags: Sequence[str] = STANDARDS["c99"],
    *,
    may_call: bool = False,
) -> dict[str, set[str]]:
    """Compile at each level; return by name what multiplies, divides or is called elsewhere.

    A warning of the compiler fails the test.
    """
    found: dict[str, set[str]] = {}
    for level in levels:
        machine.compile(folder, tuple(f"{name}.c" for name in names), *flags, level)
        if _wrong(machine, folder, names, may_call):
            for name in names:
                if wrong := _wrong(machine, folder, [name], may_call):
                    found[f"{name} {level}"] = wrong
    return found


def _wrong(machine: Machine, folder: Path, names: Sequence[str], may_call: bool) -> set[str]:
    objects = tuple(f"{name}.o" for name in names)
    instructions = machine.mnemonics(folder, objects)
    assert len(instructions) > 15 * len(names)
    wrong = {each for each in set(instructions) if re.fullmatch(machine.multiplies, each)}
    return wrong if may_call else wrong | machine.undefined(folder, objects)
