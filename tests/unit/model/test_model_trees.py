"""Models of tables that decision trees address: what is refused, and what is said of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.errors import ModelError, ModelFileError, NetworkError, OptionError
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.card import structure_words
from bncc.model.explanation import changes, contributions
from bncc.model.file import DOCUMENT, SUMS, from_bytes, model_digest, to_bytes
from bncc.model.model import MAX_DEPTH, check_grids, check_model
from bncc.model.reference import costs, predict, rows
from bncc.model.table_levels import leaf_words, n_rows, read_by, table_levels
from bncc.model.to_network import network_of_model
from bncc.structure.decision_tables import BranchingTable, DecisionTable, TableEnsemble
from tests.models import sum_of_tables, trees_of_sensors
from tests.strategies import tree_models
from tests.tiers import examples

TWO = BranchingTable((0, 1), (0, 1), (-1, -2), (1, -3))
DEEP = BranchingTable(
    (0,) * (MAX_DEPTH + 1),
    tuple(range(MAX_DEPTH + 1)),
    tuple(-1 - k for k in range(MAX_DEPTH + 1)),
    (*range(1, MAX_DEPTH + 1), -2 - MAX_DEPTH),
)
REFUSED = {
    "does not have one cut per node": replace(TWO, cuts=(0,)),
    "of table 0 does not have one cut per node": BranchingTable((), (), (), ()),
    "are not in preorder": replace(TWO, above=(0, -3)),
    "nodes of the decision tree of table 0 are not in preorder": replace(TWO, above=(2, -3)),
    "of table 0 are not in preorder": BranchingTable((0, 1), (0, 1), (-1, -2), (-2, -3)),
    "rows of table 0 are not the leaves of its tree in order": replace(TWO, below=(-2, -1)),
    "are not the leaves of its tree": replace(TWO, above=(1, -2)),
    "reads feature 2, which does not exist": replace(TWO, features=(0, 2)),
    "reads feature -1, which does not exist": replace(TWO, features=(-1, 1)),
    "a cut of feature 0 in the tree of table 0 has nothing on one side": replace(TWO, cuts=(2, 1)),
    "a cut of feature 0": replace(TWO, cuts=(-1, 1)),
    "cut of feature 0 in the tree": replace(TWO, features=(0, 0), cuts=(0, 0)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_tree_that_is_not_sound_is_refused(words):
    with pytest.raises(ModelError, match=words):
        check_grids(TableEnsemble((REFUSED[words],)), (3, 3))


def test_a_tree_may_be_as_deep_as_c_nests():
    with pytest.raises(ModelError, match="has more than 64 levels"):
        check_grids(TableEnsemble((DEEP,)), (100,))
    parts = (DEEP.features, DEEP.cuts, DEEP.below, DEEP.above)
    shorter = BranchingTable(*(part[:MAX_DEPTH] for part in parts))
    shorter = replace(shorter, above=(*shorter.above[:-1], -1 - MAX_DEPTH))
    check_grids(TableEnsemble((shorter,)), (100,))


def test_every_row_is_reached_from_its_region():
    model = trees_of_sensors(3, 2)
    for t, tree in enumerate(model.structure.tables):
        for row, region in enumerate(tree.regions(model.n_states)):
            for end in (0, 1):
                x = np.zeros((1, model.n_features), dtype=np.int64)
                for f, states in region.items():
                    x[0, f] = states[end]
                assert rows(model, x)[0, t] == row
        assert len(tree.depths) == tree.n_rows
        assert tree.depth == max(tree.depths)


@given(model=tree_models())
@settings(max_examples=examples(30), deadline=None)
def test_a_file_gives_the_model_back(model):
    check_model(model)
    again = from_bytes(to_bytes(model), "m")
    assert again.structure == model.structure
    assert model_digest(again) == model_digest(model)
    X = np.random.default_rng(0).integers(0, model.n_states, (20, model.n_features))
    assert np.array_equal(costs(again, X), costs(model, X))


def test_products_keep_their_format_and_trees_have_another():
    mixed = replace(sum_of_tables(), structure=None)
    structure = sum_of_tables().structure
    tree = BranchingTable((0,), (1,), (-1,), (-2,))
    mixed = replace(
        mixed,
        structure=TableEnsemble((*structure.tables, tree)),
        tables=(*sum_of_tables().tables, np.array([[0, 1, 2], [2, 1, 0]])),
    )
    assert document_of(sum_of_tables())["format"] == 2
    assert document_of(trees_of_sensors(2, 1))["format"] == 4
    assert document_of(mixed)["format"] == 4
    again = from_bytes(to_bytes(mixed), "m")
    assert [type(grid) for grid in again.structure.tables] == [DecisionTable] * 3 + [BranchingTable]


def document_of(model):
    return json.loads(unpack(to_bytes(model))[DOCUMENT])


def rewritten(model, change):
    """Return a file whose description is changed."""
    entries = {k: v for k, v in unpack(to_bytes(model)).items() if k != SUMS}
    document = json.loads(entries[DOCUMENT])
    change(document)
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    return pack(with_sums({**entries, DOCUMENT: text}))


HOSTILE = {
    "the format of products": lambda d: d.update(format=2),
    "nothing but products": lambda d: d["structure"].update(
        tables=[{"features": [0], "cuts": [[1]]}]
    ),
    "a loop": lambda d: d["structure"]["tables"][0]["below"].__setitem__(0, 0),
    "a flag for a node": lambda d: d["structure"]["tables"][0]["below"].__setitem__(0, True),
    "a row too many": lambda d: d["structure"]["tables"][0]["above"].append(-99),
    "a huge place": lambda d: d["structure"]["tables"][0]["above"].__setitem__(0, 10**30),
    "a text": lambda d: d["structure"]["tables"][0].update(cuts="0"),
    "no table": lambda d: d["structure"].update(tables=[]),
    "another key": lambda d: d["structure"]["tables"][0].update(more=[]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(name):
    with pytest.raises(ModelFileError):
        from_bytes(rewritten(trees_of_sensors(3, 2), HOSTILE[name]), "m")


def test_it_is_described():
    model = trees_of_sensors(3, 2)
    assert structure_words(model).startswith("2 trees with 20 leaves, at most ")
    levels = table_levels(model)
    assert [n_rows(table) for table in levels] == [10, 10]
    (tree, _), names = model.structure.tables, [f.name for f in model.features]
    assert [name for name, _ in read_by(levels[0])] == [names[f] for f in tree.read]
    assert len(set(leaf_words(model, tree))) == tree.n_rows
    X = np.zeros((1, model.n_features), dtype=np.int64)
    assert contributions(model, X).shape == (1, 3, 3)
    for change in changes(model, X[0]):
        moved = X.copy()
        moved[0, change.feature] = change.state
        assert predict(model, moved)[0] == change.decision


def test_it_is_no_network():
    with pytest.raises(NetworkError, match="boosted tables are not a Bayesian network"):
        network_of_model(trees_of_sensors(3, 2))


def test_what_trees_cannot_do_is_refused_in_one_sentence():
    from bncc.emit.emitter import EmitOptions, emit_c

    model = trees_of_sensors(3, 2)
    for options, words in (
        (EmitOptions(constant_time=True), "execution time depends on states"),
        (EmitOptions("m", frozenset({"stream"})), "all features are needed at once"),
        (EmitOptions(kernel="lanes"), "use --kernel branches"),
    ):
        with pytest.raises(OptionError, match=words):
            emit_c(model, options)
    with pytest.raises(ModelError, match="missing features cannot be marginalized"):
        emit_c(model, EmitOptions("m", frozenset({"missing"})))
