"""The state of a front end: types by largest values, which extreme samples reach, and sharing."""

from pathlib import Path

import numpy as np
import pytest

from bncc.emit.front_end import front_end_c
from bncc.lower.sample_shared import plan_shared
from bncc.lower.sample_stream import sample_type_of
from bncc.lower.window_features import Output
from bncc.recordings.features import PARTIALS
from bncc.recordings.recording import SampleFormat, sample_format
from bncc.recordings.windows import Windows, merged
from bncc.toolchain.tools import host_compilers, run
from tests.front_ends import front_end, plan_of, with_levels


def names(*arguments: object, **options: object) -> set[str]:
    """Return the members of a front end's state."""
    return {member.name for member in plan_of(front_end(*arguments, **options)).members}  # type: ignore[arg-type]


@pytest.mark.parametrize(("length", "hop"), [(24, 8), (16, 16), (30, 3), (128, 64)])
@pytest.mark.parametrize("form", ["int8", "int16"])
def test_extreme_samples_reach_the_largest_value_of_a_pane_and_none_exceeds_it(
    form: str, length: int, hop: int
) -> None:
    """Samples change between the extremes every 1, 2, 4, ... samples, or never."""
    tested = front_end(form, length, hop, signals="x,jerk(x,y),x+y", channels="xy")
    members = {member.name: member for member in plan_of(tested).members}
    at, t = tested.form, np.arange(40 * length)
    patterns = [0 * t, 0 * t + 1, *(t // 2**k % 2 for k in range(8))]
    for signal in {column.signal for column in tested.columns}:
        name = {"x": "x", "jerk(x,y)": "jerk_x_y", "x+y": "x_y"}[signal.name]
        for column in tested.columns:
            if column.signal != signal or column.feature == "range":
                continue
            partial = PARTIALS[column.feature]
            top = 0
            for pattern in patterns:
                samples = np.where(pattern, at.largest, at.least)[:, None].repeat(2, axis=1)
                parts, _ = partial.contribution(signal.offsets(samples, at), column.argument, None)
                top = max(top, int(merged(parts, Windows(hop, hop), partial.merge).max()))
            suffix = "" if column.argument == 0 else str(column.argument)
            largest = members[f"{name}_{column.feature}{suffix}"].largest
            # A jerk, the change of a sample, alternates between 0 and its largest at no pattern.
            assert top <= largest
            assert top == largest or signal.kind == "jerk"


def test_types_are_the_smallest_and_what_every_sample_needs_comes_first() -> None:
    for tested in (with_levels("int16", 64, 16), with_levels("uint8", 300, 300)):
        members = plan_of(tested).members
        bits = [int(member.c_type.strip("uint_")) for member in members]
        for member, width in zip(members, bits, strict=True):
            smaller = {8: 0, 16: 2**8, 32: 2**16}[width]
            assert member.name == "oldest" or smaller <= member.largest < 2**width
        n_hot = sum(not member.length for member in members)
        assert not any(member.length for member in members[:n_hot])
        assert bits[:n_hot] == sorted(bits[:n_hot])
        assert bits[n_hot:] == sorted(bits[n_hot:], reverse=True)


@pytest.mark.cc
@pytest.mark.parametrize(
    ("form", "length", "hop", "features"),
    [
        ("int16", 64, 16, None), ("uint8", 300, 300, None), ("int16", 8, 4, "min"),
        ("int8", 8, 2, "sum,crossings"), ("int16", 8, 4, "min,sum"), ("uint8", 2, 1, "max"),
    ],
)  # fmt: skip
def test_bytes_are_those_of_the_struct(
    form: str, length: int, hop: int, features: str | None, tmp_path: Path
) -> None:
    tested = front_end(form, length, hop, features, "x")
    for file, text in front_end_c(tested, "f").items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    n_bytes = plan_of(tested).aligned_bytes
    check = f'#include "f.h"\ntypedef char same[sizeof(f_stream_t) == {n_bytes} ? 1 : -1];\n'
    (tmp_path / "size.c").write_text(check)
    assert run((*host_compilers()[0].command, "-c", "size.c"), tmp_path) == ""


def test_partials_of_a_signal_are_shared() -> None:
    assert names("int8", 8, 8, "min,max,range", "x") == {"x_min", "x_max", "position"}
    changed = {"x_change", "x_before", "position", "is_first"}
    assert names("int8", 8, 8, "change", "x") == changed
    # The jerk of a channel needs the same sample before.
    assert names("int8", 8, 8, "x.change,jerk(x).max", "x") == {*changed, "jerk_x_max"}


def test_levels_of_a_signal_share_a_lifting() -> None:
    assert names("int8", 8, 8, "haar1,haar3", "x") == {
        "x_first1", "x_first2", "x_first3", "x_haar1", "x_haar3", "position",
    }  # fmt: skip


def test_lags_of_a_signal_share_a_ring() -> None:
    tested = front_end("int8", 16, 16, "lag3,lag5,haar2", "x")
    rings = [each for each in plan_of(tested).members if each.name == "x_ring"]
    assert [each.length for each in rings] == [8]
    assert names("int8", 16, 16, "lag3,lag5", "x") == {
        "x_lag3", "x_lag5", "x_ring", "position", "is_first",
    }  # fmt: skip
    # A pane of 12 samples does not end where the ring does.
    assert "phase" in names("int8", 24, 12, "lag5", "x")
    assert "phase" not in names("int8", 24, 12, "lag3", "x")


def test_only_what_is_needed_is_kept() -> None:
    assert names("int8", 1, 1, "sum", "x") == {"x_sum"}
    assert names("int8", 4, 2, "sum", "x") == {"x_sum", "x_sum_panes", "position", "lacking"}
    three = {"x_sum", "x_sum_panes", "position", "lacking", "oldest"}
    assert names("int8", 6, 2, "sum", "x") == three
    # Hops of 2 do not determine the samples that complete groups of four.
    assert names("int8", 4, 2, "haar2", "x") - names("int8", 4, 4, "haar2", "x") == {
        "phase", "lacking", "x_haar2_panes",
    }  # fmt: skip


def test_state_of_one_channel_has_no_padding() -> None:
    haar = ",".join(f"haar{k}" for k in range(1, 8))
    features = f"sum,min,max,range,change,crossings,{haar}"
    plan = plan_of(front_end("int16", 128, 128, features, signals="x"))
    assert plan.n_bytes == 62
    assert plan.aligned_bytes == 64


@pytest.mark.parametrize("signals", ["x", "x,y,z"], ids=["straight", "shared"])
def test_what_follows_the_state_is_aligned_too(signals: str) -> None:
    tested = front_end("int16", 16, 8, None, signals=signals)
    outputs = [Output(f"x->f{k}", f"{kind}_t") for k, kind in enumerate(tested.types)]
    plan = plan_of(tested) if signals == "x" else plan_shared(tested, outputs, "f")
    alone = plan.aligned_bytes
    assert plan.aligned_with([]) == plan.aligned_with([(0, 1)]) == alone
    assert plan.aligned_with([(4, 4)]) == -(-alone // 4) * 4 + 4
    assert 0 <= plan.aligned_with([(3, 1)]) - alone <= 4
    # A byte between two numbers of four takes as much as one of these.
    four = (4, 4)
    assert plan.aligned_with([four, (1, 1), four]) == plan.aligned_with([four, four, four])


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("int8", "int8_t"), ("uint8", "uint8_t"), ("int16", "int16_t"), ("uint16", "uint16_t"),
        ("-100..100", "int16_t"), ("0..255", "uint8_t"), ("0..254", "int16_t"),
        ("0..40000", "uint16_t"), ("-5..32767", "int16_t"),
    ],
)  # fmt: skip
def test_samples_outside_a_narrow_format_can_be_passed(form: str, expected: str) -> None:
    assert sample_type_of(sample_format(form)) == expected


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        (SampleFormat(-128, 127), ()),
        (SampleFormat(-5, 9), ("if (value < -5) {", "    value = -5;", "}",
                               "if (value > 9) {", "    value = 9;", "}")),
        (SampleFormat(0, 40000), ("if (value > 40000U) {", "    value = 40000U;", "}")),
        (SampleFormat(-(2**15), 9), ("if (value > 9) {", "    value = 9;", "}")),
    ],
)  # fmt: skip
def test_samples_saturate_where_they_can_be_outside(
    form: SampleFormat, lines: tuple[str, ...]
) -> None:
    text = f"{form.least}..{form.largest}"
    assert plan_of(front_end(text, 8, 8, "sum", "x")).saturation == lines
