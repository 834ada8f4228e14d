"""Each recipe is a page of one command and one picture, and its command draws this picture."""

import re
from pathlib import Path

import pytest

from benchmarks.accuracy.recipe_pictures import INDEX, draw, recipes
from tests.docs.blocks import blocks

LARGEST = 30_000


@pytest.mark.parametrize("page", recipes(), ids=lambda page: page.stem)
def test_a_recipe_has_one_command_and_one_small_picture(page: Path) -> None:
    text, picture = page.read_text("utf-8"), f"{page.stem}.svg"
    assert [block.language for block in blocks(page)] == ["sh", "text"]
    assert re.findall(r"!\[.+\]\((.+)\)", text) == [picture]
    assert f"--svg {picture}" in blocks(page)[0].text
    assert page.with_suffix(".svg").stat().st_size <= LARGEST


def test_the_index_lists_every_recipe() -> None:
    listed = re.findall(r"(?m)^\| \[\w+\]\((\w+)\.md\)", INDEX.read_text("utf-8"))
    assert sorted(listed) == [page.stem for page in recipes()]


def test_a_command_draws_the_picture_of_its_page(tmp_path: Path) -> None:
    page = next(page for page in recipes() if page.stem == "rooms")
    assert draw(page, tmp_path).read_bytes() == page.with_suffix(".svg").read_bytes()
