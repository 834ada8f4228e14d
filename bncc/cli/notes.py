"""Notes of a training: messages, and warnings where a requested front or gate is dropped."""

from collections.abc import Iterable

from bncc.cli.console import Console


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a training notes."""
    from bncc.train.train_model import NO_FRONT, NO_GATE

    for note in notes:
        (console.warning if note in (NO_FRONT, NO_GATE) else console.note)(note)


def dropped_front(notes: Iterable[str]) -> dict[str, bool]:
    """Return keys for ``--json`` if a requested front or gate was dropped."""
    from bncc.train.train_model import NO_FRONT, NO_GATE

    known, dropped = set(notes), {"front_dropped": NO_FRONT, "gate_dropped": NO_GATE}
    return {key: True for key, note in dropped.items() if note in known}
