"""A network as text of the interchange format BIF."""

import gzip
import re
from collections.abc import Iterator
from itertools import product

from bncc.network.network import Network

_PLAIN = re.compile(r"(?!/[/*])[^\s,;(){}\[\]|\"\\]+")
"""Names that need no quotes."""


def bif_text(network: Network) -> str:
    """
    Return a network as BIF; `bncc.network.bif_reader.network_of` gives the same network again.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    str
        Numbers with as many digits as tell them from their neighbors; names in quotes where they
        are more than one word.
    """
    return "".join(_blocks(network))


def bif_bytes(network: Network, *, compress: bool = False) -> bytes:
    """Return the content of a BIF file."""
    text = bif_text(network).encode()
    return gzip.compress(text, mtime=0) if compress else text


def _blocks(network: Network) -> Iterator[str]:
    yield "network unknown {\n}\n"
    for variable in network.variables:
        states = ", ".join(map(_quoted, variable.states))
        yield f"variable {_quoted(variable.name)} {{\n"
        yield f"  type discrete [ {len(variable.states)} ] {{ {states} }};\n}}\n"
    for i in range(network.n_variables):
        yield from _probabilities(network, i)


def _probabilities(network: Network, i: int) -> Iterator[str]:
    parents, table = network.parents[i], network.tables[i].tolist()
    name = _quoted(network.names[i])
    if not parents:
        yield f"probability ( {name} ) {{\n  table {', '.join(map(repr, table[0]))};\n}}\n"
        return
    yield f"probability ( {name} | {', '.join(_quoted(network.names[j]) for j in parents)} ) {{\n"
    labels = [[_quoted(state) for state in network.variables[j].states] for j in parents]
    for states, row in zip(product(*labels), table, strict=True):
        yield f"  ({', '.join(states)}) {', '.join(map(repr, row))};\n"
    yield "}\n"


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
