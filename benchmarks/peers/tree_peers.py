"""Trees and forests as emlearn deploys them: the best of a grid within a flash budget."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from benchmarks.peers.encoded_readings import BYTES, Encoding, encodings
from bncc._types import FloatArray, IntArray
from bncc.baselines.exporters import HEADERS, Style, elected, imported, trees_text, with_headers
from bncc.baselines.learn import LEVEL, Shape
from bncc.data.dataset import Dataset
from bncc.device.cross import Toolchain
from bncc.device.machine import HarnessError
from bncc.device.meter import Cost, Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.errors import MisfitError

TREES = (1, 3, 5, 10, 20)
LEAVES = (16, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512)
"""Total over all trees; with more, no way to print them fits 4 KB."""
MORE_TREES = (*TREES, 40)
MORE_LEAVES = (*LEAVES, 640, 768, 1024, 1280, 1536, 2048)
"""Those of 16 KB."""
LEAST_LEAVES = 4
DEPTHS = (2, 3, 4, 5, 6, 8, 10)
MOST_LEAVES = 2048
"""Maximum total of trees limited by depth, if all were full."""
SHARES = ("sqrt", None)
"""Share of the features tried at a node of a forest."""
MUCH = 1.1
"""Factor of the budget beyond which a classifier with as many nodes never fits."""
KINDS = {"float": "float32", "int16_t": "int16", "uint8_t": "state"}

What = TypeVar("What")


@dataclass(frozen=True)
class Form:
    """Size of a tree or a forest."""

    trees: int  # 1 for a tree
    leaves: int | None = None  # Maximum per tree; one of leaves and depth is None
    depth: int | None = None
    share: str | None = None  # Share of the features that a node selects from, None for all

    @property
    def words(self) -> str:
        """Description in the table."""
        size = f"{self.leaves} leaves" if self.depth is None else f"depth {self.depth}"
        if self.trees == 1:
            return size
        among = "some" if self.share else "all"
        return f"{self.trees} trees of {size}, among {among} features"

    def estimator(self, seed: int) -> Any:
        """Return an untrained estimator of scikit-learn."""
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.tree import DecisionTreeClassifier

        size = {"max_leaf_nodes": self.leaves, "max_depth": self.depth, "random_state": seed}
        if self.trees == 1:
            return DecisionTreeClassifier(**size)
        return RandomForestClassifier(self.trees, max_features=self.share, **size)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A form with its validation error."""

    form: Form
    encoding: Encoding  # Encoding of its readings
    style: Style
    error: float  # On validation rows, 0 .. 1
    nodes: int  # Number of comparisons
    passed: float = 0.0  # Number of comparisons of a decision, mean over the validation rows

    @property
    def kind(self) -> str:
        """``tree``, ``forest`` or, with votes by probabilities, ``soft forest``."""
        if self.form.trees == 1:
            return "tree"
        return "soft forest" if self.style.leaf_bits else "forest"


@dataclass(frozen=True, eq=False)
class Grown:
    """A candidate trained on all training rows."""

    candidate: Candidate
    estimator: Any
    n_classes: int

    def decide(self, X: FloatArray) -> IntArray:
        """Return the classes of encoded readings."""
        return elected(_trees(self.estimator), X, self.candidate.style.leaf_bits)


def forms(
    n_trees: Sequence[int] = TREES, leaves: Sequence[int] = LEAVES, most_leaves: int = MOST_LEAVES
) -> Iterator[Form]:
    """Yield all sizes, small ones first."""
    for n in n_trees:
        shares = (None,) if n == 1 else SHARES
        for share in shares:
            sizes = sorted({total // n for total in leaves})
            yield from (Form(n, leaves=k, share=share) for k in sizes if k >= LEAST_LEAVES)
            depths = [depth for depth in DEPTHS if n * 2**depth <= most_leaves]
            yield from (Form(n, depth=depth, share=share) for depth in depths)


def candidates(
    train: Dataset, rest: Dataset, held: Dataset, seed: int, some: Sequence[Form] | None = None
) -> Iterator[Candidate]:
    """Train every form without the validation rows, and evaluate every style of C on them."""
    for encoding in encodings(train.table):
        X, judges = encoding.numbers(rest.table), encoding.numbers(held.table)
        for form in forms() if some is None else some:
            trees = _trees(form.estimator(seed).fit(X, rest.y))
            nodes = sum(int(each.tree_.node_count - each.tree_.n_leaves) for each in trees)
            passed = sum(each.decision_path(judges).nnz for each in trees) / len(judges)
            errors = {
                bits: float((elected(trees, judges, bits) != held.y).mean()) for bits in (0, 8)
            }
            for style in encoding.styles:
                if form.trees > 1 or not style.leaf_bits:
                    error = errors[style.leaf_bits]
                    yield Candidate(form, encoding, style, error, nodes, passed - len(trees))


def finalists(
    ones: Iterable[Candidate],
    grow: Callable[[Candidate], What],
    flash_of: Callable[[What], int],
    budget: int,
) -> Iterator[tuple[What, int]]:
    """
    Yield the candidates that fit after training on all rows, with their bytes, the best first.

    The best has the lowest validation error; of equal ones the smallest is first. Each form occurs
    once: inline if that fits.
    """
    too_many: dict[Style, int] = {}
    seen = set()
    for one in sorted(ones, key=lambda one: (one.error, one.nodes)):
        key = one.form, one.encoding
        if key in seen or one.nodes >= too_many.get(one.style, one.nodes + 1):
            continue
        grown = grow(one)
        flash = flash_of(grown)
        if flash <= budget:
            seen.add(key)
            yield grown, flash
        elif flash > MUCH * budget:
            too_many[one.style] = one.nodes


def error_of(one: Candidate, rest: Dataset, held: Dataset, seed: int) -> float:
    """Return the error of a candidate trained on some rows, evaluated on others."""
    estimator = one.form.estimator(seed).fit(one.encoding.numbers(rest.table), rest.y)
    said = elected(_trees(estimator), one.encoding.numbers(held.table), one.style.leaf_bits)
    return float((said != held.y).mean())


def grow(one: Candidate, train: Dataset, seed: int) -> Grown:
    """Train a candidate's form on all training rows."""
    estimator = one.form.estimator(seed).fit(one.encoding.numbers(train.table), train.y)
    return Grown(one, estimator, len(train.classes))


def flash_on(bench: Toolchain, grown: Grown) -> int:
    """Return the bytes of a classifier with its library routines; 2**31 if it does not fit."""
    try:
        with _meter(bench, grown) as meter:
            return meter.footprint(("raw",)).flash
    except MisfitError:
        return 2**31


def cost_on(bench: Toolchain, grown: Grown, X: FloatArray, opt_level: str = LEVEL) -> Cost:
    """Return the instructions of a decision, each compared with Python's."""
    with _meter(bench, grown, opt_level) as meter:
        cost = meter.costs(Inputs(np.zeros(X.shape, dtype=np.int64), X))["raw"]
    if (cost.classes != grown.decide(X)).any():
        raise HarnessError("the C of emlearn and its trees decide differently; print the C again")
    return cost


def _meter(bench: Toolchain, grown: Grown, opt_level: str = LEVEL) -> Meter:
    style = grown.candidate.style
    n_features = int(grown.estimator.n_features_in_)
    kind = KINDS[style.c_type]
    features = tuple(Feature(f"x{i}", kind, BYTES[1] + 1) for i in range(n_features))
    files = _files(grown.estimator, style, n_features)
    return Meter(
        sources(Shape(features, grown.n_classes), files), bench, opt_level, is_foreign=True
    )


def _files(estimator: Any, style: Style, n_features: int) -> dict[str, str]:
    """Return C whose ``m_predict_raw`` is emlearn's; there are no states to decide from."""
    emlearn = imported("emlearn")
    header = (
        "#ifndef M_H\n#define M_H\n#include <stdint.h>\n"
        f"typedef {style.c_type} m_raw_t;\n"
        "int16_t m_predict(const uint8_t *x);\nint16_t m_predict_raw(const m_raw_t *x);\n#endif\n"
    )
    body = (
        f'#include "m.h"\n{trees_text(emlearn, estimator, style)}\n'
        "int16_t m_predict(const uint8_t *x)\n{\n    (void)x;\n    return -1;\n}\n"
        "int16_t m_predict_raw(const m_raw_t *x)\n{\n"
        f"    return (int16_t)peer_predict(x, {n_features});\n}}\n"
    )
    names = HEADERS if style.method == "loadable" else ()
    return dict(with_headers(emlearn, {"m.h": header, "m.c": body}, names))


def _trees(estimator: Any) -> Sequence[Any]:
    return getattr(estimator, "estimators_", None) or [estimator]
