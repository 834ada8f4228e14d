"""The shared library, and the program under sanitizers, with C written by hand."""

import numpy as np
import pytest

from bncc.device import host
from bncc.device.host import HostLibrary, build_harness, build_library
from bncc.device.machine import HarnessError
from bncc.device.sources import raw_step, sources, support_file
from bncc.errors import ToolchainError
from bncc.model.reference import predict, scores
from bncc.toolchain.tools import host_compilers
from tests import models as hand
from tests.counted import calls
from tests.unit.device.by_hand import FILES, HEADER, MODEL, spoiled

pytestmark = pytest.mark.cc
X = hand.all_states(MODEL)


@pytest.fixture(scope="module")
def library(require_tool):
    require_tool("gcc")
    with build_library(sources(MODEL, FILES)) as built:
        yield built


def test_all_entries_answer_as_the_reference(library):
    """Classes and scores of every joint state."""
    assert np.array_equal(library.predict(X), predict(MODEL, X))
    assert np.array_equal(library.trusted(X), predict(MODEL, X))
    y, s = library.scores(X)
    assert np.array_equal(y, predict(MODEL, X))
    assert np.array_equal(s, scores(MODEL, X))
    assert library.raw(np.array([[101.0, 0.0], [-32768.0, 1.0]])).tolist() == [2, 0]


def test_an_invalid_state_is_an_error_code_and_its_scores_are_zeros(library):
    """Independent of earlier content: these bytes are all ones before the call."""
    y, s = library.scores(np.array([[3, 0], [0, 0]]))
    assert y.tolist() == [-1, 0]
    assert (s[0] == 0).all()
    assert s[1].any()


def test_no_rows_give_no_answers(library):
    """An empty batch is fine at every entry."""
    none = np.empty((0, 2), dtype=np.int64)
    assert library.predict(none).shape == (0,)
    assert library.scores(none)[1].shape == (0, 3)
    assert library.raw(none.astype(float)).shape == (0,)


def test_rows_are_looped_over_in_c(library):
    """Rows are passed as buffers: a hundred thousand take as many calls of Python as one."""
    one, many = (np.zeros((n, 2), dtype=np.uint8) for n in (1, 100_000))
    for entry in (library.predict, library.scores):
        entry(one)  # the first time it is looked up
        assert calls(entry, one) == calls(entry, many)


def test_the_name_of_compiler_and_level_is_told(library):
    """For the report of a check."""
    assert library.toolchain.endswith(" -O2")


def test_a_compile_error_is_one_sentence_without_paths(require_tool):
    """With the compiler's first error line."""
    require_tool("gcc")
    with pytest.raises(ToolchainError, match=r"failed: hand\.c:\d+:\d+: error: ") as caught:
        build_library(sources(MODEL, spoiled("int best = 0;", "int best = 0 0;")))
    assert "/" not in str(caught.value)


def test_a_warning_is_an_error(require_tool):
    """The strict flags are on."""
    require_tool("gcc")
    with pytest.raises(ToolchainError, match="conversion"):
        build_library(sources(MODEL, spoiled("(uint8_t)(2 +", "(2 +")))


def test_files_without_a_model_are_refused():
    """A header needs its C file, and there must be one such pair."""
    for files in ({}, {"a.h": ""}, {"a.h": "", "a.c": "", "b.h": "", "b.c": ""}):
        with pytest.raises(ToolchainError, match="emit the model again"):
            sources(MODEL, files)


def test_entries_are_read_from_the_header():
    """An emission of predict alone has no other entry, and its glue names no other."""
    short = HEADER.split("int16_t hand_predict_trusted")[0] + "#endif\n"
    built = sources(MODEL, {"hand.h": short, "hand.c": ""})
    assert built.entries == {"predict"}
    assert "MODEL_SCORES" not in built.files["bncc_model.h"]
    assert sources(MODEL, FILES).entries == {"predict", "trusted", "scores", "raw"}


def test_predict_alone_is_enough(require_tool):
    """The driver leaves out what the model does not offer."""
    require_tool("gcc")
    header = HEADER.split("int16_t hand_predict_trusted")[0] + "#endif\n"
    source = '#include "hand.h"\nint16_t hand_predict(const uint8_t x[2]) { return x[0]; }\n'
    with build_library(sources(MODEL, {"hand.h": header, "hand.c": source})) as library:
        assert library.predict(np.array([[2, 0]])).tolist() == [2]


def test_one_type_makes_an_array_and_several_a_struct():
    """As the header of the C does."""
    assert raw_step(hand.naive_integer()) == 2
    assert raw_step(hand.category_with_missing()) == 1


@pytest.mark.parametrize("name", ["driver.c", "harness.c", "port_host.h"])
def test_the_c_around_a_model_ships_with_the_package(name):
    """It is found next to the Python modules."""
    assert support_file(name).startswith(f"/* {name} -- ")


def test_a_library_that_does_not_load_is_reported(require_tool, tmp_path):
    """For instance one built for another machine."""
    (tmp_path / "model.so").write_bytes(b"no library")
    with pytest.raises(ToolchainError, match="cannot load what gcc built"):
        HostLibrary(sources(MODEL, FILES), tmp_path / "model.so", "gcc")


@pytest.fixture
def build(require_tool):
    require_tool("gcc")
    return lambda files, **options: build_harness(sources(MODEL, files), **options)


@pytest.mark.parametrize("sanitize", [False, True])
def test_a_program_answers_as_the_reference(build, sanitize):
    """With sanitizers and without."""
    with build(FILES, sanitize=sanitize) as program:
        assert np.array_equal(program.predict(X), predict(MODEL, X))
        assert np.array_equal(program.trusted(X), predict(MODEL, X))
        y, s = program.scores(X)
        assert np.array_equal(y, predict(MODEL, X))
        assert np.array_equal(s, scores(MODEL, X))
        assert program.raw(np.array([[101.0, 0.0], [-32768.0, 1.0]])).tolist() == [2, 0]
        assert program.predict(np.array([[3, 0]])).tolist() == [-1]
        assert program.predict(X[:0]).shape == (0,)


READS = [
    pytest.param("x[0] > 2 || x[1] > 1", "x[2] > 2 || x[1] > 1", id="state behind the last"),
    pytest.param("x[0] > 2 || x[1] > 1", "x[-1] > 2 || x[1] > 1", id="state before the first"),
    pytest.param("light[3 * x[1] + c]", "light[4 * x[1] + c]", id="table entry"),
    pytest.param("s[c] = (uint8_t)(s[c] - least)", "s[c + 1] = (uint8_t)(s[c] - least)",
                 id="score behind the last"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), READS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_an_access_out_of_bounds_is_stopped(require_tool, compiler, old, new):
    """Inputs and outputs are in objects of exactly their size."""
    require_tool(compiler)
    (tool,) = host_compilers(compiler)
    with (
        build_harness(sources(MODEL, spoiled(old, new)), compiler=tool, opt_level="-O0") as program,
        pytest.raises(HarnessError, match=r"was stopped: (AddressSan|hand\.c:)") as caught,
    ):
        program.scores(X)
    assert caught.value.exit_code == 1
    assert "/" not in str(caught.value)
    assert "0x" not in str(caught.value)


def test_a_raw_reading_behind_the_last_is_stopped(build):
    """Also raw rows have exactly their size."""
    with (
        build(spoiled("x[1] > 0", "x[2] > 0"), opt_level="-O0") as program,
        pytest.raises(HarnessError, match="was stopped"),
    ):
        program.raw(np.zeros((1, 2)))


def test_a_program_that_never_ends_is_stopped(build, monkeypatch):
    """After a while it is reported like a crash."""
    monkeypatch.setattr(host, "RUN_LIMIT", 0.5)
    endless = spoiled("int best = 0;", "int best = 0; while (x[0] < 9) { }")
    with (
        build(endless, sanitize=False, opt_level="-O0") as program,
        pytest.raises(HarnessError, match="did not end within 0 s; try fewer inputs"),
    ):
        program.predict(X)


def test_a_compile_error_leaves_nothing_behind(build):
    """It is reported in one sentence, and the folder is gone."""
    with pytest.raises(ToolchainError, match="failed: "):
        build(spoiled("int c;", "int c"))
