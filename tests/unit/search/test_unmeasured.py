"""C that cannot be measured is named once, and ends a search only if nothing else can be."""

from contextlib import nullcontext

import pytest

from bncc.errors import MeasurementError
from bncc.search.unmeasured import MOST_FAILURES, Unmeasured, failed, is_of_unmeasured

PRICE = {"price": {"flash": 1}}


def test_the_first_is_named_with_its_reason_and_others_are_counted() -> None:
    unmeasured = Unmeasured()
    unmeasured.add("naive", PRICE)
    assert not unmeasured.is_any
    assert not unmeasured.notes
    for name, reason in (("a", "gcc failed: x"), ("a", "gcc failed: y"), ("b", "gcc failed: z")):
        unmeasured.add(name, {**PRICE, **failed([reason, "later"])})
    (note,) = unmeasured.notes
    assert is_of_unmeasured(note)
    assert note.endswith("'a' and 1 more: gcc failed: x")
    assert "b" in unmeasured
    assert "naive" not in unmeasured
    assert not is_of_unmeasured("rows were left out")


def test_tools_that_measure_nothing_end_the_search() -> None:
    unmeasured, of = Unmeasured(), failed(["gcc failed: no cc1"])
    for _ in range(MOST_FAILURES - 1):
        unmeasured.add("a", of)
    with pytest.raises(MeasurementError, match=r"^no candidate can be measured: 'a': gcc failed"):
        unmeasured.add("a", of)


@pytest.mark.parametrize(("found", "is_end"), [(PRICE, False), ({"sizes": []}, True)])
def test_one_success_shows_that_the_tools_work(found: dict[str, object], is_end: bool) -> None:
    """A result without a price, such as one of learning alone, shows nothing."""
    unmeasured = Unmeasured()
    unmeasured.add("a", found)
    for _ in range(MOST_FAILURES - 1):
        unmeasured.add("b", failed(["gcc failed"]))
    with pytest.raises(MeasurementError) if is_end else nullcontext():
        unmeasured.add_failure("b", "gcc failed")
    assert unmeasured.is_any
