"""Notes of a training: messages, and warnings where what was asked for is left out."""

from collections.abc import Iterable

from bncc.cli.console import Console


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a training notes."""
    from bncc.search.unmeasured import is_of_unmeasured
    from bncc.train.train_model import NO_FRONT, NO_GATE

    for note in notes:
        is_warning = note in (NO_FRONT, NO_GATE) or is_of_unmeasured(note)
        (console.warning if is_warning else console.note)(note)


def dropped_front(notes: Iterable[str]) -> dict[str, bool]:
    """Return keys for ``--json`` if a requested front or gate was dropped."""
    from bncc.train.train_model import NO_FRONT, NO_GATE

    known, dropped = set(notes), {"front_dropped": NO_FRONT, "gate_dropped": NO_GATE}
    return {key: True for key, note in dropped.items() if note in known}
