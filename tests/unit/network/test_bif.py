"""Networks from BIF files, and into them."""

import gzip
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.errors import NetworkError
from bncc.network import bif
from bncc.network.bif import bif_bytes, bif_text, network_of, read_bif
from bncc.network.network import Network, Variable
from tests.unit.network.networks import assert_equal, drawn

PGMPY = """network unknown {
}
variable a {
    type discrete [ 2 ] { 1, x y };
    property weight = None ;
}
variable b {
    type discrete [ 3 ] { p, q, r<5 };
}
variable c c {
    type discrete [ 2 ] { 0, 1 };
}
probability ( a ) {
    table 0.3, 0.7 ;
}
probability ( b | a, c c ) {
    ( 1, 0 ) 0.1, 0.2, 0.7;
    ( 1, 1 ) 0.2, 0.3, 0.5;
    ( x y, 0 ) 0.3, 0.2, 0.5;
    ( x y, 1 ) 0.4, 0.3, 0.3;

}
probability ( c c ) {
    table 0.25, 0.75 ;
}
"""
AGRUM = """network "odd name" {
// written by aGrUM 3.3.1
   property author = "a; b";
}

variable d {
   type discrete[2] {_0_5_1_25_, _1_25_7_};
}
variable e {
   type discrete[3] {_9, 1, 5};
}
probability (d | e) {
   (_9) 0.25 0.75;
   (1) 5e-1 0.5;
   (5) 1 0;
}
probability (e) {
   table 0.25 0.25 0.5;
}
"""
JAVABAYES = """/* of 1998 */ network "Dog-Problem" { //5 variables
}
variable "light-on" { //2 values
  type discrete[2] { "true" "false" };
  property "position = (218, 195)" ;
}
variable bowel { type discrete[2] { true false }; }
variable dog { type discrete [2] {true false} };
probability ( "light-on" bowel dog ) {
  default 0.5 0.5;
  (true false) 0.9 0.1; // a row
}
probability ( bowel, dog ) { table 0.1 0.4 0.9 0.6; }
probability ( dog ) { table 0.3 0.7; };
"""


def test_what_pgmpy_writes_is_read():
    network = network_of(PGMPY)
    assert network.names == ("a", "b", "c c")
    assert network.parents == ((), (0, 2), ())
    assert network.variables[0].states == ("1", "x y")
    expected = [[0.1, 0.2, 0.7], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5], [0.4, 0.3, 0.3]]
    np.testing.assert_array_equal(network.tables[1], expected)


def test_what_pyagrum_writes_is_read():
    network = network_of(AGRUM)
    assert network.variables[0].states == ("_0_5_1_25_", "_1_25_7_")
    np.testing.assert_array_equal(network.tables[0], [[0.25, 0.75], [0.5, 0.5], [1, 0]])
    np.testing.assert_array_equal(network.tables[1], [[0.25, 0.25, 0.5]])


def test_what_the_format_describes_is_read():
    network = network_of(JAVABAYES)
    assert network.names == ("light-on", "bowel", "dog")
    assert network.parents == ((1, 2), (2,), ())
    np.testing.assert_array_equal(
        network.tables[0], [[0.5, 0.5], [0.9, 0.1], [0.5, 0.5], [0.5, 0.5]]
    )
    # the variable's own states are outermost
    np.testing.assert_array_equal(network.tables[1], [[0.1, 0.9], [0.4, 0.6]])


def one_table(statements):
    return (
        "variable a { type discrete [2] {y, n}; }\nvariable b { type discrete [2] {u, v}; }\n"
        f"probability ( a ) {{ table .5, .5; }}\nprobability ( b | a ) {{\n{statements}\n}}"
    )


def test_rows_override_a_default_and_a_table_in_any_order():
    text = one_table("(n) 0, 1; default 0.2, 0.8;")
    np.testing.assert_array_equal(network_of(text).tables[1], [[0.2, 0.8], [0, 1]])
    text = one_table("table 0.1, 0.2, 0.9, 0.8; default 0.5, 0.5;")
    np.testing.assert_array_equal(network_of(text).tables[1], [[0.1, 0.9], [0.2, 0.8]])


def test_rounded_rows_are_made_whole_and_others_stay_as_they_are():
    table = network_of(one_table("(y) 0.333, 0.666; (n) 0.1, 0.9;")).tables[1]
    np.testing.assert_allclose(table[0], [1 / 3, 2 / 3], rtol=1e-15)
    assert table[1].tolist() == [0.1, 0.9]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (one_table("(y) 0.5, 0.4; (n) 0, 1;"), r"line 4: the row \(y\) sums to 0.9; make it 1"),
        (one_table("(y) 0, 1;"), r"line 4: the row \(n\) is missing"),
        (one_table("(y) 0, 1; (n) 1, 0;\n(y) 1, 0;"), "line 6: duplicate row"),
        (one_table("(y) 0, 1; (m) 1, 0;"), "line 5: no parent has the state 'm'"),
        (one_table("(y, n) 0, 1;"), "line 5: 2 states for 1 parents"),
        (one_table("(y) 0, 0.5, 0.5;"), "line 5: expected 2 numbers, found 3"),
        (one_table("table 0, 1;"), "line 5: expected 4 numbers, found 2"),
        (one_table("table 0, 1, 1, 0;\ntable 0, 1, 1, 0;"), "line 6: duplicate 'table'"),
        (one_table("default 0, 1;\ndefault 0, 1;"), "line 6: duplicate 'default'"),
        (one_table("(y) 0,\n x1;"), "line 6: 'x1' is not a probability"),
        (one_table("(y) 0, -1;"), "line 5: '-1' is not a probability"),
        (one_table("(y) 0, nan;"), "line 5: 'nan' is not a probability"),
        (one_table("(y) 0, 1e300;"), "line 5: '1e300' is not a probability"),
        (one_table("(y) 0, 0_1;"), "line 5: '0_1' is not a probability"),
        (one_table("(y) 0, 1"), "line 6: expected ';', found '}'"),
        (one_table("rows 0, 1;"), "line 5: expected 'table', 'default', "),
        (one_table("")[:-1], "line 6: the file ends inside a table"),
        (one_table("default 0, 1;") + "\nnode x {}", "line 7: expected 'network', 'variable' or"),
        (one_table("default 0, 1;").replace("( a )", "( c )"), "line 3: variable 'c' is not decl"),
        (one_table("default 0, 1;").replace("( a )", "( a | a )"), "line 3: 'a' is its own parent"),
        (one_table("default 0, 1;").replace("( a )", "( a | b, b )"), "'a' has the parent 'b' twi"),
        (one_table("default 0, 1;").replace("( a )", "( )"), "line 3: a variable's name is miss"),
        (one_table("default 0, 1;").replace("( a )", "( b )"), "line 4: 'b' has two tables"),
        (one_table("default 0, 1;").replace("{y, n}", "{y, y}"), "line 1: a state is named twice"),
        (one_table("default 0, 1;").replace("{y, n}", "{y}"), "line 1: 2 states are declared"),
        (one_table("").replace("[2]", "[0]"), "line 1: 0 states are declared and 2 named"),
        (one_table("").replace("[2]", "[1e9]"), "line 1: '1e9' is not a number of states"),
        (one_table("").replace("discrete", "continuous"), "line 1: only variables of type"),
        (one_table("").replace("}; }", "}; type discrete [1] {x}; }"), "line 1: .* has two types"),
        (one_table("").replace("variable b", "variable a"), "line 2: .* is declared twice"),
        ("variable a { }", "line 1: variable 'a' has no type"),
        ("variable { }", "line 1: expected one name before '{', found 0"),
        ("variable (a) { }", r"line 1: expected a name or '{', found '\('"),
        ("variable a { type discrete [ 1 ] { x }; }", "variable 'a' has no table"),
        ("variable a { property x }", "line 1: ';' is missing up to the end of the file"),
        ("variable a { color red; }", "line 1: expected '}' or 'property'"),
        ('variable "a { }', "line 1: a quote is not closed"),
        ("network x {", "line 1: the file ends inside a block"),
        ("network", "line 1: the file ends where a name or '{' is expected"),
        ("", "has no variable"),
    ],
)
def test_malformed_text_is_refused_with_its_line(text, words):
    with pytest.raises(NetworkError, match=words) as raised:
        network_of(text, "n.bif")
    assert str(raised.value).startswith("'n.bif'")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("text", [PGMPY, AGRUM, JAVABAYES])
def test_text_cut_anywhere_is_refused(text):
    end = len(text.rstrip("\n;")) - 1
    for length in range(end):
        with pytest.raises(NetworkError):
            network_of(text[:length])


@given(st.data())
def test_a_changed_character_gives_a_network_or_a_sentence(data):
    text = data.draw(st.sampled_from([PGMPY, AGRUM, JAVABAYES]))
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from(list(' {}()[]|;,"0a/*\\\n')))
    with suppress(NetworkError):
        assert isinstance(network_of(text[:at] + letter + text[at + 1 :]), Network)


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=2, max_size=4
)


@given(NAMES.filter(lambda names: len(set(names)) == len(names)), st.integers(0, 99))
def test_any_name_and_number_comes_back(names, seed):
    n = len(names)
    network = drawn([range(i) for i in range(n)], [n] * n, seed, names=names, zeros=0.3)
    variables = tuple(Variable(name, tuple(names)) for name in names)
    network = Network(variables, network.parents, network.tables)
    assert_equal(network_of(bif_text(network)), network)


def test_simple_names_stand_without_quotes_and_others_with():
    network = drawn([(), (0,)], [1, 1], names=["Asy/Patch<5-12", "two words"])
    text = bif_text(network)
    assert "variable Asy/Patch<5-12 {" in text
    assert 'probability ( "two words" | Asy/Patch<5-12 ) {\n  (s0) 1.0;\n}' in text


@pytest.mark.parametrize(
    "text",
    ["network x { //\n" + '\\"' * 200_000, "//\n" + "/* " * 200_000,
     "network x { " + 'property \\";\n' * 100_000],
)  # fmt: skip
def test_quotes_and_comments_that_are_never_closed_are_looked_for_once(text):
    """Otherwise each search would run to the end, for hours in total."""
    with pytest.raises(NetworkError):
        network_of(text)


def test_files_are_read_compressed_or_not(tmp_path):
    network = drawn([(1,), ()], [2, 3])
    for compress, name in ((False, "n.bif"), (True, "n.bif.gz")):
        (tmp_path / name).write_bytes(bif_bytes(network, compress=compress))
        assert_equal(read_bif(tmp_path / name), network)
    assert bif_bytes(network, compress=True) == bif_bytes(network, compress=True)


def test_files_that_hold_no_text_or_too_much_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "n.bif"
    with pytest.raises(NetworkError, match="does not exist"):
        read_bif(path)
    path.write_bytes(b"variable \xff")
    with pytest.raises(NetworkError, match="not UTF-8 text"):
        read_bif(path)
    path.write_bytes(gzip.compress(b" " * 5000)[:-9])
    with pytest.raises(NetworkError, match="truncated or corrupt"):
        read_bif(path)
    monkeypatch.setattr(bif, "MAX_TEXT", 100)
    path.write_bytes(gzip.compress(b" " * 101) + b"no more gzip")  # what follows is not looked at
    with pytest.raises(NetworkError, match=r"larger than 0 MiB; split the network$"):
        read_bif(path)


S4 = {
    "alarm": (37, 46), "andes": (223, 338), "asia": (8, 8), "child": (20, 25),
    "hailfinder": (56, 66), "hepar2": (70, 123), "insurance": (27, 52), "sachs": (11, 17),
    "water": (32, 66), "win95pts": (76, 112),
}  # fmt: skip
"""Variables and arcs, from S4's table of networks."""


@pytest.mark.shared
def test_the_networks_of_s4_have_its_variables_and_arcs(shared_data):
    for name, counts in S4.items():
        network = read_bif(shared_data / "networks" / f"{name}.bif.gz")
        assert (network.n_variables, network.n_arcs) == counts, name


@pytest.mark.no_cover
@pytest.mark.shared
@pytest.mark.parametrize("name", ["link", "munin1", "barley", "hailfinder"])
def test_large_networks_come_back_as_they_are(shared_data, name):
    network = read_bif(shared_data / "networks" / f"{name}.bif.gz")
    assert_equal(network_of(bif_text(network)), network)
