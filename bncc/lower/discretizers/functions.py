"""State functions in the C: shared arrays of thresholds, or comparisons and look-ups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_key
from bncc.discretize.readings import n_known
from bncc.lower.c.c99 import ArrayText, array, number_text, whole_text, wrap, wrap_words
from bncc.lower.c.identifiers import MAX_NAME, c_comment
from bncc.lower.discretizers.choice import Method
from bncc.lower.discretizers.steps import FIRST, KIND_BITS, Step
from bncc.lower.discretizers.trees import Branch, Guide, Run, Tree, nodes

CUT_BITS = KIND_BITS


def is_signed(kind: str) -> bool:
    """Return whether thresholds of a kind are signed integers."""
    return kind != "uint8"


def cuts_array(kind: str, features: Sequence[Feature]) -> ArrayText:
    """Return the thresholds of all features of a kind, each feature's under its name."""
    values = [cut for feature in features for cut in cut_integers(feature)]
    lines = [line for feature in features for line in _cut_lines(feature)]
    comment = "Thresholds of all features, in the sensors' own units."
    if kind == "float32":
        comment = "Thresholds of all features, as integers with the order of the floats."
    plain = array(f"cuts_{kind}", CUT_BITS[kind], values, comment, signed=is_signed(kind))
    return replace(plain, lines=tuple(lines)) if lines else plain


def per_feature(features: Sequence[Feature], kind: str, state_bits: int) -> list[ArrayText]:
    """Return the arrays that a loop over features reads besides thresholds and readings."""
    missing_state = array(
        "missing_state",
        state_bits,
        [feature.missing_state for feature in features],
        "State of a missing or unseen reading, per feature.",
    )
    if kind.startswith("code"):
        known = [n_known(feature) for feature in features]
        bits = 8 if max(known) <= 255 else 16
        return [array("known", bits, known, "Number of known codes, per feature."), missing_state]
    counts = [len(feature.thresholds) for feature in features]
    meaning = "Number of thresholds, per feature."
    n_cuts = array("n_cuts", count_bits(features), counts, meaning)
    return [n_cuts, missing_state] if features[0].has_marker else [n_cuts]


def count_bits(features: Sequence[Feature]) -> int:
    """Return the width that counts the thresholds of any one feature."""
    most = max(len(feature.thresholds) for feature in features)
    return 8 if most <= 255 else 16 if most <= 32767 else 32


def cut_integers(feature: Feature) -> list[int]:
    """Return the thresholds as integers, those of floats as the keys that order like them."""
    if feature.kind == "float32":
        return [float_key(float(t)) for t in feature.thresholds]
    return [int(t) for t in feature.thresholds]


def _cut_lines(feature: Feature) -> list[str]:
    """Return a feature's thresholds under a heading that gives them in the sensor's own unit."""
    if not feature.thresholds:
        return []
    heading = [f"/* {c_comment(feature.name)}"]
    if feature.kind == "float32":
        heading = [f"{heading[0]}:", *map(number_text, feature.thresholds)]
    first, *rest = wrap_words([*heading, "*/"])
    cuts = wrap(cut_integers(feature), signed=is_signed(feature.kind))
    return [first, *(f" * {line}" for line in rest), *cuts]


def guide_array(guide: Guide, kind: str, suffix: str, title: str) -> ArrayText:
    """
    Return the entries of a guide as what is added to a reading less the first.

    With B bits to a sum, of which the highest byte is the state, an entry of bound b and state s is
    ``(s + 1) 2**(B - 8) - 1 - b``. Added to b it is the last sum of state s, and added to any other
    reading of its group it is less than ``2**(B - 8)`` from there.
    """
    bits = CUT_BITS[kind]
    sums = [
        (((state + 1) << (bits - 8)) - 1 - (bound - guide.first)) % 2**bits
        for bound, state in guide.entries
    ]
    above = "a reading" if not guide.first else f"the difference of a reading and {guide.first}"
    meaning = f"Added to {above}, makes the highest of {bits // 8} bytes the state of {title}."
    return array(f"guide_{suffix}", bits, sums, meaning)


def guide_lines(guide: Guide, kind: str, suffix: str, name: str) -> list[str]:
    """Return the statements that find the state of a reading with an entry."""
    bits = CUT_BITS[kind]
    # An int16_t less the first one then stays in a register of 32 bits where that is shorter.
    word = "uint32_t" if bits == 32 else "uint_fast16_t"
    above = f"({word}){'bits' if kind == 'float32' else 'value'}"
    if guide.first:
        above += f" {'-' if guide.first > 0 else '+'} {abs(guide.first)}U"
        above = above if bits == 32 else f"({word})({above})"
    entry = f"{name}_rom_uint{bits}(&{name}_guide_{suffix}[above >> {guide.shift}])"
    return [
        f"const {word} above = {above};",
        "",
        f"if (above < {len(guide.entries) << guide.shift}U) {{",
        f"    return (uint8_t)((above + {entry}) >> {bits - 8});",
        "}",
    ]


LONGEST_FIELD = 63 - MAX_NAME - len("_state_of_")
"""Longest field in a function's name: internal names have 63 significant characters in C99,
whatever the model is called."""
INDENT = "    "


@dataclass(frozen=True)
class StateFunction:
    """The state function of one feature."""

    suffix: str  # What its name ends with: the field, or its number where the field is long
    feature: str  # The feature, as text for a comment
    kind: str  # What it reads: a numeric kind
    lines: tuple[str, ...]  # Its statements
    arrays: tuple[ArrayText, ...] = ()  # What it looks up

    @property
    def is_constant(self) -> bool:
        """True if every reading has the same state."""
        return len(self.lines) == 1


def state_function(
    feature: Feature, field: str, number: int, name: str, method: Method, tree: Tree
) -> StateFunction:
    """Print a feature's own state function."""
    suffix = field if len(field) <= LONGEST_FIELD else str(number)
    title = c_comment(feature.name)
    arrays: list[ArrayText] = []
    statements: list[str] = []
    for run in nodes(tree):
        if isinstance(run, Run):
            is_nibbles = method == "nibbles"
            print_array, look_up = (_pairs, _nibble) if is_nibbles else (_entries, _entry)
            arrays.append(print_array(run, suffix, title))
            read = f"{name}_rom_uint8(&{name}_{arrays[0].name}"
            statements = look_up(read, _place(run, feature.kind))
    lines = []
    if isinstance(tree, Guide):
        arrays.append(guide_array(tree, feature.kind, suffix, title))
        lines = guide_lines(tree, feature.kind, suffix, name)
        tree = tree.beyond
    lines += _lines(tree, feature.kind, statements)
    return StateFunction(suffix, title, feature.kind, tuple(lines), tuple(arrays))


def _entries(run: Run, suffix: str, title: str) -> ArrayText:
    return array(f"states_{suffix}", 8, run.states, f"States of {title} from {run.first} on.")


def _entry(read: str, place: str) -> list[str]:
    return [f"return {read}[{place}]);"]


def _pairs(run: Run, suffix: str, title: str) -> ArrayText:
    low, high = run.states[::2], (*run.states[1::2], 0)
    pairs = [first + 16 * second for first, second in zip(low, high, strict=False)]
    comment = f"States of {title} from {run.first} on, two per byte, the first in the low nibble."
    return array(f"states_{suffix}", 8, pairs, comment)


def _nibble(read: str, place: str) -> list[str]:
    return [
        f"const uint8_t place = {place};",
        f"const uint8_t pair = {read}[place >> 1]);",
        "",
        "if ((place & 1U) != 0U) {",
        f"{INDENT}return (uint8_t)(pair >> 4);",
        "}",
        "return (uint8_t)(pair & 15U);",
    ]


def _place(run: Run, kind: str) -> str:
    """Return the number of a reading's entry."""
    if run.first == 0:
        return "(uint8_t)value"
    # MISRA rule 10.8: a signed difference is not cast to an unsigned type.
    number = "value" if kind == "uint8" else f"(u{kind}_t)value"
    return f"(uint8_t)({number} {'-' if run.first > 0 else '+'} {abs(run.first)}U)"


def _lines(tree: Tree, kind: str, look_up: Sequence[str]) -> Iterator[str]:
    """Yield nested comparisons, ascending, the smaller readings inside."""
    while isinstance(tree, Branch):
        note = f" /* {tree.bound.note} */" if tree.bound.note else ""
        yield f"if ({_up_to(tree.bound, kind)}) {{{note}"
        yield from (f"{INDENT}{line}".rstrip() for line in _lines(tree.below, kind, look_up))
        yield "}"
        tree = tree.above
    if isinstance(tree, Run):
        yield from look_up
    else:
        yield f"return {tree}U;"


def _up_to(bound: Step, kind: str) -> str:
    """Return the condition that a reading is within a step or below."""
    word, smallest = ("bits", "INT32") if kind == "float32" else ("value", kind.upper())
    if bound.last == FIRST[kind]:
        return f"{word} == {f'{smallest}_MIN' if is_signed(kind) else '0U'}"
    if kind == "float32" and bound.last == -1:
        return "bits < 0"
    return f"{word} <= {whole_text(kind, bound.last)}"
