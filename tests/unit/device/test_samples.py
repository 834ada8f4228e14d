"""Emitted front ends return, bit for bit, the features that Python computes."""

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import pytest

from bncc._types import IntArray
from bncc.device.cross import Toolchain
from bncc.device.inputs.samples import Part, hostile_parts, metered_parts, segments
from bncc.device.samples import (
    StreamCost,
    StreamProgram,
    cross_stream,
    host_stream,
    stream_cost,
    times_of,
)
from bncc.lower.sample_estimate import shares_code
from bncc.on_device import stream_sources
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.windows import Windows
from bncc.resources import Span
from bncc.toolchain.tools import SANITIZERS, host_compilers
from tests.front_ends import front_end, plan_of, with_levels
from tests.streamed_features import Stream

pytestmark = pytest.mark.cc
RequireBench = Callable[..., Toolchain]
FORMS = ("int16", "int8", "uint8", "uint16", "-2048..2047", "100..300", "5..60000")
WINDOWS = ((16, 16), (16, 8), (16, 4), (8, 1), (12, 6), (15, 5), (1, 1), (300, 300), (512, 256))


def differences(
    program: StreamProgram, front_end: FrontEnd, parts: Sequence[IntArray]
) -> list[tuple[str, int]]:
    """Return the columns that differ, with the number of windows in which they do."""
    found = program.features(parts)
    expected = np.concatenate([front_end.values(part) for part in parts])
    assert found.shape == expected.shape
    wrong = (found != expected).sum(axis=0)
    names = [column.name for column in front_end.columns]
    return [(name, int(n)) for name, n in zip(names, wrong, strict=True) if n]


def parts_of(front_end: FrontEnd, n: int, seed: int) -> list[IntArray]:
    """Return segments of all kinds, and some that end before a window or at any sample of it."""
    rng = np.random.default_rng(seed)
    sample_type, k = stream_sources(front_end).sample_type, len(front_end.channels)
    found = list(segments(front_end.form, sample_type, n, k, rng))
    length = front_end.windows.length
    for size in (1, length - 1, length, length + 1, 2 * length + 3, int(rng.integers(1, n))):
        found += [part[:size] for part in segments(front_end.form, sample_type, n, k, rng)][:3]
    # Many first samples
    for _ in range(60):
        found.append(next(islice(segments(front_end.form, sample_type, length, k, rng), 2, None)))
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("length", "hop"), WINDOWS)
def test_c_agrees_with_python(form: str, length: int, hop: int) -> None:
    tested = with_levels(form, length, hop)
    if form in ("int16", "uint8"):
        flags: tuple[str, ...] = ("-O1", *SANITIZERS)
    else:
        flags = ("-O3",)
    with host_stream(stream_sources(tested), flags) as program:
        assert differences(program, tested, parts_of(tested, 3 * length + 200, length)) == []


SHARED = "sum,min,change,haar1,crossings,x.max,y.range,z.above(7)"


@pytest.mark.parametrize("form", ["int16", "uint8", "-2048..2047", "5..60000"])
@pytest.mark.parametrize(("length", "hop"), [(16, 16), (16, 8), (16, 4), (8, 1), (300, 300)])
def test_c_that_channels_share_agrees_with_python(form: str, length: int, hop: int) -> None:
    tested = front_end(form, length, hop, SHARED, None)
    assert shares_code(tested)
    for flags in (("-O1", *SANITIZERS), ("-O3",)):
        with host_stream(stream_sources(tested), flags) as program:
            assert differences(program, tested, parts_of(tested, 3 * length + 200, length)) == []


def test_c_agrees_with_the_definitions() -> None:
    """The literal definitions, sample after sample, without numpy."""
    tested = with_levels("int8", 12, 4)
    rng = np.random.default_rng(5)
    part = rng.integers(-128, 128, (100, 3))
    stream = Stream(tested.columns, tested.form, tested.windows)
    expected = [row for row in map(stream.push, part.tolist()) if row is not None]
    with host_stream(stream_sources(tested)) as program:
        assert program.features([part]).tolist() == expected


def test_a_million_samples_agree() -> None:
    tested = front_end("int16", 128, 64, signals="x,jerk(x,y,z)")
    parts = parts_of(tested, 80_000, 0)
    assert sum(map(len, parts)) > 1_000_000
    with host_stream(stream_sources(tested), ("-O3",), host_compilers()[-1]) as program:
        assert differences(program, tested, parts) == []


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "rv32", "avr", "big-endian"])
@pytest.mark.parametrize(
    ("form", "length", "hop"), [("int16", 24, 6), ("-300..300", 32, 32), ("-300..300", 32, 16)]
)
def test_c_agrees_on_targets(
    target: str, form: str, length: int, hop: int, require_bench: RequireBench
) -> None:
    bench = require_bench(target)
    straight = front_end(form, length, hop, signals="x,jerk(x,y),x-y")
    shared = front_end(form, length, hop, SHARED.replace("above(7)", "above(0)"), None)
    assert [shares_code(straight), shares_code(shared)] == [False, True]
    for tested in (straight, shared):
        with cross_stream(stream_sources(tested), bench) as program:
            assert differences(program, tested, parts_of(tested, 100, 3)) == []


@pytest.mark.firmware
@pytest.mark.parametrize("channels", ["x", "xyz"])
def test_two_panes_of_16_bits_add_to_more_bits(channels: str, require_bench: RequireBench) -> None:
    """On AVR the sum of two numbers of 16 bits has 16 bits."""
    tested = front_end("-2048..2047", 128, 64, "haar2", None, channels)
    part = np.repeat(np.tile([-2048, -2048, 2047, 2047], 64)[:, None], len(channels), axis=1)
    assert tested.values(part).max() == 32 * 4095
    with cross_stream(stream_sources(tested), require_bench("avr")) as program:
        assert differences(program, tested, [part]) == []


@pytest.mark.firmware
def test_the_cost_of_a_channel_is_within_its_limit(require_bench: RequireBench) -> None:
    """At most 120 instructions a sample on average and 64 bytes on a Cortex-M0."""
    features = ",".join(["sum,min,max,range,change,crossings", *(f"haar{k}" for k in range(1, 8))])
    tested = front_end("int16", 128, 128, features, None, "x")
    assert plan_of(tested).aligned_bytes <= 64
    part = next(segments(tested.form, "int16", 512, 1, np.random.default_rng(0)))
    bench = require_bench("cortex-m0")
    cost = stream_cost(stream_sources(tested), bench, [part])
    assert len(cost.samples) == 512
    assert cost.samples.mean() <= 120
    assert cost.samples.argmax() % 128 == 127
    assert cost.state == 64


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "cortex-m4", "rv32", "avr"])
def test_memory_is_that_of_what_is_linked(target: str, require_bench: RequireBench) -> None:
    """More features take more flash and state; a stub of them takes none."""
    bench = require_bench(target)
    found = []
    for features in ("sum", "sum,change,crossings"):
        tested = front_end("int16", 16, 8, features, "x", "x")
        part = next(segments(tested.form, "int16", 40, 1, np.random.default_rng(0)))
        found.append(stream_cost(stream_sources(tested), bench, [part]))
        plan = plan_of(tested)
        assert found[-1].state == (plan.n_bytes if target == "avr" else plan.aligned_bytes)
    less, more = found
    assert 0 < less.flash < more.flash < 2000
    assert less.state < more.state
    assert 0 <= less.stack <= more.stack < 200
    assert less.samples.max() < more.samples.max()
    assert less.ram == less.state + less.stack


@pytest.mark.parametrize(("length", "hop"), [(6, 2), (4, 4), (3, 1)])
def test_times_are_those_of_hops_that_end_with_a_window(length: int, hop: int) -> None:
    lengths = (length, 2 * length + hop + 1, length + hop - 1)
    samples, counted = [], []
    for n in lengths:
        for k in range(n):
            ends = k + 1 >= length and (k + 1) % hop == 0
            samples.append(100 + 7 * k % 5 + 1000 * ends)
            is_last = k >= n // hop * hop
            counted.append(k >= length - hop and not is_last)
    times = np.array(samples)
    found = times_of(StreamCost(0, 0, 0, times), lengths, Windows(length, hop))
    deciding = times[times >= 1000]
    assert (found.n_samples, found.n_windows) == (len(times), len(deciding))
    assert found.every == Span(int(times.min()), float(times.mean()), int(times.max()))
    assert found.deciding.min == deciding.min()
    assert found.deciding.mean == pytest.approx(deciding.mean())
    assert found.per_sample == pytest.approx(times[np.array(counted)].mean())


def test_a_meter_gets_segments_with_windows() -> None:
    windows = Windows(100, 50)
    parts = [Part(f"r{k}", np.zeros((n, 2), np.int64)) for k, n in enumerate([99, 100, 5000, 300])]
    found = metered_parts(parts, windows)
    assert [part.recording for part in found] == ["r1", "r2", "r3"]
    assert [len(part.samples) for part in found] == [100, 1333, 300]
    many = metered_parts([Part("r", np.zeros((500, 2), np.int64))] * 90, windows)
    assert [len(part.samples) for part in many] == [200] * 20
    assert metered_parts(parts[:1], windows) == []
    long = metered_parts(parts * 2, Windows(4000, 1000))
    assert [len(part.samples) for part in long] == [5000]


@pytest.mark.parametrize(("length", "hop"), [(16, 4), (1, 1), (128, 128), (2**18, 2**18)])
def test_hostile_samples_have_windows_and_an_end(length: int, hop: int) -> None:
    tested = front_end("int8", length, hop, "sum,change", "x", "xy")
    parts = hostile_parts(tested, "int8")
    sizes = [len(part.samples) for part in parts]
    assert sizes[0] >= length + 2 * hop + 1
    assert 20_000 <= sum(sizes) <= 800_000
    assert all(part.samples.shape[1] == 2 for part in parts)
    assert all((-128 <= part.samples).all() and (part.samples <= 127).all() for part in parts)
    assert len(parts) == 1 or length - 1 in sizes or length == 1
