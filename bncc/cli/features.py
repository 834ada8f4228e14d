"""``bncc features``: a table of features from windows of recordings."""

from collections import Counter
from fractions import Fraction
from shlex import quote
from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import class_option, force_option, speaks
from bncc.cli.output import check_free, write_file
from bncc.data.readers import read_table
from bncc.recordings.read import TIME_UNITS, Roles, read_recordings
from bncc.recordings.recording import sample_format
from bncc.recordings.signals import signals_of, split_list
from bncc.recordings.table import (
    START,
    FeatureTable,
    columns_like,
    columns_of,
    csv_of,
    feature_table,
    fixed,
)
from bncc.recordings.windows import samples_of, windows_of


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


@click.command("features")
@click.argument("recordings_path", metavar="RECORDINGS")
@click.option("-o", "--output", metavar="TABLE.csv", required=True, help="Output file.")
@click.option(
    "--window",
    metavar="N[s|ms]",
    required=True,
    help="Length of a window in samples, or a duration.",
)
@click.option(
    "--hop", metavar="N[s|ms]", help="Distance between starts of windows [default: --window]."
)
@click.option(
    "--rate",
    callback=_rate,
    metavar="HZ",
    help="Samples per second [default: that of the times].",
)
@click.option("--time", metavar="COLUMN", help="Column of times; a gap ends a window.")
@click.option(
    "--time-unit",
    type=click.Choice(tuple(TIME_UNITS)),
    default="s",
    show_default=True,
    help="Unit of --time.",
)
@click.option("--recording", metavar="COLUMN", help="Column of recordings [default: one per file].")
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Column of groups, such as persons or devices, to copy into the table.",
)
@click.option(
    "--channels",
    metavar="A,B,...",
    help="Columns of samples [default: all of numbers without another role].",
)
@class_option
@click.option(
    "--intervals",
    metavar="FILE",
    help="Table of recording, start, end and label, instead of a class column.",
)
@click.option("--ignore", metavar="LABEL", multiple=True, help="Label without windows, repeatable.")
@click.option(
    "--sample-type",
    metavar="TYPE",
    default="int16",
    show_default=True,
    help="Type of samples: int16, int8, uint8, uint16, or a range such as -2048..2047; other "
    "values saturate.",
)
@click.option(
    "--signals",
    metavar="LIST",
    help="Signals: channels, jerk(A,B,...), A+B, A-B [default: all channels].",
)
@click.option(
    "--features",
    metavar="LIST",
    help="Features such as sum,haar2,above(q90) [default: all without levels].",
)
@click.option(
    "--like",
    metavar="TABLE.csv",
    help="Table whose features and levels to compute, for recordings that test a model.",
)
@force_option
@speaks
def command(
    console: Console,
    recordings_path: str,
    output: str,
    window: str,
    hop: str | None,
    rate: Fraction | None,
    time: str | None,
    time_unit: str,
    recording: str | None,
    groups: str | None,
    channels: str | None,
    class_name: str | None,
    intervals: str | None,
    ignore: tuple[str, ...],
    sample_type: str,
    signals: str | None,
    features: str | None,
    like: str | None,
    force: bool,
) -> None:
    """
    Compute features of windows of RECORDINGS, as a table for `bncc train`.

    RECORDINGS is a file of samples in time order, or a folder with one recording per file. Samples
    are integers, as the device reads them. A window has one label: windows with several labels, or
    with an ignored one, are left out.
    """
    if like is not None and (signals is not None or features is not None):
        raise click.UsageError("--like names signals and features; leave out --signals, --features")
    if intervals is not None and class_name is not None:
        raise click.UsageError("--intervals replaces the class column; leave out --class")
    check_free(output, force=force, sources=[recordings_path, intervals, like])
    roles = Roles(
        sample_format(sample_type),
        None if channels is None else tuple(split_list(channels)),
        class_name,
        recording,
        groups,
        time,
        time_unit,
        rate,
        intervals,
    )
    found = read_recordings(recordings_path, roles, console.note)
    length = samples_of(window, found.rate, "--window")
    windows = windows_of(length, length if hop is None else samples_of(hop, found.rate, "--hop"))
    unknown = [label for label in ignore if label not in found.labels]
    if unknown:
        console.note(f"no sample has the ignored label {unknown[0]!r}")
    columns = fixed(
        columns_of(features, signals_of(signals, found.channels), found.channels, windows.length)
        if like is None
        else columns_like(like, read_table(like).names, found.channels),
        found,
    )
    with console.progress("features") as advance:
        table = feature_table(found, columns, windows, ignore, advance)
    _print_notes(table, console)
    write_file(output, csv_of(table), force=force)
    console.result(_facts(table, output), _report(table, output))


def _print_notes(table: FeatureTable, console: Console) -> None:
    if table.too_short:
        console.note(
            f"{len(table.too_short)} of {len(table.recordings.recordings)} recordings have no "
            f"window, such as {table.too_short[0]!r}: they are shorter than "
            f"{table.windows.length} samples without a gap"
        )


def _facts(table: FeatureTable, output: str) -> dict[str, Any]:
    """Return the JSON object of ``features``."""
    recordings, windows = table.recordings, table.windows
    form = recordings.sample_format
    columns = []
    for column in table.columns:
        low, high = column.bounds(form, windows)
        columns.append(
            {
                "name": column.name,
                "type": column.column_type(form, windows),
                "low": low,
                "high": high,
                "state_bytes": column.state_bytes(form, windows),
                "additions": column.additions,
            }
        )
    return {
        "output": output,
        "recordings": len(recordings.recordings),
        "windows": len(table.values),
        "left_out": table.n_left_out,
        "too_short": list(table.too_short),
        "saturated": recordings.n_saturated,
        "rate": None if recordings.rate is None else float(recordings.rate),
        "window": windows.length,
        "hop": windows.hop,
        "channels": list(recordings.channels),
        "labels": _counts(table),
        "features": columns,
    }


def _counts(table: FeatureTable) -> dict[str, int]:
    """Return the number of windows of each label that has one."""
    counts = Counter(table.label.tolist())
    return {table.recordings.labels[label]: counts[label] for label in sorted(counts)}


def _report(table: FeatureTable, output: str) -> str:
    recordings, windows = table.recordings, table.windows
    rate = "" if recordings.rate is None else f" at {float(recordings.rate):g} Hz"
    types = Counter(each.column_type(recordings.sample_format, windows) for each in table.columns)
    counts = ", ".join(f"{label} {count}" for label, count in _counts(table).items())
    rows = [
        ("recordings", f"{len(recordings.recordings)} of {', '.join(recordings.channels)}{rate}"),
        ("windows", f"{len(table.values)} of {windows.length} samples, every {windows.hop}"),
        ("left out", f"{table.n_left_out} without a single label, or with an ignored one"),
        (recordings.label_column, counts),
        ("features", ", ".join(f"{count} {name}" for name, count in types.items())),
        ("table", output),
        ("train with", _next(table, output)),
    ]
    return aligned(rows)


def _next(table: FeatureTable, output: str) -> str:
    """Return the command that trains on the table."""
    recordings = table.recordings
    groups = recordings.group_column or recordings.recording_column
    dropped = [name for name in (recordings.recording_column, START) if name != groups]
    options = [f"--class {quote(recordings.label_column)}", f"--groups {quote(groups)}"]
    options += [f"--drop {quote(name)}" for name in dropped]
    return " ".join(["bncc train", quote(output), *options, "-o MODEL.bncc"])
