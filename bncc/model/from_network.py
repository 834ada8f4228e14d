"""A Bayesian network with one of its variables as the class, as an integer model."""

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from bncc._types import AnyArray, FloatArray
from bncc.discretize.feature import Feature
from bncc.errors import NetworkError
from bncc.fixed_point import QFormat, quantize
from bncc.model.model import MAX_CLASSES, Model, check_model
from bncc.network.blanket import blanket_of
from bncc.network.network import Network
from bncc.structure.graph import Structure, table_entries

MAX_ENTRIES = 65536
"""Table entries of a model from a network; microcontrollers hold fewer."""
DEFAULT_BITS = 8
"""Of a cost: a byte, since no training makes up for rounding."""
MAX_INT_BITS = 8
"""Costs up to 256 nats; a probability below exp(-256) counts as 0."""


@dataclass(frozen=True, eq=False)
class Import:
    """A model from a network.

    Parameters
    ----------
    model : Model
        The integer model.
    n_removed : int
        Variables that are no feature, as nothing is told by them where all others are known.
    n_clipped : int
        Probabilities whose cost the format does not hold, those of 0 among them.
    """

    model: Model
    n_removed: int
    n_clipped: int


def model_of(
    network: Network, target: int, bits: int = DEFAULT_BITS, *, keep_all: bool = False
) -> Import:
    """Return the classifier that a network and the choice of a class make.

    Its costs are ``q = rne(-ln p * 2**B_F)``, as everywhere (S3, equation 11),
    with the largest B_F for which the least probability above 0 in a table with the class still
    has a cost of its own. A probability of 0 has the largest cost.

    Parameters
    ----------
    network : Network
        The network.
    target : int
        The class variable.
    bits : int
        B, bits of a cost, 1 to 31.
    keep_all : bool, default=False
        Whether all other variables become features, and not the class's Markov blanket alone.

    Returns
    -------
    Import
        A model whose features are categories: the states' labels.

    Raises
    ------
    NetworkError
        If the class has less than 2 states or more than 255, the network no other variable that
        bears on it, or the tables more than `MAX_ENTRIES` entries.
    """
    name, n_classes = network.names[target], network.n_states[target]
    if not 2 <= n_classes <= MAX_CLASSES:
        raise NetworkError(
            f"variable '{name}' has {n_classes} states and a class 2 to {MAX_CLASSES}; "
            "choose another class"
        )
    given: tuple[int, ...] = ()
    n_removed = 0
    if not keep_all:
        found = blanket_of(network, target)
        network, target, given = found.network, found.target, found.given
        n_removed = found.n_removed
    if network.n_variables == 1:
        raise NetworkError(f"nothing in the network bears on '{name}'; choose another class")
    structure = _structure(network, target, given)
    n_states = [n for i, n in enumerate(network.n_states) if i != target]
    structure = _within(structure, n_states, n_classes, name)
    return _quantized(network, target, structure, bits, n_removed)


def _structure(network: Network, target: int, given: tuple[int, ...]) -> Structure:
    """Return the graph around a class; features are numbered without it."""
    features = [i for i in range(network.n_variables) if i != target]
    place = {i: k for k, i in enumerate(features)}
    return Structure(
        tuple(tuple(place[j] for j in network.parents[i] if j != target) for i in features),
        tuple(target in network.parents[i] for i in features),
        tuple(place[j] for j in network.parents[target]),
        tuple(place[i] for i in given),
    )


def _within(structure: Structure, n_states: list[int], n_classes: int, name: str) -> Structure:
    """Let features of large tables without the class be given until all tables are small enough.

    A model holds a column per class of each table, so that those columns count.
    """
    sizes = [
        n_classes * n_states[i] * prod(n_states[j] for j in parents)
        for i, parents in enumerate(structure.parents)
    ]
    free = [i for i, flag in enumerate(structure.class_is_parent) if not flag]
    total, given = sum(sizes), set(structure.given)
    for i in sorted(free, key=lambda i: (-sizes[i], i)):
        if total <= MAX_ENTRIES:
            break
        if structure.parents[i]:
            total -= sizes[i] - n_classes * n_states[i]
            given.add(i)
    parents = tuple(() if i in given else some for i, some in enumerate(structure.parents))
    structure = replace(structure, parents=parents, given=tuple(sorted(given)))
    entries = table_entries(structure, n_states, n_classes)
    if entries > MAX_ENTRIES:
        raise NetworkError(
            f"with '{name}' as the class the tables hold {entries} entries, more than "
            f"{MAX_ENTRIES}; choose another class"
        )
    return structure


def _quantized(
    network: Network, target: int, structure: Structure, bits: int, n_removed: int
) -> Import:
    n_classes = network.n_states[target]
    features = [i for i in range(network.n_variables) if i != target]
    chances = [_chances(network, i, target) for i in features]
    for k in structure.given:
        chances[k] = np.ones((network.n_states[features[k]], n_classes))
    prior = np.ones(n_classes)
    if structure.class_parents:
        chances.append(network.tables[target])
    else:
        prior = network.tables[target][0]
    read = [c for k, c in enumerate(chances) if k >= len(features) or structure.class_is_parent[k]]
    q_format = _format([prior, *read], bits)
    costs = [_costs(table, q_format) for table in (prior, *chances)]
    model = Model(
        features=tuple(_feature(network, i) for i in features),
        classes=network.variables[target].states,
        structure=structure,
        q_format=q_format,
        prior=costs[0],
        tables=tuple(costs[1:]),
        training={
            "structure": "imported",
            "parameters": "imported",
            "class_name": network.names[target],
            "quantized": True,
        },
    )
    check_model(model)
    beyond = np.exp(-(q_format.max_cost + 0.5) * 2.0**-q_format.frac_bits)
    clipped = sum(int((table < beyond).sum()) for table in (prior, *read))
    return Import(model, n_removed, clipped)


def _chances(network: Network, i: int, target: int) -> FloatArray:
    """Return a feature's table with a column per class, rows as in `Model`."""
    axes = [*network.parents[i], i]
    table = network.tables[i].reshape([network.n_states[j] for j in axes])
    n_classes = network.n_states[target]
    if target in axes:
        return np.moveaxis(table, axes.index(target), -1).reshape(-1, n_classes)
    return np.repeat(table.reshape(-1, 1), n_classes, axis=1)


def _format(tables: list[FloatArray], bits: int) -> QFormat:
    """Return the finest format that holds the largest finite cost of some tables."""
    least = min(float(table[table > 0].min()) for table in tables)
    for int_bits in range(1, MAX_INT_BITS):
        fmt = QFormat(int_bits, bits - int_bits)
        if -np.log(least) <= (fmt.max_cost + 0.5) * 2.0**-fmt.frac_bits:
            return fmt
    return QFormat(MAX_INT_BITS, bits - MAX_INT_BITS)


def _costs(table: FloatArray, q_format: QFormat) -> AnyArray:
    with np.errstate(divide="ignore"):
        costs = quantize(np.minimum(np.log(table), 0.0), q_format)
    return np.ascontiguousarray(costs)


def _feature(network: Network, i: int) -> Feature:
    """Return a category; a reading that is none of its labels counts as a likely state."""
    states = network.variables[i].states
    likeliest = int(network.tables[i].mean(axis=0).argmax())
    return Feature(network.names[i], "category", len(states), (), states, likeliest)
