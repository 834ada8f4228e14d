"""The documentation lists all passes, kernels and packages."""

import re
from pathlib import Path

import pytest

from bncc.emit.packages import PACKAGES
from bncc.emit.rust import RUST
from bncc.lower.kernels.families import FAMILIES
from bncc.program.pipeline import FLOWS
from tests.docs.blocks import ROOT, name_of, pages

DOCS = ROOT / "docs"


def headings(page: str) -> set[str]:
    """Return a page's headings."""
    return set(re.findall(r"(?m)^#+ (.+)$", (DOCS / page).read_text("utf-8")))


@pytest.mark.parametrize("name", sorted({each.name for flow in FLOWS.values() for each in flow}))
def test_every_pass_has_a_section(name: str) -> None:
    assert f"`{name}`" in headings("compiler.md")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_kernel_has_a_section(family: str) -> None:
    assert f"`{family}`" in headings("kernels.md")


@pytest.mark.parametrize("package", [*(name for name in PACKAGES if name != "plain"), RUST])
def test_every_package_has_a_page(package: str) -> None:
    page = (DOCS / "how-to" / f"{package}.md").read_text("utf-8")
    assert f"--package {package}" in page


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_files_to_save_are_named(path: Path) -> None:
    """Comments are not shown: the sentence before a file's block gives its name."""
    text = path.read_text("utf-8")
    for mark in re.finditer(r"(?m)^<!-- file: (\S+) -->$", text):
        before = re.sub(r"(?m)^<!--.*-->\n", "", text[: mark.start()])
        sentence = before.rstrip("\n").rpartition("\n\n")[2]
        assert f"`{mark[1]}`" in sentence, f"{name_of(path)}: {mark[1]}"


@pytest.mark.parametrize("path", [p for p in pages() if p.name != "index.md"], ids=name_of)
def test_pages_read_well_without_sphinx(path: Path) -> None:
    """On GitHub a directive is shown as code; only the start page, of contents, has any."""
    assert not re.search(r"(?m)^ *(```|:::)\{", path.read_text("utf-8"))
