"""Small models built by hand, each the smallest of its kind, shared by all tests."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import Feature
from bncc.emit.emitter import ENTRIES
from bncc.fixed_point import QFormat
from bncc.model.gate import Gate
from bncc.model.missing import why_not
from bncc.model.model import Model
from bncc.model.ranges import READINGS
from bncc.model.rules import EXTRAS
from bncc.structure.decision_tables import BranchingTable, DecisionTable, TableEnsemble
from bncc.structure.graph import Structure, forest, one_parent_each
from tests.tree_programs import random_tree


def feature(name: str, n_states: int) -> Feature:
    """Return a feature whose raw values are states already."""
    return Feature(name, "state", n_states)


def model_of(
    features: Sequence[Feature],
    structure: Structure | TableEnsemble,
    q_format: QFormat,
    prior: Sequence[int],
    tables: Sequence[Sequence[Sequence[int]]],
) -> Model:
    """Return a model with classes ``c0, c1, ...`` from plain lists."""
    return Model(
        features=tuple(features),
        classes=tuple(f"c{c}" for c in range(len(prior))),
        structure=structure,
        q_format=q_format,
        prior=np.array(prior, dtype=np.int64),
        tables=tuple(np.array(table, dtype=np.int64) for table in tables),
        training={"structure": "by hand", "seed": 0},
    )


def naive_integer() -> Model:
    """Return naive Bayes over two int16 sensors, three classes; the prior decides nothing."""
    return model_of(
        [
            Feature("pressure", "int16", 3, thresholds=(-5, 100)),
            Feature("light", "int16", 2, thresholds=(0,)),
        ],
        forest([None, None]),
        QFormat(2, 2),
        [2, 2, 2],
        [[[0, 3, 15], [4, 1, 7], [15, 15, 0]], [[1, 2, 3], [3, 2, 1]]],
    )


def tan_float() -> Model:
    """Return TAN over float32 sensors: x1 below x0, x2 below x1."""
    return model_of(
        [
            Feature("x0", "float32", 2, thresholds=(0.5,)),
            Feature("x1", "float32", 3, thresholds=(-1.25, 3.0)),
            Feature("x2", "float32", 2, thresholds=(0.0,)),
        ],
        forest([None, 0, 1]),
        QFormat(3, 3),
        [1, 5],
        [
            [[3, 9], [11, 2]],
            [[5, 6], [0, 63], [17, 4], [8, 8], [40, 1], [2, 30]],
            [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [12, 11]],
        ],
    )


def bytes_of_one_kind(kind: str) -> Model:
    """Return tables over three sensors of one kind of 8 bits, thresholds at its ends."""
    low, high = (0, 255) if kind == "uint8" else (-128, 127)
    return model_of(
        [
            Feature("left", kind, 4, thresholds=(low, 60, high - 1), missing_state=2),
            Feature("top", kind, 2, thresholds=(7,), missing_state=1),
            Feature("far", kind, 3, thresholds=(low + 1, high)),
        ],
        forest([None, 0, 0]),
        QFormat(4, 0),
        [0, 2, 1],
        [
            [[(7 * r + 3 * c) % 16 for c in range(3)] for r in range(4)],
            [[(5 * r + 11 * c) % 16 for c in range(3)] for r in range(8)],
            [[(3 * r + 7 * c + 2) % 16 for c in range(3)] for r in range(12)],
        ],
    )


def bytes_and_others() -> Model:
    """Return naive Bayes over sensors of all kinds: the readings are a struct."""
    return model_of(
        [
            Feature("signed", "int8", 4, thresholds=(-100, 3), missing_state=3),
            Feature("dark", "uint8", 3, thresholds=(0, 254), missing_state=1),
            Feature("wide", "int16", 2, thresholds=(-400,)),
            Feature("bright", "uint8", 2, thresholds=(128,)),
            Feature("long", "int32", 2, thresholds=(70000,)),
            Feature("real", "float32", 2, thresholds=(0.25,), missing_state=1),
            Feature("mode", "category", 2, categories=("a", "b")),
        ],
        forest([None] * 7),
        QFormat(3, 1),
        [0, 1],
        [
            [[(7 * r + 3 * c + i) % 16 for c in range(2)] for r in range(n)]
            for i, n in enumerate((4, 3, 2, 2, 2, 2, 2))
        ],
    )


def int32_thresholds() -> Model:
    """Return naive Bayes over one int32 sensor with thresholds at the ends of its range."""
    return model_of(
        [Feature("counter", "int32", 4, thresholds=(-(2**31), 0, 2**31 - 2))],
        forest([None]),
        QFormat(4, 0),
        [0, 1],
        [[[1, 0], [0, 3], [5, 2], [2, 9]]],
    )


def category_with_missing() -> Model:
    """Return a model of a category whose missing cells have a state of their own, and a float."""
    return model_of(
        [
            Feature("color", "category", 4, categories=("red", "gr\u00fcn", "*/"), missing_state=3),
            Feature("weight", "float32", 3, thresholds=(2.5,), missing_state=2),
        ],
        forest([None, 0]),
        QFormat(4, 1),
        [3, 0],
        [
            [[1, 5], [6, 2], [0, 7], [4, 4]],
            [[c + 3 * r, 31 - 2 * r] for r in range(4) for c in range(3)],
        ],
    )


def one_state_feature() -> Model:
    """Return a model whose only feature is constant: the prior and one row decide."""
    return model_of([feature("constant", 1)], forest([None]), QFormat(3, 0), [5, 1], [[[0, 5]]])


def ties() -> Model:
    """Return a model in which all classes cost the same everywhere: class 0 wins."""
    return model_of(
        [feature("a", 2), feature("b", 3)],
        forest([None, 0]),
        QFormat(2, 1),
        [4, 4, 4],
        [[[1, 1, 1], [6, 6, 6]], [[r, r, r] for r in range(6)]],
    )


def all_zero() -> Model:
    """Return a model whose every cost is 0, so that no table is left after optimization."""
    return model_of([feature("a", 2)], forest([None]), QFormat(1, 0), [0, 0], [[[0, 0], [0, 0]]])


def summing_to(largest: int) -> Model:
    """
    Return a model whose largest sum is just `largest`, reached by class 1 alone.

    Used at 255/256 and 65535/65536, where the accumulator of the C changes its width.
    """
    low = largest // 2
    bits = max(1, (largest - low).bit_length())
    return model_of(
        [feature("a", 2), feature("b", 2)],
        forest([None, None]),
        QFormat(bits, 0),
        [0, 0],
        [[[0, low], [0, 0]], [[0, largest - low], [0, 0]]],
    )


def saturated() -> Model:
    """Return a TAN whose costs are all at the format's edge, 0 or the largest."""
    edge = QFormat(6, -1).max_cost
    return model_of(
        [feature("a", 2), feature("b", 2)],
        forest([None, 0]),
        QFormat(6, -1),
        [edge, 0],
        [[[0, edge], [edge, edge]], [[edge, 0], [0, edge], [edge, edge], [0, 0]]],
    )


def general_network() -> Model:
    """Return a network with three parents, a class-free feature and a feature without parents."""
    structure = Structure(
        parents=((), (0,), (), (2, 0, 1)), class_is_parent=(True, False, False, True)
    )
    n_states = (2, 3, 2, 2)
    return model_of(
        [feature(f"x{i}", n) for i, n in enumerate(n_states)],
        structure,
        QFormat(5, 0),
        [7, 3, 0],
        [
            [[1, 2, 3], [3, 2, 1]],
            [[r, r, r] for r in range(6)],
            [[4, 4, 4], [9, 9, 9]],
            [[(5 * r + 11 * c) % 32 for c in range(3)] for r in range(24)],
        ],
    )


def sum_of_tables() -> Model:
    """Return tables over cuts of two sensors and a category; one feature is not read."""
    return model_of(
        [
            Feature("hall", "int16", 4, thresholds=(-7, 0, 512), missing_state=1),
            Feature("volt", "int16", 4, thresholds=(3, 9), missing_state=3),
            Feature("mode", "category", 3, categories=("idle", "run", "stop")),
            Feature("idle", "int16", 1),
        ],
        TableEnsemble(
            (
                DecisionTable((0, 2), ((0, 2), (1,))),
                DecisionTable((1,), ((0, 2),)),
                DecisionTable((2, 0, 1), ((0,), (1,), (1,))),
            )
        ),
        QFormat(2, 1),
        [0, 3, 1],
        [
            [[(3 * r + 5 * c) % 8 for c in range(3)] for r in range(6)],
            [[0, 7, 2], [4, 0, 1], [7, 7, 0]],
            [[(7 * r + 3 * c + 1) % 8 for c in range(3)] for r in range(8)],
        ],
    )


def sum_with_front() -> Model:
    """Return the same tables behind a front of three leaves, the outer two of which are sure."""
    plain = sum_of_tables()
    tree = BranchingTable((0, 2), (0, 1), (-1, -2), (1, -3))
    most = 1 + sum(int(part.max()) for part in (plain.prior, *plain.tables))
    front = np.array([[most, 0, most], [0, 0, 0], [most, most, 0]], dtype=np.int64)
    record = {"leaves": 3, "sure": 2, "answers": 0.5, "differing": 0.0025}
    return replace(
        plain,
        structure=TableEnsemble((tree, *plain.structure.tables)),
        tables=(front, *plain.tables),
        q_format=QFormat(most.bit_length() - 1, 1),
        training={**plain.training, "front": record},
    )


SENSORS = {
    "int16": Feature("hall", "int16", 5, thresholds=(-32768, -7, 255, 512), missing_state=3),
    "int32": Feature("count", "int32", 4, thresholds=(-(2**31), 7, 2**30), missing_state=1),
    "float32": Feature("volt", "float32", 5, thresholds=(-1.5, 0.0, 2.25), missing_state=4),
    "category": Feature("mode", "category", 4, categories=("a", "b", "c"), missing_state=3),
    "state": Feature("level", "state", 6, missing_state=2),
}
"""A feature of each kind; of some, missing readings have a state in between, or their own."""


def trees_of_sensors(n_classes: int, n_tables: int, kinds: Sequence[str] = tuple(SENSORS)) -> Model:
    """Return trees that read features of some kinds, each in a different state if missing."""
    features = [replace(SENSORS[kind], name=f"{kind} {k}") for k, kind in enumerate(kinds)]
    if len(set(kinds)) == 1 and kinds[0] not in ("category", "float32"):
        features = [replace(f, missing_state=k % f.n_states) for k, f in enumerate(features)]
    return trees_over(features, n_classes, n_tables)


def trees_over(features: Sequence[Feature], n_classes: int, n_tables: int) -> Model:
    """Return random trees of at most ten leaves that read some features."""
    rng = np.random.default_rng(n_classes + 10 * n_tables)
    n_states = [f.n_states for f in features]
    trees = tuple(random_tree(rng, n_states, 10) for _ in range(n_tables))
    tables = [rng.integers(0, 16, (tree.n_rows, n_classes)).tolist() for tree in trees]
    prior = rng.integers(0, 16, n_classes).tolist()
    return model_of(features, TableEnsemble(trees), QFormat(2, 2), prior, tables)


def products_of_sensors(n_classes: int, n_tables: int) -> Model:
    """Return tables over products of random cuts, where a missing reading has the first state."""
    features = [
        replace(each, missing_state=0, thresholds=each.thresholds[: each.n_states - 1])
        for each in SENSORS.values()
        if each.is_numeric
    ]
    features = [replace(each, n_states=len(each.thresholds) + 1) for each in features]
    rng = np.random.default_rng(n_classes + 10 * n_tables)
    grids = []
    for _ in range(n_tables):
        read = np.sort(rng.choice(len(features), 2, replace=False)).tolist()
        cuts = tuple((int(rng.integers(features[f].n_states - 1)),) for f in read)
        grids.append(DecisionTable(tuple(read), cuts))
    tables = [rng.integers(0, 16, (grid.n_rows, n_classes)).tolist() for grid in grids]
    prior = rng.integers(0, 16, n_classes).tolist()
    return model_of(features, TableEnsemble(tuple(grids)), QFormat(2, 2), prior, tables)


ENDS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1)}
"""The least and the largest raw value of each kind that can be subtracted, markers included."""


def differences_of(kinds: Sequence[str]) -> tuple[Feature, ...]:
    """
    Return two features of each kind and their differences, with cuts at the ends of the types.

    Before them come a number and a category without differences, if there are several kinds.
    """
    alone = (replace(SENSORS["float32"], n_states=4, missing_state=0), SENSORS["category"])
    inputs = list(alone) if len(kinds) > 1 else []
    pairs = []
    for kind in kinds:
        low, high = ENDS[kind]
        cuts = [(low, 7, high - 1), (50,)]
        pairs.append((kind, len(inputs), len(inputs) + 1))
        inputs += [Feature(f"{kind} {k}", kind, len(c) + 1, c) for k, c in enumerate(cuts)]
    found = []
    for kind, first, second in pairs:
        low, high = ENDS[kind]
        span = high - low
        for name, pair, cuts in (
            ("rise", (second, first), (-span, -256 if span > 255 else -9, -1, 0, 3, span - 1)),
            ("fall", (first, second), (-2, 254 if span > 255 else 17)),
        ):
            wide = "int32" if kind == "int16" else "int16"
            n_states = len(cuts) + 1
            found.append(Feature(f"{kind} {name}", wide, n_states, cuts, difference=pair))
    return (*inputs, *found)


def products_of_differences(kinds: Sequence[str], n_classes: int = 5, n_tables: int = 9) -> Model:
    """Return tables over products of cuts of readings and of differences, each cut by some."""
    features = differences_of(kinds)
    rng = np.random.default_rng(len(kinds) + n_classes)
    grids = []
    for t in range(n_tables):
        read = sorted({t % len(features), *rng.choice(len(features), 2).tolist()})
        cuts = []
        for f in read:
            n_cuts = int(rng.integers(1, min(3, features[f].n_states - 1) + 1))
            chosen = rng.choice(features[f].n_states - 1, n_cuts, replace=False)
            cuts.append(tuple(sorted(chosen.tolist())))
        grids.append(DecisionTable(tuple(read), tuple(cuts)))
    tables = [rng.integers(0, 16, (grid.n_rows, n_classes)).tolist() for grid in grids]
    prior = rng.integers(0, 16, n_classes).tolist()
    return model_of(features, TableEnsemble(tuple(grids)), QFormat(2, 2), prior, tables)


def gated(model: Model, tables: int = 1, margin: int = 4) -> Model:
    """Return a sum of tables with a gate behind the first of them."""
    return replace(model, gate=Gate(tables, margin))


def behind_front(model: Model, n_leaves: int = 8, seed: int = 0) -> Model:
    """Return a sum of tables behind a random front, every second leaf of which is sure."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, model.n_states, n_leaves)
    most = 1 + sum(int(part.max()) for part in (model.prior, *model.tables))
    costs = np.zeros((tree.n_rows, model.n_classes), np.int64)
    for k in range(0, tree.n_rows, 2):
        costs[k] = most
        costs[k, int(rng.integers(model.n_classes))] = 0
    assert isinstance(model.structure, TableEnsemble)
    frac_bits = model.q_format.frac_bits
    return replace(
        model,
        structure=TableEnsemble((tree, *model.structure.tables)),
        tables=(costs, *model.tables),
        q_format=QFormat(most.bit_length() - frac_bits, frac_bits),
    )


def class_with_parents() -> Model:
    """Return a network whose class has two parents, a child and a spouse that is given."""
    return model_of(
        [feature("above", 2), feature("beside", 3), feature("below", 2), feature("far", 2)],
        Structure(
            ((), (), (1,), ()), (False, False, True, False), class_parents=(3, 0), given=(1, 3)
        ),
        QFormat(3, 1),
        [0, 0],
        [
            [[2, 2], [1, 1]],
            [[0, 0]] * 3,
            [[1, 9], [8, 0], [3, 3], [2, 5], [15, 1], [0, 12]],
            [[0, 0]] * 2,
            [[0, 15], [6, 1], [2, 2], [9, 3]],
        ],
    )


def pseudo_tan() -> Model:
    """Return arcs that form cycles: a pair, and a ring of three with one more child."""
    n_states = (2, 3, 2, 2, 3, 2)
    parents = (1, 0, 4, 2, 3, 4)
    return model_of(
        [feature(f"x{i}", n) for i, n in enumerate(n_states)],
        one_parent_each(parents),
        QFormat(5, 1),
        [3, 0, 9],
        [
            [[(11 * r + 17 * c + 5 * i) % 64 for c in range(3)] for r in range(n * n_states[j])]
            for i, (n, j) in enumerate(zip(n_states, parents, strict=True))
        ],
    )


def wide_states() -> Model:
    """Return naive Bayes over a feature of 300 states: its C reads ``uint16_t`` states."""
    return model_of(
        [feature("address", 300), feature("b", 2)],
        forest([None, None]),
        QFormat(8, 0),
        [0, 9],
        [[[s % 256, (7 * s) % 256] for s in range(300)], [[1, 0], [0, 1]]],
    )


def hostile_names() -> Model:
    """Return a model whose feature and class names try to leave a C comment or string."""
    names = ['"', "*/ int main", "a\nb", "\\", "??/", "\u00e9\u4e2d", "register", ""]
    model = model_of(
        [feature(name, 2) for name in names],
        forest([None] * len(names)),
        QFormat(2, 0),
        [0, 1],
        [[[0, 1], [i % 4, 0]] for i in range(len(names))],
    )
    return Model(
        model.features,
        ('"); exit(1); /*', "%s\r\n\x00"),
        model.structure,
        model.q_format,
        model.prior,
        model.tables,
        model.training,
    )


NAMED: dict[str, Callable[[], Model]] = {
    "naive_integer": naive_integer,
    "tan_float": tan_float,
    "int32_thresholds": int32_thresholds,
    "int8_readings": lambda: bytes_of_one_kind("int8"),
    "uint8_readings": lambda: bytes_of_one_kind("uint8"),
    "bytes_and_others": bytes_and_others,
    "category_with_missing": category_with_missing,
    "one_state_feature": one_state_feature,
    "ties": ties,
    "all_zero": all_zero,
    "sum_255": lambda: summing_to(255),
    "sum_256": lambda: summing_to(256),
    "sum_65535": lambda: summing_to(65535),
    "sum_65536": lambda: summing_to(65536),
    "saturated": saturated,
    "general_network": general_network,
    "class_with_parents": class_with_parents,
    "pseudo_tan": pseudo_tan,
    "sum_of_tables": sum_of_tables,
    "wide_states": wide_states,
    "hostile_names": hostile_names,
}
"""Every model above but those of trees by name, for ``pytest.mark.parametrize``."""
TREES: dict[str, Callable[[], Model]] = {
    "trees_of_sensors": lambda: trees_of_sensors(4, 3),
    "trees_of_two_classes": lambda: trees_of_sensors(2, 3),
    "trees_of_bytes": lambda: trees_over(bytes_and_others().features, 5, 3),
    "trees_of_floats": lambda: trees_of_sensors(3, 4, kinds=("float32",) * 4),
    "one_tree": lambda: trees_of_sensors(5, 1),
}
"""Models of decision trees, which the kernel of branches alone can lay out."""
DIFFERENCES: dict[str, Callable[[], Model]] = {
    "differences_of_bytes": lambda: products_of_differences(("uint8",)),
    "differences_of_words": lambda: products_of_differences(("int16",), n_classes=11),
    "differences_in_a_struct": lambda: products_of_differences(("int8", "uint8", "int16")),
    "trees_of_differences": lambda: trees_over(differences_of(("uint8", "int16")), 4, 6),
}
"""Models that subtract readings: of one type, which is an array, and of several."""
GATES: dict[str, Callable[[], Model]] = {
    "products_with_a_gate": lambda: gated(products_of_sensors(3, 5), 2),
    "two_classes_with_a_gate": lambda: gated(products_of_sensors(2, 4), 1, 6),
}
"""Models of tables over cuts with a gate."""
FRONTS: dict[str, Callable[[], Model]] = {
    "trees_behind_a_front": lambda: behind_front(trees_of_sensors(4, 3)),
    "products_behind_a_front": lambda: behind_front(products_of_sensors(3, 4)),
}
"""Models whose first table is a front."""


def all_states(model: Model) -> IntArray:
    """Return every joint state of a small model's features, (n, n_features) int64."""
    grid = np.indices(model.n_states).reshape(model.n_features, -1).T
    return np.ascontiguousarray(grid, dtype=np.int64)


def possible_entries(model: Model, entries: Iterable[str] = ENTRIES) -> frozenset[str]:
    """Return the possible entry points of a model: not all can marginalize or know their ranges."""
    impossible = set() if why_not(model) is None else {"missing"}
    impossible |= set() if READINGS in model.training else {"checked"}
    fields = {rule: "adaptation" if rule == "adapt" else rule for rule in EXTRAS}
    impossible |= {rule for rule in EXTRAS if getattr(model, fields[rule]) is None}
    return frozenset(entries) - impossible
