"""
The state of a front end between two samples: signals, their partials, and the members of a struct.

It has, for each partial of each signal, the value of the current pane and those of the panes before
it, and what partials carry from sample to sample. Features that read the same partial share it, and
partials share what they carry by the same name. Types are the smallest for the largest value, which
`Partial.largest` proves.
"""

from dataclasses import dataclass

from bncc.lower.c.c99 import unsigned
from bncc.lower.c.identifiers import c_comment, field_names
from bncc.recordings.features import PARTIALS, Partial, Terms, Update, bytes_of, ring_size
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.signals import KINDS, Signal


@dataclass(frozen=True)
class Member:
    """A member of the state between two samples, all of unsigned numbers."""

    name: str
    largest: int  # Largest value
    length: int  # Elements; 0 where it is no array
    comment: str
    least_width: int = 1  # Bytes that an element has at least

    @property
    def width(self) -> int:
        """Bytes of an element."""
        return max(self.least_width, bytes_of(self.largest))

    @property
    def c_type(self) -> str:
        """Type of an element."""
        return unsigned(8 * self.width)

    @property
    def n_bytes(self) -> int:
        """Bytes of the member."""
        return max(self.length, 1) * self.width


@dataclass(frozen=True)
class Wave:
    """A signal with the partials that are computed from it."""

    signal: Signal
    name: str  # Identifier
    width: int
    partials: tuple[tuple[str, int], ...] = ()  # Names and arguments

    @property
    def offset(self) -> str:
        """Variable of the offset of the current sample."""
        return f"u_{self.name}"

    @property
    def c_type(self) -> str:
        """Type of offsets."""
        return holder(self.width)

    @property
    def title(self) -> str:
        """Name for comments."""
        return c_comment(self.signal.name)

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels of the lifting whose details are summed."""
        return tuple(argument for name, argument in self.partials if PARTIALS[name].by_level)

    @property
    def ring_size(self) -> int:
        """Elements of the ring of the last offsets; 0 for none."""
        return ring_size(max(PARTIALS[name].reach(argument) for name, argument in self.partials))


class State:
    """A front end's signals, and the members that its C keeps."""

    def __init__(self, front_end: FrontEnd, name: str) -> None:
        self.front_end, self.windows, self.name = front_end, front_end.windows, name
        self.channels, self.waves = waves_of(front_end)
        self.top = max((level for wave in self.waves for level in wave.levels), default=0)
        sizes = [2**self.top, *(wave.ring_size for wave in self.waves)]
        self.n_phases = max(sizes)
        self.has_phase = self.windows.hop % self.n_phases != 0
        self.counter = "phase" if self.has_phase else "position"
        self.has_first = any(
            KINDS[wave.signal.kind].uses_before
            or wave.ring_size
            or any(
                PARTIALS[name].carried(wave.width, argument) and not PARTIALS[name].by_level
                for name, argument in wave.partials
            )
            for wave in self.waves
        )
        self.members = self._all_members()

    def state(self, wave: Wave, key: str) -> str:
        """Return the expression of a member."""
        return f"s->{self.members[wave.name, key].name}"

    def of(self, wave: Wave) -> list[Wave]:
        """Return the channels of a signal."""
        by_index = {channel.signal.channels[0]: channel for channel in self.channels}
        return [by_index[c] for c in wave.signal.channels]

    def terms(self, wave: Wave, name: str, argument: int) -> Terms:
        """Return the C terms of a partial's update."""
        carried = PARTIALS[name].carried(wave.width, argument)
        members = {key: self.members[wave.name, key] for key in carried}
        return Terms(
            "detail" if PARTIALS[name].by_level else wave.offset,
            wave.c_type,
            argument,
            {key: f"s->{member.name}" for key, member in members.items()},
            {key: member.c_type for key, member in members.items()},
            *self._ring_terms(wave),
        )

    def _ring_terms(self, wave: Wave) -> tuple[str, int, str, str]:
        """Return the C terms of a signal's ring."""
        if not wave.ring_size:
            return "", 0, "", ""
        fill = f"{self.name}_fill_{wave.c_type.removesuffix('_t')}"
        return self.state(wave, "ring"), wave.ring_size, f"s->{self.counter}", fill

    @property
    def ring_types(self) -> tuple[str, ...]:
        """Types of the rings' elements."""
        return tuple(dict.fromkeys(wave.c_type for wave in self.waves if wave.ring_size))

    def updates(self, wave: Wave) -> list[tuple[Partial, str, Update]]:
        """Return the partials of a signal that every sample updates, with their panes."""
        return [
            (
                PARTIALS[name],
                key_of(name, argument),
                PARTIALS[name].update(self.terms(wave, name, argument)),
            )
            for name, argument in wave.partials
            if not PARTIALS[name].by_level
        ]

    def _all_members(self) -> dict[tuple[str, str], Member]:
        """Return all members by signal and key."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        windows = self.windows
        for wave in self.waves:
            if KINDS[wave.signal.kind].uses_before:
                for channel in self.of(wave):
                    found[channel.name, "before"] = (channel.width, 0)
            if wave.ring_size:
                found[wave.name, "ring"] = (wave.width, wave.ring_size)
            for name, argument in wave.partials:
                partial, key = PARTIALS[name], key_of(name, argument)
                for carried, most in partial.carried(wave.width, argument).items():
                    found[wave.name, carried] = (most, 0)
                most = partial.largest(wave.width, argument, windows.hop, windows.hop)
                found[wave.name, key] = (most, 0)
                if windows.n_panes > 1:
                    found[wave.name, f"{key}_panes"] = (most, windows.n_panes - 1)
        counters = self._counters()
        found |= {("", key): (most, 0) for key, (most, _) in counters.items()}
        names = field_names("_".join(filter(None, each)) for each in found)
        members = {}
        for name, (place, (most, length)) in zip(names, found.items(), strict=True):
            text = f"at most {most}" if place[0] else counters[place[1]][1]
            if place[1].startswith("difference"):
                text = f"modulo {most + 1}, negative from {(most + 1) // 2} on"
            # Compilers for AVR multiply to index wide numbers by one of 8 bits.
            members[place] = Member(name, most, length, text, 1 + (place == ("", "oldest")))
        return members

    def _counters(self) -> dict[str, tuple[int, str]]:
        """Return the largest value and the meaning of members that belong to no signal."""
        found: dict[str, tuple[int, str]] = {}
        hop, n_panes = self.windows.hop, self.windows.n_panes
        if hop > 1:
            found["position"] = (hop, "number of samples in the current pane")
        if self.has_phase:
            found["phase"] = (self.n_phases - 1, "number of samples, modulo a power of 2")
        if n_panes > 2:
            found["oldest"] = (n_panes - 1, "index of the oldest complete pane")
        if n_panes > 1:
            found["lacking"] = (n_panes - 1, "number of panes that the first window lacks")
        if self.has_first:
            found["is_first"] = (1, "1 before the first sample of a segment, else 0")
        return found


def holder(largest: int) -> str:
    """Return the smallest unsigned type of numbers up to a largest one."""
    return unsigned(8 * bytes_of(largest))


def key_of(partial: str, argument: int) -> str:
    """Return the key of a partial's pane in the state."""
    return f"{partial.replace('-', '_')}{argument or ''}"


def waves_of(front_end: FrontEnd) -> tuple[tuple[Wave, ...], tuple[Wave, ...]]:
    """Return the channels that are read, and the signals of the columns with their partials."""
    wanted: dict[Signal, dict[tuple[str, int], None]] = {}
    form = front_end.form
    for column in front_end.columns:
        for partial in column.partials(column.scope(form, front_end.windows)):
            wanted.setdefault(column.signal, {})[partial] = None
    derived = [signal for signal in wanted if signal.kind != "channel"]
    n = len(front_end.channels)
    names = field_names([*front_end.channels, *(signal.name for signal in derived)])
    by_signal = dict(zip(derived, names[n:], strict=True))
    waves = []
    for signal, partials in wanted.items():
        least, largest = signal.bounds(form)
        name = by_signal[signal] if signal in by_signal else names[signal.channels[0]]
        waves.append(Wave(signal, name, largest - least, tuple(partials)))
    read = sorted({channel for signal in wanted for channel in signal.channels})
    channels = [
        Wave(Signal(front_end.channels[c], "channel", (c,)), names[c], form.width) for c in read
    ]
    return tuple(channels), tuple(waves)
