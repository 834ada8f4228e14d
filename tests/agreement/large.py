"""Random models of a realistic size, with meaningless tables in which every entry counts."""

from dataclasses import replace

import numpy as np

from bncc.discretize.feature import Feature, FeatureKind
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.structure.graph import Structure, forest, n_rows


def random_model(
    features: list[Feature], structure: Structure, n_classes: int, q_format: QFormat, seed: int = 0
) -> Model:
    """Return a model with these features and random costs."""
    rng = np.random.default_rng(seed)
    n_states = [feature.n_states for feature in features]
    tables = tuple(
        rng.integers(0, q_format.max_cost + 1, (n_rows(structure, n_states, i), n_classes))
        for i in range(len(features))
    )
    prior = rng.integers(0, q_format.max_cost + 1, n_classes)
    labels = tuple(f"class {c}" for c in range(n_classes))
    return Model(tuple(features), labels, structure, q_format, prior, tables)


def sensor(name: str, kind: FeatureKind, n_states: int, seed: int) -> Feature:
    """Return a numeric feature with random thresholds."""
    rng = np.random.default_rng(seed)
    if kind == "float32":
        cuts = np.unique(rng.normal(size=n_states - 1).astype(np.float32).astype(float))
    else:
        cuts = np.sort(rng.choice(np.arange(-500, 500), n_states - 1, replace=False))
    return Feature(
        name, kind, n_states, thresholds=tuple(cuts.tolist()), missing_state=n_states // 2
    )


def letter_like(kind: FeatureKind = "int16", bits: int = 6) -> Model:
    """Return a TAN of letter's shape: 16 sensors of 5 to 12 states, 26 classes."""
    features = [sensor(f"x{i}", kind, 5 + i % 8, seed=i) for i in range(16)]
    parents = [None, *((i - 1) // 2 for i in range(1, 16))]
    return random_model(features, forest(parents), 26, QFormat(bits - 2, 2))


def many_features() -> Model:
    """Return naive Bayes of 300 features: counters over features need two bytes."""
    features = [Feature(f"x{i}", "state", 3) for i in range(300)]
    return random_model(features, forest([None] * 300), 3, QFormat(4, 4))


def two_cost_arrays() -> Model:
    """Return a TAN of 8-bit costs that needs two arrays on AVR, 41,132 bytes in total."""
    features = [sensor(f"x{i}", "int16", 14, seed=i) for i in range(9)]
    parents = [None, *((i - 1) // 2 for i in range(1, 9))]
    return random_model(features, forest(parents), 26, QFormat(4, 4))


def two_word_arrays() -> Model:
    """Return a TAN whose rows are words of four 8-bit costs, in two arrays on AVR."""
    features = [sensor(f"x{i}", "int16", 34, seed=i) for i in range(9)]
    parents = [None, *((i - 1) // 2 for i in range(1, 9))]
    return random_model(features, forest(parents), 4, QFormat(4, 4))


def three_cost_arrays() -> Model:
    """Return a chain of 16-bit costs and no prior, 61,000 bytes in three arrays on AVR."""
    features = [sensor(f"x{i}", "int32", 20, seed=i) for i in range(4)]
    model = random_model(features, forest([None, 0, 1, 2]), 25, QFormat(16, 0))
    return replace(model, prior=np.zeros_like(model.prior))


def large_tables() -> Model:
    """Return a TAN whose tables have more than 65,535 entries, so that offsets need 32 bits."""
    features = [Feature(f"x{i}", "state", 60) for i in range(3)]
    return random_model(features, forest([None, 0, 1]), 12, QFormat(8, 0))


def wide_costs() -> Model:
    """Return a model of 16-bit costs whose sums need 32 bits."""
    features = [sensor(f"x{i}", "int32", 4, seed=i) for i in range(5)]
    return random_model(features, forest([None, 0, 0, 1, 1]), 4, QFormat(14, 2))


def mixed_kinds() -> Model:
    """Return a model whose raw readings are a struct of every C type."""
    colors = tuple(f"color {k}" for k in range(5))
    addresses = tuple(f"address {k}" for k in range(300))
    features = [
        sensor("a", "int16", 6, seed=1),
        Feature("b", "category", 6, categories=colors, missing_state=5),
        sensor("c", "float32", 5, seed=2),
        Feature("d", "state", 7, missing_state=3),
        sensor("e", "int32", 4, seed=3),
        Feature("f", "category", 300, categories=addresses, missing_state=299),
    ]
    return random_model(features, forest([None, 0, 1, 0, 2, 4]), 5, QFormat(3, 4))


def few_bits(n_classes: int, bits: int = 2, first_states: int = 2) -> Model:
    """Return a TAN over 20 features whose states are given, with costs of few bits."""
    n_states = [first_states, *(2 + i % 3 for i in range(1, 20))]
    features = [Feature(f"x{i}", "state", n) for i, n in enumerate(n_states)]
    parents = [None, *((i - 1) // 2 for i in range(1, 20))]
    return random_model(features, forest(parents), n_classes, QFormat(bits, 0), seed=n_classes)


LARGE = {
    "letter_like": letter_like,
    "letter_like_float": lambda: letter_like("float32"),
    "letter_like_1_bit": lambda: letter_like("int32", bits=1),
    "ten_classes_2_bits": lambda: few_bits(10),
    "three_classes_2_bits": lambda: few_bits(3, first_states=300),
    "many_features": many_features,
    "two_cost_arrays": two_cost_arrays,
    "two_word_arrays": two_word_arrays,
    "three_cost_arrays": three_cost_arrays,
    "large_tables": large_tables,
    "wide_costs": wide_costs,
    "mixed_kinds": mixed_kinds,
}
"""Every model above by name."""
