"""The checker of certificates: what is right is accepted, what is false is not, and it is alone."""

import ast
import gzip
import io
import json
import os
import subprocess
import sys
import tokenize
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

from benchmarks.campaigns.false_certificates import CHANGES, false_certificates, proved, run
from bncc import checker
from bncc.checker import __main__ as checker_main
from bncc.checker.check import MOST_WORK, Check, check, verdict
from bncc.checker.model import Model, Program
from bncc.checker.thumb import Thumb
from bncc.checker.values import EXACT, Algebra, RejectedError, Term, Value
from bncc.data.readers import bundled_path
from bncc.discretize.readings import probe_values, states_of_raw
from bncc.model.file import load_model, save_model, to_bytes
from bncc.model.reference import costs
from tests import models as hand

FOLDER = Path(checker.__file__).parent
SETS = ("thumb.py", "riscv.py")
MOST_LINES = 500
N_FALSE = {"predict": 15, "predict-raw": 15}
"""False certificates by entry point."""


def code_lines(text):
    """Return how many lines have code: neither blank, nor only comments, nor a docstring."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    strings = [
        n for n in nodes if isinstance(n.value, ast.Constant) and isinstance(n.value.value, str)
    ]
    said = {line for n in strings for line in range(n.lineno, n.end_lineno + 1)}
    no_code = (
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    )  # fmt: skip
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = [t for t in tokens if t.type not in no_code]
    return len({line for t in code for line in range(t.start[0], t.end[0] + 1)} - said)


def test_lines_of_code_are_counted():
    text = '"""A\nb."""\n\n# c\nx = (\n    1,  # d\n)\n'
    text += 'def f():\n    """E."""\n    return """\n"""\n'
    assert code_lines(text) == 3 + 3


def test_it_is_short_enough_to_be_read():
    core = [path for path in FOLDER.glob("*.py") if path.name not in SETS]
    assert sum(code_lines(path.read_text()) for path in core) <= MOST_LINES
    assert {path.name for path in FOLDER.glob("*.py")} >= set(SETS)


def test_a_clone_has_a_script_that_checks():
    script = FOLDER.parents[1] / "tools" / "check_certificate.py"
    done = subprocess.run([sys.executable, str(script), "a", "b"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
    missing = [sys.executable, str(script), "a.proof", "a.elf", "a.bncc"]
    done = subprocess.run(missing, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: 'a.proof': No such file or directory; name another file\n"


def test_the_script_has_a_help(capsys):
    with pytest.raises(SystemExit) as ended:
        checker_main.main(["--help"])
    assert ended.value.code == 0
    assert "CERTIFICATE ELF MODEL" in capsys.readouterr().out


def test_packages_are_named_where_they_are_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "bncc.checker.check", None)
    with pytest.raises(SystemExit) as ended:
        checker_main.main(["a.proof", "a.elf", "a.bncc"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("; install the packages capstone and numpy\n")


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"\x7fELF", b'{"format": 7}'])
def test_a_file_that_is_no_certificate_is_named(content, tmp_path):
    """As where the files are in another order."""
    pytest.importorskip("capstone")
    (tmp_path / "file").write_bytes(content)
    command = [sys.executable, "-m", "bncc.checker", *["file"] * 3]
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    said = "rejected: the first file is no certificate of bncc\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, said, "")


def test_without_the_decoder_a_certificate_is_neither_accepted_nor_rejected(tmp_path):
    (tmp_path / "capstone.py").write_text("raise ImportError('no decoder')")
    script = str(FOLDER.parents[1] / "tools" / "check_certificate.py")
    command = [sys.executable, script, script, script, script]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "error: no decoder; install the packages capstone and numpy\n" in done.stderr


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_it_imports_nothing_of_what_it_checks(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module)
    own = {name for name in found if name == "bncc.checker" or name.startswith("bncc.checker.")}
    others = {name.split(".")[0] for name in found - own}
    assert others <= {"numpy", "capstone"} | set(sys.stdlib_module_names)


# The model file


MODELS = {
    **{name: hand.NAMED[name] for name in ("naive_integer", "tan_float", "sum_of_tables")},
    **hand.TREES,
    **hand.FRONTS,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_costs_of_a_model_file_are_those_of_its_readings(name):
    model = MODELS[name]()
    rng = np.random.default_rng(0)
    R = np.stack([rng.choice(probe_values(f), 50) for f in model.features], axis=1)
    bits = [bits_of(f, R[:, k]) for k, f in enumerate(model.features)]
    starts = [np.unique([0, *edges(f), *own]) for f, own in zip(model.features, bits, strict=True)]
    read = Model(to_bytes(model), "predict-raw", starts)
    at = {k: 2 * np.searchsorted(starts[k], own) for k, own in enumerate(bits)}
    wanted = costs(model, states_of_raw(model.features, R))
    for c in range(1, model.n_classes):
        found = read.difference(c, 0)
        total = np.full(len(R), found.const)
        for t in found.terms:
            total += t.grid[tuple(m[at[axis]] for axis, m in t.levels.items())]
        assert (total == wanted[:, c] - wanted[:, 0]).all()


def bits_of(feature, values):
    if feature.kind == "float32":
        return values.astype(np.float32).view(np.uint32).astype(np.int64)
    if feature.kind in ("int8", "uint8", "int16", "int32"):
        size = np.dtype(feature.kind).itemsize
        return values.astype(np.int64) % (1 << 8 * size)
    return values.astype(np.int64)


def edges(feature):
    borders = [1, 0x7F80_0001, 1 << 31, (1 << 31) + 1, 0xFF80_0001]
    if feature.kind == "float32":
        bits = bits_of(feature, np.array(feature.thresholds))
        return [*borders, *bits, *(bits + 1)]
    if feature.kind in ("int8", "uint8", "int16", "int32"):
        half = 1 << 8 * np.dtype(feature.kind).itemsize - 1
        own = [one for one in borders if one < 2 * half]
        return [*own, half, half + 1, *((int(t) + 1) % (2 * half) for t in feature.thresholds)]
    return [*range(max(feature.n_states, len(feature.categories)) + 1), 128, 129]


@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "sum_of_tables"])
def test_intervals_that_do_not_separate_rows_are_refused(name):
    model = hand.NAMED[name]()
    starts = [np.unique([0, *edges(f)]) for f in model.features]
    read = Model(to_bytes(model), "predict-raw", starts)
    n_refused = 0
    for axis in read.used:
        for k in range(1, len(starts[axis])):
            own = [np.delete(one, k) if j == axis else one for j, one in enumerate(starts)]
            try:
                Model(to_bytes(model), "predict-raw", own)
            except RejectedError:
                n_refused += 1
    assert n_refused >= sum(len(f.thresholds) for f in model.features)
    with pytest.raises(RejectedError, match="too large"):
        Model(to_bytes(model), "predict-raw", [np.array([0])] * model.n_features)


# Values


def algebra(*starts, end=256):
    ends = [np.array([*one, end]) for one in starts]
    points = [np.stack([one[:-1], one[1:] - 1], axis=1).ravel() for one in ends]
    return Algebra(points, tuple(np.ones(len(one), dtype=bool) for one in points))


def line(axis, numbers):
    return Term({axis: np.arange(len(numbers))}, numbers)


def reading(a, axis=0):
    return Value(0, (line(axis, a.points[axis]),))


@pytest.mark.parametrize("seed", range(20))
def test_operations_are_those_on_numbers(seed):
    """On two inputs of 8 numbers each, every combination is compared."""
    rng = np.random.default_rng(seed)
    a = algebra(np.arange(8), np.arange(8), end=8)
    tables = rng.integers(0, 1 << int(rng.integers(1, 33)), (2, 8))
    consts = rng.integers(1 << 32, size=2)
    values = [Value(int(consts[k]), (line(k, tables[k].repeat(2)),)) for k in range(2)]
    numbers = [
        (const + grid) % (1 << 32)
        for const, grid in zip(consts, np.meshgrid(*tables, indexing="ij"), strict=True)
    ]
    k = int(rng.integers(1, 32))
    x, y = values
    p, q = numbers
    for found, wanted in (
        (a.add(x, y), p + q),
        (a.sub(x, y), p - q),
        (a.bits_and(x, y), p & q),
        (a.bits_or(x, y), p | q),
        (a.bits_xor(x, y), p ^ q),
        (a.less(x, y), p < q),
        (a.less(x, y, is_signed=True), (p ^ 1 << 31) < (q ^ 1 << 31)),
        (a.equal(x, y), p == q),
        (a.field(a.add(x, y), 0, k), (p + q) % (1 << k)),
        (a.field(a.add(x, y), k, 32 - k), (p + q) % (1 << 32) >> k),
        (a.split(a.sext(x, 32), k)[1], (p - ((p >> 31) << 32)) >> k),
        (a.sext(x, 8), (p + 128) % 256 - 128),
    ):
        assert (tabulated(a, found) == wanted.astype(np.int64) % (1 << 32)).all()


def tabulated(a, value):
    """Return the word at the first number of all intervals."""
    samples = {axis: np.arange(0, len(one), 2) for axis, one in enumerate(a.points)}
    return value.at(samples) % (1 << 32)


def test_a_reading_is_compared_where_its_intervals_begin():
    a = algebra([0, 100, 200])
    below = a.less(reading(a), Value(100))
    assert tabulated(a, below).tolist() == [1, 0, 0]
    with pytest.raises(RejectedError, match="do not separate"):
        a.less(reading(a), Value(50))


def test_bits_of_a_reading_need_intervals_in_which_they_or_the_others_are_constant():
    a = algebra([0, 100, 128])
    with pytest.raises(RejectedError, match="intervals too large"):
        a.field(reading(a), 6, 2)
    assert tabulated(a, a.field(reading(a), 7, 1)).tolist() == [0, 0, 1]
    shifted = a.scaled(reading(a), 1 << 20)
    back = a.field(shifted, 20, 12)
    assert a.vanishes(a.sub(back, reading(a)))
    assert tabulated(a, a.field(shifted, 0, 20)).tolist() == [0, 0, 0]


def test_a_line_equals_no_other_one_with_the_same_ends_modulo_a_word():
    a = algebra([0], end=1 << 16)
    steep = Value(0, (line(0, np.array([0, (1 << 32) + (1 << 16) - 1])),))
    assert not a.vanishes(a.sub(steep, reading(a)))
    assert a.vanishes(a.sub(reading(a), reading(a)))


def test_a_sum_vanishes_only_where_all_its_parts_do():
    a = algebra(np.arange(4), np.arange(4), end=4)
    x, y = np.arange(4), np.array([5, 1, 7, 2])
    levels = np.arange(4).repeat(2)
    joint = Term({0: levels, 1: levels}, x[:, None] + y[None, :])
    parts = (line(0, -x.repeat(2)), line(1, -y.repeat(2)))
    assert a.vanishes(Value(0, (joint, *parts)), EXACT)
    assert not a.vanishes(Value(1, (joint, *parts)), EXACT)
    assert a.vanishes(Value(1 << 32, (joint, *parts)))
    assert not a.vanishes(Value(1 << 32, (joint, *parts)), EXACT)
    changed = joint.grid.copy()
    changed[3, 2] += 1
    assert not a.vanishes(Value(0, (replace(joint, grid=changed), *parts)), EXACT)
    part = replace(a, box=(np.array([1, 1, 1, 0], dtype=bool).repeat(2), a.box[1]))
    assert part.vanishes(Value(0, (replace(joint, grid=changed), *parts)), EXACT)


@pytest.mark.parametrize(("n_bits", "n_terms"), [(60, 4), (48, 1 << 14)])
def test_a_sum_that_may_be_a_multiple_of_the_modulus_is_refused(n_bits, n_terms):
    """It is 2^62 everywhere, so zero modulo 2^62 alone; operations allow terms of 48 bits."""
    a = algebra(np.arange(2), end=2)
    total = Value(n_terms, (line(0, np.full(4, (1 << n_bits) - 1)),) * n_terms)
    with pytest.raises(RejectedError, match="too large numbers"):
        total.at({0: np.array([0])})
    with pytest.raises(RejectedError, match="too large numbers"):
        a.vanishes(total, EXACT)
    below = Value(-1, total.terms[1:])
    assert below.at({0: np.array([0])}).item() == EXACT - (1 << n_bits) - n_terms


# Programs of a trained model


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "m.bncc"
    learned = ("--structure", "naive", "--parameters", "ml", "--bits", "4", "--folds", "0")
    run("train", str(bundled_path("wifi")), "-o", str(path), *learned)
    return path


@pytest.fixture(scope="module")
def certified(trained, require_gcc):
    """Return ``certified(target, entry)``: the certificate of a program, made once."""
    pytest.importorskip("capstone")

    def of(target, entry, optimize="size"):
        require_gcc(target)
        return proved(trained, target, entry, optimize)

    return of


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "cortex-m4", "rv32"])
@pytest.mark.parametrize("entry", ["trusted", "predict", "predict-raw", "scores", "scores-raw"])
def test_a_proof_is_accepted(certified, target, entry):
    evidence = certified(target, entry)
    claims = gzip.compress(json.dumps(evidence.document).encode())
    code, text = verdict(claims, evidence.elf, evidence.model)
    assert code == 0, text
    assert ("bytes of a score: 1;" in text) == (entry in ("scores", "scores-raw"))
    assert evidence.document["symbol"] in Program(evidence.elf).symbols


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize(("target", "stack"), [("cortex-m0", 8), ("cortex-m4", 8), ("rv32", 16)])
def test_the_alignment_of_buffers_is_that_of_their_types(certified, target, stack):
    """Readings are int16, states bytes, and scores as wide as the certificate says."""
    inputs = {"predict-raw": 2, "predict": 1, "scores": 1, "scores-raw": 2}
    for entry, alignment in inputs.items():
        evidence = certified(target, entry)
        output = evidence.document["score_bytes"] or 1
        checked = Check(evidence.document, evidence.elf, evidence.model)
        wanted = {"stack": stack, "input": alignment, "output": output}
        assert {base: one[0] for base, one in checked.regions.items()} == wanted


@pytest.mark.firmware
def test_a_word_may_be_at_any_address_for_processors_of_v7_m_only(certified):
    """Whatever a target that is not known is, it may fault."""
    evidence = certified("cortex-m4", "predict")
    for target in ("cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7"):
        isa = Thumb(Program(evidence.elf), target)
        assert isa.is_v7 is (target in ("cortex-m3", "cortex-m4", "cortex-m7"))


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize(("entry", "number"), N_FALSE.items())
def test_false_certificates_are_rejected(certified, entry, number):
    evidence = certified("cortex-m0", entry)
    made = list(islice(false_certificates(evidence, Random(0)), number))
    assert len({kind for kind, _ in made}) > 5
    for kind, document in made:
        assert evidence.why(document) is not None, kind


@pytest.mark.firmware
def test_what_claims_nothing_is_rejected(certified):
    """Without a state no path is followed, without a size no score or byte is compared."""
    evidence = certified("cortex-m0", "scores")
    nothing = evidence.document | {"states": [], "work": 0}
    assert "IndexError" in evidence.why(nothing)
    for size in (0, -1, 3, 8):
        assert "scores have no size" in evidence.why(evidence.document | {"score_bytes": size})
    first, *others = evidence.document["states"]
    k = next(k for k, one in enumerate(others) if one["memory"])
    (base, offset, _, number), *rest = others[k]["memory"]
    wide = others[k] | {"memory": [[base, offset, 7, number], *rest]}
    states = [first, *others[:k], wide, *others[k + 1 :]]
    assert "region of memory is unknown" in evidence.why(evidence.document | {"states": states})


@pytest.mark.no_cover
@pytest.mark.firmware
def test_the_work_of_a_check_is_as_claimed(certified):
    """Neither more nor less, and no more than a constant."""
    evidence = certified("cortex-m0", "predict-raw")
    work = evidence.document["work"]
    for other, why in (
        (work - 1, "more steps than claimed"),
        (work + 1, "the claim of work is wrong"),
        (MOST_WORK, "the claim of work is wrong"),
        (MOST_WORK + 1, "more work than any check may take"),
        (0, "more steps than claimed"),
        (-1, "more steps than claimed"),
    ):
        assert why in evidence.why(evidence.document | {"work": other})


@pytest.mark.firmware
def test_paths_that_do_not_meet_end_with_the_work_claimed(certified, monkeypatch):
    """Without states in which paths meet, the paths of all combinations of readings are apart."""
    evidence = certified("cortex-m0", "predict-raw")
    taken = []
    step = Check._step
    monkeypatch.setattr(Check, "_step", lambda *of: (taken.append(of), step(*of))[1])
    assert evidence.why(evidence.document) is None
    n_right = len(taken)
    taken.clear()
    document = deepcopy(evidence.document)
    document["states"][0]["next"] = []
    assert "more steps than claimed" in evidence.why(document)
    assert n_right < document["work"], "comparisons count too"
    assert len(taken) == document["work"] + 1, "the last step is refused"


@pytest.mark.no_cover
@pytest.mark.firmware
def test_a_claim_that_a_state_follows_another_is_rejected_if_no_path_leads_there(certified):
    evidence = certified("cortex-m0", "predict-raw")
    last = len(evidence.document["states"]) - 1
    assert last > 1
    for edge in ([1000, last], [3, 0], [3, 1]):
        document = deepcopy(evidence.document)
        document["states"][1]["next"].append(edge)
        assert "no path leads to a state that shall follow" in evidence.why(document)


@pytest.mark.firmware
def test_a_certificate_of_an_older_format_names_the_remedy(certified):
    evidence = certified("cortex-m0", "predict-raw")
    older = {name: x for name, x in evidence.document.items() if name != "work"} | {"format": 3}
    why = evidence.why(older)
    assert why == "RejectedError: the certificate's format is not 7; run `bncc prove -o` again"


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["mips", "cortex-m0plus", ""])
def test_a_claim_about_a_target_that_is_not_known_is_rejected(certified, target):
    evidence = certified("cortex-m0", "predict-raw")
    assert "unknown target" in evidence.why(evidence.document | {"target": target})


@pytest.mark.firmware
def test_each_kind_of_change_is_made():
    assert len(CHANGES) == 23


@pytest.mark.firmware
def test_a_wrong_program_is_rejected(certified):
    """A cost that differs by one bit, with the digest of the changed program."""
    evidence = certified("cortex-m0", "trusted", "speed")
    program = Program(evidence.elf)
    at = program.symbols[evidence.document["symbol"]]
    (code,) = (data for start, data in program.sections if start <= at < start + len(data))
    offset = (
        evidence.elf.index(code)
        + at
        - next(start for start, data in program.sections if data is code)
    )
    n_rejected = 0
    for k in range(0, 40, 4):
        elf = bytearray(evidence.elf)
        elf[offset + k] ^= 1
        document = evidence.document | {"elf": sha256(elf).hexdigest()}
        n_rejected += evidence.why(document, bytes(elf)) is not None
    assert n_rejected == 10


@pytest.mark.firmware
def test_another_model_is_rejected(certified, trained, tmp_path):
    evidence = certified("cortex-m0", "predict-raw")
    model = load_model(trained)
    table = model.tables[0].copy()
    table[0, 0] ^= 1
    other = replace(model, tables=(table, *model.tables[1:]))
    save_model(other, tmp_path / "other.bncc")
    content = (tmp_path / "other.bncc").read_bytes()
    document = evidence.document | {"model": sha256(content).hexdigest()}
    with pytest.raises(RejectedError, match=r"is returned|more steps than claimed|no path leads"):
        check(document, evidence.elf, content)


@pytest.mark.firmware
def test_numbers_that_are_no_integers_are_rejected(certified, trained, tmp_path, capsys):
    """NaN is neither above nor below a bound."""
    from bncc.checker.__main__ import main

    evidence = certified("cortex-m0", "predict-raw")
    (tmp_path / "elf").write_bytes(evidence.elf)
    for number, code in ((evidence.document["instructions"], 0), (float("nan"), 1), (1e9, 1)):
        document = evidence.document | {"instructions": number}
        (tmp_path / "c").write_bytes(gzip.compress(json.dumps(document).encode()))
        assert main([str(tmp_path / "c"), str(tmp_path / "elf"), str(trained)]) == code
    assert "rejected" in capsys.readouterr().out
