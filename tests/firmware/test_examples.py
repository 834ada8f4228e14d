"""The firmware examples build, run in a simulator, agree with Python, and detect errors."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware_examples import figures
from tests.docs.blocks import blocks, matches

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "firmware_examples"
BNCC = f"{shlex.quote(sys.executable)} -m bncc"
TOOLS = {
    "uno": ("avr-gcc", "simavr"),
    "microbit": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "netduinoplus2": ("arm-none-eabi-gcc", "qemu-system-arm"),
    "rv32_virt": ("riscv64-unknown-elf-gcc", "qemu-system-riscv32"),
}
BOARDS = {name: figures.board_of(EXAMPLES / name) for name in figures.names()}
AS_MEASURED = ("5.4.0", "12.2.0", "12.2.1")
"""Versions of gcc whose figures the documents show."""

pytestmark = pytest.mark.firmware


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """
    Return a copy of the examples and of their dependencies, without build products.

    The name of its folder has a space, as those of many users have.
    """
    root = tmp_path_factory.mktemp("a clone")
    ignored = shutil.ignore_patterns("build", "__pycache__")
    shutil.copytree(EXAMPLES, root / "firmware_examples", ignore=ignored)
    bundled = Path("bncc") / "data" / "bundled"
    shutil.copytree(ROOT / bundled, root / bundled)
    return root / "firmware_examples"


@pytest.fixture(scope="module")
def example(clone: Path, require_tool: Callable[[str], str]) -> Callable[[str], Path]:
    """Return ``example(name) -> folder``, which skips where a tool of its board is missing."""

    def find(name: str) -> Path:
        for tool in ("make", *TOOLS[BOARDS[name]]):
            require_tool(tool)
        return clone / name

    return find


@pytest.fixture(scope="module")
def measured(example: Callable[[str], Path]) -> Callable[[str], figures.Figures]:
    """Return ``measured(name)``: the output of an example, which is run once."""
    found: dict[str, figures.Figures] = {}

    def measure(name: str) -> figures.Figures:
        folder = example(name)
        if name not in found:
            found[name] = figures.measure(folder, BNCC)
        return found[name]

    return measure


def run(folder: Path, *arguments: str, target: str = "run") -> subprocess.CompletedProcess[str]:
    """Run make with the bncc of this environment."""
    command = ["make", target, f"BNCC={BNCC}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def change(path: Path, pattern: str, new: str) -> Callable[[], None]:
    """Change one place of a file; return what changes it back."""
    old = path.read_text("utf-8")
    changed, n = re.subn(pattern, new, old, count=1)
    assert n == 1
    assert changed != old
    path.write_text(changed, "utf-8")
    return lambda: path.write_text(old, "utf-8") and None


def other(match: re.Match[str]) -> str:
    """Return a list of classes with another first class."""
    return f"{match[1]}{'1U' if match[2] == '0U' else '0U'}"


@pytest.mark.parametrize("name", BOARDS)
def test_an_example_runs_and_says_what_the_documents_say(
    name: str,
    measured: Callable[[str], figures.Figures],
    require_tool: Callable[[str], str],
) -> None:
    """All vectors and rows agree; bytes, counts and errors are those of docs/firmware.md."""
    found = measured(name)
    gcc = require_tool(TOOLS[BOARDS[name]][0])
    done = subprocess.run([gcc, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True)
    if done.stdout.strip() not in AS_MEASURED:
        pytest.skip(f"docs/firmware.md speaks of other compilers than gcc {done.stdout.strip()}")
    assert figures.line(found) in figures.PAGE.read_text("utf-8"), "run make firmware-page"


def test_digits_fit_the_uno_and_print_what_the_page_shows(
    measured: Callable[[str], figures.Figures], clone: Path
) -> None:
    """16 KB of flash, 400 bytes of RAM, 20 ms at 16 MHz, an error of 5 %: everything included.

    The page shows the picture, the self-test, and PASS.
    """
    found = measured("uno_digits")
    assert found.error is not None
    assert found.error <= 0.05
    assert found.flash <= 16 * 1024
    assert found.ram + found.stack <= 400
    assert found.unit == "cycles"
    assert found.most <= 20 * figures.UNO_CYCLES_PER_MS
    if figures.line(found) not in figures.PAGE.read_text("utf-8"):
        pytest.skip("another compiler counts otherwise")
    (shown,) = (block.text for block in blocks(figures.PAGE) if block.language == "text")
    said = (clone / "uno_digits" / "build" / "simulated" / "run.txt").read_text("utf-8")
    assert matches(shown, said)


def test_windows_on_the_board_are_those_of_the_test_error(
    measured: Callable[[str], figures.Figures],
) -> None:
    """All test recordings of gestures are in the image: as many windows are wrong as in Python."""
    found = measured("stm32f4_gestures")
    assert found.error is not None
    assert found.rows == 135
    assert found.rows - found.right == pytest.approx(found.error * found.rows)


def test_the_page_shows_every_example() -> None:
    """A new example has to be measured, and named in the overview."""
    page = figures.PAGE.read_text("utf-8")
    overview = (EXAMPLES / "README.md").read_text("utf-8")
    for name in figures.names():
        assert f"| `{name}` |" in page
        assert f"| [{name}]({name}/) |" in overview


def test_activity_fits_two_kilobytes(example: Callable[[str], Path]) -> None:
    """The whole program fits, without the self-test."""
    done = run(example("uno_activity"), "SELFTEST=0")
    assert done.returncode == 0, done.stderr
    assert "PASS" in done.stdout
    (flash,) = re.findall(r"^flash: (\d+) bytes", done.stdout, re.MULTILINE)
    assert int(flash) <= 2 * 1024


@pytest.mark.parametrize(
    "name", ["uno_activity", "rv32_rooms", "microbit_occupancy", "rv32_ecg", "uno_exercises"]
)
def test_a_corrupted_vector_or_row_is_noticed(name: str, example: Callable[[str], Path]) -> None:
    """
    One vector, one label or one answer with another class, and the run fails.

    In recordings, also where a window ends, or a recording, at another sample.
    """
    folder = example(name)
    (model,) = folder.glob("*.bncc")
    out = folder / "build" / "simulated"
    run(folder, target="all")
    is_recorded = figures.takes_samples(folder)
    rows = "{}_recordings.h" if is_recorded else "{}_rows.h"
    more = ("ends", "lengths") if is_recorded else ()
    for file in ("vector_classes", "labels", "answers", *more):
        header = "model/{}_vectors.h" if file == "vector_classes" else rows
        pattern = re.compile(rf"({model.stem}_{file}\[\d+\][^{{]*\{{\s*)(\d+U)")
        restore = change(out / header.format(model.stem), pattern.pattern, other)
        done = run(folder)
        restore()
        assert done.returncode != 0, file
        assert "FAIL" in done.stdout, file
    assert run(folder).returncode == 0


@pytest.mark.parametrize("name", ["uno_activity", "rv32_rooms", "microbit_occupancy"])
def test_a_broken_image_is_noticed(name: str, example: Callable[[str], Path]) -> None:
    """A program that is all zeros from its first instruction on."""
    folder = example(name)
    run(folder, target="all")
    (image,) = (folder / "build" / "simulated").glob("*.elf")
    whole = image.read_bytes()
    (folder / "nothing").write_bytes(bytes(len(whole)))
    objcopy = TOOLS[BOARDS[name]][0].replace("gcc", "objcopy")
    subprocess.run([objcopy, "--update-section", ".text=nothing", image], cwd=folder, check=True)
    broken = run(folder, "LIMIT=3")
    image.write_bytes(whole)
    assert broken.returncode != 0, broken.stdout
    assert run(folder).returncode == 0


@pytest.mark.parametrize(
    ("name", "statement", "words"),
    [
        ("uno_activity", "for (;;) { }", "ended with 124"),
        ("rv32_rooms", "for (;;) { }", "ended with 124"),
        ("microbit_occupancy", "for (;;) { }", "ended with 124"),
        ("rv32_rooms", "__builtin_trap();", "ended with 1\n"),
        ("microbit_occupancy", "__builtin_trap();", "ended with 1\n"),
        ("stm32f4_gestures", "__builtin_trap();", "ended with 1\n"),
    ],
)
def test_a_program_that_hangs_or_meets_a_fault_is_noticed(
    name: str, statement: str, words: str, example: Callable[[str], Path]
) -> None:
    """A timeout, or the fault handler reports the fault and ends the simulation."""
    folder = example(name)
    restore = change(folder / "main.c", r"(board_begin\(\);)", rf"\1 {statement}")
    done = run(folder, "LIMIT=1" if "for" in statement else "LIMIT=20")
    restore()
    assert done.returncode != 0
    assert words in done.stderr
    assert ("FAULT" in done.stdout) == ("trap" in statement)


def take_model(folder: Path) -> None:
    """Give the image for hardware the model's C and the rows of the simulated one: they agree."""
    (model,) = folder.glob("*.bncc")
    simulated, hardware = (folder / "build" / kind for kind in ("simulated", "hardware"))
    rows = f"{model.stem}_{'recordings' if figures.takes_samples(folder) else 'rows'}.h"
    done = run(folder, f"build/simulated/{rows}", target=f"build/simulated/model/{model.stem}.c")
    assert done.returncode == 0, done.stderr
    shutil.copytree(simulated / "model", hardware / "model")
    shutil.copy2(simulated / rows, hardware / rows)


@pytest.mark.parametrize("name", [n for n in BOARDS if BOARDS[n] != "rv32_virt"])
def test_the_image_for_hardware_builds(
    name: str, example: Callable[[str], Path], require_tool: Callable[[str], str]
) -> None:
    """It has no breakpoint of semihosting in it."""
    folder = example(name)
    objdump = require_tool(TOOLS[BOARDS[name]][0].replace("gcc", "objdump"))
    if name != "uno_activity":  # whose model is emitted again; the others use the existing files
        take_model(folder)
    assert run(folder, "SIMULATED=0", target="all").returncode == 0
    (image,) = (folder / "build" / "hardware").glob("*.elf")
    said = subprocess.run([objdump, "-d", str(image)], capture_output=True, text=True, check=True)
    assert "bkpt" not in said.stdout


def test_bncc_may_be_in_a_folder_with_a_space(clone: Path, tmp_path: Path, require_tool) -> None:
    """``BNCC`` is a path, or words."""
    require_tool("make")
    program = tmp_path / "my tools" / "bncc"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {BNCC} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    folder, made = clone / "rv32_rooms", Path("build") / "simulated" / "model" / "rooms.c"
    for bncc in (str(program), BNCC):
        shutil.rmtree(folder / "build", ignore_errors=True)
        command = ["make", str(made), f"BNCC={bncc}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (folder / made).is_file()


def test_what_is_missing_is_said_in_a_sentence(clone: Path, require_tool) -> None:
    """The error names the program and the remedy; a simulated board cannot be flashed."""
    require_tool("make")
    (clone / "rv32_rooms" / "rooms.bncc").touch()
    for arguments, words in (
        (["model", "BNCC=no-such-bncc"], "no-such-bncc is not installed; name it"),
        (["run", f"BNCC={BNCC}", "CROSS=no-such-"], "no-such-gcc is not installed; apt"),
        (["flash"], "there is nothing to flash"),
    ):
        done = subprocess.run(
            ["make", *arguments], cwd=clone / "rv32_rooms", capture_output=True, text=True
        )
        assert done.returncode != 0
        assert words in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "uno_node",  # by counting: the same on every machine
        *(
            pytest.param(name, marks=pytest.mark.slow)  # as long as their floats round alike
            for name in ("microbit_occupancy", "rv32_rooms", "uno_activity", "uno_digits")
        ),
        *(
            pytest.param(name, marks=pytest.mark.slow)  # and compilers write the same code
            for name in ("rv32_ecg", "stm32f4_gestures", "uno_exercises")
        ),
    ],
)
def test_the_model_trains_to_the_same_bytes(name: str, clone: Path, require_tool) -> None:
    """Trained from the rows or recordings that ship."""
    measures = TOOLS[BOARDS[name]] if figures.takes_samples(EXAMPLES / name) else ()
    for tool in ("make", "gcc", *measures):
        require_tool(tool)
    done = run(clone / name, target="model")
    assert done.returncode == 0, done.stderr
    (model,) = (clone / name).glob("*.bncc")
    assert model.read_bytes() == (EXAMPLES / name / model.name).read_bytes()
