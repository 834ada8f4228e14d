"""
Every network of ../shared/data with every variable as the class: import, C, and agreement.

A row per network: variables and arcs; classes that make a model, of these those with features
that are given (without a distribution of their own), those with probabilities of 0, those that
take more than 8 bits, those that decide less than 99.5 % of sampled rows as the exact posterior,
and those whose C agrees with Python on the host, bit for bit; classes that are refused, by reason;
and the largest model. About half an hour;
``--only NAME``, repeatable, takes some networks, ``--import-only`` leaves the C out:

    .venv/bin/python -m benchmarks.accuracy.networks --data ../shared/data
"""

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.shared.markdown import row, table
from bncc.cli.import_bif import LITTLE
from bncc.device.agreement import verify
from bncc.errors import BnccError, NetworkError
from bncc.model.card import model_facts
from bncc.model.from_network import DEFAULT_BITS, model_of
from bncc.model.model import Model
from bncc.network.bif import read_bif
from bncc.network.network import Network

HEAD = (
    "network", "variables", "arcs", "models", "with given features", "with zeros", "over 8 bits",
    "below 99.5 %", "agree", "refused", "largest, entries",
)  # fmt: skip
REASONS = {
    "states and a class": "states",
    "bears on": "alone",
    "bytes, more than": "too large",
}
"""Part of a refusal, and the word for it here."""


@dataclass
class Tally:
    """What became of the classes of a network."""

    models: int = 0
    given: int = 0
    zeros: int = 0
    wider: int = 0
    below: int = 0
    agree: int = 0
    largest: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def tally(network: Network, *, has_c: bool, n_random: int) -> Tally:
    """Try every variable as the class."""
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
    """Return whether the C answers as Python; print what it says where it does not."""
    try:
        outcome = verify(model, opt_level="-O0", n_random=n_random)
    except BnccError as error:
        print(f"{name}: {error}", flush=True)
        return False
    if not outcome.agree:
        print(f"{name}: {outcome.first_mismatch}", flush=True)
    return outcome.agree


def reason(message: str) -> str:
    """Return a word for why a class is refused."""
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
