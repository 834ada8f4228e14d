"""Options of the commands that compute features from recordings, and what they mean."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import update_wrapper
from typing import Any

import click

from bncc.cli.console import Console
from bncc.cli.options import Command
from bncc.errors import OptionError
from bncc.recordings.read import TIME_UNITS, Roles, read_recordings
from bncc.recordings.recording import Recordings, sample_format
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import signals_of, split_list
from bncc.recordings.table import columns_of, fixed
from bncc.recordings.windows import Windows, samples_of, windows_of


@dataclass(frozen=True)
class RecordingOptions:
    """Values of the options, as given."""

    window: str | None
    hop: str | None
    rate: Fraction | None
    time: str | None
    time_unit: str
    recording: str | None
    channels: str | None
    intervals: str | None
    ignore: tuple[str, ...]
    purity: float
    sample_type: str
    signals: str | None
    features: str | None

    def roles(self, class_name: str | None, groups: str | None) -> Roles:
        """Return the roles of columns."""
        return Roles(
            sample_format(self.sample_type),
            None if self.channels is None else tuple(split_list(self.channels)),
            class_name,
            self.recording,
            groups,
            self.time,
            self.time_unit,
            self.rate,
            self.intervals,
        )

    def read(
        self, path: str, class_name: str | None, groups: str | None, console: Console
    ) -> Recordings:
        """Read recordings."""
        if self.intervals is not None and class_name is not None:
            raise click.UsageError("--intervals replaces the class column; leave out --class")
        found = read_recordings(path, self.roles(class_name, groups), console.note)
        unknown = [label for label in self.ignore if label not in found.labels]
        if unknown:
            console.note(f"no sample has the ignored label {unknown[0]!r}")
        return found

    def windows(self, recordings: Recordings) -> Windows:
        """Return the windows of samples."""
        assert self.window is not None
        length = samples_of(self.window, recordings.rate, "--window")
        hop = length if self.hop is None else samples_of(self.hop, recordings.rate, "--hop")
        return windows_of(length, hop)

    def columns(
        self, recordings: Recordings, windows: Windows, features: str | None = None
    ) -> list[SignalFeature]:
        """Return the features of a list, that of the options by default, with levels fixed."""
        signals = signals_of(self.signals, recordings.channels)
        found = columns_of(features or self.features, signals, recordings.channels, windows)
        return fixed(found, recordings)

    @property
    def is_auto(self) -> bool:
        """True if the length of windows is to be chosen."""
        return self.window == AUTO

    def check_unused(self) -> None:
        """Refuse options that have no effect without ``--window``."""
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if value is not None and value not in (_DEFAULTS.get(name), ()):
                flag = name.replace("_", "-")
                raise OptionError(
                    f"--{flag} is for recordings; add --window, the length of a window of samples"
                )


AUTO = "auto"
_DEFAULTS = {"time_unit": "s", "sample_type": "int16", "purity": 1.0}


TIME_OPTION = click.option("--time", metavar="COLUMN", help="Column of times; a gap ends a window.")
TIME_UNIT_OPTION = click.option(
    "--time-unit",
    type=click.Choice(tuple(TIME_UNITS)),
    default="s",
    show_default=True,
    help="Unit of --time.",
)
RECORDING_OPTION = click.option(
    "--recording", metavar="COLUMN", help="Column of recordings [default: one per file]."
)
INTERVALS_OPTION = click.option(
    "--intervals",
    metavar="FILE",
    help="Table of recording, start, end and label, instead of a class column.",
)
IGNORE_OPTION = click.option(
    "--ignore", metavar="LABEL", multiple=True, help="Label without windows, repeatable."
)

PURITY_OPTION = click.option(
    "--purity",
    type=float,
    default=1.0,
    metavar="SHARE",
    help="Share of a window with its label [default: 1].",
)


def recording_options(*, needs_window: bool) -> Callable[[Command], Command]:
    """Add the options, whose values a command gets as ``recordings``."""

    def decorate(function: Command) -> Command:
        names = [field.name for field in fields(RecordingOptions)]

        def collected(*args: Any, **values: Any) -> Any:
            of = RecordingOptions(**{name: values.pop(name) for name in names})
            return function(*args, recordings=of, **values)

        command: Any = update_wrapper(collected, function)
        for option in reversed(_options(needs_window=needs_window)):
            command = option(command)
        found: Command = command
        return found

    return decorate


def _options(*, needs_window: bool) -> list[Callable[[Command], Command]]:
    """Return the decorators, in the order of the help."""
    start = "" if needs_window else "DATA are recordings: train on windows of this length, "
    end = "in samples or time; auto tries powers of 2."
    end = "Length of a window, in samples or a duration." if needs_window else end
    return [
        click.option("--window", metavar="N[s|ms]", required=needs_window, help=start + end),
        click.option(
            "--hop",
            metavar="N[s|ms]",
            help="Distance between starts of windows [default: --window].",
        ),
        click.option(
            "--rate",
            callback=_rate,
            metavar="HZ",
            help="Samples per second [default: that of the times].",
        ),
        TIME_OPTION,
        TIME_UNIT_OPTION,
        RECORDING_OPTION,
        click.option(
            "--channels",
            metavar="A,B,...",
            help="Columns of samples [default: all of numbers without another role].",
        ),
        INTERVALS_OPTION,
        IGNORE_OPTION,
        PURITY_OPTION,
        click.option(
            "--sample-type",
            metavar="TYPE",
            default="int16",
            help="int16 (default), int8, uint8, uint16, or a range such as -2048..2047; other "
            "values saturate.",
        ),
        click.option(
            "--signals",
            metavar="LIST",
            help="Signals: channels, jerk(A,B,...), A+B, A-B [default: all channels].",
        ),
        click.option(
            "--features",
            metavar="LIST",
            help="Features such as sum,haar2,above(q90),haar1/change,sum@1; "
            "default,ratios,panes,hoc for many; train also takes auto, which tries several lists "
            "on held-out groups [default: all but levels, ratios, panes and hoc].",
        ),
    ]


def _rate(ctx: click.Context, param: click.Parameter, value: str | None) -> Fraction | None:
    """Parse a rate in Hz."""
    if value is None:
        return None
    try:
        rate = Fraction(value)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if not 0 < rate <= 10**9:
        raise click.BadParameter(f"{value!r} is not a rate in Hz such as 50 or 0.5")
    return rate
