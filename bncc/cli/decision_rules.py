"""``--with filter``, ``confidence`` and ``unknown`` of commands that decide on rows or windows."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import numpy as np

from bncc._types import IntArray
from bncc.cli.console import Console
from bncc.cli.recordings import RecordedWindows
from bncc.discretize.feature import states_of
from bncc.errors import OptionError
from bncc.model.confidence import Confidence
from bncc.model.confidence import required as rated
from bncc.model.filter import filtered, required
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.unknown import Unknown
from bncc.model.unknown import required as knowing
from bncc.recordings.table import feature_table

Command = TypeVar("Command", bound=Callable[..., Any])


def rules_option(function: Command) -> Command:
    """Add ``--with filter``, ``--with confidence`` and ``--with unknown``."""
    return click.option(
        "--with",
        "more",
        type=click.Choice(("filter", "confidence", "unknown")),
        multiple=True,
        help="filter: decide in time order with the filter of MODEL, which begins with each group "
        "of --groups, or segment of recordings. confidence: rate each decision. unknown: tell "
        "readings of no known class.",
    )(function)


def filter_switch(model: Model, missing: str) -> int:
    """Return the price of a switch; refuse models without a filter, and marginalized features."""
    switch = required(model.filter).switch
    if missing == "marginal":
        raise OptionError("--with filter does not support --missing marginal; leave out either")
    return switch


def confidence_for(model: Model, more: Sequence[str], missing: str) -> Confidence | None:
    """Return the confidence to use, None if not asked for; refuse what it does not rate."""
    if "confidence" not in more:
        return None
    _refuse_other_decisions("confidence", more, missing)
    return rated(model.confidence)


def unknown_for(model: Model, more: Sequence[str], missing: str) -> Unknown | None:
    """Return the rule for unknown readings to use, None if not asked for."""
    if "unknown" not in more:
        return None
    _refuse_other_decisions("unknown", more, missing)
    return knowing(model.unknown)


def _refuse_other_decisions(name: str, more: Sequence[str], missing: str) -> None:
    """Refuse decisions that depend on more than the states of one row."""
    if "filter" in more:
        raise OptionError(
            f"--with {name} rates decisions on single rows, not those of a filter; choose one"
        )
    if missing == "marginal":
        raise OptionError(f"--with {name} does not support --missing marginal; leave out either")


def sequences_of(n: int, labels: Sequence[str], recorded: RecordedWindows | None) -> IntArray:
    """Return the sequence of each row, (n,) int64: its segment, its group, or one for all."""
    if recorded is not None:
        return recorded.windows.segment
    if not labels:
        return np.zeros(n, dtype=np.int64)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def note_one_sequence(console: Console, labels: Sequence[str], recorded: Any) -> None:
    """Say that all rows of a table are one sequence, if no groups tell sequences apart."""
    if recorded is None and not labels:
        console.note(
            "all rows are one sequence of the filter; name the column of the recording, device or "
            "person with --groups if they are several"
        )


def filtered_windows(model: Model, recorded: RecordedWindows) -> IntArray:
    """Return the filtered class of each window, (n_windows,), as after all windows before it."""
    some, front_end = recorded.windows, recorded.front_end
    every = feature_table(some.recordings, some.columns, some.windows, unlabeled=True)
    of_every = scores(model, states_of(model.features, front_end.table(every.values)))
    found = filtered(of_every, every.segment, required(model.filter).switch)
    place = {
        window: k
        for k, window in enumerate(zip(every.recording.tolist(), every.start.tolist(), strict=True))
    }
    windows = zip(some.recording.tolist(), some.start.tolist(), strict=True)
    return found[[place[window] for window in windows]]
