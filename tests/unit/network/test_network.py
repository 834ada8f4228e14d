"""A network is refused unless its tables are distributions over an acyclic graph."""

import numpy as np
import pytest

from bncc.errors import NetworkError
from bncc.network import network as module
from bncc.network.network import Network, Variable
from tests.unit.network.networks import drawn

TWO = (Variable("a", ("n", "y")), Variable("b", ("0", "1", "2")))
A, B = np.array([[0.25, 0.75]]), np.full((2, 3), [0.5, 0.5, 0.0])


def test_sizes_arcs_and_order_are_counted():
    network = drawn([(2,), (), (1,), (0, 1)], [2, 3, 4, 2])
    assert (network.n_variables, network.n_arcs, network.n_states) == (4, 4, (2, 3, 4, 2))
    assert network.n_entries == 4 * 2 + 3 + 3 * 4 + 6 * 2
    assert network.children == ((3,), (2, 3), (0,), ())
    assert network.order == (1, 2, 0, 3)
    assert [network.n_rows(i) for i in range(4)] == [4, 1, 3, 6]


def test_a_variable_is_found_by_its_name():
    assert drawn([(), ()], [2, 2], names=["x", "y"]).index("y") == 1
    with pytest.raises(NetworkError, match=r"no variable 'z'; its variables are x, y$"):
        drawn([(), ()], [2, 2], names=["x", "y"]).index("z")
    with pytest.raises(NetworkError, match=r"are v0, v1, v2, v3, v4, v5, \.\.\.$"):
        drawn([()] * 7, [1] * 7).index("z")


@pytest.mark.parametrize(
    ("variables", "parents", "tables", "words"),
    [
        (TWO, ((),), (A,), "parents and a table for each"),
        ((), (), (), "has no variable"),
        ((TWO[0], TWO[0]), ((), ()), (A, A), "variable 'a' twice"),
        ((Variable("a", ()),), ((),), (A,), "variable 'a' has no state"),
        ((Variable("a", ("x", "x")),), ((),), (A,), "has the state 'x' twice"),
        ((Variable("\ud800", ("x", "y")),), ((),), (A,), "which is not valid Unicode"),
        (TWO, ((), (2,)), (A, B), "repeated or unknown parent"),
        (TWO, ((1,), (0,)), (A, B), r"cycle \(\w -> \w -> \w\)"),
        (TWO, ((), (0,)), (A, B.T), r"shape \(3, 2\), expected \(2, 3\)"),
        (TWO, ((), (0,)), (A, -B), "not a probability"),
        (TWO, ((), (0,)), (A, B * np.nan), "not a probability"),
        (TWO, ((), (0,)), (A, B * [[1.0], [0.9]]), "row 1 of the table of 'b' sums to 0.9"),
    ],
)
def test_what_is_no_network_is_refused(variables, parents, tables, words):
    with pytest.raises(NetworkError, match=words):
        Network(variables, parents, tables)


def test_a_long_cycle_is_named_in_part():
    variables = tuple(Variable(f"v{i}", ("x",)) for i in range(9))
    with pytest.raises(NetworkError, match=r"-> \.\.\. ->"):
        Network(variables, tuple(((i + 1) % 9,) for i in range(9)), (np.ones((1, 1)),) * 9)


def test_tables_beyond_the_limit_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 20)
    variables = tuple(Variable(f"v{i}", ("x", "y")) for i in range(5))
    with pytest.raises(NetworkError, match="up to that of 'v4' have more than 20 numbers"):
        module.check_graph(variables, ((), (), (), (), (0, 1, 2, 3)))
    with pytest.raises(NetworkError, match="up to that of 'v3'"):
        module.check_graph(variables, ((), (0,), (0, 1), (0, 1), ()))
