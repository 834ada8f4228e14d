"""A Bayesian network with one of its variables as the class, as an integer model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.discretize.feature import Feature
from bncc.errors import NetworkError
from bncc.fixed_point import MAX_BITS, QFormat, quantize
from bncc.model.archive import bytes_of
from bncc.model.missing_form import deepest_fold
from bncc.model.model import MAX_CLASSES, Model, check_model
from bncc.network.blanket import blanket_of
from bncc.network.inference import sample, with_even_classes
from bncc.network.network import Network
from bncc.structure.decision_tables import lookups_of
from bncc.structure.graph import Structure, class_rows

DEFAULT_BITS = 8
"""Bits of a cost: a byte, since no training makes up for rounding."""
MOST_DEFAULT_BITS = 16
"""Most bits of a cost by default, where a byte decides too many rows differently."""
MOST_SUM_BITS = 32
"""Bits of the sum of a class in the C."""
MAX_INT_BITS = 8
"""Costs up to 256 nats; a probability below exp(-256) costs as much as one of exp(-256)."""
ENOUGH = 0.9975
"""Share of sampled rows that is to be decided as by the exact posterior."""
SLIGHT = 0.001
"""Agreement for which no bit is spent."""
TIE = 1e-9
"""Nats within which classes are as likely."""


_ABOVE_ALL = 1 << 48
"""More than any sum of costs of 31 bits."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Sampled rows as the prior and the tables that read the class see them."""

    logs: tuple[FloatArray, ...]  # Log-probabilities in each
    best: BoolArray  # (n_rows, n_classes) bool: Classes of the largest posterior, up to `TIE`

    def agreement(self, q_format: QFormat) -> float:
        """Return the share of rows in which costs of a format decide for a likeliest class."""
        if not len(self.best):
            return 1.0
        total = np.zeros(self.best.shape, dtype=np.int64)
        for each in self.logs:
            total += np.where(np.isneginf(each), _ABOVE_ALL, rounded_costs(each, q_format))
        return float(self.best[np.arange(len(total)), total.argmin(axis=1)].mean())


def possible_rows(logs: Sequence[FloatArray]) -> Rows:
    """Return those rows in which some class is possible."""
    total = np.asarray(sum(logs))
    possible = np.isfinite(total).any(axis=1)
    total = total[possible]
    best = total >= total.max(axis=1, keepdims=True) - TIE
    return Rows(tuple(each[possible] for each in logs), best)


def format_of(tables: Sequence[FloatArray], rows: Sequence[Rows], bits: int | None) -> QFormat:
    """Choose the format of costs, the veto aside."""
    choices = [bits] if bits is not None else range(DEFAULT_BITS, MOST_DEFAULT_BITS + 1)
    found: list[tuple[float, QFormat]] = []
    for of_bits in choices:
        widest = _widest(tables, of_bits)
        for int_bits in range(widest, 0, -1):
            q_format = QFormat(int_bits, of_bits - int_bits)
            found.append((min(each.agreement(q_format) for each in rows), q_format))
            if found[-1][0] >= ENOUGH:
                return q_format
    most = max(agreement for agreement, _ in found)
    return next(q_format for agreement, q_format in found if agreement >= most - SLIGHT)


def _widest(tables: Sequence[FloatArray], bits: int) -> int:
    """Return the bits before the point that the largest cost of probabilities above 0 takes."""
    least = min(float(table[table > 0].min()) for table in tables)
    for int_bits in range(1, MAX_INT_BITS):
        fmt = QFormat(int_bits, bits - int_bits)
        if -np.log(least) <= (fmt.max_cost + 0.5) * 2.0**-fmt.frac_bits:
            return int_bits
    return MAX_INT_BITS


def rounded_costs(logs: FloatArray, q_format: QFormat) -> IntArray:
    """Return the costs of log-probabilities, the largest cost for a probability of 0."""
    return quantize(np.minimum(logs, 0.0), q_format)


def with_vetoes(model: Model, zeros: Sequence[BoolArray], tables: Sequence[int]) -> Model:
    """Put the veto in the place of probabilities of 0."""
    if not any(is_zero.any() for is_zero in zeros):
        return model
    depth = deepest_fold(model)
    some = range(len(model.tables)) if depth else tables
    finite = [np.where(zeros[1 + t], 0, model.tables[t]).max(axis=0) for t in some]
    veto = 1 + depth + int((np.where(zeros[0], 0, model.prior) + sum(finite)).max())
    fmt = model.q_format
    more = max(0, veto.bit_length() - fmt.bits)
    if fmt.bits + more > MAX_BITS:
        raise NetworkError(
            f"with {fmt.bits} bits a cost that no sum of others reaches, that of a probability of "
            f"0, takes {fmt.bits + more} bits, more than {MAX_BITS}; give fewer --bits"
        )
    prior, *costs = (
        np.where(is_zero, veto, values)
        for is_zero, values in zip(zeros, (model.prior, *model.tables), strict=True)
    )
    return replace(
        model,
        q_format=QFormat(fmt.int_bits + more, fmt.frac_bits),
        prior=prior,
        tables=tuple(costs),
        training={**model.training, "veto": veto},
    )


def check_sums(model: Model) -> None:
    """Refuse costs whose sums could take more than the 32 bits that the C has for them."""
    largest = int((model.prior + sum(table.max(axis=0) for table in model.tables)).max())
    if largest >= 1 << MOST_SUM_BITS:
        raise NetworkError(
            f"sums of costs in {model.q_format} can take {largest.bit_length()} bits, more than "
            f"{MOST_SUM_BITS}; give fewer --bits"
        )


MAX_TABLE_BYTES = 1 << 20
"""Limit of the tables of a model from a network, in its file; few microcontrollers have more
flash."""
N_SAMPLED = 4000
"""Rows of each kind that choose the binary point, and rows that its agreement is measured on."""
MOST_READ = 1 << 24
"""Numbers that sampled rows of a kind read of tables: 128 MiB. More classes have fewer rows."""


@dataclass(frozen=True, eq=False)
class Import:
    """A model from a network."""

    model: Model  # The integer model
    bits: int  # Bits of a cost, the veto aside
    # Variables that are no features: they carry no information when all others are known
    n_removed: int
    # Probabilities of 0 in the prior and in tables that read the class; their cost is a veto
    n_zeros: int
    n_clipped: int  # Probabilities above 0 in these that cost more than the format holds
    # Share of sampled rows, others than those that chose the format, in which the model decides for
    # a class of the largest exact posterior
    agreement: float


def model_of(
    network: Network,
    target: int,
    bits: int | None = None,
    *,
    keep_all: bool = False,
    max_table_bytes: int = MAX_TABLE_BYTES,
) -> Import:
    """
    Return the classifier that a network and the choice of a class make.

    Costs are those of `bncc.model.from_network`: a probability of 0 has a veto.

    Parameters
    ----------
    network : Network
        The network.
    target : int
        The class variable.
    bits : int, optional
        B, bits of a cost, 1 to 31; the veto may take more. By default 8, or up to 16 where 8 decide
        too many sampled rows otherwise than the exact posterior.
    keep_all : bool, default=False
        Whether all other variables become features, and not the class's Markov blanket alone.
    max_table_bytes : int, optional
        Bytes of all tables, 1 MiB by default.

    Returns
    -------
    Import
        A model whose features are categories: the states' labels.

    Raises
    ------
    NetworkError
        If the class has less than 2 states or more than 255, the network no other variable that
        bears on it, the tables more bytes than `max_table_bytes`, a veto more than 31 bits, or
        sums of costs more than 32.
    """
    name, n_classes = network.names[target], network.n_states[target]
    if not 2 <= n_classes <= MAX_CLASSES:
        raise NetworkError(
            f"variable '{name}' has {n_classes} states and a class 2 to {MAX_CLASSES}; "
            "choose another class"
        )
    given: tuple[int, ...] = ()
    n_removed, whole = 0, network
    if not keep_all:
        found = blanket_of(network, target)
        network, target, given = found.network, found.target, found.given
        n_removed = found.n_removed
    if network.n_variables == 1:
        raise NetworkError(f"nothing in the network bears on '{name}'; choose another class")
    features = [i for i in range(network.n_variables) if i != target]
    samples = _samples(whole, whole.index(name), [network.names[i] for i in features])
    graph = _structure(network, target, given)
    n_states = [network.n_states[i] for i in features]
    entry_bytes = bytes_of(DEFAULT_BITS if bits is None else bits)
    while True:
        structure = _within(graph, n_states, n_classes, name, max_table_bytes, entry_bytes)
        made = replace(_quantized(network, target, structure, bits, samples), n_removed=n_removed)
        # A veto, or bits that agreement requires, may make entries wider than expected.
        if bytes_of(made.model.q_format.bits) <= entry_bytes:
            return made
        entry_bytes = bytes_of(made.model.q_format.bits)


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


def _within(
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    name: str,
    limit: int,
    entry_bytes: int,
) -> Structure:
    """
    Let features of large tables without the class be given until all tables are small enough.

    A model holds a column per class of each table, so that those columns count.
    """
    sizes = [
        n_classes * n_states[i] * prod(n_states[j] for j in parents)
        for i, parents in enumerate(structure.parents)
    ]
    free = [i for i, flag in enumerate(structure.class_is_parent) if not flag]
    total = sum(sizes) + class_rows(structure, n_states) * n_classes
    given = set(structure.given)
    for i in sorted(free, key=lambda i: (-sizes[i], i)):
        if total * entry_bytes <= limit:
            break
        if structure.parents[i]:
            total -= sizes[i] - n_classes * n_states[i]
            given.add(i)
    if total * entry_bytes > limit:
        raise NetworkError(
            f"with '{name}' as the class the tables take {total * entry_bytes} bytes, more than "
            f"{limit}; raise --max-table-bytes or choose another class"
        )
    parents = tuple(() if i in given else some for i, some in enumerate(structure.parents))
    return replace(structure, parents=parents, given=tuple(sorted(given)))


@lru_cache(maxsize=1)
def _sampled(network: Network) -> IntArray:
    """Sample rows of a network, kept for the next class."""
    return sample(network, 2 * N_SAMPLED, 0)


def _samples(network: Network, target: int, features: Sequence[str]) -> list[IntArray]:
    """
    Return the states of features in rows of three kinds.

    The first are the network's, and in the second all classes are as frequent, so that the rare
    count too: these choose a format. The third are the network's again, to measure it.
    """
    X = _sampled(network)
    at = [network.names.index(name) for name in features]
    first, last = X[:N_SAMPLED], X[N_SAMPLED:]
    return [each[:, at] for each in (first, with_even_classes(network, first, target, 1), last)]


def _quantized(
    network: Network,
    target: int,
    structure: Structure,
    bits: int | None,
    samples: Sequence[IntArray],
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
    read = [k for k in range(len(chances)) if k >= len(features) or structure.class_is_parent[k]]
    logs = [_logs(table) for table in (prior, *chances)]
    lookups = lookups_of(structure, [network.n_states[i] for i in features])
    n_rows = MOST_READ // (n_classes * (1 + len(read)))
    rows = [
        possible_rows(
            [np.tile(logs[0], (len(X), 1)), *(logs[1 + k][lookups[k].rows(X)] for k in read)]
        )
        for X in (each[: max(1, n_rows)] for each in samples)
    ]
    q_format = format_of([prior, *(chances[k] for k in read)], rows[:2], bits)
    costs = [np.ascontiguousarray(rounded_costs(table, q_format)) for table in logs]
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
    zeros = [np.isneginf(table) for table in logs]
    model = with_vetoes(model, zeros, read)
    check_model(model)
    check_sums(model)
    beyond = -(q_format.max_cost + 0.5) * 2.0**-q_format.frac_bits
    counted = [0, *(1 + k for k in read)]
    return Import(
        model=model,
        bits=q_format.bits,
        n_removed=0,
        n_zeros=sum(int(zeros[k].sum()) for k in counted),
        n_clipped=sum(int(((logs[k] < beyond) & ~zeros[k]).sum()) for k in counted),
        agreement=rows[2].agreement(q_format),
    )


def _logs(table: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(table))


def _chances(network: Network, i: int, target: int) -> FloatArray:
    """Return a feature's table with a column per class, rows as in `Model`."""
    axes = [*network.parents[i], i]
    table = network.tables[i].reshape([network.n_states[j] for j in axes])
    n_classes = network.n_states[target]
    if target in axes:
        return np.moveaxis(table, axes.index(target), -1).reshape(-1, n_classes)
    return np.repeat(table.reshape(-1, 1), n_classes, axis=1)


def _feature(network: Network, i: int) -> Feature:
    """Return a category; a reading that is none of its labels counts as a likely state."""
    states = network.variables[i].states
    likeliest = int(network.tables[i].mean(axis=0).argmax())
    return Feature(network.names[i], "category", len(states), (), states, likeliest)
