"""The documentation knows all that is there: passes, kernels, packages."""

import re

import pytest

from bncc.cli.emit_c import PACKAGES
from bncc.compiler.choose import FAMILIES
from bncc.compiler.pipeline import FLOWS
from tests.docs.blocks import ROOT

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


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "plain"])
def test_every_package_has_a_page(package: str) -> None:
    page = (DOCS / "how-to" / f"{package}.md").read_text("utf-8")
    assert f"--package {package}" in page
