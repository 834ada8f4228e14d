"""The documents say what is: their examples run, their links lead somewhere."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import readme_table
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.file import load_model

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "firmware_examples/**/*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)


def blocks(language: str) -> list[str]:
    """Return the README's code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def make_targets() -> set[str]:
    """Return the targets that `make help` lists."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))


def run(command: list[str], folder: Path) -> str:
    """Run a command with this environment's bncc first on the path; return what it printed."""
    here = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder that looks like the repository as far as the examples care."""
    bundled = Path("bncc") / "data" / "bundled"
    shutil.copytree(ROOT / bundled, tmp_path / bundled)
    return tmp_path


def test_the_kernel_shown_is_the_kernel_emitted(pytestconfig: pytest.Config) -> None:
    """The C at the top of the README is what bncc emits for the robot of the firmware example."""
    model = load_model(ROOT / "firmware_examples" / "uno_robot" / "robot.bncc")
    emitted = emit_c(model, EmitOptions(name="robot")).files["robot.c"]
    kernel = re.search(r"^static void robot_sum\(.*?^}\n", emitted, re.MULTILINE | re.DOTALL)
    assert kernel is not None
    (shown,) = blocks("c")
    if pytestconfig.getoption("--update-golden"):
        (ROOT / "README.md").write_text(README.replace(shown, kernel.group()), "utf-8")
    assert shown == kernel.group(), "run pytest --update-golden and review README.md"


@pytest.mark.cc
def test_the_command_line_example_runs(checkout: Path, require_tool: Callable[[str], str]) -> None:
    """Every line of the shell example works, from the data to the self-test's exit status."""
    require_tool("gcc")
    _, example = blocks("sh")
    said = run(["bash", "-euc", example], checkout)
    assert "agrees with the Python model, bit for bit" in said


@pytest.mark.cc
def test_the_python_example_runs(checkout: Path, require_tool: Callable[[str], str]) -> None:
    """The scikit-learn example trains, verifies and emits."""
    require_tool("gcc")
    shutil.copy(
        checkout / "bncc/data/bundled/robot_wall_following_24.csv.gz", checkout / "readings.csv.gz"
    )
    shutil.rmtree(checkout / "bncc")
    (example,) = blocks("python")
    said = run([sys.executable, "-c", example], checkout)
    accuracy = re.search(r"accuracy (\d\.\d+)", said)
    assert accuracy is not None
    assert float(accuracy.group(1)) > 0.9
    assert (checkout / "robot_c" / "robot.h").is_file()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_commands_exist(name: str) -> None:
    """Every `make TARGET` that the documents name is a target of the Makefile."""
    text = (ROOT / name).read_text("utf-8")
    commands = re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", text, re.MULTILINE)
    named = {target for command in commands for target in command.split()}
    assert {"test"} <= named <= make_targets()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    """Relative links name existing files, and headings that those files have."""
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}


@pytest.mark.slow
def test_the_table_holds_what_is_measured() -> None:
    """Bytes are exact; errors may move by half a point with another build of torch."""
    for data, settings in readme_table.ROWS:
        measured = readme_table.figures(data, settings, readme_table.train(data, settings)[0])
        row = re.search(
            rf"^\| {data} \| {settings.structure} \| ([\d.]+) % \| ([\d,]+) \|",
            README,
            re.MULTILINE,
        )
        assert row is not None
        assert float(row.group(1)) == pytest.approx(measured.error, abs=0.5)
        assert int(row.group(2).replace(",", "")) == measured.table_bytes


@pytest.mark.firmware
@pytest.mark.parametrize("compiler", ["avr-gcc", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc"])
def test_the_robot_costs_what_the_readme_says(
    compiler: str, require_tool: Callable[[str], str]
) -> None:
    """Bytes, cycles and instructions are the same in every run with the same tools."""
    require_tool(compiler)
    measured = list(readme_table.reports(compiler))
    said = measured[0].toolchain
    if said.split()[1] not in ("5.4.0", "12.2.0", "12.2.1"):
        pytest.skip(f"the README speaks of avr-gcc 5.4 and gcc 12.2, and this is {said}")
    for report in measured:
        assert readme_table.line(report) in README
