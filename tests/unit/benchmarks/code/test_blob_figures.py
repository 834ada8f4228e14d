"""The page of blobs has the fields of the header as the script lists them."""

from struct import calcsize

from benchmarks.code.blob_figures import PAGE, PURPOSES, RATIO, least_tables, overhead
from benchmarks.shared.markdown import held
from bncc.pack.blob import HEADER


def test_the_page_lists_the_fields_of_the_header():
    assert "<" + "".join(form for _, form, _ in PURPOSES) == HEADER.format
    assert held(PAGE.read_text("utf-8"), "header") == overhead()


def test_the_ratio_holds_from_the_stated_size_on():
    least = least_tables()
    assert least + HEADER.size <= RATIO * least
    assert least - 1 + HEADER.size > RATIO * (least - 1)
    assert calcsize(HEADER.format) == HEADER.size
