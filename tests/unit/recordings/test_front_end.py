"""A front end is checked when it is made, and saturates samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.errors import OptionError
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import SampleFormat
from bncc.recordings.windows import Windows
from tests.front_ends import front_end, with_levels
from tests.streamed_features import Stream
from tests.tiers import examples


def test_features_that_need_more_than_32_bits_are_refused() -> None:
    with pytest.raises(OptionError, match="more than 32 bits"):
        front_end("int16", 2**16, 2**16, "sum", "x")


def test_a_front_end_has_a_feature() -> None:
    with pytest.raises(OptionError, match="needs a feature"):
        FrontEnd(SampleFormat(0, 9), ("x",), Windows(4, 4), ())


def test_samples_saturate_to_the_format() -> None:
    tested = front_end("-10..10", 2, 1, "min,max,sum", "x", "x")
    samples = np.array([[-300], [5], [40], [3]])
    assert tested.values(samples).tolist() == [[-10, 5, -5], [5, 10, 15], [3, 10, 13]]
    assert tested.bounds == ((-10, 10), (-10, 10), (-20, 20))
    assert tested.types == ("int8", "int8", "int8")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(0, 40), max_size=12), st.integers(0, 2**32 - 1), st.booleans())
@pytest.mark.parametrize(("length", "hop"), [(8, 8), (12, 4), (15, 5), (5, 1)])
def test_blocks_of_any_length_give_the_windows_of_the_segment(
    length: int, hop: int, blocks: list[int], seed: int, is_walk: bool
) -> None:
    tested = with_levels("int8", length, hop)
    rng = np.random.default_rng(seed)
    samples = rng.integers(-128, 128, (sum(blocks), 3))
    if is_walk:
        samples = np.clip(np.cumsum(samples // 16, axis=0), -128, 127)
    stream = tested.stream()
    stream.partial(np.full((7, 3), 99))
    stream.start()
    parts = np.split(samples, np.cumsum(blocks)[:-1]) if blocks else []
    found = [stream.partial(part) for part in parts]
    assert sum(map(len, found)) == tested.windows.count(len(samples))
    literal = Stream(tested.columns, tested.form, tested.windows)
    rows = [row for row in map(literal.push, samples.tolist()) if row is not None]
    assert [row for part in found for row in part.tolist()] == rows
    assert tested.values(samples).tolist() == rows
