"""Ranges of features are proved: safe for all samples, and reached by some."""

from collections.abc import Callable

import numpy as np
import pytest

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.recordings.features import FEATURES, PARTIALS
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signal_feature import (
    SignalFeature,
    default_features,
    feature_of,
    logarithm,
)
from bncc.recordings.signals import signal_of
from bncc.recordings.table import segment_values
from bncc.recordings.windows import Windows

INT8 = SampleFormat(-128, 127)
INT16 = SampleFormat(-(2**15), 2**15 - 1)


def feature(name: str, signal: str = "x") -> SignalFeature:
    """Return a feature of a signal of channels x and y."""
    found = feature_of(signal_of(signal, "xy"), name)
    assert found is not None
    return found


def blocks(size: int) -> Callable[[IntArray], IntArray]:
    """Return samples that change between the extremes every `size` samples."""
    return lambda t: (t // size) % 2


@pytest.mark.parametrize(
    ("name", "lowest", "highest"),
    [
        ("sum", lambda t: 0 * t, lambda t: 0 * t + 1),
        ("min", lambda t: 0 * t, lambda t: 0 * t + 1),
        ("max", lambda t: 0 * t, lambda t: 0 * t + 1),
        ("range", lambda t: 0 * t, blocks(1)),
        ("change", lambda t: 0 * t, blocks(1)),
        ("lag3", lambda t: 0 * t, blocks(3)),
        ("lag8", lambda t: 0 * t, blocks(8)),
        ("haar1", blocks(2), blocks(1)),
        ("haar3", blocks(8), blocks(4)),
        ("crossings", lambda t: 0 * t, blocks(1)),
        ("above(0)", lambda t: 0 * t, lambda t: 0 * t + 1),
        ("level-crossings(0)", lambda t: 0 * t, blocks(1)),
        ("hoc1", lambda t: 0 * t, blocks(1)),
        ("hoc5", lambda t: 0 * t, blocks(1)),
    ],
)
@pytest.mark.parametrize(("length", "hop"), [(24, 8), (16, 16), (30, 3)])
def test_ranges_are_reached(
    name: str,
    lowest: Callable[[IntArray], IntArray],
    highest: Callable[[IntArray], IntArray],
    length: int,
    hop: int,
) -> None:
    windows, column = Windows(length, hop), feature(name)
    low, high = column.bounds(INT8, windows)
    for shape, of, expected in ((lowest, np.min, low), (highest, np.max, high)):
        bits = shape(np.arange(400))
        samples = np.where(bits, 127, -128)[:, None].repeat(2, axis=1)
        assert of(segment_values([column], samples, INT8, windows)) == expected


@pytest.mark.parametrize(
    ("name", "signal", "form", "length", "bounds", "kind"),
    [
        ("sum", "x", INT16, 128, (-(2**22), 2**22 - 128), "int32"),
        ("sum", "x", SampleFormat(0, 1023), 64, (0, 64 * 1023), "uint16"),
        ("min", "x", INT16, 128, (-(2**15), 2**15 - 1), "int16"),
        ("min", "x", INT8, 128, (-128, 127), "int8"),
        ("max", "x+y", INT8, 128, (-256, 254), "int16"),
        ("min", "x-y", INT8, 128, (-255, 255), "int16"),
        ("range", "x", INT16, 128, (0, 65535), "uint16"),
        ("range", "jerk(x,y)", INT8, 128, (0, 510), "uint16"),
        ("change", "x", INT8, 128, (0, 128 * 255), "uint16"),
        ("lag5", "x", INT8, 128, (0, 128 * 255), "uint16"),
        ("haar7", "x", INT8, 128, (0, 255), "uint8"),
        ("haar3", "x", INT8, 128, (0, 16 * 255), "uint16"),
        ("crossings", "x", INT16, 256, (0, 256), "uint16"),
        ("crossings", "x", INT16, 255, (0, 255), "uint8"),
    ],
)
def test_types_follow_from_ranges(
    name: str, signal: str, form: SampleFormat, length: int, bounds: tuple[int, int], kind: str
) -> None:
    windows, column = Windows(length, length), feature(name, signal)
    assert column.bounds(form, windows) == bounds
    assert column.column_type(form, windows) == kind


def test_a_hop_that_no_pair_divides_may_see_one_pair_more() -> None:
    """A window of 6 samples has one or two complete groups of four, by its start."""
    assert feature("haar2").bounds(INT8, Windows(6, 2)) == (0, 2 * 255)
    assert feature("haar2").bounds(INT8, Windows(6, 6)) == (0, 2 * 255)
    assert feature("haar2").bounds(INT8, Windows(4, 4)) == (0, 255)
    assert feature("haar2").bounds(INT8, Windows(8, 4)) == (0, 2 * 255)
    assert feature("haar2").bounds(INT8, Windows(5, 5)) == (0, 2 * 255)


@pytest.mark.parametrize(
    ("name", "length", "message"),
    [
        ("sum", 2**16, "'x.sum' may need more than 32 bits over 65536 samples"),
        ("change", 2**15 + 1, "'x.change' may need more than 32 bits"),
        ("lag3", 2**15 + 1, "'x.lag3' may need more than 32 bits"),
        ("haar5", 31, "'x.haar5' needs windows of 32 samples"),
        ("crossings(17)", 8, "the mean of 'x.crossings(17)' needs more than 32 bits"),
        ("above(40000)", 8, "the level of 'x.above(40000)' is outside -32768..32767"),
    ],
)
def test_what_needs_more_than_32_bits_is_refused(name: str, length: int, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        feature(name).bounds(INT16, Windows(length, length))
    assert message in str(caught.value)
    assert feature("sum").bounds(INT16, Windows(2**16 - 1, 1))[0] == -(2**15) * (2**16 - 1)
    assert feature("crossings(16)").bounds(INT16, Windows(8, 8)) == (0, 8)


def test_the_leaky_mean_stays_within_its_state() -> None:
    """It never exceeds the width, shifted: its state has the bytes of that number."""
    for shift in (1, 4, 9):
        mean, width = 255 << shift, 255
        for k in range(3000):
            mean += (width if k % 7 else 0) - (mean >> shift)
            assert 0 <= mean <= width << shift
        carried = PARTIALS["crossings"].carried(width, shift)
        assert carried == {f"mean{shift}": width << shift, f"side{shift}": 1}


@pytest.mark.parametrize(("hop", "pane"), [(8, 3), (16, 1)])
def test_a_window_has_no_further_pane(hop: int, pane: int) -> None:
    with pytest.raises(OptionError, match=f"a window of 16 samples every {hop} has {16 // hop}"):
        feature(f"sum@{pane}").bounds(INT16, Windows(16, hop))


def test_a_pane_has_the_range_of_its_samples() -> None:
    windows = Windows(128, 32)
    assert feature("sum@4").bounds(INT8, windows) == (-32 * 128, 32 * 127)
    assert feature("range@1>>2").bounds(INT8, windows) == (0, 63)
    assert feature("haar5@2").bounds(INT8, windows) == (0, 255)
    with pytest.raises(OptionError, match=r"'x.haar6@2' needs panes of 64 samples"):
        feature("haar6@2").bounds(INT8, windows)


def test_differences_of_wide_signals_are_refused() -> None:
    channels = [f"c{k}" for k in range(2049)]
    signal = signal_of(f"jerk({','.join(channels)})", channels)
    column = feature_of(signal, "hoc1")
    assert column is not None
    with pytest.raises(OptionError, match=r"hoc1' needs more than 32 bits"):
        column.bounds(INT16, Windows(16, 16))
    assert feature("hoc5", "jerk(x,y)").bounds(INT16, Windows(16, 16)) == (0, 16)


def test_state_has_what_is_carried_and_a_value_for_each_pane() -> None:
    windows = Windows(128, 64)
    assert feature("sum").state_bytes(INT16, windows) == 2 * 4
    assert feature("range").state_bytes(INT16, windows) == 2 * (2 + 2)
    assert feature("lag3").state_bytes(INT16, windows) == 4 * 2 + 2 * 4
    assert feature("lag5").state_bytes(INT16, windows) == 8 * 2 + 2 * 4
    assert feature("haar3").state_bytes(INT16, windows) == 3 * 2 + 2 * 4
    assert feature("hoc1").state_bytes(INT16, windows) == 2 + 1 + 2 * 1
    assert feature("hoc3").state_bytes(INT16, windows) == 2 + 2 * 4 + 1 + 2 * 1
    assert feature("hoc3").state_bytes(INT8, windows) == 1 + 2 * 2 + 1 + 2 * 1
    assert feature("crossings").state_bytes(INT16, windows) == 4 + 1 + 2 * 1


def test_default_features_have_the_haar_levels_of_the_window() -> None:
    plain = ["sum", "min", "max", "range", "change"]
    assert default_features(1) == [*plain, "crossings"]
    assert default_features(9) == [*plain, "lag3", "haar1", "haar2", "haar3", "crossings"]
    assert default_features(16)[5:8] == ["lag3", "lag5", "lag8"]
    assert default_features(4096)[-2] == "haar7"
    assert {name.rstrip("12345678") for name in default_features(128)} == {
        name for name, each in FEATURES.items() if each.argument not in ("level", "order")
    }


@pytest.mark.parametrize("name", ["range/change", "haar1/lag3", "lag3/range"])
@pytest.mark.parametrize(("length", "hop"), [(24, 8), (16, 16)])
def test_ratios_are_within_their_range_and_differ_by_amplitude_a_little_only(
    name: str, length: int, hop: int
) -> None:
    windows, column = Windows(length, hop), feature(name)
    low, high = column.bounds(INT16, windows)
    assert column.name == f"x.{name}"
    assert column.column_type(INT16, windows) == "int16"
    rng = np.random.default_rng(1)
    samples = rng.integers(-2000, 2000, (400, 2))
    found = segment_values([column], samples, INT16, windows)
    louder = segment_values([column], 16 * samples, INT16, windows)
    assert (np.abs(found - louder) <= 2).all()
    assert np.ptp(found) > 4
    constant = segment_values([column], 0 * samples, INT16, windows)
    assert (constant == 0).all()
    for values in (found, louder, constant):
        assert low <= values.min() <= values.max() <= high


def test_a_ratio_keeps_the_state_of_both_features() -> None:
    windows = Windows(128, 64)
    of, by = feature("haar3"), feature("change")
    ratio = feature("haar3/change")
    assert ratio.terms == (of, by)
    assert ratio.state_bytes(INT16, windows) == sum(
        each.state_bytes(INT16, windows) for each in (of, by)
    )
    assert ratio.additions == of.additions + by.additions


def test_logarithms_grow_with_values_and_are_exact_at_powers_of_2() -> None:
    values = np.arange(200_000)
    found = logarithm(values)
    assert found[0] == 0
    assert (np.diff(found) >= 0).all()
    assert logarithm(2 ** np.arange(31)).tolist() == [16 * (k + 1) for k in range(31)]
    exact = 16 * (np.log2(values[1:]) + 1)
    assert np.abs(found[1:] - exact).max() < 2.4


@pytest.mark.parametrize(
    "name",
    ["sum/change", "change/sum", "range/range", "haar1/above(3)", "range/change/range",
     "range>>1/change", "range/change>>1", "range/", "/range", "haar1/haar"],
)  # fmt: skip
def test_other_ratios_are_no_features(name: str) -> None:
    """Both features are of one signal, without a shift, and grow with its amplitude."""
    assert feature_of(signal_of("x", "xy"), name) is None
