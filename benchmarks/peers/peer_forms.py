"""The sums of tables that stand against other tools' classifiers."""

from bncc.search.ensemble_configs import EnsembleConfig

FEW = (3, 5, 8, 12, 16, 20, 30, 45, 60, 90, 130, 180)
SUMS: tuple[tuple[EnsembleConfig, tuple[int, ...]], ...] = (
    (EnsembleConfig(rows=8), FEW),
    (EnsembleConfig(rows=16), FEW),
    (EnsembleConfig(rows=32), FEW[:9]),
    (EnsembleConfig(rows=64), FEW[:7]),
    (EnsembleConfig(rows=128, bits=2), FEW[:4]),
    (EnsembleConfig(rows=16, bits=4), (5, 12, 20, 60)),
    (EnsembleConfig(rows=16, bits=5, dictionary=256), (60, 130, 180)),
    (EnsembleConfig(rows=4), (4, 8, 16, 24)),
    (EnsembleConfig(rows=16), (4, 6, 7)),
    (EnsembleConfig(rows=64, features=6), (4, 5, 6)),
    (EnsembleConfig(rows=128, bits=2, features=7), (4, 5, 6)),
    (EnsembleConfig(rows=256, bits=2, features=8), (4, 5)),
    (EnsembleConfig(rows=8), (4, 6, 7)),
    (EnsembleConfig(rows=16, features=6), (5, 6)),
    (EnsembleConfig(rows=32, bits=2, features=5), (4, 5)),
    (EnsembleConfig(rows=16, refit="soft"), (60, 130, 170, 250)),
    (EnsembleConfig(rows=32, refit="soft"), (40, 60, 130)),
    (EnsembleConfig(rows=16, bits=4, refit="soft"), (130,)),
)
"""Forms of sums, and how many tables."""


def title_of(form: EnsembleConfig, n_tables: int) -> str:
    """Return what a sum is called."""
    parts = [f"{n_tables} tables of {form.rows} rows", f"{form.bits} bits"]
    if form.features > EnsembleConfig.features:
        parts.append(f"{form.features} features")
    if form.dictionary:
        parts.append(f"{form.dictionary} different rows")
    if form.refit != EnsembleConfig.refit:
        parts.append(f"{form.refit} refit")
    return ", ".join(parts)
