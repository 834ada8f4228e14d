"""docs/sweep.md shows a space that can be drawn from, and names all that a space can draw."""

import re
from pathlib import Path

from bncc.search.option_domains import OPTIONS
from bncc.search.space import PRESETS, space_of
from tests.spaces import drawer

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sweep.md").read_text("utf-8")


def test_the_space_that_it_shows_is_one() -> None:
    """Every form of a table is in it, and trials come of it."""
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for form in ("value", "choices", "low", "high", "log", "when", "[["):
        assert form in text
    space = space_of(text, "the page")
    drawn = [space.draw(drawer(seed)) for seed in range(50)]
    weights = {(trial["structure"], trial.get("size-weight", None) == 0.0) for trial in drawn}
    assert weights == {("naive", False), ("tan-subset", True), ("tan-subset", False)}
    assert all(("n-bins" in trial) == (trial["discretize"] == "quantile") for trial in drawn)


def test_it_names_what_a_space_can_draw() -> None:
    (said,) = re.findall(r"^- A space can draw (.*?)\.$", PAGE, re.MULTILINE | re.DOTALL)
    assert re.findall(r"`([^`]+)`", said) == [*OPTIONS, "structure-option.KEY"]
    assert all(f"`{name}`" in PAGE for name in PRESETS)
