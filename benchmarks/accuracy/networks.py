"""
Import, C and agreement of every network of ../shared/data with every variable as the class.

One row per network. Its columns are: variables and arcs; classes that make a model; models with
given features (without a distribution of their own); models with probabilities of 0; models of
more than 8 bits; models whose decisions equal the exact posterior on less than 99.5 % of sampled
rows; models whose C agrees with Python on the host, bit for bit; rejected classes, by reason; and
the size of the largest model. Takes about half an hour. ``--only NAME``, repeatable, selects some
networks, ``--import-only`` omits the C:

    .venv/bin/python -m benchmarks.accuracy.networks --data ../shared/data
"""

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.shared.markdown import row, table
from bncc.cli.import_bif import LITTLE
from bncc.errors import BnccError, NetworkError
from bncc.model.card import model_facts
from bncc.model.from_network import DEFAULT_BITS, model_of
from bncc.model.model import Model
from bncc.network.bif import read_bif
from bncc.network.network import Network
from bncc.on_device import verify

HEAD = (
    "network", "variables", "arcs", "models", "with given features", "with zeros", "over 8 bits",
    "below 99.5 %", "agree", "refused", "largest, entries",
)  # fmt: skip
REASONS = {
    "states and a class": "states",
    "bears on": "alone",
    "bytes, more than": "too large",
}
"""Keyword of this table, by a part of the error message."""


@dataclass
class Tally:
    """Counts of the classes of a network."""

    models: int = 0
    given: int = 0
    zeros: int = 0
    wider: int = 0
    below: int = 0
    agree: int = 0
    largest: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def tally(network: Network, *, has_c: bool, n_random: int) -> Tally:
    """Import the network with every variable as the class."""
    found = Tally()
    for target, name in enumerate(network.names):
        try:
            made = model_of(network, target)
        except NetworkError as error:
            found.refused[reason(str(error))] += 1
            continue
        model = made.model
        found.models += 1
        found.zeros += made.n_zeros > 0
        found.wider += made.bits > DEFAULT_BITS
        found.below += made.agreement < LITTLE
        found.given += bool(model.structure.given)
        found.largest = max(found.largest, model_facts(model)["table_entries"])
        if has_c:
            found.agree += agrees(model, name, n_random)
    return found


def agrees(model: Model, name: str, n_random: int) -> bool:
    """Return whether the C agrees with Python; print the first mismatch if not."""
    try:
        outcome = verify(model, opt_level="-O0", n_random=n_random)
    except BnccError as error:
        print(f"{name}: {error}", flush=True)
        return False
    if not outcome.agree:
        print(f"{name}: {outcome.first_mismatch}", flush=True)
    return outcome.agree


def reason(message: str) -> str:
    """Return the keyword for the rejection of a class."""
    return next((word for part, word in REASONS.items() if part in message), message)


def cells(name: str, network: Network, found: Tally, *, has_c: bool) -> list[str]:
    """Return a row of the table."""
    refused = ", ".join(f"{n} {word}" for word, n in sorted(found.refused.items())) or "0"
    return [
        name, str(network.n_variables), str(network.n_arcs), str(found.models), str(found.given),
        str(found.zeros), str(found.wider), str(found.below),
        str(found.agree) if has_c else "", refused, str(found.largest),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--import-only", action="store_true")
    parser.add_argument("--n-random", type=int, default=200)
    args = parser.parse_args()
    has_c = not args.import_only
    print(table(HEAD, []), end="")
    for path in sorted((args.data / "networks").glob("*.bif.gz")):
        name = path.name.partition(".")[0]
        if args.only is None or name in args.only:
            network = read_bif(path)
            found = tally(network, has_c=has_c, n_random=args.n_random)
            print(row(cells(name, network, found, has_c=has_c)), flush=True)


if __name__ == "__main__":
    main()
