"""
Integer marginalization of missing features compared with float64: agreement, accuracy, bytes.

TAN on satimage and letter, fold 1, 4 bits per cost; readings are missing at random. Both versions
marginalize over the same integer tables, float64 with exact logarithms, and both skip missing
features without known descendants. The column "unskipped" is a float64 version that skips none:
tables of 4 bits do not sum to one, so its result differs. Takes half a minute; needs the papers'
data.

    .venv/bin/python -m benchmarks.accuracy.missing --data ../shared/data
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.shared.markdown import table
from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.discretize.feature import states_of
from bncc.fixed_point import dequantize
from bncc.model import marginal, missing
from bncc.model.missing_form import CORRECTIONS, missing_form_of
from bncc.model.model import Model
from bncc.structure.graph import Structure
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

SETS = ("satimage", "letter")
SHARES = {0.1: 0.995, 0.3: 0.995, 0.5: 0.99}
"""Required share of decisions equal to float64, by share of missing readings."""
MOST_LOST = 0.005
"""Maximum loss of accuracy."""
MOST_BYTES = 256


@dataclass(frozen=True)
class Comparison:
    """Decisions in integers compared with those in float64."""

    n: int  # Number of rows
    agreement: float  # Share of equal decisions
    unskipped: float  # The same, compared with a float64 version that skips nothing
    accuracy: float  # Share of correct decisions in integers
    exact_accuracy: float  # In float64
    unskipped_accuracy: float  # In float64 without skipping

    def holds(self, share: float) -> bool:
        """Return whether both floors hold for a share of missing readings."""
        is_near = self.accuracy >= self.exact_accuracy - MOST_LOST
        return is_near and self.agreement >= SHARES[share]


def compare(model: Model, X: IntArray, y: IntArray, is_missing: BoolArray) -> Comparison:
    """
    Marginalize missing features of a forest in integers and in float64.

    X and is_missing are (n, n_features), y is (n,).
    """
    found = missing.predict(model, X, is_missing)
    exact = exact_log_joint(model, X, is_missing).argmax(axis=1)
    assert isinstance(model.structure, Structure)
    prior, *tables = _logarithms(model)
    whole = marginal.log_joint(model.structure, model.n_states, (prior, tables), X, is_missing)
    unskipped = whole.argmax(axis=1)
    return Comparison(
        n=len(y),
        agreement=float((found == exact).mean()),
        unskipped=float((found == unskipped).mean()),
        accuracy=float((found == y).mean()),
        exact_accuracy=float((exact == y).mean()),
        unskipped_accuracy=float((unskipped == y).mean()),
    )


def exact_log_joint(model: Model, X: IntArray, is_missing: BoolArray) -> FloatArray:
    """
    Marginalize the missing features of a forest in float64, except those that are skipped.

    X and is_missing are (n, n_features). Returns (n, n_classes) float64 logarithms; tables of few
    bits do not sum to one.
    """
    form = missing_form_of(model)
    prior, *tables = _logarithms(model)
    total = np.tile(prior, (len(X), 1))
    used, n = ~is_missing, np.arange(len(X))
    below = [np.zeros((len(X), r, len(prior))) for r in model.n_states]
    for i in form.upward:
        terms = tables[i].reshape(1, -1, model.n_states[i], len(prior)) + below[i][:, None]
        summed = np.logaddexp.reduce(terms, axis=2)
        message = np.where(is_missing[:, i, None, None], summed, terms[n, :, X[:, i]])
        message[~used[:, i]] = 0.0
        parent = form.parent[i]
        if parent is None:
            total += message[:, 0]
        else:
            below[parent] += message
            used[:, parent] |= used[:, i]
    return total


def _logarithms(model: Model) -> list[FloatArray]:
    return [dequantize(costs, model.q_format) for costs in (model.prior, *model.tables)]


def main(words: Sequence[str] | None = None) -> int:
    """Print all comparisons; return 1 if a floor does not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    options = parser.parse_args(words)
    rows, all_hold = [], len(CORRECTIONS) <= MOST_BYTES
    for data_set in SETS:
        path = options.data / "paper" / f"{data_set}.npz"
        train, test = fold_parts(read_table(path, fold=1), fold=1)
        assert test is not None
        model = train_model(train, TrainSettings(parameters="ml", bits=4), test=test).model
        X = states_of(model.features, test.table)
        for share, floor in SHARES.items():
            gaps = np.random.default_rng(0).random(X.shape) < share
            result = compare(model, X, test.y, gaps)
            holds = result.holds(share)
            all_hold = all_hold and holds
            rows.append(
                [
                    data_set,
                    f"{share:.0%}",
                    f"{result.n:,}",
                    f"{result.agreement:.2%}",
                    f"{floor:.1%}",
                    f"{result.unskipped:.2%}",
                    f"{result.accuracy:.2%}",
                    f"{result.exact_accuracy:.2%}",
                    f"{result.unskipped_accuracy:.2%}",
                    "holds" if holds else "MISSED",
                ]
            )
    head = ["TAN, B=4", "missing", "rows", "same decision", "floor", "unskipped"]
    print(table([*head, "accuracy", "float64", "unskipped", "floors"], rows), end="")
    print(f"correction table: {len(CORRECTIONS)} bytes, at most {MOST_BYTES}")
    return 0 if all_hold else 1


if __name__ == "__main__":
    sys.exit(main())
