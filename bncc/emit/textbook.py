"""
The textbook classifier: what a good engineer writes from a paper, the baseline of all figures.

It is made from the model as it stands, without the compiler's passes: one byte per cost in a
table of rows and classes, 16-bit sums, one loop over the features and one over the classes. Tables
that decision trees address take a loop over the trees, which walks from node to node in an array.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, product

from bncc import __version__
from bncc.emit.environment import render, with_terms
from bncc.emit.template_names import PGM
from bncc.errors import ModelError
from bncc.lower.c.c99 import ArrayText, array, wrap, wrap_words
from bncc.lower.c.constants import avr_error
from bncc.lower.c.identifiers import c_comment, check_name
from bncc.lower.discretizers.choice import searched
from bncc.lower.discretizers.functions import CUT_BITS, is_signed
from bncc.lower.discretizers.rates import rates_of
from bncc.lower.raw import RawPlan, plan_raw
from bncc.model.front import front_of
from bncc.model.model import Model
from bncc.program.ir import width_of
from bncc.structure.decision_tables import BranchingTable, TableEnsemble

MAX_ENTRY = 255
"""A cost has one byte."""
MAX_SUM = 65535
"""A sum of costs has two."""


@dataclass(frozen=True, eq=False)
class Textbook:
    """The textbook classifier of a model as C99."""

    name: str  # Prefix of every public symbol
    # ``NAME.c`` and ``NAME.h`` with their texts. There are ``NAME_predict``,
    # ``NAME_predict_trusted`` and, where the model has thresholds or it is asked for,
    # ``NAME_predict_raw``, declared as in what `bncc.emit.emitter.emit_c` returns.
    files: Mapping[str, str]
    table_bytes: int  # Bytes of the table and the prior
    avr_misfit: str  # Why an AVR cannot hold it, one sentence with the remedy; empty when it can


def misfit(model: Model) -> str | None:
    """Say why a model has no textbook classifier."""
    if isinstance(model.structure, TableEnsemble):
        if all(isinstance(grid, BranchingTable) for grid in model.structure.tables):
            return _number_misfit(model)
        return "the textbook classifier has a table per feature, and this model is another sum"
    if model.structure.class_parents or model.structure.given:
        return "the textbook classifier has a prior and a table per feature, and this model has not"
    return _number_misfit(model)


def _number_misfit(model: Model) -> str | None:
    """Return the reason why costs do not fit, or None."""
    largest = max(int(table.max()) for table in model.tables)
    if largest > MAX_ENTRY and front_of(model) is not None:
        return "the textbook classifier has no front; train with --structure-option front=0"
    if largest > MAX_ENTRY:
        return (
            f"the textbook classifier has 8-bit tables and a cost of the model is {largest}; train "
            "with --bits 8 or fewer to compare with it"
        )
    largest_sum = _largest_sum(model)
    if largest_sum > MAX_SUM:
        return (
            f"the textbook classifier adds up in 16 bits and a sum can reach {largest_sum}; train "
            "with fewer bits to compare with it"
        )
    return None


def textbook_c(model: Model, name: str = "model", *, raw: bool | None = None) -> Textbook:
    """Print the textbook classifier of a model."""
    check_name(name)
    reason = misfit(model)
    if reason is not None:
        raise ModelError(reason)
    if raw is None:
        raw = any(feature.thresholds for feature in model.features)
    state_bits = 8 if max(model.n_states) <= 255 else 16
    discretizers = searched(model.features, "linear", rates_of(None))
    plan = plan_raw(model.features, state_bits, discretizers, name) if raw else None
    table = _table(model)
    find = _trees if _form(model) == "trees" else _costs_and_rows
    of_rows = find(model, state_bits)
    arrays = [*of_rows, *(_raw_arrays(model, plan) if plan else [])]
    sizes = [a.n_bytes for a in (table, *arrays)]
    avr_misfit = avr_error(max(sizes), sum(sizes))
    read = {a.name: f"pgm_read_{'float' if a.type == 'float' else PGM[a.type]}" for a in arrays}
    context: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "version": __version__,
        "n_features": model.n_features,
        "n_classes": model.n_classes,
        "largest_sum": _largest_sum(model),
        "state_type": f"uint{state_bits}_t",
        "form": _form(model),
        "n_tables": len(model.tables),
        "next_type": next((a.type for a in arrays if a.name == "next"), ""),
        "table": table,
        "arrays": arrays,
        "read": read,
        "readers": sorted({"pgm_read_byte", *read.values()}),
        "raw": plan,
        "avr_misfit": avr_misfit,
    }
    return Textbook(
        name,
        {f"{name}.{end}": _printed(end, context) for end in "ch"},
        table.n_bytes + arrays[0].n_bytes,
        avr_misfit,
    )


def _printed(end: str, context: Mapping[str, object]) -> str:
    return with_terms(f"book.{end}", render(f"emit/textbook/textbook.{end}.j2", **context))


def _largest_sum(model: Model) -> int:
    """Bound every class's sum: its prior and the largest entry of its column in each table."""
    high = model.prior + sum(table.max(axis=0) for table in model.tables)
    return int(high.max())


def _form(model: Model) -> str:
    """Return how a row is found: by ``naive``, one ``parent``, ``parents``, or by ``trees``."""
    if isinstance(model.structure, TableEnsemble):
        return "trees"
    most = max(len(lookup.read) for lookup in model.lookups) - 1
    return ("naive", "parent", "parents")[min(most, 2)]


def _table(model: Model) -> ArrayText:
    """Return all tables one below the other, every row in braces behind its states."""
    lines: list[str] = []
    if _form(model) == "trees":
        for t, costs in enumerate(model.tables):
            lines.append(f"/* Leaves of tree {t} */")
            for k, row in enumerate(costs.tolist()):
                lines += _row_lines((k,), row)
        return _of_rows(model, lines, "leaf of a tree")
    for i, costs in enumerate(model.tables):
        features = model.lookups[i].read
        own, *parents = [c_comment(model.features[j].name) for j in reversed(features)]
        given = ", ".join(reversed(parents))
        lines.append(f"/* {own} given {given}: {given}, {own} */" if given else f"/* {own} */")
        joint = product(*(range(model.n_states[j]) for j in features))
        for states, row in zip(joint, costs.tolist(), strict=True):
            lines += _row_lines(states, row)
    is_naive = _form(model) == "naive"
    what = "state of a feature" if is_naive else "joint state of a feature and its parents"
    return _of_rows(model, lines, what)


def _of_rows(model: Model, lines: list[str], what: str) -> ArrayText:
    n_rows = sum(len(costs) for costs in model.tables)
    return ArrayText(
        "uint8_t",
        "table",
        n_rows,
        f"Costs: a row for every {what}, a column per class.",
        tuple(lines),
        n_rows * model.n_classes,
    )


def _row_lines(states: tuple[int, ...], row: list[int]) -> Iterator[str]:
    costs = [f"{cost}U" for cost in row]
    label = f"/* {','.join(map(str, states))} */ {{"
    first, *rest = wrap_words([label, *(f"{cost}," for cost in costs[:-1]), costs[-1], "},"])
    yield first
    yield from (f"    {line}" for line in rest)


def _costs_and_rows(model: Model, state_bits: int) -> list[ArrayText]:
    """Return the prior, what finds a row, and the numbers of states."""
    n_states, parents = model.n_states, [lookup.read[:-1] for lookup in model.lookups]
    starts = [0, *accumulate(len(table) for table in model.tables)][:-1]
    prior_bits, start_bits = width_of(int(model.prior.max())), width_of(starts[-1])
    arrays = [
        array("prior", prior_bits, model.prior.tolist(), "Prior cost of each class."),
        array("first_row", start_bits, starts, "Index of each feature's first row."),
    ]
    index_bits = width_of(model.n_features - 1)
    if _form(model) == "parent":
        # Stride 0 is cheaper than asking whether a feature is a root.
        of = [some[0] if some else i for i, some in enumerate(parents)]
        strides = [n if some else 0 for n, some in zip(n_states, parents, strict=True)]
        arrays += [
            array("parent", index_bits, of, "Parent of each feature; a root names itself."),
            array("stride", state_bits, strides, "Rows per state of the parent; 0 for a root."),
        ]
    elif _form(model) == "parents":
        flat = [j for some in parents for j in some]
        ends = [0, *accumulate(len(some) for some in parents)]
        arrays += [
            array("parent", index_bits, flat, "Parents of all features, slowest-varying first."),
            array("first_parent", width_of(len(flat)), ends, "Each feature's first parent."),
        ]
    return [*arrays, array("n_states", state_bits, n_states, "Number of states of each feature.")]


def _trees(model: Model, state_bits: int) -> list[ArrayText]:
    """Return the prior, the nodes of all trees, where they begin, and the numbers of states."""
    trees = [lookup for lookup in model.lookups if isinstance(lookup, BranchingTable)]
    starts = [0, *accumulate(tree.n_cuts for tree in trees)][:-1]
    rows = [0, *accumulate(tree.n_rows for tree in trees)][:-1]
    features = [f for tree in trees for f in tree.features]
    cuts = [cut for tree in trees for cut in tree.cuts]
    next_: list[int] = []
    for tree, start, row in zip(trees, starts, rows, strict=True):
        for pair in zip(tree.below, tree.above, strict=True):
            next_ += [start + place if place >= 0 else place - row for place in pair]
    widest = max(starts[-1] + trees[-1].n_cuts, rows[-1] + trees[-1].n_rows)
    meaning = "Per node what follows up to the cut, and above it: a node, or -1 - row."
    return [
        array("prior", width_of(int(model.prior.max())), model.prior.tolist(), "Prior costs."),
        array("first_node", width_of(starts[-1]), starts, "Root of each tree."),
        array("feature", width_of(model.n_features - 1), features, "Feature of each node."),
        array("cut", state_bits, cuts, "Largest state of each node that is not above its cut."),
        array("next", 16 if widest < 2**15 else 32, next_, meaning, signed=True),
        array("n_states", state_bits, model.n_states, "Number of states of each feature."),
    ]


def _raw_arrays(model: Model, plan: RawPlan) -> list[ArrayText]:
    """Return the thresholds of each kind, floats as floats, and what finds a feature's own."""
    kinds = [kind for kind in plan.kinds if not kind.startswith("code")]
    arrays = [_thresholds(model, kind) for kind in kinds]
    if plan.is_array and not plan.has_differences and kinds:
        begins = [0, *(field.last for field in plan.fields)]
        meaning = "Index of each feature's first threshold."
        arrays.append(array("first_threshold", plan.cut_bits, begins, meaning))
    return arrays + [a for a in plan.arrays if a.name in ("known", "missing_state")]


def _thresholds(model: Model, kind: str) -> ArrayText:
    """Return the thresholds of all features of a kind, each feature's below its name."""
    features = [f for f in model.features if f.kind == kind and f.thresholds]
    lines: list[str] = []
    for feature in features:
        lines.append(f"/* {c_comment(feature.name)} */")
        lines += _numbers(kind, feature.thresholds)
    length = max(1, sum(len(feature.thresholds) for feature in features))
    return ArrayText(
        "float" if kind == "float32" else f"{kind}_t",
        f"threshold_{kind}",
        length,
        "Thresholds of all features, in the sensors' own units.",
        tuple(lines or _numbers(kind, (0,))),  # C has no empty arrays
        length * CUT_BITS[kind] // 8,
    )


def _numbers(kind: str, thresholds: Iterable[int | float]) -> list[str]:
    if kind == "float32":
        return wrap_words(f"{_float(threshold)}," for threshold in thresholds)
    return wrap((int(threshold) for threshold in thresholds), signed=is_signed(kind))


def _float(value: float) -> str:
    """Return a float constant; nine digits bring every float32 back."""
    digits = f"{value:.9g}"
    return f"{digits}F" if "." in digits or "e" in digits else f"{digits}.0F"
