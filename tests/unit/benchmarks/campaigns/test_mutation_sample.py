"""The sample of mutations: drawn lines, the change of each operator, and tests per line."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.campaigns import mutation_probe
from benchmarks.campaigns.mutation_operators import draw, is_sound, masked, sites
from benchmarks.campaigns.mutation_reach import import_time_names, importers, instrument
from benchmarks.campaigns.mutation_results import Folder, Plan
from benchmarks.campaigns.mutation_sample import table_step

PYTHON = b'''"""A module, of 1 kind."""

from typing import TYPE_CHECKING, Literal

__all__ = ["f"]
Kind = Literal["a", True]
if TYPE_CHECKING:
    N = 2


def f(x: Literal[1], y=None) -> Literal[3]:
    """Return 4 if x < 5."""
    if x < y and not x:
        raise ValueError(f"{x + 1} is not less")
    kept = min(x, 7)
    kept += 1
    return g(f"{kept - 1}", sure=True)
'''
MADE = {
    ("comparison", 13, "<", "<="),
    ("and/or", 13, "and", "or"),
    ("not removed", 13, "not ", ""),
    ("condition negated", 13, "x < y and not x", "not (x < y and not x)"),
    ("statement deleted", 15, "kept = min(x, 7)", "pass"),
    ("min/max", 15, "min", "max"),
    ("argument dropped", 15, "x, ", ""),
    ("argument dropped", 15, ", 7", ""),
    ("constant", 15, "7", "8"),
    ("statement deleted", 16, "kept += 1", "pass"),
    ("arithmetic", 16, "+", "-"),
    ("constant", 16, "1", "2"),
    ("return None", 17, 'g(f"{kept - 1}", sure=True)', "None"),
    ("arithmetic", 17, "-", "+"),
    ("constant", 17, "1", "2"),
    ("argument dropped", 17, 'f"{kept - 1}", ', ""),
    ("argument dropped", 17, ", sure=True", ""),
    ("True/False", 17, "True", "False"),
}
C = b"""/* a < b; */
#include <a.h>
{% if n < 2 %}
    x{{ n }} += 1U; /* 3 */
    y = "<1" + x->z;
{% endif %}
    if (a <= 0x0f) {
"""


def test_python_is_changed_where_it_runs_and_nowhere_else():
    found = sites("bncc/a.py", PYTHON)
    changes = {(s.operator, s.line, PYTHON[s.start : s.end].decode(), s.after) for s in found}
    assert changes == MADE


@pytest.mark.parametrize("k", range(len(MADE)))
def test_a_change_parses_and_leaves_all_other_bytes(k):
    site = sites("bncc/a.py", PYTHON)[k]
    changed = site.applied(PYTHON)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(PYTHON))
    assert changed == PYTHON[: site.start] + site.after.encode() + PYTHON[site.end :]
    assert is_sound("bncc/a.py", PYTHON, site)


def test_a_change_that_does_not_parse_is_not_drawn():
    source = b"def f(a):\n    return {**g(a)}\n"
    (dropped,) = [s for s in sites("bncc/a.py", source) if s.operator == "argument dropped"]
    assert is_sound("bncc/a.py", source, dropped)
    broken = dropped.__class__(2, "argument dropped", dropped.start - 1, dropped.end, "")
    assert not is_sound("bncc/a.py", source, broken)
    same = dropped.__class__(2, "argument dropped", dropped.start, dropped.end, " a ")
    assert not is_sound("bncc/a.py", source, same)


def test_c_is_changed_outside_comments_strings_and_jinja():
    found = sites("templates/a.c.j2", C)
    changes = {(s.operator, s.line, C[s.start : s.end].decode(), s.after) for s in found}
    first, second = "    x{{ n }} += 1U; /* 3 */\n", '    y = "<1" + x->z;\n'
    assert changes == {
        ("operator", 4, "+=", "-="),
        ("constant", 4, "1", "2"),
        ("line deleted", 4, first, ""),
        ("operator", 5, "+", "-"),
        ("line deleted", 5, second, ""),
        ("lines swapped", 4, first + second, second + first),
        ("operator", 7, "<=", "<"),
        ("constant", 7, "0x0f", "0x10"),
    }


def test_what_is_masked_keeps_its_length():
    text = masked("templates/a.js", "const a = `b < 1`; // c < 2\nf('<', \"1\");\n")
    assert text.splitlines()[0].rstrip() == "const a =        ;"
    assert len(text) == len("const a = `b < 1`; // c < 2\nf('<', \"1\");\n")
    assert "<" not in text


def test_a_seed_decides_what_is_drawn():
    texts = [("bncc/a.py", PYTHON), ("templates/a.c.j2", C)]
    drawn = draw(texts, 4, 0)
    assert drawn == draw(texts, 4, 0)
    assert len({(path, site.line) for path, site in drawn}) == 4
    assert any(draw(texts, 4, seed) != drawn for seed in range(1, 5))
    assert len(draw(texts, 100, 0)) == 7  # lines that can be mutated


MODULE = '''"""Parts."""
from functools import cache, cached_property
LIMIT = 3
TWICE = 2 * LIMIT
OTHER = 4
def small(x):
    """Return whether x is small."""
    return x < LIMIT
@cache
def table():
    return [n + 1 for n in range(3)]
class Held:
    n = 5
    @cached_property
    def size(self):
        return len([1] * 2)
HELD = Held()
'''
OF_LIMIT = """from bncc.parts import TWICE
def of_limit(x):
    if x:
        return 0
    return TWICE
"""
TESTS = """
import subprocess, sys
from pathlib import Path
import pytest
from bncc import parts
from bncc.user import of_limit
@pytest.fixture(scope="module")
def shared():
    return parts.small(1)
def test_small(): assert parts.small(1)
def test_table(): assert parts.table() == [1, 2, 3]
def test_table_again(): assert parts.table()
def test_limit(): assert of_limit(1) == 0
def test_shared(shared): assert shared
def test_shared_again(shared): assert shared
def test_c(): assert Path(parts.__file__).with_name("a.c").read_text()
def test_child():
    subprocess.run([sys.executable, "-c", "from bncc.parts import small; small(1)"], check=True)
def test_size(): assert parts.HELD.size == 2
def test_size_again(): assert parts.HELD.size
def test_none(): pass
"""


def project(folder: Path) -> Path:
    (folder / "bncc").mkdir(parents=True)
    (folder / "tests").mkdir()
    texts = {"__init__.py": "", "parts.py": MODULE, "user.py": OF_LIMIT, "a.c": "int a = 1;\n"}
    for name, text in texts.items():
        (folder / "bncc" / name).write_text(text, encoding="utf-8")
    (folder / "tests" / "test_parts.py").write_text(TESTS, encoding="utf-8")
    shutil.copy(mutation_probe.__file__, folder / "mutation_probe.py")
    return folder


def run_tests(tree, **more):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "mutation_probe", "-p", "no:randomly"]
    words += ["-p", "no:cacheprovider", "--rootdir", str(tree), "tests/test_parts.py"]
    environ = {**os.environ, "PYTHONPATH": str(tree), **more}
    for name in ("PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
        environ.pop(name, None)
    return subprocess.run(words, cwd=tree, env=environ, capture_output=True, text=True, check=False)


def site_of(path, source, line, operator):
    found = [s for s in sites(path, source) if (s.line, s.operator) == (line, operator)]
    return path, found[0]


def test_probes_find_the_tests_that_execute_a_line(tmp_path):
    tree = project(tmp_path / "tree")
    module = MODULE.encode()
    places = [
        site_of("bncc/parts.py", module, 8, "comparison"),
        site_of("bncc/parts.py", module, 11, "arithmetic"),
        site_of("bncc/parts.py", module, 3, "constant"),
        site_of("bncc/user.py", OF_LIMIT.encode(), 4, "return None"),
        site_of("bncc/a.c", b"int a = 1;\n", 1, "constant"),
        site_of("bncc/parts.py", module, 16, "arithmetic"),
    ]
    out, times = tmp_path / "reach.txt", tmp_path / "times.jsonl"
    config = {"out": str(out), "files": instrument(tree, places)}
    (tree / "mutation_probe.json").write_text(json.dumps(config), encoding="utf-8")
    done = run_tests(tree, MUTATION_TIMES=str(times))
    assert done.returncode == 0, done.stdout
    reach = {}
    for line in out.read_text("utf-8").splitlines():
        k, test = line.split("\t")
        reach.setdefault(int(k), set()).add(test.split("::")[1].split(" ")[0])
    small = {"test_small", "test_shared", "test_shared_again", "test_child"}
    tables = {"test_table", "test_table_again"}
    sizes = {"test_size", "test_size_again"}
    assert reach == {
        0: small,
        1: tables,
        2: small | tables | sizes | {"test_limit"},
        3: {"test_limit"},
        4: {"test_c"},
        5: sizes,
    }
    assert len(times.read_text("utf-8").splitlines()) == 3 * 11


def test_only_the_tests_asked_for_run_in_their_order(tmp_path):
    tree = project(tmp_path / "tree")
    known = [f"tests/test_parts.py::test_{name}" for name in ("small", "table", "none", "limit")]
    asked = tmp_path / "tests.json"
    asked.write_text(json.dumps({"tests": [known[2], known[0]], "known": known}), encoding="utf-8")
    times = tmp_path / "times.jsonl"
    done = run_tests(tree, MUTATION_TESTS=str(asked), MUTATION_TIMES=str(times))
    assert done.returncode == 0, done.stdout
    ran = [json.loads(line)[0] for line in times.read_text("utf-8").splitlines()[::3]]
    assert ran[-2:] == [known[2], known[0]]
    assert not {known[1], known[3]} & set(ran)
    assert len(ran) == 9  # the unknown ones come first


def test_what_runs_on_import_is_reached_through_its_names():
    module = MODULE.encode()
    names = {
        line: import_time_names(module, site_of("bncc/parts.py", module, line, "constant")[1])
        for line in (3, 4, 5, 11, 13)
    }
    assert names == {
        3: {"LIMIT", "TWICE"},
        4: {"TWICE"},
        5: {"OTHER"},
        11: None,
        13: {"Held", "HELD"},
    }
    sources = {"bncc/parts.py": module, "bncc/user.py": OF_LIMIT.encode()}
    assert [*importers("bncc/parts.py", {"TWICE"}, sources)] == ["bncc/user.py"]
    assert [*importers("bncc/parts.py", {"OTHER"}, sources)] == []


def test_probes_print_nothing_in_templates(tmp_path):
    jinja2 = pytest.importorskip("jinja2")
    (tmp_path / "bncc").mkdir()
    (tmp_path / "templates").mkdir()
    (tmp_path / "bncc" / "__init__.py").write_text("", encoding="utf-8")
    text = "{% for n in (1, 2) %}\n    x = {{ n }} + y;\n    z = 1;\n{% endfor %}\n"
    (tmp_path / "templates" / "a.c.j2").write_text(text, encoding="utf-8")
    every = sites("templates/a.c.j2", text.encode())
    instrument(tmp_path, [("templates/a.c.j2", site) for site in every])
    changed = (tmp_path / "templates" / "a.c.j2").read_text("utf-8")
    assert changed.count("lipsum") == len(every) == 5
    import builtins

    hits = []
    builtins._mutation_hit = lambda k: hits.append(k) or ""
    try:
        rendered = [
            jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(t).render()
            for t in (text, changed)
        ]
    finally:
        del builtins._mutation_hit
    assert rendered[0] == rendered[1]
    assert hits == [*hits[:5], *hits[:5]]
    assert sorted(hits[:5]) == [0, 1, 2, 3, 4]


def test_a_tier_runs_what_reaches_a_mutant_and_the_table_counts_it(tmp_path, capsys):
    folder = Folder(tmp_path)
    drawn = [(path, vars(site), "before") for path, site in draw([("bncc/cuts.py", PYTHON)], 3, 0)]
    folder.write("mutants", {"commit": "c" * 40, "seed": 0, "n": 2, "drawn": drawn})
    tests = [f"tests/unit/test_{name}" for name in ("a.py::t", "cuts.py::t", "a.py::u[1]")]
    late = "tests/unit/test_a.py::u[2]"
    folder.write("tests-test", tests[:2])
    folder.write("tests-ci", tests)
    folder.write("tests-all", [*tests, late, "tests/cli/test_b.py::t"])
    reach = "".join(f"0\t{test} (call)\n" for test in tests) + "1\ttests/unit/test_a.py (collect)\n"
    (tmp_path / "reach.txt").write_text(reach, encoding="utf-8")
    times = "".join(json.dumps([test, "call", "passed", 1.0]) + "\n" for test in tests)
    (tmp_path / "times.jsonl").write_text(times, encoding="utf-8")
    plan = Plan.read(folder)
    first, second, third = folder.mutants
    assert plan.tests(first, "test") == tests[:2]
    assert plan.tests(first, "ci") == [tests[2]]
    assert plan.tests(first, "all") == [late]
    assert plan.tests(second, "ci") == [tests[2]]
    assert plan.tests(third, "all") == []
    assert [*plan.chunks(first, "test", 0)] == [[tests[1], tests[0]]]
    folder.add(k=0, stage="test", group=0, caught=True, by=tests[0], seconds=1.0)
    folder.add(k=1, stage="replay", group=0, caught=True, by="1", seconds=1.0)
    assert folder.outcome(0, "test")["by"] == tests[0]
    assert folder.outcome(0, "ci") is None
    table_step(folder, None)
    printed = capsys.readouterr().out
    assert "| `make test` | 1 of 2 | 0 of 1 |" in printed
    assert "| `.ci/run` | 2 of 2 | 0 of 1 |" in printed
    assert "| yes | yes | - | yes | unit/test_a.py::t |" in printed
    assert "| - | yes | yes | - | the replay |" in printed
