"""
Measure optional parts of models in C, fit `bncc.lower.rule_cost` to it, and print residuals.

Naive and boosted models of four data sets of scikit-learn have a filter, a confidence and a rule
for unknown readings, chosen by training, and counters and adaptations of several sizes. The bytes
of each are those of an image that calls it and others, less those of one that calls the others
alone. Weights are those of least relative squares; copy them if they change. Takes about ten
minutes:

    python -m benchmarks.fit.fit_rules
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from bncc._types import FloatArray
from bncc.data.dataset import Dataset, Table
from bncc.data.frames import table_of_arrays
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import METERED, Meter, Metered
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.cost_model import Level
from bncc.lower.rule_cost import (
    ADAPT_WORK,
    CODE,
    COUNT_WORK,
    COUNTERS,
    OFFSETS,
    WORK,
    code_terms,
    counter_terms,
    offset_terms,
    work_terms,
)
from bncc.model.adaptation import Adaptation, tables_to_try
from bncc.model.counters import Counters, Counts
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.model.rules import RULES, with_stand_ins
from bncc.on_device import sources_of
from bncc.targets import find_target
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

SETS = {
    "iris int": (load_iris, 4),
    "iris": (load_iris, 1),
    "wine": (load_wine, 6),
    "cancer": (load_breast_cancer, 1),
    "cancer int": (load_breast_cancer, 30),
    "digits": (load_digits, 64),
}
"""Data sets, and how many of their columns are made whole numbers."""
SETTINGS = {
    "naive": TrainSettings(structure="naive", parameters="ml"),
    "tables": TrainSettings(structure="tables", structure_options={"tables": "8"}),
}
PLAN: tuple[tuple[str, Level], ...] = (
    ("cortex-m0", "-O2"), ("cortex-m0", "-Os"), ("avr", "-O2"), ("avr", "-Os"),
)  # fmt: skip


def models() -> Iterator[tuple[str, Model]]:
    """Yield trained models with all rules, the filter with a price of 16 bits."""
    for name, (load, n_whole) in SETS.items():
        found = load()
        classes = tuple(str(c) for c in np.unique(found.target))
        whole = table_of_arrays(np.rint(10 * found.data[:, :n_whole]).astype(np.int64))
        floats = (
            table_of_arrays(found.data[:, n_whole:]).columns
            if n_whole < found.data.shape[1]
            else ()
        )
        columns = [replace(c, name=f"x{k}") for k, c in enumerate((*whole.columns, *floats))]
        dataset = Dataset(Table(tuple(columns)), found.target.astype(np.int64), classes, "y")
        for structure, settings in SETTINGS.items():
            trained = train_model(dataset, settings)
            max_error = {"cancer": 0.08, "digits": 0.1}.get(name.split()[0])
            rules = DecisionRules(None, confidence=True, max_error=max_error, unknown=0.1)
            model = rules.applied(trained, dataset, settings).model
            yield f"{name} {structure}", with_stand_ins(model, RULES)


def fitted(terms: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the weights of least relative squares of terms (n, k) for figures (n,), (k,)."""
    found = np.linalg.lstsq(terms / measured[:, None], np.ones(len(measured)), rcond=None)
    return np.asarray(found[0])


def with_counters(model: Model, n_bins: int, *, has_unknown: bool, is_in_time: bool) -> Model:
    """Return a model with counters that it can reach, and without a rule that they do not count."""
    octaves = with_stand_ins(replace(model, confidence=None), ("confidence",)).confidence
    margins = (0, *octaves.margins[1:][1 - n_bins :])
    steps = {"stays": 0, "switches": 0} if is_in_time else {}
    counts = Counts(
        (1, *(0,) * (model.n_classes - 1)),
        (1, *(0,) * (len(margins) - 1)),
        unknown=0 if has_unknown else None,
        **steps,
    )
    rule = model.unknown if has_unknown else None
    return replace(model, unknown=rule, counters=Counters(margins, counts))


def with_offsets(model: Model, n_tables: int, step: int) -> Model:
    """Return a model with offsets of up to some tables."""
    every = list(tables_to_try(model.structure, model.lookups, model.n_classes))
    return replace(model, adaptation=Adaptation(every[min(n_tables, len(every) - 1)], step, 1))


EXTRA_PLAN = (
    (frozenset({"confidence"}), 4, True, 2, 1),
    (frozenset({"confidence", "filter"}), 8, False, 4, 4),
    (frozenset({"confidence", "unknown", "filter"}), 2, True, 16, 16),
    (frozenset({"confidence", "unknown"}), 8, False, 0, 8),
)
"""The rules next to counters and an adaptation, bins, whether in time; tables and step."""
EXTRA_WEIGHTS = {
    "code of counters": COUNTERS,
    "code of adapt": OFFSETS,
    "work of counters": COUNT_WORK,
    "work of adapt": ADAPT_WORK,
}


def extras_of(
    every: list[tuple[str, Model]], target: str, level: Level
) -> dict[str, list[tuple[str, tuple[int, ...], int]]]:
    """Return names, terms and figures of counters and adaptations: of bytes, and of time."""
    (bench,) = find_toolchain(find_target(target))
    found: dict[str, list] = {key: [] for key in EXTRA_WEIGHTS}
    for name, model in every:
        for rules, n_bins, is_in_time, n_tables, step in EXTRA_PLAN:
            has_unknown = "unknown" in rules
            full = with_counters(model, n_bins, has_unknown=has_unknown, is_in_time=is_in_time)
            full = with_offsets(full, n_tables, step)
            options = EmitOptions(
                "m",
                rules | {"counters", "adapt"},
                target=target,
                optimize="size" if level == "-Os" else "balanced",
            )
            emission = emit_c(full, options)
            names: tuple[Metered, ...] = ("scores", *(METERED[each] for each in sorted(rules)))
            with Meter(sources_of(full, emission), bench, level) as meter:
                alone = meter.footprint(names).flash
                counted = meter.footprint((*names, "counters")).flash - alone
                adapts = meter.footprint((*names, "adaptation")).flash - alone
                times = meter.costs(bench_inputs(full), ("counters", "adaptation"))
            title, layout = f"{name} {n_bins} {n_tables}", emission.layout
            found["code of counters"].append((title, counter_terms(layout, ("counters",)), counted))
            found["code of adapt"].append((title, offset_terms(layout, ("adapt",)), adapts))
            for entry in ("counters", "adapt"):
                cost = times[METERED[entry]].max
                found[f"work of {entry}"].append((title, work_terms(layout, entry), cost))
    return found


FORMS = (
    (200, True, 0), (2000, True, 0), (200, False, 1), (2000, False, 4), (200, False, 16),
    (2000, True, 1), (200, True, 4), (2000, True, 16),
)  # fmt: skip
"""Largest price, whether each transition has its own, and lag of a filter."""


def forms_of(every: list[tuple[str, Model]], target: str, level: Level) -> None:
    """Print the errors of filters with a price of each transition or a lag, of both widths."""
    (bench,) = find_toolchain(find_target(target))
    code, work = [], []
    for (name, model), (largest, has_transitions, lag) in product(every, FORMS):
        n = model.n_classes
        prices = np.random.default_rng(0).integers(0, largest, (n, n))
        prices[0, -1] = largest
        rows = tuple(map(tuple, prices.tolist())) if has_transitions else None
        rule = Filter(largest, 1, rows, lag)
        full = replace(model, filter=rule)
        size = "size" if level == "-Os" else "balanced"
        options = EmitOptions("m", frozenset({"filter"}), target=target, optimize=size)
        emission = emit_c(full, options)
        layout = emission.layout
        with Meter(sources_of(full, emission), bench, level) as meter:
            alone, both = (
                meter.footprint(names).flash for names in (("scores",), ("scores", "filter"))
            )
            time = meter.costs(bench_inputs(full), ("filter",))["filter"].max
        arrays = sum(each.n_bytes for each in layout.filter.arrays)
        title = f"{name} {largest} {lag}"
        code.append((title, code_terms(layout, ("filter",)), both - alone - arrays))
        work.append((title, work_terms(layout, "filter"), time))
    report("code of filters", CODE.get((target, level)), code)
    report("work of filters", WORK.get((target, "filter")), work)


def main() -> None:
    """Measure, fit and print."""
    kept: dict[str, tuple[str, ...]] = {"scores": (), **{name: (name,) for name in RULES}}
    kept["all"] = tuple(RULES)
    every = list(models())
    for target, level in PLAN:
        (bench,) = find_toolchain(find_target(target))
        size = "size" if level == "-Os" else "balanced"
        code, work = [], {rule: [] for rule in RULES}
        for name, model in every:
            options = EmitOptions("m", frozenset({*RULES}), target=target, optimize=size)
            emission = emit_c(model, options)
            layout = emission.layout
            with Meter(sources_of(model, emission), bench, level) as meter:
                flash = {
                    key: meter.footprint(("scores", *(METERED[each] for each in rules))).flash
                    for key, rules in kept.items()
                }
                only: tuple[Metered, ...] = tuple(METERED[rule] for rule in RULES)
                times = meter.costs(bench_inputs(model), only)
            for key, rules in list(kept.items())[1:]:
                arrays = sum(each.n_bytes for each in layout.unknown.arrays) * ("unknown" in rules)
                terms = code_terms(layout, frozenset(rules))
                code.append((f"{name} {key}", terms, flash[key] - flash["scores"] - arrays, arrays))
            for rule in RULES:
                cost = times[METERED[rule]]
                work[rule].append((name, work_terms(layout, rule), cost.max))
        print(f"{target} {level}")
        report("code", CODE.get((target, level)), [(n, t, c) for n, t, c, _ in code])
        for rule, rows in work.items():
            report(f"work of {rule}", WORK.get((target, rule)), rows)
        forms_of(every, target, level)
        for key, rows in extras_of(every, target, level).items():
            report(key, EXTRA_WEIGHTS[key].get((target, level)), rows)


def report(title: str, known: tuple[float, ...] | None, rows: list) -> None:
    """Print a fit, and the errors of the weights in use."""
    terms = np.array([each[1] for each in rows], dtype=np.float64)
    measured = np.array([each[2] for each in rows], dtype=np.float64)
    weights = fitted(terms, measured)
    used = weights if known is None else np.array(known)
    errors = terms @ used / measured - 1
    print(f"  {title}: fit {np.rint(weights).astype(int).tolist()}")
    print(
        f"  {title}: errors {100 * errors.min():+.0f} % .. {100 * errors.max():+.0f} %, "
        f"{int((np.abs(errors) <= 0.15).sum())} of {len(errors)} within 15 %"
    )


if __name__ == "__main__":
    main()
