"""The documents say what is: the kernel shown, the figures, the links."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.accuracy import readme_table
from benchmarks.peers import peer_points, twelve_sets
from benchmarks.shared.markdown import held, row
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.file import load_model
from tests.docs.blocks import ROOT, blocks, name_of, pages

README = (ROOT / "README.md").read_text("utf-8")


def make_targets() -> set[str]:
    """Return the targets that `make help` lists."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))


def test_the_kernel_shown_is_the_kernel_emitted(pytestconfig: pytest.Config) -> None:
    """The C at the top of the README is what bncc emits for the robot of the firmware example."""
    model = load_model(ROOT / "firmware_examples" / "uno_robot" / "robot.bncc")
    emitted = emit_c(model, EmitOptions(name="robot")).files["robot.c"]
    kernel = re.search(r"^static void robot_sum\(.*?^}\n", emitted, re.MULTILINE | re.DOTALL)
    assert kernel is not None
    shown, *_ = [block.text for block in blocks(ROOT / "README.md") if block.language == "c"]
    if pytestconfig.getoption("--update-golden"):
        (ROOT / "README.md").write_text(README.replace(shown, kernel.group()), "utf-8")
    assert shown == kernel.group(), "run pytest --update-golden and review README.md"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_commands_exist(name: str) -> None:
    """Every `make TARGET` that the documents name is a target of the Makefile."""
    text = (ROOT / name).read_text("utf-8")
    commands = re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", text, re.MULTILINE)
    named = {target for command in commands for target in command.split()}
    assert {"test"} <= named <= make_targets()


@pytest.mark.parametrize("path", pages(), ids=name_of)
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
        line = re.search(
            rf"^\| {data} \| {settings.structure} \| ([\d.]+) % \| ([\d,]+) \|",
            held(README, "errors"),
            re.MULTILINE,
        )
        assert line is not None
        assert float(line.group(1)) == pytest.approx(measured.error, abs=0.5)
        assert int(line.group(2).replace(",", "")) == measured.table_bytes


def test_every_table_of_the_readme_is_one_that_a_command_writes() -> None:
    """Each has a row for each thing that is measured, and no table stands outside the marks."""
    n_rows = {
        "costs": len(readme_table.SHOWN),
        "errors": len(readme_table.ROWS),
        "peers": len(peer_points.SETS),
        "twelve": len(twelve_sets.RIVALS),
    }
    rest = README
    for name, n in n_rows.items():
        lines = held(README, name).splitlines()
        assert len(lines) == 2 + n
        rest = rest.replace(held(README, name), "")
    assert not re.search(r"^\|", rest, re.MULTILINE)


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
        assert row(readme_table.cells_of(report)) in held(README, "costs").splitlines()
