"""A model as a Rust crate without `std` and without unsafe code."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bncc import __version__
from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import Feature
from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import is_array, n_known
from bncc.emit.card import class_lines, why_no_probabilities
from bncc.emit.emitter import RELEASE
from bncc.emit.environment import TERMS, check_spdx, render, with_terms
from bncc.emit.near_ties import near_tie_steps
from bncc.emit.options import EmitOptions
from bncc.emit.selftest import MOST_STEPS, STEPS_PER_VECTOR
from bncc.emit.summation import Summand, Summation, Term, refuse_samples, summation_of
from bncc.emit.vectors import Vectors, drawn_vectors, limit_vectors
from bncc.errors import OptionError
from bncc.lower.c.c99 import wrap_words
from bncc.lower.c.identifiers import c_comment, check_name, field_names
from bncc.model.checked import ERR_RANGE, predict_checked
from bncc.model.file import model_digest
from bncc.model.model import Model
from bncc.model.ranges import units_of
from bncc.model.reference import scores
from bncc.program.pipeline import PassReport
from bncc.structure.decision_tables import BranchingTable

RUST = "rust"
"""Name of the package."""
FILES = ("Cargo.toml", "README.md", "src/lib.rs", "src/tables.rs", "tests/vectors.rs")
"""Its files; the template of each has the same path."""
ENTRIES = frozenset({"checked", "raw", "scores", "trusted"})
"""Entry points that the crate can have in addition to ``predict``."""

_WORDS = """
    abstract as async await become box break const continue crate do dyn else enum extern false
    final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self
    static struct super trait true try type typeof unsafe unsized use virtual where while yield"""
WORDS = frozenset(_WORDS.split())
"""Reserved words of Rust."""
CRATES = frozenset({"alloc", "core", "proc_macro", "std", "test"})
"""Crates that come with the compiler."""
MOST_STEP_BYTES = 2**15
"""Bytes of steps between inputs in the tests."""


@dataclass(frozen=True, eq=False)
class Crate:
    """An emitted crate."""

    name: str
    files: Mapping[str, str]  # Text by path
    passes: tuple[PassReport, ...]
    table_bytes: int


def emit_crate(model: Model, options: EmitOptions) -> Crate:
    """
    Print a model as a Rust crate.

    Parameters
    ----------
    model : Model
        The integer model.
    options : EmitOptions
        Name, entry points, range margin, vectors, license tag and command; others concern C.

    Returns
    -------
    Crate
        The same model and options give the same bytes.

    Raises
    ------
    OptionError
        If the name cannot be a crate's, or an entry point or the model exists in C alone.
    """
    name = crate_name(options.name)
    if options.spdx is not None:
        check_spdx(options.spdx)
    refuse_samples(model, RUST)
    unknown = sorted(options.entries - ENTRIES)
    if unknown:
        known = ", ".join(sorted(ENTRIES))
        raise OptionError(
            f"package '{RUST}' has no entry point '{unknown[0]}'; choose from {known}"
        )
    summation = summation_of(model, options)
    context = {**_names(summation, name), **_vector_names(summation, options)}
    files = {
        path: with_terms(path, render(f"emit/packages/{RUST}/{path}.j2", **context), options.spdx)
        for path in FILES
    }
    return Crate(name, files, summation.passes, summation.table_bytes)


def crate_name(name: str) -> str:
    """Return the name of a model's crate: in snake case, and no word of Rust."""
    crate = re.sub("_+", "_", check_name(name).lower()).strip("_")
    if crate in WORDS | CRATES:
        raise OptionError(f"'{name}' is a reserved name in package '{RUST}'; choose another")
    return crate


def member_names(features: Iterable[Feature]) -> tuple[str, ...]:
    """Return a distinct name for the reading of each feature, no word of Rust."""
    return tuple(f"{n}_" if n in WORDS else n for n in field_names(f.name for f in features))


def text_literal(text: str) -> str:
    """Return a string literal in ASCII."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if " " <= letter <= "~" else f"\\u{{{ord(letter):x}}}"


def float_literal(value: float) -> str:
    """Return a float32 by the fewest digits that identify it."""
    if np.isnan(value):
        return f"{'-' if np.signbit(value) else ''}f32::NAN"
    if np.isinf(value):
        return f"{'-' if value < 0 else ''}f32::INFINITY"
    return f"{np.float32(value)!s}".replace("e+", "e")


def rust_type(dtype: str) -> str:
    """Return the type that numpy calls so."""
    return {"float32": "f32"}.get(dtype, dtype.replace("uint", "u").replace("int", "i"))


def _names(summation: Summation, crate: str) -> dict[str, object]:
    """Return the names of the templates."""
    model, request = summation.model, summation.request
    options = request.options
    assert isinstance(options, EmitOptions)
    digest = model_digest(model)[:8]
    entries = request.entries
    return {
        "name": options.name,
        "crate": crate,
        "version": __version__,
        "release": f"{RELEASE}+{digest}",
        "digest": f"0x{digest.upper()}",
        "permission": TERMS,
        "spdx": options.spdx,
        "card": summation.card,
        "inputs": summation.inputs,
        "class_lines": class_lines(model.classes),
        "labels": [text_literal(label) for label in model.classes],
        "cost": "-ln p" if why_no_probabilities(model) is None else "a score (the lowest wins)",
        "unit_exponent": -summation.program.frac_bits,
        "n_features": model.n_features,
        "n_classes": model.n_classes,
        "n_readings": len(model.inputs),
        "state_type": f"u{summation.state_bits}",
        "cost_type": f"u{summation.program.cost_bits}",
        "most": summation.front.most if summation.front is not None else None,
        "raw": _readings(summation) if entries.raw else None,
        "checked": summation.limits is not None,
        "range_margin": f"{options.range_margin:.15g}",
        "with_scores": entries.scores,
        "with_trusted": entries.trusted,
        "last_states": wrap_words(f"{last}," for last in summation.last_states),
        "arrays": list(_arrays(summation, raw=entries.raw)),
        "trees": list(_trees(summation)),
        "prior": wrap_words(f"{cost}," for cost in summation.program.prior.tolist()),
        "additions": list(_additions(summation)),
        "gate": model.gate,
    }


@dataclass(frozen=True)
class Readings:
    """The readings of a crate, ready for the templates."""

    is_array: bool
    types: tuple[str, ...]  # One per reading
    members: tuple[str, ...]  # Members of the struct
    comments: tuple[str, ...]  # Description of each member
    marker: str  # Marks a missing reading in an array; empty where none is missing
    has_bins: bool  # True if any reading is compared with thresholds
    states: tuple[str, ...]  # Statements that find the states
    checks: tuple[str, ...]  # Statements that compare readings with limits


def _readings(summation: Summation) -> Readings:
    features, model = summation.features, summation.model
    types = tuple(map(rust_type, summation.reading_types))
    as_array = is_array(features)
    members = member_names(model.inputs)
    values = [f"x[{i}]" if as_array else f"x.{m}" for i, m in enumerate(members)]
    states = []
    for i in range(len(features)):
        text = "0" if i in summation.unread else _state(summation, i, values, types)
        if text != "0":
            states.append(f"s[{i}] = {text};")
    checks = []
    for i, each in enumerate(summation.limits or ()):
        low, high = (_literal(model.inputs[i], end) for end in (each.low, each.high))
        missing = _is_missing(model.inputs[i], values[i], types[i])
        checks.append(f"check({missing or 'false'}, {values[i]}, {low}, {high})?;")
    units = units_of(features, model.training)
    first = model.inputs[0]
    return Readings(
        is_array=as_array,
        types=types,
        members=members,
        comments=tuple(
            _member_comment(feature, units[i] if units else "")
            for i, feature in enumerate(model.inputs)
        ),
        marker=_marker(first, types[0]) if first.is_numeric else "any other code",
        has_bins=any("bin(" in text for text in states),
        states=tuple(states),
        checks=tuple(checks),
    )


def _state(summation: Summation, i: int, values: Sequence[str], types: Sequence[str]) -> str:
    """Return the expression of a state."""
    feature = summation.features[i]
    state = f"u{summation.state_bits}"
    if feature.difference is not None:
        first, second = (
            f"{rust_type(feature.kind)}::from({values[k]})" for k in feature.difference
        )
        return f"bin(&THRESHOLDS_{i}, {first} - {second})" if feature.thresholds else "0"
    value, missing = values[i], str(feature.missing_state)
    if not feature.is_numeric:
        known = n_known(feature)
        code = value if types[i] == state else f"State::from({value})"
        return f"if {value} < {known} {{ {code} }} else {{ {missing} }}" if known else missing
    found = f"bin(&THRESHOLDS_{i}, {value})" if feature.thresholds else "0"
    is_missing = _is_missing(feature, value, types[i])
    # No threshold is below a marker: its bin is 0.
    if not is_missing or missing == "0":
        return found
    return f"if {is_missing} {{ {missing} }} else {{ {found} }}"


def _is_missing(feature: Feature, value: str, kind: str) -> str:
    """Return the condition that a reading is marked as missing; empty where none is."""
    if feature.kind == "float32":
        return f"{value}.is_nan()"
    marker = _marker(feature, kind)
    return f"{value} == {marker}" if marker else ""


def _marker(feature: Feature, kind: str) -> str:
    if feature.kind == "float32":
        return "NaN"
    if not feature.has_marker:
        return ""
    return f"{kind}::MIN" if feature.kind in MISSING_INT else f"{kind}::MAX"


def _member_comment(feature: Feature, unit: str) -> str:
    text = c_comment(feature.name)
    text += f" in {c_comment(unit)}" if unit and unit not in feature.name else ""
    if not feature.is_numeric:
        text += f": a code below {n_known(feature)}; any other is missing or unseen"
    elif feature.has_marker:
        text += f"; {_marker(feature, rust_type(feature.kind))} when missing"
    return re.sub(r"([\[\]<>`_*])", r"\\\1", text)


def _literal(feature: Feature, value: float) -> str:
    """Return a reading as a literal."""
    if feature.kind == "float32":
        return float_literal(value)
    return str(int(value))


@dataclass(frozen=True)
class Static:
    """A constant array, ready for the template."""

    comment: str
    name: str
    type: str
    lines: tuple[str, ...]


def _arrays(summation: Summation, *, raw: bool) -> Iterator[Static]:
    """Yield thresholds, tables, and the classes of a front."""
    for i, feature in enumerate(summation.features):
        if raw and feature.thresholds and i not in summation.unread:
            kind = rust_type(feature.kind)
            words = (f"{_literal(feature, t)}," for t in feature.thresholds)
            yield Static(
                f"Thresholds of {c_comment(feature.name)}.",
                f"THRESHOLDS_{i}",
                f"[{kind}; {len(feature.thresholds)}]",
                tuple(wrap_words(words)),
            )
    if summation.front is not None:
        classes = summation.sure_classes
        yield Static(
            "Class that each leaf of the front decides for, or 255.",
            "SURE",
            f"[u8; {len(classes)}]",
            tuple(wrap_words(f"{c}," for c in classes)),
        )
    for t, summand in enumerate(summation.summands):
        yield Static(
            f"Costs of {_scope(summation, summand)}: a row per joint state or leaf.",
            f"TABLE_{t}",
            f"[[u{summand.entry_bits}; N_CLASSES]; {len(summand.costs)}]",
            tuple(line for row in summand.costs.tolist() for line in _bracketed(row)),
        )


def _scope(summation: Summation, summand: Summand) -> str:
    read = summand.tree.read if summand.tree is not None else [t.feature for t in summand.terms]
    return ", ".join(c_comment(summation.features[f].name) for f in read)


def _bracketed(values: Iterable[object], begin: str = "[", end: str = "]") -> list[str]:
    """Return the lines of an initializer, its ends attached to its first and its last word."""
    first, *rest = wrap_words(f"{value}," for value in values)
    lines = [f"{begin}{first}", *(f"    {line}" for line in rest)]
    lines[-1] = f"{lines[-1][:-1]}{end},"
    return lines


def _additions(summation: Summation) -> Iterator[str]:
    """Yield the statements that add a row of every table."""
    gate = summation.program.gate
    for t, summand in enumerate(summation.summands):
        row = f"leaf_{t}(x)" if summand.tree is not None else _row_text(summand.terms)
        yield f"add(&mut sums, TABLE_{t}.get({row}));"
        if gate is not None and t + 1 == gate.tables:
            yield f"if margin(&sums) >= {gate.margin} {{ return sums; }}"


def _row_text(terms: Iterable[Term]) -> str:
    """Return the number of the row that is read, a `usize`."""
    return " + ".join(
        _level(term) if term.stride == 1 else f"{_level(term)} * {term.stride}" for term in terms
    )


def _level(term: Term) -> str:
    state = f"x[{term.feature}]"
    if term.cuts is None:
        return f"usize::from({state})"
    levels = " + ".join(f"usize::from({state} > {cut})" for cut in term.cuts)
    return f"({levels})" if len(term.cuts) > 1 and term.stride > 1 else levels


@dataclass(frozen=True)
class Tree:
    """A decision tree as a function."""

    comment: str
    name: str
    lines: tuple[str, ...]


def _trees(summation: Summation) -> Iterator[Tree]:
    if summation.front_tree is not None:
        yield Tree("Leaf of the front.", "front", tuple(_tree(summation.front_tree)))
    for t, summand in enumerate(summation.summands):
        if summand.tree is not None:
            yield Tree(f"Row of `TABLE_{t}`.", f"leaf_{t}", tuple(_tree(summand.tree)))


def _tree(tree: BranchingTable, node: int = 0, indent: str = "", before: str = "") -> Iterator[str]:
    """Yield the lines of nested comparisons; a node on the far side follows with ``else if``."""
    yield f"{indent}{before}if x[{tree.features[node]}] < {tree.cuts[node] + 1} {{"
    below, above = tree.below[node], tree.above[node]
    if below < 0:
        yield f"{indent}    {-1 - below}"
    else:
        yield from _tree(tree, below, f"{indent}    ")
    if above < 0:
        yield f"{indent}}} else {{"
        yield f"{indent}    {-1 - above}"
        yield f"{indent}}}"
    else:
        yield from _tree(tree, above, indent, "} else ")


def _vector_names(summation: Summation, options: EmitOptions) -> dict[str, object]:
    """Return the inputs of the tests with Python's answers."""
    model = summation.model
    inputs = options.vectors or drawn_vectors(model)
    shown = inputs.states.copy()
    shown[:, list(summation.unread)] = 0
    most = min(MOST_STEP_BYTES // 4, MOST_STEPS)
    if options.is_bounded:
        most = STEPS_PER_VECTOR * len(inputs.classes)
    steps = near_tie_steps(model, summation.program, inputs.states, most)
    walk = zip(steps.features.tolist(), steps.states.tolist(), steps.classes.tolist(), strict=True)
    names: dict[str, object] = {
        "n_vectors": len(inputs.classes),
        "vector_states": [line for row in shown.tolist() for line in _bracketed(row)],
        "vector_classes": wrap_words(f"{c}," for c in inputs.classes.tolist()),
        "n_steps": len(steps.features),
        "steps": wrap_words(f"({f}, {s}, {c})," for f, s, c in walk),
        "beyond": _beyond(summation),
        "beyond_lines": wrap_words(f"({i}, {n})," for i, n in _beyond(summation)),
    }
    if summation.request.entries.raw:
        names["vector_readings"] = _reading_lines(summation, inputs.readings)
    if summation.request.entries.scores:
        rows = scores(model, inputs.states).tolist()
        names["vector_scores"] = [line for row in rows for line in _bracketed(row)]
    if summation.limits is not None:
        names |= _limit_names(summation, inputs)
    return names


def _limit_names(summation: Summation, inputs: Vectors) -> dict[str, object]:
    limits = summation.limits
    assert limits is not None
    alone = limit_vectors(summation.model, limits)
    checked = predict_checked(summation.model, limits, inputs.readings)
    return {
        "vector_checked": wrap_words(f"{answer}," for answer in _answers(checked)),
        "n_limits": len(alone.readings),
        "limits": _reading_lines(summation, alone.readings),
        "limit_answers": [line for row in alone.answers for line in _bracketed(_answers(row))],
    }


def _answers(answers: IntArray) -> Iterator[str]:
    """Yield results of the checked entry point."""
    for answer in answers.tolist():
        if answer >= 0:
            yield f"Ok({answer})"
        else:
            yield "Err(Error::Range)" if answer == ERR_RANGE else "Err(Error::Missing)"


def _beyond(summation: Summation) -> list[tuple[int, int]]:
    """Return features with their first state that is an error."""
    most = 2**summation.state_bits - 1
    return [
        (i, n)
        for i, n in enumerate(summation.model.n_states)
        if n <= most and i not in summation.unread
    ]


def _reading_lines(summation: Summation, readings: FloatArray) -> list[str]:
    """Return the initializer of an array of readings."""
    inputs = summation.model.inputs
    members = member_names(inputs)
    lines: list[str] = []
    for row in readings.tolist():
        words = [_literal(feature, value) for feature, value in zip(inputs, row, strict=True)]
        if is_array(summation.features):
            lines += _bracketed(words)
        else:
            named = (f"{member}: {word}" for member, word in zip(members, words, strict=True))
            lines += _bracketed(named, "Readings { ", " }")
    return lines
