"""Elements are well-formed XML for any text: names, tooltips and attributes are escaped."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from bncc.data.files import printable
from bncc.report.svg import document, element, shortened, text


@given(st.text(), st.text())
def test_any_text_can_be_read_back(words: str, tip: str) -> None:
    picture = ET.fromstring(document([text(1, 2, words, tip=tip, data_name=tip)]))
    (line,) = picture
    title = line.find("{http://www.w3.org/2000/svg}title")
    assert (title is None) == (tip == words)
    shown = (line.text or "") if title is None else (title.tail or "")
    assert shown == printable(words)
    assert line.attrib == {"x": "1.0", "y": "2.0", "data-name": printable(tip)}


def test_attributes_keep_their_order_and_what_is_none_is_left_out() -> None:
    line = element("path", d="M1 2", class_="bar", stroke_width=2, rx=0.25, fill=None)
    assert line == '<path d="M1 2" class="bar" stroke-width="2" rx="0.2"/>'
    assert element("g", line, id='"<') == f"<g id='\"&lt;'>{line}</g>"


def test_long_words_end_in_an_ellipsis() -> None:
    assert [shortened("abcd", most) for most in (5, 4, 3)] == ["abcd", "abcd", "ab…"]
