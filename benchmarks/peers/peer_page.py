"""Tables of ``docs/peers.md``: each baseline, the program compared with it, and its commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.peers.peer_choices import Chosen
from benchmarks.peers.peers import Peer
from benchmarks.shared.markdown import table


@dataclass(frozen=True)
class Row:
    """A baseline, and the program compared with it."""

    peer: Peer
    ours: Chosen | None
    error: float | None  # Test error of the program in percent

    @property
    def is_dominated(self) -> bool:
        """Return whether ours has no larger error, flash or number of instructions."""
        peer, one = self.peer, self.ours
        return (
            one is not None
            and self.error is not None
            and round(self.error, 2) <= peer.error
            and one.flash <= peer.flash
            and one.instructions <= peer.instructions
        )


def counts(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return the table of the numbers of dominated baselines, by set and in total."""
    parts = {**tables, "total": [row for rows in tables.values() for row in rows]}
    lines = []
    for name, rows in parts.items():
        kinds = (
            rows,
            [row for row in rows if row.peer.is_frontier],
            [row for row in rows if row.peer.is_added],
        )
        found = [f"{sum(row.is_dominated for row in kind)} of {len(kind)}" for kind in kinds]
        lines.append((name, *found))
    return table(("set", "all", "frontier", "added trees"), lines)


def peer_rows(rows: Sequence[Row]) -> str:
    """Return the table of a set, by ascending error, with the frontier and added trees in bold."""
    lines = []
    for row in sorted(rows, key=lambda row: (row.peer.error, row.peer.flash)):
        peer, one = row.peer, row.ours
        is_bold = peer.is_frontier or peer.is_added
        theirs = (
            f"**{peer.model}**" if is_bold else peer.model, peer.generator, f"{peer.error:.2f}",
            f"{peer.flash:,}", f"{peer.instructions:,}",
        )  # fmt: skip
        if one is None:
            lines.append((*theirs, "none within its flash and instructions", "", "", ""))
            continue
        words = one.words if row.is_dominated else f"none; lowest validation error: {one.words}"
        figures = (f"{row.error:.2f}", f"{one.flash:,}", f"{one.instructions:,.0f}")
        lines.append((*theirs, words, *figures))
    head = ("baseline", "tool", "error", "flash", "instr.", "bncc", "error", "flash", "instr.")
    return table(head, lines)


def command_rows(rows: Sequence[Row]) -> str:
    """Return the commands of the programs of a set, by flash."""
    ones = {row.ours.key: row.ours for row in rows if row.ours is not None}
    lines = [
        (one.words, f"`{one.train}`", f"`{one.emit}`")
        for one in sorted(ones.values(), key=lambda one: (one.flash, one.key))
    ]
    return table(("bncc", "training", "C"), lines)


def tables_of(sets: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Return all tables by name."""
    found = {"counts": counts(sets)}
    for name, rows in sets.items():
        found |= {name: peer_rows(rows), f"{name} commands": command_rows(rows)}
    return found
