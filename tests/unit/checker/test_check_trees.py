"""Certificates of trees, fronts and gates: accepted if they are right, and their model file."""

import io
import zipfile
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from itertools import islice, product
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.campaigns.false_certificates import false_certificates, proved, run
from bncc.checker.check import Check, check
from bncc.checker.machine import State
from bncc.checker.model import Model
from bncc.checker.values import RejectedError
from bncc.data.readers import bundled_path
from bncc.fixed_point import QFormat
from bncc.model.file import load_model, to_bytes
from bncc.structure.decision_tables import BranchingTable, TableEnsemble
from tests import models as hand


def of_nodes(nodes):
    """Return a model of one tree over features of two states, whose leaves cost their number."""
    features, below, above = zip(*nodes, strict=True)
    tree = BranchingTable(features, (0,) * len(nodes), below, above)
    n_leaves = len(nodes) + 1
    table = np.stack([np.arange(n_leaves), np.zeros(n_leaves, dtype=np.int64)], axis=1)
    named = [hand.feature(f"x{k}", 2) for k in range(len(nodes))]
    return hand.model_of(named, TableEnsemble((tree,)), QFormat(6, 0), [0, 0], [table])


def chain(first, n, leaf):
    """Return nodes that read n features in turn, each a leaf below and the next one above."""
    links = [(k, -1 - (leaf + k - first), k + 1) for k in range(first, first + n)]
    return [*links[:-1], (*links[-1][:2], -1 - (leaf + n))]


def read(model, n):
    return Model(to_bytes(model), "trusted", [[0, 1, 2, 128, 129]] * n)


def test_a_tree_of_many_features_is_read_by_its_leaves():
    """A grid of all combinations of its cuts would have 2^25 numbers, that of a leaf 2^13."""
    n = 12
    model = of_nodes([(0, 1, 1 + n), *chain(1, n, 0), *chain(1 + n, n, 1 + n)])
    found = read(model, 2 * n + 1).difference(0, 1)
    axes = sorted({axis for term in found.terms for axis in term.levels})
    for side, k in product((0, 1), (0, 1, 7, n - 1, n)):
        ones = {0} if side else set()
        ones |= set(range(1 + side * n, 1 + side * n + k))
        point = {axis: np.array([2 * (axis in ones)]) for axis in axes}
        assert found.at(point).item() == side * (1 + n) + k


def test_the_bound_of_a_tree_is_that_of_its_leaves_which_inputs_reach():
    """A sum over leaves would be bounded by that of all leaves, since all but one are zero."""
    n = 12
    found = read(of_nodes([(0, 1, 1 + n), *chain(1, n, 0), *chain(1 + n, n, 1 + n)]), 2 * n + 1)
    machine = SimpleNamespace(model=found)
    margins = np.full((2, 2), -(1 << 32))
    start = State(found.points, found.domain, machine, {}, 0, {}, {}, margins)
    below = replace(start, box=(found.points[0] == 0, *start.box[1:]))
    for state, most in ((start, 2 * n + 1), (below, n)):
        assert state.holds(0, 1, -most)
        assert not state.holds(0, 1, 1 - most)
        assert state.holds(1, 0, 0)
        assert not state.holds(1, 0, 1)


def test_a_leaf_of_too_many_features_is_refused():
    with pytest.raises(RejectedError, match="a leaf below too many features"):
        read(of_nodes(chain(0, 21, 0)), 21)


def test_a_model_file_without_its_last_row_is_refused():
    content = to_bytes(of_nodes(chain(0, 3, 0)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    tables, edited = io.BytesIO(), io.BytesIO()
    np.save(tables, np.load(io.BytesIO(files["tables.npy"]))[:-2])
    with zipfile.ZipFile(edited, "w") as archive:
        for name, data in {**files, "tables.npy": tables.getvalue()}.items():
            archive.writestr(name, data)
    with pytest.raises(RejectedError, match="another size"):
        Model(edited.getvalue(), "trusted", [[0, 1, 2, 128, 129]] * 3)


def test_differences_of_readings_are_read_as_states_alone():
    model = hand.products_of_differences(("uint8",))
    counts = [feature.n_states for feature in model.features]
    starts = [sorted({*range(n + 1), 128, 129}) for n in counts]
    assert len(Model(to_bytes(model), "predict", starts).tables) == len(model.tables)
    with pytest.raises(RejectedError, match="subtracted"):
        Model(to_bytes(model), "predict-raw", starts)


TREES = {
    "tree": ("4", "tables=1", "leaves=16"),
    "tree of many features": ("4", "tables=1", "leaves=64"),
    "trees": ("5", "tables=6", "leaves=16"),
    "front": ("4", "tables=6", "rows=8", "front=16"),
    "gate": ("4", "tables=9", "rows=8", "gate=3"),
    "few trees": ("4", "tables=3", "leaves=8"),
}
"""Bits and options of structure."""
PROVED = [
    ("tree", "cortex-m0", "trusted", "size"), ("tree", "cortex-m0", "predict", "speed"),
    ("tree", "cortex-m4", "predict-raw", "size"), ("tree", "rv32", "predict-raw", "speed"),
    ("tree of many features", "cortex-m0", "trusted", "size"),
    ("trees", "cortex-m0", "scores", "size"), ("front", "cortex-m0", "predict-raw", "size"),
    ("few trees", "cortex-m0", "scores", "size"), ("gate", "cortex-m0", "predict-raw", "size"),
    ("gate", "cortex-m4", "trusted", "speed"), ("gate", "rv32", "scores", "balanced"),
]  # fmt: skip


@pytest.fixture(scope="module")
def of_trees(tmp_path_factory, require_gcc):
    """Return ``of_trees(name, target, entry, optimize)``: a certificate of a trained model."""
    pytest.importorskip("capstone")
    folder = tmp_path_factory.mktemp("trees")

    def of(name, target, entry, optimize):
        require_gcc(target)
        path = folder / f"{name.replace(' ', '-')}.bncc"
        if not path.exists():
            bits, *more = TREES[name]
            options = [word for one in more for word in ("--structure-option", one)]
            learned = ("--structure", "tables", "--bits", bits, "--folds", "0", *options)
            run("train", str(bundled_path("wifi")), "-o", str(path), *learned)
        return proved(path, target, entry, optimize)

    return of


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize(("name", "target", "entry", "optimize"), PROVED)
def test_a_proof_of_trees_is_accepted(of_trees, name, target, entry, optimize):
    evidence = of_trees(name, target, entry, optimize)
    check(evidence.document, evidence.elf, evidence.model)


@pytest.mark.no_cover
@pytest.mark.firmware
def test_false_certificates_of_a_tree_are_rejected(of_trees):
    evidence = of_trees("tree", "cortex-m4", "predict-raw", "size")
    for kind, document in islice(false_certificates(evidence, Random(0)), 8):
        assert evidence.why(document) is not None, kind


@pytest.mark.no_cover
@pytest.mark.firmware
def test_another_tree_is_rejected(of_trees, tmp_path):
    """The costs of one leaf at a time are those of another class."""
    evidence = of_trees("tree", "cortex-m0", "trusted", "size")
    (tmp_path / "m.bncc").write_bytes(evidence.model)
    model = load_model(tmp_path / "m.bncc")
    (table,) = model.tables
    for row in range(0, len(table), 3):
        other = table.copy()
        other[row] = np.roll(other[row], 1)
        content = to_bytes(replace(model, tables=(other,)))
        document = evidence.document | {"model": sha256(content).hexdigest()}
        with pytest.raises(RejectedError, match="is returned"):
            check(document, evidence.elf, content)


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("change", [{"margin": -1}, {"margin": 1}, {"tables": -1}, {"tables": 1}])
def test_another_gate_is_rejected(of_trees, tmp_path, change):
    evidence = of_trees("gate", "cortex-m4", "trusted", "speed")
    (tmp_path / "m.bncc").write_bytes(evidence.model)
    model = load_model(tmp_path / "m.bncc")
    ((name, by),) = change.items()
    gate = replace(model.gate, **{name: getattr(model.gate, name) + by})
    content = to_bytes(replace(model, gate=gate))
    document = evidence.document | {"model": sha256(content).hexdigest()}
    with pytest.raises(RejectedError, match=r"is returned|more steps than claimed"):
        check(document, evidence.elf, content)


@pytest.mark.no_cover
@pytest.mark.firmware
def test_a_claim_of_what_a_gate_does_counts_where_it_is_confirmed(of_trees):
    evidence = of_trees("gate", "cortex-m0", "predict-raw", "size")
    known = [one["gate"] for one in evidence.document["states"][1:]]
    assert {*known} == {-1, 0, 1}
    for was, number in ((1, -1), (-1, 1), (0, 1), (0, -1), (0, 2), (1, 0), (1, 2), (-1, -2)):
        changed = deepcopy(evidence.document)
        for one in changed["states"][1:]:
            one["gate"] = number if one["gate"] == was else one["gate"]
        assert evidence.why(changed) is not None


@pytest.mark.no_cover
@pytest.mark.firmware
def test_a_margin_below_all_others_does_not_overflow(of_trees):
    """The sum of three such numbers would be above zero."""
    evidence = of_trees("trees", "cortex-m0", "scores", "size")
    document = deepcopy(evidence.document)
    document["states"][1]["facts"] = [[0, 1, -1 << 63]]
    state = Check(document, evidence.elf, evidence.model).states[1][0]
    assert state.margins[0, 1] == -1 << 60
    assert (state.closed(1, 0, 0) <= 0).all()
