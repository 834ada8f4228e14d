"""The sums of tables that stand against other tools' classifiers."""

from bncc.search.ensemble_configs import Form

FEW = (3, 5, 8, 12, 16, 20, 30, 45, 60, 90, 130, 180)
SUMS: tuple[tuple[Form, tuple[int, ...]], ...] = (
    (Form(rows=8), FEW),
    (Form(rows=16), FEW),
    (Form(rows=32), FEW[:9]),
    (Form(rows=64), FEW[:7]),
    (Form(rows=128, bits=2), FEW[:4]),
    (Form(rows=16, bits=4), (5, 12, 20, 60)),
    (Form(rows=16, bits=5, dictionary=256), (60, 130, 180)),
    (Form(rows=4), (4, 8, 16, 24)),
    (Form(rows=16), (4, 6, 7)),
    (Form(rows=64, features=6), (4, 5, 6)),
    (Form(rows=128, bits=2, features=7), (4, 5, 6)),
    (Form(rows=256, bits=2, features=8), (4, 5)),
    (Form(rows=8), (4, 6, 7)),
    (Form(rows=16, features=6), (5, 6)),
    (Form(rows=32, bits=2, features=5), (4, 5)),
    (Form(rows=16, refit="soft"), (60, 130, 170, 250)),
    (Form(rows=32, refit="soft"), (40, 60, 130)),
    (Form(rows=16, bits=4, refit="soft"), (130,)),
)
"""Forms of sums, and how many tables."""


def title_of(form: Form, n_tables: int) -> str:
    """Return what a sum is called."""
    parts = [f"{n_tables} tables of {form.rows} rows", f"{form.bits} bits"]
    if form.features > Form.features:
        parts.append(f"{form.features} features")
    if form.dictionary:
        parts.append(f"{form.dictionary} different rows")
    if form.refit != Form.refit:
        parts.append(f"{form.refit} refit")
    return ", ".join(parts)
