"""A front end is checked when it is made, and saturates samples."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import SampleFormat
from bncc.recordings.windows import Windows
from tests.front_ends import front_end


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
