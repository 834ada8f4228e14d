"""The input check as C: exact next to every limit, and a wrong limit is detected."""

import re

import numpy as np
import pytest

from bncc.device.host import build_library
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.model.reference import costs
from bncc.structure.graph import forest
from tests import models as hand
from tests.agreement.large import letter_like
from tests.agreement.mistakes import verify_files

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"scores", "trusted"})
SHAPES = {
    "even": (4,) * 9,
    "even and odd": (3,) * 9,
    "uneven": (5, 1, 4, 3, 8, 5, 4, 4, 4, 4, 128, 255),
    "wide": (5, 256, 300, 1024, 65535, 256, 1),
    "in words": (5, 1, 4, 3, 8, 5, 4, 4, 4, 4, 128, 127, 2),
    "in words and not": (129, 5, 1, 4, 3, 255, 8, 5, 4, 4, 4, 128, 127, 2, 200),
    "wide, in words": (5, 32768, 300, 1, 4, 32769, 7),
}
TARGETS = (None, "x86", "cortex-m4")
"""The C of each is compiled for the host: it is correct on any target."""


def naive(n_states):
    """Return naive Bayes of two classes in which every state is informative."""
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, 16, (n, 2)).tolist() for n in n_states]
    features = [hand.feature(f"x{f}", n) for f, n in enumerate(n_states)]
    return hand.model_of(features, forest([None] * len(n_states)), QFormat(4, 0), [1, 0], tables)


def edges(n_states, most):
    """Return inputs that have one state of interest, the rest in range; and mixtures."""
    rng = np.random.default_rng(0)
    for f, n in enumerate(n_states):
        near = {*range(256)} | {n + by for by in range(-3, 4)} | {2**k for k in range(16)}
        values = np.array(sorted(v for v in near | {most} if 0 <= v <= most))
        X = rng.integers(0, n_states, (len(values), len(n_states)))
        X[:, f] = values
        yield X
    ends = np.array(n_states) - 1
    yield np.minimum(ends + rng.integers(-1, 2, (2000, len(ends))).clip(-ends), most)


@pytest.mark.parametrize(
    ("optimize", "target"),
    [("size", None), ("balanced", None), *(("speed", target) for target in TARGETS)],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_all_states_and_only_these_are_taken(require_tool, shape, optimize, target):
    require_tool("gcc")
    model = naive(SHAPES[shape])
    n_states = np.array(model.n_states)
    options = EmitOptions("m", ENTRIES, kernel="plain", optimize=optimize, target=target)
    emission = emit_c(model, options)
    X = np.concatenate(list(edges(model.n_states, 255 if n_states.max() <= 255 else 65535)))
    check = emission.layout.check
    assert check.unread == {f for f, n in enumerate(SHAPES[shape]) if n == 1}
    is_checked = [check.is_loop or f not in check.unread for f in range(len(n_states))]
    is_state = (X < n_states)[:, is_checked].all(axis=1)
    assert is_state.any()
    assert not is_state.all()
    expected = np.full(len(X), -1)
    known = np.minimum(X[is_state], n_states - 1)  # any state of a feature of one is the same
    expected[is_state] = costs(model, known).argmin(axis=1)
    with build_library(sources(model, emission.files)) as library:
        assert library.predict(X).tolist() == expected.tolist()
        assert library.scores(X)[0].tolist() == expected.tolist()


def test_a_wrong_limit_in_straight_line_code_is_seen(require_tool):
    """One state too many would be read past the table, one too few is no error."""
    require_tool("gcc")
    model = letter_like()
    files = dict(emit_c(model, EmitOptions("m", ENTRIES, optimize="speed")).files)
    text = files["m.c"]
    start, end = text.index("m_in_range("), text.index("/* Entry points */")
    limits = list(re.finditer(r" > (\d+)U", text[start:end]))
    joint = next(limit for limit in limits if text[start + limit.start() - 1] == ")")
    for limit in (limits[0], joint, limits[-1]):
        at = slice(start + limit.start(1), start + limit.end(1))
        for by, said in ((1, "Python says -1"), (-1, "the C says -1")):
            wrong = f"{text[: at.start]}{int(limit[1]) + by}{text[at.stop :]}"
            outcome = verify_files(model, files | {"m.c": wrong}, n_random=300)
            assert not outcome.agree
            assert said in outcome.first_mismatch


@pytest.mark.parametrize("target", ["x86", "cortex-m4"])
def test_a_wrong_word_is_seen(require_tool, target):
    """One state too many or too few, in the first lane or the last; no limits; another word."""
    require_tool("gcc")
    model = naive((5, 2, 4, 3, 8, 5, 4, 4, 4, 4, 127, 128, 2, 3, 9, 16))  # words share none
    options = EmitOptions("m", ENTRIES, kernel="plain", optimize="speed", target=target)
    files = dict(emit_c(model, options).files)
    # An input that a wrong check accepts is not looked up: it may be far beyond the tables.
    text = files["m.c"].replace("return m_decide(x);", "return 0;", 1)
    words = list(re.finditer(r"_state_word\(&x\[(\d+)\]\);\n.*\+ (0x\w+)U\);\n", text))
    assert len(words) == {"x86": 2, "cortex-m4": 4}[target]
    last = {"x86": 7, "cortex-m4": 3}[target]
    wrong = {}
    for word in words:
        for lane, by in ((0, 1), (last, -1)):
            addend = int(word[2], 16) + (by << (8 * lane))
            wrong[f"{by} in lane {lane} of {word[0]}"] = spliced(text, word, 2, addend)
        wrong[f"no limits of {word[0]}"] = spliced(text, word, 2, 0)
    wrong["another word"] = spliced(text, words[0], 1, int(words[1][1]))
    X = np.concatenate(list(edges(model.n_states, 255)))
    is_state = (X < np.array(model.n_states)).all(axis=1)

    def refuses_all_else(text):
        with build_library(sources(model, files | {"m.c": text})) as library:
            return ((library.predict(X) == -1) == ~is_state).all()

    assert refuses_all_else(text)
    for what, spoiled in wrong.items():
        assert not refuses_all_else(spoiled), what


def spliced(text, found, group, number):
    """Return the C with one number of what was found replaced."""
    return f"{text[: found.start(group)]}{number}{text[found.end(group) :]}"
