"""Invariants of the C of every model: no name leaves its place, no number is lost."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.emit.emitter import ENTRIES, EmitOptions, emit_c
from bncc.model.rules import with_stand_ins
from tests.models import possible_entries
from tests.strategies import models
from tests.tiers import examples

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r'"[^"\\\n]*(?:\\(?:[0-7]{3}|[nt])[^"\\\n]*)*"')
# The first one wins: a literal may contain what looks like a comment, and vice versa.
EITHER = re.compile(f"({COMMENT.pattern})|{LITERAL.pattern}", re.DOTALL)


def code(text):
    """Return C without comments, literals and directives; what is left must be plain tokens."""
    bare = EITHER.sub(lambda found: " " if found[1] else '""', text)
    return "\n".join(line for line in bare.splitlines() if not line.startswith("#"))


def initializer(text, name):
    """Return the numbers of a constant array, or None when there is no such array."""
    match = re.search(rf"\bm_{name}\[(\d+)\] M_ROM = \{{(.*?)\}};", text, re.DOTALL)
    if match is None:
        return None
    numbers = [int(word) for word in re.findall(r"-?\d+", COMMENT.sub("", match[2]))]
    assert len(numbers) == int(match[1])
    return numbers


def emission_of(model, entries, optimize):
    """Return the C of a model, with stand-ins for the rules whose entry points are chosen."""
    ready = with_stand_ins(model, entries)
    return emit_c(ready, EmitOptions("m", possible_entries(ready, entries), optimize=optimize))


emissions = st.builds(
    emission_of,
    models(),
    st.sets(st.sampled_from(sorted(ENTRIES))),
    st.sampled_from(["balanced", "size", "speed"]),
)


@given(emissions)
@settings(max_examples=examples(60), deadline=None)
def test_files_are_ascii_with_clean_line_ends(emission):
    for name, text in emission.files.items():
        assert text.isascii()
        assert "\t" not in text
        assert "\r" not in text
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert all(line == line.rstrip() for line in text.split("\n"))
        if name.endswith((".c", ".h")):
            assert "\n\n\n" not in text
            assert "??" not in text


@given(emissions)
@settings(max_examples=examples(60), deadline=None)
def test_no_name_from_data_leaves_its_comment_or_literal(emission):
    for name, text in emission.files.items():
        if not name.endswith((".c", ".h")):
            continue
        bare = code(text)
        # without literals and comments only the language's own characters are left
        assert re.fullmatch(r"[A-Za-z0-9_\s(){}\[\];,.=<>&|+\-*^~!?:\"']*", bare), name
        for left, right in ("()", "[]", "{}"):
            assert bare.count(left) == bare.count(right)


@given(emissions)
@settings(max_examples=examples(60), deadline=None)
def test_the_kernel_neither_multiplies_nor_divides(emission):
    bare = code(emission.files["m.c"])
    assert not re.search(r"[/%]|\b(goto|float \w+ =|malloc|static \w+ \w+;)", bare)
    # a star belongs to a pointer: after a type, or where its target is read or written
    before = re.findall(r"(\w+|[)\]])\s*\*", bare)
    assert all(word in ("return", "const") or word.endswith(("_t", "char")) for word in before)


@given(models())
@settings(max_examples=examples(60), deadline=None)
def test_arrays_hold_the_plain_kernel_s_numbers(model):
    emission = emit_c(model, EmitOptions("m", possible_entries(model), kernel="plain"))
    kernel, text = emission.layout.kernel, emission.files["m.c"]
    assert initializer(text, "costs") == kernel.costs.tolist()
    assert initializer(text, "start") == kernel.starts.tolist()
    assert initializer(text, "multiples") == kernel.multiples.tolist()
    assert initializer(text, "prior") == (None if kernel.prior is None else kernel.prior.tolist())
    last = [feature.n_states - 1 for feature in emission.program.features]
    layout = emission.layout
    feeds = layout.stream is not None and not layout.stream.last
    needed = (
        layout.check.reads_last_states or layout.text.reads_last_states or feeds or layout.missing
    )
    assert initializer(text, "last_state") == (last if needed else None)


@given(models())
@settings(max_examples=examples(30), deadline=None)
def test_emitting_twice_gives_the_same_text(model):
    options = EmitOptions("m", possible_entries(model))
    assert emit_c(model, options).files == emit_c(model, options).files
