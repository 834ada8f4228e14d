"""Sample formats."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.recordings.recording import SampleFormat, sample_format


def test_formats_are_types_or_ranges() -> None:
    assert sample_format("int16") == SampleFormat(-32768, 32767)
    assert sample_format("uint8") == SampleFormat(0, 255)
    assert sample_format("-2048..2047").width == 4095
    assert sample_format("0..65535") == sample_format("uint16")
    saturated = sample_format("-3..4").saturated(np.array([[-9, 9, 1]]))
    assert saturated.tolist() == [[-3, 4, 1]]


@pytest.mark.parametrize("text", ["int32", "", "3", "5..5", "9..1", "-1..65535", "0..65536"])
def test_formats_of_more_than_16_bits_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"is no sample type|no 16-bit type has the samples"):
        sample_format(text)
