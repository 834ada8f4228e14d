"""A feature's own state function in the C: nested comparisons, or a look-up behind two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bncc.discretize.feature import Feature
from bncc.lower.c.c99 import ArrayText, array
from bncc.lower.c.identifiers import MAX_NAME, c_comment
from bncc.lower.discretizers.candidates import Method
from bncc.lower.discretizers.prefix_lut_text import guide_array, guide_lines
from bncc.lower.discretizers.steps import LARGEST, Step
from bncc.lower.discretizers.trees import Branch, Guide, Run, Tree, nodes

LONGEST_FIELD = 63 - MAX_NAME - len("_state_of_")
"""Of a field in a function's name: every C99 compiler tells internal names apart by 63 characters,
whatever the model is called."""
INDENT = "    "


@dataclass(frozen=True)
class StateFunction:
    """The state function of one feature."""

    suffix: str  # What its name ends with: the field, or its number where the field is long
    feature: str  # The feature, as text for a comment
    kind: str  # What it reads: ``int16``, ``int32`` or ``float32``
    lines: tuple[str, ...]  # Its statements
    arrays: tuple[ArrayText, ...] = ()  # What it looks up

    @property
    def is_constant(self) -> bool:
        """Whether every reading has the same state."""
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
    comment = f"States of {title} from {run.first} on, two in a byte, the first in its low half."
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
    return f"(uint8_t)((u{kind}_t)value {'-' if run.first > 0 else '+'} {abs(run.first)}U)"


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
    """Return the condition that a reading lies within a step or below."""
    word, smallest = ("bits", "INT32") if kind == "float32" else ("value", kind.upper())
    if bound.last == -LARGEST[kind] - 1:
        return f"{word} == {smallest}_MIN"
    if kind == "float32" and bound.last == -1:
        return "bits < 0"
    return f"{word} <= {bound.last}"
