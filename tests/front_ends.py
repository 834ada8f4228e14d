"""Front ends and samples for tests."""

from collections.abc import Sequence

from bncc.lower.sample_stream import SampleStream, plan_samples
from bncc.lower.window_features import Output
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.recording import sample_format
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of
from bncc.recordings.windows import Windows

SIGNALS = "x,y,jerk(x,y),jerk(y),x+y,y-x"


def front_end(
    form: str = "int16",
    length: int = 16,
    hop: int = 8,
    features: str | None = None,
    signals: str | None = SIGNALS,
    channels: Sequence[str] = "xyz",
) -> FrontEnd:
    """Return a front end; the default features are those of all signals."""
    chosen = signals_of(signals, channels)
    columns = columns_of(features, chosen, channels, Windows(length, hop))
    return FrontEnd(sample_format(form), tuple(channels), Windows(length, hop), tuple(columns))


def plan_of(front_end: FrontEnd) -> SampleStream:
    """Return the state of a front end and its updates."""
    outputs = [Output(f"x->f{k}", f"{kind}_t") for k, kind in enumerate(front_end.types)]
    return plan_samples(front_end, outputs, "f")


def with_levels(form: str, length: int, hop: int) -> FrontEnd:
    """Return a front end of all features, with levels at both ends of a signal and within."""
    at = sample_format(form)
    names = [f"haar{k}" for k in range(1, 8) if 2**k <= length]
    names += ["sum", "min", "max", "range", "change", "crossings", "crossings(1)", "hoc1", "hoc4"]
    names += ["lag1", "lag3", "lag8", "lag13>>2"]
    names += ["range/change", "lag3/range", *(["haar1/lag5"] if length > 1 else [])]
    names += ["sum>>3", "min>>1", "max>>5", "range>>2", *(["haar1>>1"] if length > 1 else [])]
    n_panes = length // hop
    if n_panes > 1:
        names += ["sum@1", f"range@{n_panes}", f"lag3@{n_panes - 1}", "sum@1>>2", "hoc5@1"]
    levels = [
        f"{signal}.{feature}({level})"
        for signal, low, high in (
            ("x", at.least, at.largest),
            ("jerk(x,y)", 0, 2 * at.width),
            ("x+y", 2 * at.least, 2 * at.largest),
        )
        for level in (low, low + 1, (low + high) // 2, high)
        for feature in ("above", "level-crossings")
    ]
    return front_end(form, length, hop, ",".join([*names, *levels]))
