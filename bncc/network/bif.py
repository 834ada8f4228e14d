"""
Networks as text of the interchange format BIF: a parser by recursive descent, and a printer.

The parser takes what BIF 0.15 describes and what pgmpy, pyAgrum and bnlearn write: commas may be
absent, names may be quoted or of several words, properties and comments are passed over.
"""

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np

from bncc._types import FloatArray, StrPath
from bncc.data.files import read_bytes
from bncc.errors import DataError, NetworkError
from bncc.network.bif_scanner import Item, Scanner
from bncc.network.network import TOLERANCE, Network, Variable, check_graph

ROUNDING = 1e-2
"""Tolerance for the sum of a row in a file, whose numbers are rounded."""


@dataclass(frozen=True)
class Header:
    """Variable of a block's table, with its parents."""

    own: Item  # The variable; with parents where neither commas nor a bar separate them
    parents: tuple[Item, ...]  # Its parents
    position: int  # Where in the text

    def resolve(self, scanner: Scanner, place: Mapping[str, int]) -> tuple[int, tuple[int, ...]]:
        """Return the variable and its parents."""
        names: list[str] = []
        for item in (self.own, *self.parents):
            whole = item.is_quoted or item.text in place
            names += [item.text] if whole else item.text.split()
        for name in names:
            if name not in place:
                scanner.fail(f"variable '{name}' is not described; add it", self.position)
        if names[0] in names[1:]:
            scanner.fail(f"'{names[0]}' is its own parent; leave it out", self.position)
        for k, name in enumerate(names):
            if name in names[:k]:
                what = f"'{names[0]}' has the parent '{name}' twice; keep one"
                scanner.fail(what, self.position)
        own, *parents = (place[name] for name in names)
        return own, tuple(parents)


@dataclass(frozen=True)
class Rows:
    """The statements of a block, each with its place in the text."""

    named: list[tuple[list[Item], list[float], int]]  # Rows after the states of the parents
    plain: list[tuple[str, list[float], int]]  # What follows ``table`` and ``default``


def table_of(
    scanner: Scanner,
    header: Header,
    rows: Rows,
    own: Sequence[str],
    parents: Sequence[Sequence[str]],
) -> FloatArray:
    """
    Return the table that statements fill.

    Shapes: returns (n_rows, n_states) float64, rows that add up to 1.
    """
    n_rows, r = prod(map(len, parents)), len(own)
    table = np.zeros((n_rows, r))
    is_known = np.zeros(n_rows, dtype=bool)
    is_seen = {"default": False, "table": False}
    for keyword, values, position in sorted(rows.plain, key=lambda statement: statement[0]):
        if is_seen[keyword]:
            scanner.fail(f"a second '{keyword}' stands here; keep one", position)
        is_seen[keyword], by_table = True, keyword == "table"
        if len(values) != (n_rows * r if by_table else r):
            _fail_length(scanner, values, n_rows * r if by_table else r, position)
        table[:] = np.reshape(values, (r, n_rows)).T if by_table else values
        is_known[:] = by_table
    places = [{state: k for k, state in enumerate(states)} for states in parents]
    for labels, values, position in rows.named:
        row = _row(scanner, labels, places, position)
        if is_known[row]:
            scanner.fail("this row is given twice; keep one", position)
        if len(values) != r:
            _fail_length(scanner, values, r, position)
        table[row], is_known[row] = values, True
    if not (is_known.all() or is_seen["default"]):
        which = _labels(int(np.flatnonzero(~is_known)[0]), parents)
        scanner.fail(f"the row {which} is absent; add it or a default", header.position)
    return _normalized(scanner, header, table, parents)


def _row(
    scanner: Scanner, labels: list[Item], places: Sequence[Mapping[str, int]], position: int
) -> int:
    names = [item.text for item in labels]
    if len(labels) != len(places):
        names = [w for i in labels for w in ([i.text] if i.is_quoted else i.text.split())]
    if len(names) != len(places):
        scanner.fail(
            f"{len(names)} states stand here for {len(places)} parents; name one of each", position
        )
    row = 0
    for name, place in zip(names, places, strict=True):
        if name not in place:
            scanner.fail(f"no parent here has the state '{name}'; use a state's name", position)
        row = row * len(place) + place[name]
    return row


def _normalized(
    scanner: Scanner, header: Header, table: FloatArray, parents: Sequence[Sequence[str]]
) -> FloatArray:
    """Return a table with rows divided by their sums where these are off by more than rounding."""
    sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    worst = int(off.argmax())
    if off[worst] > ROUNDING:
        row = f"row {_labels(worst, parents)}" if parents else "table"
        scanner.fail(f"the {row} adds up to {sums[worst]:g}; make it 1", header.position)
    return np.where((off > TOLERANCE)[:, np.newaxis], table / sums[:, np.newaxis], table)


def _labels(row: int, parents: Sequence[Sequence[str]]) -> str:
    states = np.unravel_index(row, [len(of_parent) for of_parent in parents])
    return f"({', '.join(p[int(k)] for p, k in zip(parents, states, strict=True))})"


def _fail_length(scanner: Scanner, values: Sequence[float], n: int, position: int) -> None:
    scanner.fail(f"{len(values)} numbers stand here and {n} are needed; make them agree", position)


MAX_TEXT = 2**28
"""Bytes of a file's text; the largest here, mildew, has 5 MB."""


@dataclass
class _Found:
    """Content read so far."""

    variables: dict[str, Variable] = field(default_factory=dict)
    blocks: list[tuple[Header, Rows]] = field(default_factory=list)


def read_bif(path: StrPath) -> Network:
    """
    Read a BIF file.

    Parameters
    ----------
    path : path
        The file; gzip is recognized by its first bytes.

    Returns
    -------
    Network
        Variables in the order of the file.

    Raises
    ------
    NetworkError
        If the file cannot be read, is too large, or holds no network.
    """
    try:
        content = read_bytes(path, MAX_TEXT, "split the network")
    except DataError as error:
        raise NetworkError(str(error)) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NetworkError(f"'{path}' is no UTF-8 text; save it as UTF-8") from None
    return network_of(text, str(path))


def network_of(text: str, name: str = "network") -> Network:
    """Return the network that a text in BIF describes."""
    scanner, found = Scanner(text, name), _Found()
    while scanner.peek():
        _block(scanner, found)
    try:
        return _network(scanner, found)
    except NetworkError as error:
        message = " ".join(str(error).split())  # a name may hold a line's end
        raise NetworkError(
            message if message.startswith(f"'{name}'") else f"'{name}': {message}"
        ) from None


def _block(scanner: Scanner, found: _Found) -> None:
    start = scanner.position
    keyword = scanner.word()
    if keyword == "network":
        scanner.items("{")
        scanner.expect("{")
        while not scanner.accept("}"):
            _property(scanner)
    elif keyword == "variable":
        _variable(scanner, found)
    elif keyword == "probability":
        header = _header(scanner)
        found.blocks.append((header, _rows(scanner)))
    else:
        scanner.fail("'network', 'variable' or 'probability' must stand here; write BIF", start)
    scanner.accept(";")


def _property(scanner: Scanner) -> None:
    """Pass over a property, or fail."""
    if not scanner.peek():
        scanner.fail("the file ends inside a block; get the whole file")
    if scanner.word() != "property":
        scanner.fail("'}' or 'property' must stand here; write BIF")
    scanner.skip_statement()


def _variable(scanner: Scanner, found: _Found) -> None:
    start = scanner.position
    name = scanner.name("{")
    states: tuple[str, ...] | None = None
    while not scanner.accept("}"):
        at = scanner.position
        if scanner.word() != "type":
            scanner.position = at
            _property(scanner)
            continue
        if scanner.word() != "discrete":
            scanner.fail("only variables of type 'discrete' are supported; discretize it")
        if states is not None:
            scanner.fail(f"variable '{name}' has two types; keep one", at)
        states = _states(scanner)
    if states is None:
        scanner.fail(f"variable '{name}' has no type; add 'type discrete [ n ] {{ ... }};'", start)
    if name in found.variables:
        scanner.fail(f"variable '{name}' is described twice; keep one", start)
    found.variables[name] = Variable(name, states)


def _states(scanner: Scanner) -> tuple[str, ...]:
    scanner.expect("[")
    start = scanner.position
    n = scanner.count("]")
    scanner.expect("{")
    states = split_to(scanner.items("}"), n)
    scanner.expect("}")
    scanner.accept(";")
    if len(states) != n or n == 0:
        scanner.fail(f"{n} states are announced and {len(states)} named; make them agree", start)
    if len(set(states)) < n:
        scanner.fail("a state is named twice; rename one", start)
    return states


def split_to(items: list[Item], n: int) -> tuple[str, ...]:
    """Return n names: separated by commas, or by spaces if there are no commas."""
    if len(items) != n:
        words = [[i.text] if i.is_quoted else i.text.split() for i in items]
        if sum(map(len, words)) == n:
            return tuple(word for of_item in words for word in of_item)
    return tuple(item.text for item in items)


def _header(scanner: Scanner) -> Header:
    start = scanner.position
    scanner.expect("(")
    own = scanner.items("|", ")")
    parents = scanner.items(")") if scanner.accept("|") else own[1:]
    scanner.expect(")")
    scanner.expect("{")
    if not own:
        scanner.fail("a variable's name is missing; write 'probability ( NAME | PARENTS )'", start)
    return Header(own[0], tuple(parents), start)


def _rows(scanner: Scanner) -> Rows:
    rows = Rows([], [])
    while not scanner.accept("}"):
        start = scanner.position
        if scanner.accept("("):
            labels = scanner.items(")")
            scanner.expect(")")
            rows.named.append((labels, scanner.numbers(), start))
            continue
        keyword = scanner.word()
        if keyword in ("table", "default"):
            rows.plain.append((keyword, scanner.numbers(), start))
        elif keyword == "property":
            scanner.skip_statement()
        elif not scanner.peek():
            scanner.fail("the file ends inside a table; get the whole file")
        else:
            scanner.fail("'table', 'default', '(' or '}' must stand here; write BIF", start)
    return rows


def _network(scanner: Scanner, found: _Found) -> Network:
    variables = tuple(found.variables.values())
    place = {variable.name: i for i, variable in enumerate(variables)}
    of_variable: dict[int, tuple[tuple[int, ...], Header, Rows]] = {}
    for header, rows in found.blocks:
        i, parents = header.resolve(scanner, place)
        if i in of_variable:
            scanner.fail(f"'{variables[i].name}' has two tables; keep one", header.position)
        of_variable[i] = (parents, header, rows)
    absent = [variable.name for i, variable in enumerate(variables) if i not in of_variable]
    if absent:
        raise NetworkError(f"variable '{absent[0]}' has no table; get the whole file")
    all_parents = tuple(of_variable[i][0] for i in range(len(variables)))
    check_graph(variables, all_parents)
    tables: list[FloatArray] = []
    for i, parents in enumerate(all_parents):
        _, header, rows = of_variable[i]
        own, others = variables[i].states, [variables[j].states for j in parents]
        tables.append(table_of(scanner, header, rows, own, others))
    return Network(variables, all_parents, tuple(tables))


_PLAIN = re.compile(r"(?!/[/*])[^\s,;(){}\[\]|\"\\]+")
"""Names that need no quotes."""


def bif_text(network: Network) -> str:
    """
    Return a network as BIF; `bncc.network.bif.network_of` gives the same network again.

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
