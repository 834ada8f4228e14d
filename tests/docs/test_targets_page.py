"""docs/targets.md was written by the current generator, and reports the measured figures."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.code import target_page
from benchmarks.code.target_figures import (
    MACHINES,
    PEERS,
    RECIPES,
    Facts,
    Figures,
    facts_of,
    report_of,
)
from benchmarks.shared.reference_models import Recipe, reference
from bncc.device.measure import bench_inputs
from bncc.on_device import bench_target
from bncc.targets import TARGETS
from tests import models as hand

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "targets.md").read_text("utf-8")
BUNDLED = [recipe for recipe in RECIPES if recipe.data_set not in PEERS]


def section(page: str, heading: str) -> str:
    """Return the text below a heading."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    assert found is not None, f"there is no section '{heading}'"
    return found.group(1)


def rows(text: str, model: str) -> list[list[str]]:
    """Return the cells of a model's rows."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {model} |")]
    return [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines]


def figures_of(model: str, target: str, report, facts=None) -> Figures:
    facts = facts or Facts(2, 3, "int16", 10, 1.5)
    return Figures({model: facts}, {(target, model): report}, {})


@pytest.fixture(scope="module")
def tiny(require_bench):
    """Return the measurement of a model of two features on a Cortex-M0."""
    require_bench("cortex-m0")
    model = hand.naive_integer()
    return bench_target(model, TARGETS["cortex-m0"], bench_inputs(model, n_rows=5))


@pytest.mark.firmware
def test_a_page_holds_what_was_measured(tiny):
    """Both tables, ranges, levels, ratios, the overviews, and the tools."""
    page = target_page.page(figures_of("tiny", "cortex-m0", tiny))
    machine = section(page, "cortex-m0")
    assert f"Built by {tiny.toolchain}, run by {tiny.simulator}." in machine
    ours, book = rows(machine, "tiny")
    assert ours[0].split(" ")[0] == f"{tiny.ours.flash:,}"
    assert ours[1:3] == [f"{tiny.ours.ram:,}", f"{tiny.ours.stack:,}"]
    assert book[:3] == [f"{n:,}" for n in (tiny.baseline.flash, 0, tiny.baseline.stack)]
    for k, entry in enumerate(("predict", "trusted", "raw"), 3):
        cost, of_book = tiny.ours.costs[entry], tiny.baseline.costs[entry]
        assert ours[k].startswith(f"{cost.mean:,.0f} (")
        assert f"{of_book.mean / cost.mean:.2f}" in ours[k]
        assert (f"<br><sub>{cost.min:,} .. {cost.max:,}</sub>" in ours[k]) == (cost.min < cost.max)
        assert f"{entry} {book[k].split('<')[0].split(' ')[1]}" in tiny.baseline.optimization
    assert rows(section(page, "All targets: `predict`"), "tiny") == [[ours[3].split("<br>")[0]]]
    assert rows(section(page, "All targets: flash"), "tiny") == [[ours[0]]]
    assert rows(section(page, "The models"), "tiny") == [["2", "3", "int16", "10", "1.50 %"]]


@pytest.mark.firmware
def test_a_page_owns_up_where_the_textbook_needs_less(tiny):
    """Bold in the tables, and a count of cases."""
    tenths = {k: replace(c, mean=c.mean / 10) for k, c in tiny.baseline.costs.items()}
    for costs, is_ahead in ((tiny.ours.costs, False), (tenths, True)):
        report = replace(
            tiny,
            ours=replace(tiny.ours, flash=1000, costs=tenths if not is_ahead else tiny.ours.costs),
            baseline=replace(tiny.baseline, flash=999, costs=costs),
        )
        page = target_page.page(figures_of("tiny", "cortex-m0", report))
        ours, _ = rows(section(page, "cortex-m0"), "tiny")
        assert [("**" in cell) for cell in ours] == [False] * 3 + [is_ahead] * 3
        losses = section(page, "Cases in favor of the textbook classifier")
        assert "- Flash: in 0 of 1 cases." in losses
        assert f"- `trusted`: in {int(is_ahead)} of 1 cases." in losses


@pytest.mark.firmware
def test_a_page_says_why_there_is_no_textbook(tiny):
    """No figure, no ratio, and the reason below the table."""
    report = replace(tiny, baseline=None, baseline_misfit="it is too large; take less")
    page = target_page.page(figures_of("tiny", "cortex-m0", report))
    machine = section(page, "cortex-m0")
    ours, book = rows(machine, "tiny")
    assert "(" not in "".join(ours)
    assert book == ["none", *["."] * 5]
    assert "No textbook for tiny: it is too large; take less.\n" in machine
    assert "- Flash: not measured." in section(page, "Cases in favor of the textbook classifier")


def test_the_page_is_that_of_this_generator():
    """Its prose, its command, every target and every model in order."""
    assert PAGE.startswith(target_page.HEAD)
    assert PAGE.endswith(target_page.HOW)
    for words in (
        target_page.READING,
        target_page.LEVELS,
        target_page.PEERS_TEXT,
        target_page.PEERS_X86,
        f"```sh\n{target_page.COMMAND}\n```\n",
    ):
        assert words in PAGE
    names = [str(recipe) for recipe in RECIPES]
    for heading, n_tables in (("The models", 1), *((target, 2) for target in MACHINES)):
        found = re.findall(r"^\| (.+?B=\d) \|", section(PAGE, heading), re.M)
        assert found == names * n_tables
    assert set(MACHINES) == set(TARGETS)


@pytest.mark.parametrize("recipe", BUNDLED, ids=str)
def test_the_page_describes_the_models_as_they_are(recipe):
    """Bytes and errors of the models of the bundled data."""
    known = reference(recipe, Path())
    name = str(recipe)
    fresh = target_page.page(Figures({name: facts_of(known)}, {}, {}))
    assert rows(section(fresh, "The models"), name) == rows(section(PAGE, "The models"), name)


@pytest.mark.firmware
@pytest.mark.parametrize("target", MACHINES)
def test_the_page_says_what_is_measured(require_bench, target):
    """One model, exactly, where the tools are those that the page names."""
    bench = require_bench(target)
    machine = section(PAGE, target)
    if f"Built by {bench.compiler}, run by {bench.place}." not in machine:
        pytest.skip(f"the page was not made with {bench.compiler} and {bench.place}")
    recipe = Recipe("wifi", "naive", 8)
    report = report_of(reference(recipe, Path()), target)
    fresh = target_page.page(figures_of(str(recipe), target, report))
    assert rows(section(fresh, target), str(recipe)) == rows(machine, str(recipe)), (
        f"docs/targets.md is out of date; run {target_page.COMMAND}"
    )
