"""docs/recordings.md lists all signals and features, with the figures of the code."""

from pathlib import Path

from bncc.recordings.features import FEATURES
from bncc.recordings.recording import sample_format
from bncc.recordings.signal_feature import feature_of
from bncc.recordings.signals import KINDS, signal_of
from bncc.recordings.windows import Windows

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "recordings.md").read_text("utf-8")
ARGUMENTS = {
    "none": "{}",
    "lag": "{}3",
    "number": "{}3",
    "order": "{}3",
    "shift": "{}",
    "level": "{}(0)",
}


def row(name: str) -> str:
    """Return a feature's row of the table."""
    windows, form = Windows(128, 64), sample_format("int16")
    feature = feature_of(signal_of("x", ["x"]), ARGUMENTS[FEATURES[name].argument].format(name))
    assert feature is not None
    low, high = feature.bounds(form, windows)
    cells = (
        f"`{feature.name.removeprefix('x.')}`",
        FEATURES[name].text,
        f"{low} .. {high}",
        feature.column_type(form, windows),
        f"{feature.state_bytes(form, windows)}",
        f"{feature.additions:g}",
    )
    return f"| {' | '.join(cells)} |"


def test_it_lists_every_feature() -> None:
    for name in FEATURES:
        assert row(name) in PAGE.splitlines(), row(name)


def test_it_lists_every_kind_of_signal() -> None:
    for kind in KINDS.values():
        assert f"| {kind.text} |" in PAGE
