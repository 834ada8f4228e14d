"""
Test errors of CatBoost's symmetric trees on the authors' folds of letter and usps.

    python -m benchmarks.peers.catboost_points --data ../shared/data

needs CatBoost, which is no dependency of bncc: make a virtual environment for it, and name that of
bncc in PYTHONPATH. Trees have six levels, the rate is 0.3, inputs are the authors' states; all else
is CatBoost's default, with one thread. Errors are those of the first trees of one model, seed 0.
"""

from pathlib import Path

import click
import numpy as np

from benchmarks.shared.markdown import table
from bncc.papers.folds import read_folds

NUMBERS = (10, 20, 40, 60, 100, 200)
DEPTH, RATE = 6, 0.3


def errors(data: Path, name: str) -> list[str]:
    """Return the test error for each number of trees."""
    from catboost import CatBoostClassifier

    (fold,) = read_folds(data / "paper", name)
    model = CatBoostClassifier(
        iterations=NUMBERS[-1], depth=DEPTH, learning_rate=RATE, random_seed=0, thread_count=1,
        loss_function="MultiClass", allow_writing_files=False, verbose=False,
    )  # fmt: skip
    model.fit(fold.X, fold.y)
    said = (np.ravel(model.predict(fold.X_test, ntree_end=n)) for n in NUMBERS)
    return [f"{100 * (each != fold.y_test).mean():.2f}" for each in said]


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder of all data sets.")
def main(data: Path) -> None:
    """Print the errors."""
    rows = ([name, *errors(data, name)] for name in ("letter", "usps"))
    print(table(["set", *(f"{n} trees" for n in NUMBERS)], rows))


if __name__ == "__main__":
    main()
