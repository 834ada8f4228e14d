"""The README and the tables of the documents: the entry point shown, the figures, the links."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.accuracy import bundled_tables
from benchmarks.peers import equal_resources
from benchmarks.shared.markdown import held, row
from tests.docs.blocks import ROOT, blocks, name_of, pages

README = (ROOT / "README.md").read_text("utf-8")
BUNDLED = bundled_tables.PAGE.read_text("utf-8")
MOST_LINES = 150


def make_targets() -> set[str]:
    """Return the targets that `make help` lists."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))


def test_the_readme_is_short() -> None:
    """A reader of three minutes reads all of it."""
    assert len(README.splitlines()) < MOST_LINES


def test_the_code_shown_first_is_the_entry_point() -> None:
    """The sample of emitted C is the function that firmware calls, found in the emitted header."""
    sample = next(block for block in blocks(ROOT / "README.md") if block.language == "c")
    assert sample.marks == {"excerpt": "rooms/rooms.h"}
    assert re.search(r"^int16_t rooms_predict_raw\(", sample.text, re.MULTILINE)


def test_each_promise_has_its_figures_and_a_command() -> None:
    """The figures of the promises are those of the table and of the output shown below them."""
    begin, end = README.index("\n- **"), README.index("\n## ")
    promises = README[begin:end].split("\n- **")[1:]
    assert [len(re.findall(r"Proof: `", promise)) for promise in promises] == [1, 1, 1]
    shown = "".join(block.text for block in blocks(ROOT / "README.md") if block.language == "text")
    accurate, exact, small = (promise.replace("**", "") for promise in promises)
    pairs = [equal_resources.chosen(kind) for kind in ("tree", "forest")]
    assert f"On {len(pairs[0])} public data sets" in accurate
    trees, forests = map(equal_resources.of_baselines, pairs)
    assert f"the best tree on {trees} sets and as the best forest on {forests}" in accurate
    (inputs,) = re.findall(r"([\d,]+) inputs", exact)
    assert f"on {inputs} inputs" in shown
    (flash, stack) = re.findall(r"([\d,]+) bytes of (?:flash|stack)", small)
    assert f"{flash} bytes of flash, 0 of RAM, {stack} of stack" in shown


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
    for data, settings in bundled_tables.ROWS:
        measured = bundled_tables.figures(data, settings, bundled_tables.train(data, settings)[0])
        line = re.search(
            rf"^\| {data} \| {settings.structure} \| ([\d.]+) % \| ([\d,]+) \|",
            held(BUNDLED, "errors"),
            re.MULTILINE,
        )
        assert line is not None
        assert float(line.group(1)) == pytest.approx(measured.error, abs=0.5)
        assert int(line.group(2).replace(",", "")) == measured.table_bytes


def test_every_table_of_the_readme_is_one_that_a_command_writes() -> None:
    """No table is outside the marks."""
    assert held(README, "equal") == equal_resources.equal(*equal_resources.pages())
    assert not re.search(r"^\|", README.replace(held(README, "equal"), ""), re.MULTILINE)


def test_the_readme_shows_what_the_choices_and_trees_take() -> None:
    """Flash and instructions in 4 KB, of both sides, are stated below the table."""
    pairs = equal_resources.chosen("tree")
    ours = equal_resources.taken([pair.ours for pair in pairs])
    trees = equal_resources.taken([pair.baseline for pair in pairs])
    assert f"In 4 KB, bncc takes {ours}, and the trees take {trees}." in README


def test_every_table_of_the_bundled_data_is_one_that_a_command_writes() -> None:
    """Each has a row for each thing that is measured, and no table is outside the marks."""
    rest = BUNDLED
    for name, rows in {"costs": bundled_tables.SHOWN, "errors": bundled_tables.ROWS}.items():
        assert len(held(BUNDLED, name).splitlines()) == 2 + len(rows)
        rest = rest.replace(held(BUNDLED, name), "")
    assert not re.search(r"^\|", rest, re.MULTILINE)


@pytest.mark.firmware
@pytest.mark.parametrize("compiler", ["avr-gcc", "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc"])
def test_the_robot_costs_what_the_page_says(
    compiler: str, require_tool: Callable[[str], str]
) -> None:
    """Bytes, cycles and instructions are the same in every run with the same tools."""
    require_tool(compiler)
    measured = list(bundled_tables.reports(compiler))
    said = measured[0].toolchain
    if said.split()[1] not in ("5.4.0", "12.2.0", "12.2.1"):
        pytest.skip(f"the page has figures of avr-gcc 5.4 and gcc 12.2, and this is {said}")
    for report in measured:
        assert row(bundled_tables.cells_of(report)) in held(BUNDLED, "costs").splitlines()
