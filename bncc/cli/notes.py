"""Notes of a training: messages, and a warning where the model lacks the requested front."""

from collections.abc import Iterable

from bncc.cli.console import Console


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a training notes."""
    from bncc.train.train_model import NO_FRONT

    for note in notes:
        (console.warning if note == NO_FRONT else console.note)(note)


def dropped_front(notes: Iterable[str]) -> dict[str, bool]:
    """Return a key for ``--json`` if a requested front was dropped."""
    from bncc.train.train_model import NO_FRONT

    return {"front_dropped": True} if NO_FRONT in notes else {}
