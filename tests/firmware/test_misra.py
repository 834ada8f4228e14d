"""cppcheck and its MISRA add-on find in emitted C what docs/SPEC.md lists, and nothing else."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.firmware.analyzed import SPECIAL, STUBS, Analyzed, all_of, few, planted, write, write_all
from tests.firmware.machines import MODELS

pytestmark = pytest.mark.firmware
PLATFORMS = {
    "avr8": ("-D__AVR__", "-D__AVR_HAVE_LPMX__", "-D__GNUC__=5", f"-I{STUBS}"),
    "unix32": ("-D__GNUC__=12", "-D__riscv", "-U__AVR__"),
    "unix64": ("-D__x86_64__", "-U__GNUC__", "-U__AVR__"),
}
"""Widths of types by cppcheck's name, and the branches of the preprocessor that go with them: an
AVR, a GNU compiler for 32 bits, and a compiler without GNU extensions."""
FEW = few()
MOST_LINES = 1500
"""Maximum length of a file that the slow tests check."""


@dataclass(frozen=True)
class Finding:
    """One line of cppcheck's report."""

    file: str
    line: int
    name: str
    message: str


@dataclass(frozen=True)
class Deviation:
    """A rule that docs/SPEC.md lists: where it applies, and whether cppcheck supports it."""

    rule: str
    places: tuple[str, ...]
    is_seen: bool


def listed() -> dict[str, Deviation]:
    """Return the table in docs/SPEC.md by rule; code in its second column is where it applies."""
    text = (ROOT / "docs" / "SPEC.md").read_text(encoding="utf-8")
    section = text.split("## Deviations from MISRA C\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()
            if re.match(r"\| (rules?|directive) \d", line)]  # fmt: skip
    return {
        rule.split()[1]: Deviation(
            rule.split()[1], tuple(re.findall("`([^`]+)`", where)), seen == "yes"
        )
        for rule, where, _why, seen in rows
    }


def cppcheck(folder: Path, sources: tuple[str, ...], platform: str) -> list[Finding]:
    """Return all that cppcheck finds with every check on."""
    done = subprocess.run(
        ("cppcheck", "--quiet", "--enable=all", "--addon=misra", "--std=c99",
         f"--platform={platform}", *PLATFORMS[platform], "--suppress=missingIncludeSystem",
         "--template={file}|{line}|{id}|{message}", *sources),
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = [line.split("|", 3) for line in done.stderr.splitlines()]
    return [Finding(file, int(line), name, message) for file, line, name, message in lines]


def unexplained(found: list[Finding], batch: Mapping[str, Mapping[str, str]]):
    """Return the findings by emission that are no listed deviation and no unused entry point.

    Parameters
    ----------
    found : list of Finding
        What cppcheck reports of all emissions.
    batch : mapping of str to mapping of str to str
        The files of each emission.
    """
    owners = {file: name for name, files in batch.items() for file in files}
    left = defaultdict(list)
    for finding in found:
        files = batch[owners[finding.file]]
        header = next(
            text for file, text in files.items() if not file.endswith(("_vectors.h", ".c"))
        )
        line = files[finding.file].splitlines()[finding.line - 1]
        rule = finding.name.removeprefix("misra-c2012-")
        if finding.name == "unusedFunction":
            # The interface: cppcheck sees the library, not the program that calls it.
            is_fine = f"{finding.message.split(chr(39))[1]}(" in header
        else:
            places = LISTED[rule].places if rule in LISTED else ()
            is_fine = is_false(finding, line) or any(code in line for code in places)
        if not is_fine:
            left[owners[finding.file]].append(finding)
    return dict(left)


def is_false(finding: Finding, line: str) -> bool:
    """Return whether a finding on a line is a false positive by `FALSE`."""
    return any(code in line for name, code in FALSE if name == finding.name)


LISTED = listed()
FALSE = {
    # MISRA gives ~ the type of its operand; cppcheck gives that of one byte the type int.
    ("misra-c2012-10.4", "& ~bit"),
    # It is used where NAME_SELFTEST_CRC is defined.
    ("misra-c2012-2.5", "_CONSTANTS_CRC "),
    # A pointer into the caller's struct, through which nothing is read before it is written.
    ("ctuuninitvar", "cost = s->cost;"),
    # Enumerations without a tag have no tag in common.
    ("misra-c2012-5.7", "enum {"),
    # Both operators have parentheses; cppcheck misses those of a conditional in two lines.
    ("misra-c2012-12.1", "? (t + "),
    # The sum of a reading's bits and a number wraps around, which cppcheck does not follow.
    ("knownConditionTrueFalse", "(uint8_t)((uint8_t)x"),
    ("knownConditionTrueFalse", "(uint16_t)((uint16_t)x"),
    # One run reads several self-tests, each a program of its own.
    ("misra-c2012-8.6", "int main(void)"),
}
"""False positives of cppcheck: the rule, and code on the line."""


def files_of(batch: Iterable[Analyzed]) -> dict[str, Mapping[str, str]]:
    """Return the files of each emission of a batch."""
    return {f"{each.options.name} {each}": each.files for each in batch}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_cppcheck_finds_only_the_listed_deviations(platform, require_tool, tmp_path):
    """Platforms take turns; cases beyond the kernels are checked for AVR, see below."""
    require_tool("cppcheck")
    batch = FEW[len(SPECIAL) :][list(PLATFORMS).index(platform) :: len(PLATFORMS)]
    found = cppcheck(tmp_path, write_all(batch, tmp_path), platform)
    assert unexplained(found, files_of(batch)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("model", MODELS)
def test_cppcheck_finds_only_the_listed_deviations_in_any_kernel(
    model, platform, require_tool, tmp_path
):
    """Limited by time, which grows with the square of a table's length."""
    require_tool("cppcheck")
    batch = [
        analyzed for analyzed in all_of(model)
        if all(text.count("\n") <= MOST_LINES for text in analyzed.files.values())
    ]  # fmt: skip
    found = cppcheck(tmp_path, write_all(batch, tmp_path), platform) if batch else []
    assert unexplained(found, files_of(batch)) == {}


@pytest.mark.long
def test_cppcheck_finds_every_listed_deviation_that_it_knows_and_no_other(require_tool, tmp_path):
    """A rule that no emitted C violates any more must leave the table."""
    require_tool("cppcheck")
    batch = FEW[: len(SPECIAL)]
    found = cppcheck(tmp_path, write_all(batch, tmp_path), "avr8")
    # Alone too: in a run of several files, enumerations without a tag count as used.
    found += cppcheck(tmp_path, batch[0].sources, "avr8")
    assert unexplained(found, files_of(batch)) == {}
    files = {file: text for analyzed in batch for file, text in analyzed.files.items()}
    lines = {file: text.splitlines() for file, text in files.items()}
    rules = {
        finding.name.removeprefix("misra-c2012-")
        for finding in found
        if finding.name.startswith("misra")
        and not is_false(finding, lines[finding.file][finding.line - 1])
    }
    assert rules == {rule for rule, deviation in LISTED.items() if deviation.is_seen}


@pytest.mark.parametrize(
    ("defect", "name"),
    [
        ("const int16_t two[2] = { 0, 0 };\n    return two[2];", "arrayIndexOutOfBounds"),
        ("int16_t best;\n    return best;", "uninitvar"),
        ("goto end;\nend:\n    return 0;", "misra-c2012-15.1"),
        ("uint16_t wide = 0U;\n    wide += 1;\n    return (int16_t)wide;", "misra-c2012-10.4"),
    ],
    ids=["out of bounds", "uninitialized", "a rule that is not listed", "types mixed"],
)
def test_a_planted_defect_is_found(defect, name, require_tool, tmp_path):
    """In one file among others, and it alone is named."""
    require_tool("cppcheck")
    files = planted(defect)
    write(files, tmp_path)
    sound = write_all(FEW[:2], tmp_path)
    found = cppcheck(tmp_path, (sound[0], "m.c", *sound[1:]), "unix32")
    left = unexplained(found, {**files_of(FEW[:2]), "planted": files})
    assert list(left) == ["planted"]
    assert name in {finding.name for finding in left["planted"]}
