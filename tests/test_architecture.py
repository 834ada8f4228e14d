"""House rules enforced by tests: imports, style, types, docstrings, sizes, versions."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import pytest

import bncc

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 400
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
SLOW_TO_IMPORT = ("torch", "pandas", "scipy", "sklearn", "rich")

# A directory of one machine, as in a path from the root of its file system.
MACHINE_PATH = re.compile(r"(^|[^\w.])/(work|tmp|root|home|farm|opt)/[A-Za-z]")

# An installer that asks a package index for bncc, and requirements that one would read.
INSTALLED_BY_NAME = re.compile(
    r"""(?x)
    \b(pip3?|pipx|uv|uvx|conda|poetry|rye)\b (?!\ freeze|[^\n]*--spec\ \S*/) [^\n;&|`]*?
        (?<=[\s"']) bncc(-compiler)? (?=[\s"'`;\[=<>~!]|$) (?!'s\b) (?!\s*@\s)
    | (?<![\w./-]) bncc(-compiler)? (\[ [a-z, ]+ \] | ==\d)
    | pypi\.org/(project|simple)/bncc
    """
)

# Checks of numpydoc for public names; its other checks are matters of taste.
DOCSTRING_RULES = {
    "GL05": "tabs",
    "GL06": "unknown section",
    "GL07": "sections in another order than numpydoc's",
    "GL08": "no docstring",
    "GL10": "malformed directive",
    "SS03": "summary does not end with a period",
    "SS05": "summary does not start with an infinitive verb",
    "PR02": "documents a parameter that does not exist",
    "PR03": "documents parameters in another order than the signature",
    "PR07": "a parameter without description",
    "PR10": "no space before the colon of a parameter",
}
# A one-line docstring may leave parameters to the annotations; a list of them must be whole.
ONLY_WITH_PARAMETERS = "PR01"
# Dataclasses that collect while they work; all others are values.
NOT_FROZEN = {"bncc/cli/console.py: Console", "bncc/network/bif.py: _Found"}
# Private fields of a dataclass.
PRIVATE_FIELDS = re.compile(r"\{('_\w+'(, )?)+\} not documented")


def run(*command: str) -> None:
    """Run a checker in the repository and show its output when it fails."""
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def module_names() -> list[str]:
    """Return every module of the package."""
    return [
        name
        for _, name, _ in pkgutil.walk_packages(bncc.__path__, "bncc.")
        if not name.endswith("__main__")
    ]


def public_names(module_name: str) -> Iterator[str]:
    """Yield the public functions, classes, methods and properties that a module defines."""
    module = import_module(module_name)
    for name, value in vars(module).items():
        home = getattr(value, "__module__", None)
        if name.startswith("_") or home != module_name:
            continue
        if inspect.isfunction(value):
            yield f"{module_name}.{name}"
        elif inspect.isclass(value):
            yield f"{module_name}.{name}"
            for method, member in vars(value).items():
                documented = inspect.isfunction(member) or isinstance(
                    member, property | classmethod | staticmethod
                )
                if documented and not method.startswith("_"):
                    yield f"{module_name}.{name}.{method}"


@pytest.fixture(scope="module")
def tracked(missing: Callable[[str], NoReturn]) -> list[Path]:
    """Return the files that belong to the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        missing("needs git and a git checkout to list the repository's files")
    files = [ROOT / name for name in listing.decode().split("\0") if name]
    return [path for path in files if path.is_file()]


def test_imports_point_one_way() -> None:
    """The import-linter contracts of pyproject.toml are kept."""
    # A cached graph has been seen to miss a new import.
    run("-c", LINT_IMPORTS, "--no-cache")


@pytest.mark.parametrize("module", ["bncc", "bncc.cli.main", "bncc.emit.emitter"])
def test_compiling_a_saved_model_starts_at_once(module: str) -> None:
    """Neither torch nor another large library is loaded by what `bncc emit-c` needs."""
    run(
        "-c",
        f"import sys, {module}\n"
        f"slow = sorted(set({SLOW_TO_IMPORT!r}) & set(sys.modules))\n"
        f"sys.exit(f'{module} loads {{slow}}' if slow else 0)",
    )


def test_training_by_counting_needs_no_torch() -> None:
    """`bncc train --parameters ml` does not pay for torch's import."""
    run("-c", "import sys, bncc.train.train_model; sys.exit('torch' in sys.modules)")


def loaded_at_import(tree: ast.Module) -> Iterator[str]:
    """Yield what a module imports as soon as it is imported: not for checkers, nor in functions."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        nodes += ast.iter_child_nodes(node)


def test_papers_and_baselines_are_loaded_when_they_are_asked_for() -> None:
    """An import that the contract of the walls allows is within a function."""
    papers, baselines = "bncc.papers", "bncc.baselines"
    allowed = {papers: (papers,), baselines: (baselines, papers)}
    found = []
    for path in sorted((ROOT / "bncc").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name in loaded_at_import(ast.parse(path.read_text("utf-8"))):
            for walled, insiders in allowed.items():
                if f"{name}.".startswith(f"{walled}.") and not module.startswith(insiders):
                    found.append(f"{module} imports {name}")
    assert not found, "\n".join(found)


def test_an_import_that_is_put_off_is_told_from_one_that_is_not() -> None:
    text = """
import bncc.a
from bncc import b
if TYPE_CHECKING:
    from bncc import c
else:
    from bncc.d import e
class F:
    from bncc import g
    def h(self):
        from bncc import i
try:
    import bncc.j
except ImportError:
    import bncc.k
"""
    assert {*loaded_at_import(ast.parse(text))} == {
        "bncc.a", "bncc.b", "bncc.d.e", "bncc.g", "bncc.j", "bncc.k",
    }  # fmt: skip


def test_unicorn_is_loaded_by_a_run_alone() -> None:
    """Builds for the host and runs on QEMU need no unicorn."""
    run("-c", "import sys, bncc.device.agreement; sys.exit('unicorn' in sys.modules)")


def api_names() -> list[str]:
    """Return what docs/reference/python.rst lists: the names of the public interface."""
    page = (ROOT / "docs" / "reference" / "python.rst").read_text("utf-8")
    names = []
    for kind, name, members in re.findall(
        r"^\.\. auto(class|function):: (bncc[\w.]+)\n(?:   :members:([^\n]*))?", page, re.MULTILINE
    ):
        names.append(name)
        found = getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
        for member in [each.strip() for each in members.split(",") if each.strip()]:
            assert kind == "class", name
            names += [f"{name}.{member}"] if inspect.isfunction(getattr(found, member)) else []
    return names


def test_the_public_interface_is_documented_in_full() -> None:
    """Every name of the Python reference describes all parameters and what it returns."""
    from numpydoc.validate import validate

    rules = {**DOCSTRING_RULES, ONLY_WITH_PARAMETERS: "", "RT01": "no section of what is returned"}
    complaints = [
        f"{name}: {code} {text}"
        for name in api_names()
        for code, text in validate(name)["errors"]
        if code in rules and not PRIVATE_FIELDS.search(text)
    ]
    assert len(api_names()) > 20
    assert not complaints, "\n".join(complaints)


def test_names_are_documented() -> None:
    """Every function, class, method and property without an underscore has a sound docstring."""
    from numpydoc.validate import validate

    complaints = []
    for name in (name for module in module_names() for name in public_names(module)):
        report = validate(name)
        rules = set(DOCSTRING_RULES)
        if re.search(r"^\s*Parameters\n\s*---", report["docstring"], re.MULTILINE):
            rules.add(ONLY_WITH_PARAMETERS)
        complaints += [
            f"{name}: {code} {text}"
            for code, text in report["errors"]
            if code in rules and not PRIVATE_FIELDS.search(text)
        ]
    assert not complaints, "\n".join(complaints)


def code_lines(path: Path) -> int:
    """Return how many lines of a file hold code: in Python no docstring, comment or blank line."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return len(text.splitlines())
    tree = ast.parse(text)
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    documented = {n for s in strings for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(
        n not in documented and bool(line.strip()) and not line.lstrip().startswith("#")
        for n, line in lines
    )


def test_files_fit_one_idea(tracked: list[Path]) -> None:
    """No source file has more than 400 lines of code: a longer one holds a second idea."""
    sources = [
        path
        for path in tracked
        if path.suffix in {".py", ".j2", ".c", ".h"} and "golden" not in path.parts
    ]
    lengths = {path: code_lines(path) for path in sources}
    long = [f"{path.relative_to(ROOT)}: {n}" for path, n in lengths.items() if n > MAX_LINES]
    assert not long, "\n".join(long)


def test_unit_tests_are_called_after_what_they_test() -> None:
    """`tests/unit` mirrors bncc: a file has the name of a module or package, and then an aspect."""
    strays = []
    for path in sorted((ROOT / "tests/unit").rglob("test_*.py")):
        place = path.relative_to(ROOT / "tests/unit")
        home = (ROOT if place.parts[0] == "benchmarks" else ROOT / "bncc") / place.parent
        modules = {each.stem for each in home.glob("*") if each.suffix == ".py" or each.is_dir()}
        name = path.stem.removeprefix("test_")
        if not any(f"{name}_".startswith(f"{module}_") for module in modules):
            strays.append(place.as_posix())
    assert not strays, "\n".join(strays)


def test_dataclasses_are_frozen() -> None:
    """A value never changes, so that it can be shared, cached and hashed."""
    not_frozen = {
        f"{path.relative_to(ROOT).as_posix()}: {node.name}"
        for path in (ROOT / "bncc").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        for each in map(ast.unparse, node.decorator_list)
        if re.match(r"(dataclasses\.)?dataclass\b", each) and "frozen=True" not in each
    }
    assert not_frozen == NOT_FROZEN


def test_no_file_names_a_directory_of_one_machine(tracked: list[Path]) -> None:
    """Nothing in the repository depends on where it was written."""
    found = []
    for path in tracked:
        try:
            lines = path.read_text("utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for number, line in enumerate(lines, start=1)
            if MACHINE_PATH.search(line)
        ]
    assert not found, "\n".join(found)


def test_nothing_is_installed_under_a_name_that_belongs_to_others(tracked: list[Path]) -> None:
    """`bncc` on the public package index is another project; ours is not on the index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == "bncc-compiler"
    assert project["scripts"] == {"bncc": "bncc.cli.main:main"}
    extras = project["optional-dependencies"]
    assert all(name.startswith("bncc-compiler[") for name in extras["all"])
    found = []
    for path in tracked:
        if path == Path(__file__):
            continue
        try:
            lines = path.read_text("utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for number, line in enumerate(lines, start=1)
            if INSTALLED_BY_NAME.search(line) and not line.startswith("all = [")
        ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "pip install bncc",
        "- run: pip install 'bncc[targets]'",
        "pip install --upgrade numpy bncc==0.1.0",
        "python -m pip install -U bncc-compiler",
        "pipx install bncc",
        "uv add bncc-compiler",
        "uvx bncc train",
        "(`bncc==0.1.0`)",
        "https://pypi.org/project/bncc/",
        "needs bncc[sweep]",
    ],
)
def test_an_installation_by_name_is_found(line: str) -> None:
    """The pattern of the test above finds absolute paths."""
    assert INSTALLED_BY_NAME.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install -e '.[sweep]' in bncc's clone",
        "pip install './tools/bncc[targets]'",
        "pip install ziglang unicorn; then bncc verify",
        "pipx run --spec dist/*.whl bncc --help",
        "pip install 'bncc-compiler @ git+https://example.org/bncc'",
        "echo 'set-up: installing bncc and what it needs'",
    ],
)
def test_an_installation_from_a_clone_is_allowed(line: str) -> None:
    """Paths and addresses name our own files, independent of the index."""
    assert not INSTALLED_BY_NAME.search(line)


def test_versions_agree() -> None:
    """The package, its metadata, pyproject.toml and the changelog name the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)
    assert newest is not None
    assert {bncc.__version__, version(project["name"]), project["version"]} == {newest.group(1)}
