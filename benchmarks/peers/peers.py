"""Classifiers from other tools, from ``peers.csv``."""

import csv
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).with_name("peers.csv")


@dataclass(frozen=True)
class Peer:
    """A classifier from another tool."""

    model: str
    generator: str
    is_frontier: bool  # Measured with the first ones, of which no other is better in all figures
    is_added: bool  # Measured later by `benchmarks.peers.tree_points`
    error: float  # On test rows, percent
    flash: int  # Bytes on a Cortex-M4 at -Os
    instructions: int  # Executed on a Cortex-M0 per decision


def peers_of(name: str) -> list[Peer]:
    """Return the baselines of a data set."""
    with PEERS.open(encoding="utf-8", newline="") as file:
        return [
            Peer(
                row["model"], row["generator"], row["is_frontier"] == "1", row["is_added"] == "1",
                float(row["error"]), int(row["flash_m4"]), int(row["instructions_m0"]),
            )
            for row in csv.DictReader(file)
            if row["set"] == name
        ]  # fmt: skip
