"""Functions of a channel for all channels of a front end, each with a state of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bncc.lower.c.identifiers import c_comment, field_names
from bncc.lower.sample_stream import (
    SampleStream,
    aligned,
    plan_samples,
    sample_type_of,
)
from bncc.lower.window_features import Output
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import Signal

_CHANNEL = "channel"


@dataclass(frozen=True)
class Value:
    """A feature that every channel has."""

    c_type: str
    name: str  # Member of the struct of values
    comment: str


@dataclass(frozen=True)
class SharedStream:
    """Template data for functions that take one sample at a time, and share those of a channel."""

    n_channels: int
    sample_type: str  # Type of a channel's sample
    least: int  # least and largest: Bounds of the sample format
    largest: int
    window: int
    hop: int
    n_panes: int
    inner: SampleStream  # The functions of a channel
    values: tuple[Value, ...]  # What they compute
    channels: tuple[int, ...]  # Indices in a sample, of the channels that are read
    titles: tuple[str, ...]  # Their names
    fill: tuple[str, ...]  # Statements that assign the features

    @property
    def n_bytes(self) -> int:
        """Bytes of the state on targets without alignment."""
        return len(self.channels) * self.inner.n_bytes

    @property
    def aligned_bytes(self) -> int:
        """Bytes of the state on targets that align each number to its size."""
        return self.aligned_with(())

    def aligned_with(self, parts: Sequence[tuple[int, int]]) -> int:
        """Return these bytes with further ones behind them, and the bytes of their numbers."""
        at = len(self.channels) * self.inner.aligned_bytes
        for n_bytes, width in parts:
            at = aligned(at, width) + n_bytes
        widths = [member.width for member in self.inner.members]
        return aligned(at, max(*widths, *(width for _, width in parts), 1))


def may_share(front_end: FrontEnd) -> bool:
    """Return whether a front end has several signals, all of which are channels."""
    signals = front_end.signals
    return len(signals) > 1 and all(signal.kind == "channel" for signal in signals)


def of_one_channel(front_end: FrontEnd) -> FrontEnd:
    """Return the front end of one channel with every feature that some channel has."""
    alone = Signal(_CHANNEL, "channel", (0,))
    columns = dict.fromkeys(_alone(column, alone) for column in front_end.columns)
    return replace(front_end, channels=(_CHANNEL,), columns=tuple(columns))


def _alone(column: SignalFeature, signal: Signal) -> SignalFeature:
    return replace(column, signal=signal)


def plan_shared(front_end: FrontEnd, outputs: Sequence[Output], name: str) -> SharedStream:
    """Lay out the state of a channel, and write the statements that call its functions."""
    assert may_share(front_end)
    alone = Signal(_CHANNEL, "channel", (0,))
    columns = [_alone(column, alone) for column in front_end.columns]
    # Readings of one feature may have different types, each of which is a value of its own.
    wanted = dict.fromkeys(
        (column, replace(output, place="")) for column, output in zip(columns, outputs, strict=True)
    )
    titles = [column.name.removeprefix(f"{_CHANNEL}.") for column, _ in wanted]
    names = dict(zip(wanted, field_names(titles), strict=True))
    values = [
        Value(output.c_type, names[column, output], c_comment(title))
        for (column, output), title in zip(wanted, titles, strict=True)
    ]
    places = [replace(key[1], place=f"x->{field}") for key, field in names.items()]
    inner = plan_samples(
        replace(front_end, channels=(_CHANNEL,), columns=tuple(column for column, _ in wanted)),
        places,
        f"{name}_{_CHANNEL}",
    )
    channels = sorted({signal.channels[0] for signal in front_end.signals})
    fill = []
    for of_channel, column, output in zip(front_end.columns, columns, outputs, strict=True):
        v = f"v[{channels.index(of_channel.signal.channels[0])}]"
        fill.append(f"{output.place} = {v}.{names[column, replace(output, place='')]};")
    form, windows = front_end.form, front_end.windows
    return SharedStream(
        n_channels=len(front_end.channels),
        sample_type=sample_type_of(form),
        least=form.least,
        largest=form.largest,
        window=windows.length,
        hop=windows.hop,
        n_panes=windows.n_panes,
        inner=inner,
        values=tuple(values),
        channels=tuple(channels),
        titles=tuple(c_comment(front_end.channels[c]) for c in channels),
        fill=tuple(fill),
    )
