"""``bncc features``: a table of features from windows of recordings."""

from collections import Counter
from shlex import quote
from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import class_option, force_option, speaks
from bncc.cli.output import check_free, write_file
from bncc.cli.recording_options import RecordingOptions, recording_options
from bncc.data.readers import read_table
from bncc.recordings.table import (
    START,
    FeatureTable,
    columns_like,
    csv_of,
    feature_table,
    fixed,
)


@click.command("features")
@click.argument("recordings_path", metavar="RECORDINGS")
@click.option("-o", "--output", metavar="TABLE.csv", required=True, help="Output file.")
@recording_options(needs_window=True)
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Column of groups, such as persons or devices, to copy into the table.",
)
@class_option
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
    recordings: RecordingOptions,
    groups: str | None,
    class_name: str | None,
    like: str | None,
    force: bool,
) -> None:
    """
    Compute features of windows of RECORDINGS, as a table for `bncc train`.

    RECORDINGS is a file of samples in time order, or a folder with one recording per file. Samples
    are integers, as the device reads them. A window has one label: windows with several labels, or
    with an ignored one, are left out.
    """
    if like is not None and (recordings.signals is not None or recordings.features is not None):
        raise click.UsageError("--like names signals and features; leave out --signals, --features")
    check_free(output, force=force, sources=[recordings_path, recordings.intervals, like])
    found = recordings.read(recordings_path, class_name, groups, console)
    windows = recordings.windows(found)
    columns = (
        recordings.columns(found, windows)
        if like is None
        else fixed(columns_like(like, read_table(like).names, found.channels), found)
    )
    with console.progress("features") as advance:
        table = feature_table(
            found, columns, windows, recordings.ignore, advance, purity=recordings.purity
        )
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
