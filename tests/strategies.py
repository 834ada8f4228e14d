"""Hypothesis strategies for the values that flow through bncc: features, structures, models."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bncc._types import IntArray
from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature, FeatureKind
from bncc.discretize.missing import MISSING_INT
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.structure.decision_tables import DecisionTable, TableEnsemble, lookups_of
from bncc.structure.graph import Structure, forest, one_parent_each
from tests.tree_programs import random_tree

KINDS: tuple[FeatureKind, ...] = (
    "int8",
    "uint8",
    "int16",
    "int32",
    "float32",
    "category",
    "state",
)

names = st.text(max_size=12)


def q_formats(max_bits: int = 12) -> st.SearchStrategy[QFormat]:
    """Draw formats of 1 .. max_bits bits with any sign of either part."""

    def split(bits: int) -> st.SearchStrategy[QFormat]:
        return st.integers(-3, bits + 3).map(lambda frac: QFormat(bits - frac, frac))

    return st.integers(1, max_bits).flatmap(split)


@st.composite
def features(draw: st.DrawFn, name: str, max_states: int = 5) -> Feature:
    """Draw a feature of any kind, with or without a state of its own for missing cells."""
    kind = draw(st.sampled_from(KINDS))
    known = draw(st.integers(1, max_states))
    if kind == "state":
        return Feature(name, kind, known, missing_state=draw(st.integers(0, known - 1)))
    of_missing = kind != "uint8" and draw(st.booleans())
    n_states = known + of_missing
    missing_state = known if of_missing else draw(st.integers(0, known - 1))
    if kind == "category":
        labels = draw(st.lists(names, min_size=known, max_size=known, unique=True))
        return Feature(name, kind, n_states, categories=tuple(labels), missing_state=missing_state)
    thresholds = draw(
        st.lists(_thresholds(kind), min_size=known - 1, max_size=known - 1, unique=True)
    )
    return Feature(
        name, kind, n_states, thresholds=tuple(sorted(thresholds)), missing_state=missing_state
    )


def _thresholds(kind: str) -> st.SearchStrategy[int | float]:
    if kind == "float32":
        # adding 0.0 turns -0.0 into 0.0
        reals = st.floats(width=32, allow_nan=False, allow_infinity=False)
        return reals.map(lambda value: value + 0.0)
    return st.integers(MISSING_INT.get(kind, SMALLEST_INT[kind]), LARGEST_INT[kind])


@st.composite
def structures(draw: st.DrawFn, n_features: int) -> Structure:
    """Draw naive Bayes, a forest, or with class-free features a DAG or graph of up to 3 parents."""
    family = draw(st.sampled_from(["naive", "forest", "dag", "ring", "graph"]))
    if family == "naive":
        return forest([None] * n_features)
    if family == "ring":
        return draw(rings(n_features))
    order = draw(st.permutations(range(n_features)))
    most = 1 if family == "forest" else 3
    parents: list[tuple[int, ...]] = [()] * n_features
    for k, i in enumerate(order):
        others = [*order[:k], *(order[k + 1 :] if family == "graph" else [])]
        if others:
            chosen = st.lists(st.sampled_from(others), max_size=most, unique=True)
            parents[i] = tuple(draw(chosen))
    if family == "forest":
        return Structure(tuple(parents), (True,) * n_features)
    flags = st.lists(st.booleans(), min_size=n_features, max_size=n_features)
    return Structure(tuple(parents), tuple(draw(flags)))


@st.composite
def rings(draw: st.DrawFn, n_features: int) -> Structure:
    """Draw a ring of two or more features, where there are two; others have any parent or none."""
    order = draw(st.permutations(range(n_features)))
    ring = order[: draw(st.integers(2, n_features))] if n_features > 1 else []
    parent: list[int | None] = [None] * n_features
    for i, before in zip(ring, [*ring[-1:], *ring], strict=False):
        parent[i] = before
    for i in order[len(ring) :]:
        parent[i] = draw(st.sampled_from([None, *(j for j in order if j != i)]))
    return one_parent_each(parent)


@st.composite
def grids(draw: st.DrawFn, n_states: Sequence[int]) -> TableEnsemble:
    """Draw up to four boosted tables over cuts; some feature must have two states."""
    able = [f for f, n in enumerate(n_states) if n > 1]
    tables = []
    for _ in range(draw(st.integers(1, 4))):
        read = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3, unique=True))
        cuts = (
            draw(st.sets(st.integers(0, n_states[f] - 2), min_size=1, max_size=3)) for f in read
        )
        tables.append(DecisionTable(tuple(read), tuple(tuple(sorted(some)) for some in cuts)))
    return TableEnsemble(tuple(tables))


@st.composite
def tree_models(draw: st.DrawFn, max_classes: int = 8, max_bits: int = 10) -> Model:
    """Draw models of trees over features of every kind; costs reach both edges of the format."""
    n = draw(st.integers(1, 5))
    labels = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    inputs = tuple(draw(features(label, 6)) for label in labels)
    if max(feature.n_states for feature in inputs) == 1:
        inputs = (*inputs[1:], Feature(labels[0], "state", 3))
    n_states = [feature.n_states for feature in inputs]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_leaves = draw(st.integers(2, 12))
    trees = tuple(random_tree(rng, n_states, n_leaves) for _ in range(draw(st.integers(1, 5))))
    classes = draw(st.lists(names, min_size=2, max_size=max_classes, unique=True))
    q_format = draw(q_formats(max_bits))
    tables = tuple(draw(_costs((tree.n_rows, len(classes)), q_format)) for tree in trees)
    prior = draw(_costs((len(classes),), q_format))
    return Model(inputs, tuple(classes), TableEnsemble(trees), q_format, prior, tables)


@st.composite
def models(
    draw: st.DrawFn,
    max_features: int = 5,
    max_states: int = 4,
    max_classes: int = 5,
    max_bits: int = 12,
    only_networks: bool = False,
) -> Model:
    """Draw whole models of every kind; costs reach both edges of the format."""
    n = draw(st.integers(1, max_features))
    labels = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    inputs = tuple(draw(features(label, max_states)) for label in labels)
    n_states = tuple(feature.n_states for feature in inputs)
    may_be_sum = max(n_states) > 1 and not only_networks
    is_sum = may_be_sum and draw(st.sampled_from([False, False, True]))
    structure = draw(grids(n_states) if is_sum else structures(n))
    classes = draw(st.lists(names, min_size=2, max_size=max_classes, unique=True))
    q_format = draw(q_formats(max_bits))
    tables = []
    for t, lookup in enumerate(lookups_of(structure, n_states)):
        reads_class = isinstance(structure, TableEnsemble) or structure.class_is_parent[t]
        columns = len(classes) if reads_class else 1
        table = draw(_costs((lookup.n_rows, columns), q_format))
        tables.append(np.repeat(table, len(classes) // columns, axis=1))
    return Model(
        inputs,
        tuple(classes),
        structure,
        q_format,
        draw(_costs((len(classes),), q_format)),
        tuple(tables),
        # Keys with a space: those that bncc itself reads have a form of their own.
        draw(
            st.dictionaries(
                names.map("note {}".format), st.integers() | names | st.none(), max_size=2
            )
        ),
    )


@st.composite
def idle_models(draw: st.DrawFn) -> Model:
    """Draw models in which some tables of networks have equal columns or equal rows."""
    model = draw(models())
    if not isinstance(model.structure, Structure):
        return model
    tables = list(model.tables)
    for i in range(model.n_features):
        change = draw(st.sampled_from(["keep", "columns", "rows"]))
        if change == "columns":
            tables[i] = np.repeat(tables[i][:, :1], model.n_classes, axis=1)
        elif change == "rows":
            tables[i] = np.repeat(tables[i][:1], len(tables[i]), axis=0)
    return replace(model, tables=tuple(tables))


def _costs(shape: tuple[int, ...], q_format: QFormat) -> st.SearchStrategy[IntArray]:
    # A seed and not a list of elements: a large table costs hypothesis one choice. Costs are
    # drawn below a bound, so that zero rows, ties and saturation all occur.
    bound = st.sampled_from([0, 1, q_format.max_cost // 2, q_format.max_cost])
    seed = st.integers(0, 2**32 - 1)
    random = st.builds(
        lambda most, s: np.random.default_rng(s).integers(0, most + 1, shape), bound, seed
    )
    if np.prod(shape) > 24:
        return random
    return random | npst.arrays(np.int64, shape, elements=st.integers(0, q_format.max_cost))


@st.composite
def states(draw: st.DrawFn, model: Model, max_rows: int = 20) -> IntArray:
    """Draw valid states of a model, (n, n_features) int64, n possibly 0."""
    n = draw(st.integers(0, max_rows))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    return random.integers(0, np.array(model.n_states), (n, model.n_features))
