"""The vectorized features equal those of a stream of samples."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc._types import IntArray
from bncc.errors import DataError, OptionError
from bncc.recordings.recording import Recording, Recordings, SampleFormat
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_like, columns_of, csv_of, feature_table, fixed, narrowed
from bncc.recordings.windows import Windows
from tests.streamed_features import Stream
from tests.tiers import examples

CHANNELS = ("x", "y", "z")
SIGNALS = "x,y,z,jerk(x,y,z),jerk(y),x+y,z-x"
FORMS = (
    SampleFormat(-(2**15), 2**15 - 1),
    SampleFormat(0, 2**16 - 1),
    SampleFormat(-(2**7), 2**7 - 1),
    SampleFormat(-3, 900),
)


def every_feature(form: SampleFormat, windows: Windows) -> list[SignalFeature]:
    """Return every kind of feature of every kind of signal."""
    middle = (form.least + form.largest) // 2
    levels = [f"x.above({level})" for level in (form.least, middle, form.largest)]
    names = ["jerk(x,z).level-crossings(90)", "x+z.above(7)"]
    more = ["hoc", "crossings(1)", "x.crossings(9)", *levels, f"z.level-crossings({middle})"]
    signals = signals_of(SIGNALS, CHANNELS)
    if windows.n_panes > 1:
        last = windows.n_panes
        more += ["panes", f"range@{last}", f"lag3@{last}", "crossings@1", "x.hoc2@2"]
    return [
        *columns_of(None, signals, CHANNELS, windows),
        *columns_of(",".join([*names, *more]), signals, CHANNELS, windows),
    ]


def recordings_of(
    samples: Sequence[IntArray],
    form: SampleFormat,
    bounds: Sequence[Sequence[int]] | None = None,
    labels: Sequence[IntArray] | None = None,
) -> Recordings:
    """Return recordings of saturated samples."""
    return Recordings(
        tuple(
            Recording(
                f"r{k}",
                None,
                form.saturated(each),
                np.zeros(len(each), dtype=np.int64) if labels is None else labels[k],
                np.array([0, len(each)] if bounds is None else bounds[k]),
            )
            for k, each in enumerate(samples)
        ),
        CHANNELS[: samples[0].shape[1]],
        form,
        ("a", "b"),
        None,
        "recording",
        None,
        "label",
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[IntArray, list[int], SampleFormat, Windows]:
    """Draw samples, the bounds of their segments, a format and windows."""
    form = draw(st.sampled_from(FORMS))
    hop = draw(st.integers(1, 9))
    windows = Windows(hop * draw(st.integers(1, 5)), hop)
    n = draw(st.integers(windows.length, windows.length + 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low, high = form.least, form.largest
    kind = draw(
        st.sampled_from(("random", "near", "least", "largest", "alternating", "blocks", "walk"))
    )
    shape = (n, len(CHANNELS))
    samples = {
        "random": lambda: rng.integers(low - 99, high + 99, shape),
        "near": lambda: rng.integers(0, 4, shape),
        "least": lambda: np.full(shape, low - draw(st.integers(0, 5))),
        "largest": lambda: np.full(shape, high + draw(st.integers(0, 5))),
        "alternating": lambda: np.where(np.arange(n)[:, None] % [1, 2, 4], low, high),
        "blocks": lambda: np.where((np.arange(n)[:, None] >> [1, 2, 3]) & 1, low, high),
        "walk": lambda: rng.integers(-5, 6, shape).cumsum(axis=0),
    }[kind]()
    cuts = draw(st.lists(st.integers(1, n - 1), max_size=2, unique=True)) if n > 1 else []
    return samples, [0, *sorted(cuts), n], form, windows


@settings(max_examples=examples(60), deadline=None)
@given(cases())
def test_a_table_has_the_features_of_a_stream(
    case: tuple[IntArray, list[int], SampleFormat, Windows],
) -> None:
    """Every window of every segment, in order; each segment begins with a new state."""
    samples, bounds, form, windows = case
    columns = every_feature(form, windows)
    rows, starts = [], []
    for a, b in pairwise(bounds):
        stream = Stream(columns, form, windows)
        for k, sample in enumerate(samples[a:b].tolist(), start=a):
            row = stream.push(sample)
            if row is not None:
                rows.append(row)
                starts.append(k + 1 - windows.length)
    # A recording of one window keeps the table from being empty.
    whole = np.zeros((windows.length, len(CHANNELS)), dtype=np.int64)
    recordings = recordings_of([samples, whole], form, [bounds, [0, windows.length]])
    table = feature_table(recordings, columns, windows)
    assert table.values[:-1].tolist() == rows
    assert table.start[:-1].tolist() == starts
    lows, highs = np.array([column.bounds(form, windows) for column in columns]).T
    assert (table.values >= lows).all()
    assert (table.values <= highs).all()


def test_windows_with_several_labels_are_left_out_and_their_panes_count() -> None:
    samples = np.arange(60).reshape(20, 3)
    labels = np.array([0] * 7 + [1] * 9 + [-1] * 4)
    recordings = recordings_of([samples], FORMS[0], labels=[labels])
    columns = columns_of("crossings,haar2,sum", signals_of(None, CHANNELS), CHANNELS, Windows(4, 4))
    table = feature_table(recordings, columns, Windows(4, 2))
    assert table.start.tolist() == [0, 2, 8, 10, 12]
    assert table.label.tolist() == [0, 0, 1, 1, 1]
    assert table.n_left_out == 4
    everything = feature_table(recordings_of([samples], FORMS[0]), columns, Windows(4, 2))
    assert table.values.tolist() == everything.values[[0, 1, 4, 5, 6]].tolist()
    only = feature_table(recordings, columns, Windows(4, 2), ["a"])
    assert only.label.tolist() == [1, 1, 1]
    assert only.n_left_out == 6


def test_quantiles_become_levels_of_the_recordings() -> None:
    samples = np.array([[v, 0, 0] for v in (5, -9, 30, 2, 11)])
    recordings = recordings_of([samples, samples[:0]], FORMS[2])
    signals = signals_of("x", CHANNELS)
    columns = columns_of(
        "above(q0),above(q50),level-crossings(q100),above(5)", signals, "xyz", Windows(5, 5)
    )
    found = fixed(columns, recordings)
    assert [each.name for each in found] == ["x.above(-9)", "x.above(5)", "x.level-crossings(30)"]
    table = feature_table(recordings, found, Windows(5, 5))
    assert table.values.tolist() == [[5, 3, 2]]
    assert columns_like("t", [*(each.name for each in found), "label"], CHANNELS) == found


def test_features_beyond_16_bits_are_shifted_as_little_as_possible() -> None:
    """The samples decide: those of the first channel are small. -32768 means a missing reading."""
    samples = np.array([[7, 32767, -32768]] * 8 + [[-7, 1, 0]] * 8)
    recordings = recordings_of([samples], FORMS[0])
    columns = columns_of("sum,max,change", signals_of(None, CHANNELS), CHANNELS, Windows(8, 8))
    plain = feature_table(recordings, columns, Windows(8, 8))
    table = narrowed(plain)
    names = [column.name for column in table.columns]
    assert [name for name in names if ">>" in name] == [
        "y.sum>>3",
        "z.sum>>4",
        "z.max>>1",
        "z.change>>1",
    ]
    assert table.values[:, names.index("y.sum>>3")].tolist() == [32767, 1]
    assert table.values[:, names.index("z.sum>>4")].tolist() == [-16384, 0]
    assert np.abs(table.values).max() <= 32767
    assert narrowed(table).columns == table.columns
    # The names define the same features.
    again = feature_table(recordings, columns_like("t", names, CHANNELS), Windows(8, 8))
    assert again.values.tolist() == table.values.tolist()


def test_a_table_without_windows_names_the_longest_recording() -> None:
    recordings = recordings_of([np.zeros((9, 3), int), np.zeros((7, 3), int)], FORMS[0])
    columns = columns_of("sum", signals_of(None, CHANNELS), CHANNELS, Windows(8, 8))
    with pytest.raises(DataError, match="the longest without a gap has 9"):
        feature_table(recordings, columns, Windows(10, 5))
    table = feature_table(recordings, columns, Windows(8, 4))
    assert table.too_short == ("r1",)
    labels = [np.array([0, 1] * 5)[:9], np.zeros(7, int)]
    mixed = recordings_of([each.samples for each in recordings.recordings], FORMS[0], labels=labels)
    with pytest.raises(DataError, match="no window of 8 samples has one label"):
        feature_table(mixed, columns, Windows(8, 4))


def test_a_table_with_two_columns_of_one_name_is_refused() -> None:
    recordings = recordings_of([np.zeros((9, 3), int)], FORMS[0])
    columns = columns_of("sum", signals_of(None, CHANNELS), CHANNELS, Windows(8, 8))
    table = feature_table(recordings, columns, Windows(4, 4))
    assert csv_of(table).splitlines()[0] == b"x.sum,y.sum,z.sum,recording,start,label"
    object.__setattr__(table.recordings, "label_column", "start")
    with pytest.raises(DataError, match="two columns of the table would be called 'start'"):
        csv_of(table)


@pytest.mark.parametrize(
    "text",
    [
        "mean",
        "haar",
        "haar0",
        "haar(2)",
        "above",
        "above(q101)",
        "sum2",
        "crossings(0)",
        "crossings(q5)",
        "x.mean",
        "w.sum",
        "sum(3)",
        "sum>>0",
        "sum>>32",
        "sum>>1>>2",
        "sum@0",
        "sum>>1@2",
        "haar1/change@2",
        "hoc6",
        "hoc0",
        "",
    ],
)
def test_unknown_features_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"is no feature|is no signal"):
        columns_of(text, signals_of(None, CHANNELS), CHANNELS, Windows(8, 8))
