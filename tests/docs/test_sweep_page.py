"""docs/sweep.md shows a valid search space, and names all keys of a space."""

import re
from pathlib import Path

from bncc.search.option_domains import OPTIONS
from bncc.search.space import PRESETS, space_of
from tests.spaces import drawer

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sweep.md").read_text("utf-8")


def test_the_space_that_it_shows_is_one() -> None:
    """It has every form of a table, and yields trials."""
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for form in ("value", "choices", "low", "high", "log", "when", "[["):
        assert form in text
    space = space_of(text, "the page")
    drawn = [space.draw(drawer(seed)) for seed in range(50)]
    weights = {(trial["structure"], trial.get("size-weight", None) == 0.0) for trial in drawn}
    assert weights == {("naive", False), ("tan-subset", True), ("tan-subset", False)}
    assert all(("n-bins" in trial) == (trial["discretize"] == "quantile") for trial in drawn)


def test_it_says_what_a_space_can_draw() -> None:
    (said,) = re.findall(r"^- (A space can sample .*?)\n\n", PAGE, re.MULTILINE | re.DOTALL)
    listed = set(re.findall(r"`([a-z-]+)`", said))
    assert listed == set(OPTIONS)
    assert "`structure-option.KEY`" in said
    assert all(f"`{name}`" in PAGE for name in PRESETS)
