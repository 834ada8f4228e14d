"""Every test asserts something on every path: a test that returns early tests nothing."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent
CHECKS = {"raises", "warns"}
"""Functions of pytest that check something."""
ENDS = {"fail", "skip"}
"""Functions of pytest that end a test."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the syntax of every file of the tests."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))}


def functions(tree: ast.AST) -> Iterator[Function]:
    """Yield all functions, methods and those within others too."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


@cache
def imported(path: Path) -> dict[str, tuple[Path, str]]:
    """Return the imports of a file from other test files, by their names in it."""
    found = {}
    for node in ast.walk(trees()[path]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tests":
            folder = ROOT.parent.joinpath(*(node.module or "").split("."))
            for each in node.names:
                inner = folder / f"{each.name}.py"
                place = (inner, "") if inner in trees() else (folder.with_suffix(".py"), each.name)
                found[each.asname or each.name] = place
    return found


@cache
def conftests(path: Path) -> tuple[Path, ...]:
    """Return the files whose fixtures a file has."""
    return tuple(p for folder in path.parents if (p := folder / "conftest.py") in trees())


def called(node: ast.AST, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files and names of functions that are called; fixtures are called by their name."""
    known = imported(path)
    for call in (each for each in ast.walk(node) if isinstance(each, ast.Call)):
        if isinstance(call.func, ast.Name):
            name = call.func.id
            yield known.get(name, (path, name))
            yield from ((place, name) for place in conftests(path))
        elif isinstance(call.func, ast.Attribute):
            owner = call.func.value
            module = known.get(owner.id) if isinstance(owner, ast.Name) else None
            is_pytest = isinstance(owner, ast.Name) and owner.id == "pytest"
            place = module[0] if module else Path("pytest") if is_pytest else path
            is_numpy = call.func.attr.startswith("assert_")
            yield (Path("pytest"), "raises") if is_numpy else (place, call.func.attr)


@cache
def checkers() -> frozenset[tuple[Path, str]]:
    """Return the functions and fixtures of the tests that assert, or call one that does."""
    calls: dict[tuple[Path, str], set[tuple[Path, str]]] = {}
    found = {(Path("pytest"), name) for name in CHECKS}
    for path, tree in trees().items():
        for function in functions(tree):
            place = (path, function.name)
            calls.setdefault(place, set()).update(called(function, path))
            if any(isinstance(node, ast.Assert) for node in ast.walk(function)):
                found.add(place)
    while True:
        more = {place for place, others in calls.items() if others & found} | found
        if more == found:
            return frozenset(found)
        found = more


def escapes(body: Iterable[ast.stmt], path: Path) -> Iterator[str | None]:
    """Yield how paths leave a block without a check: None at its end, else by which line."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield f"line {statement.lineno} returns"
            return
        if isinstance(statement, ast.If):
            found = [*escapes(statement.body, path), *escapes(statement.orelse, path)]
            yield from (each for each in found if each is not None)
            if None not in found:
                return
        elif isinstance(statement, ast.With | ast.Try) and not is_check(statement, path):
            yield from (each for each in escapes(statement.body, path) if each is not None)
        elif isinstance(statement, ast.Raise) or is_check(statement, path):
            return
    yield None


def is_check(statement: ast.stmt, path: Path) -> bool:
    """Return whether a statement asserts, calls a function that does, or skips the test."""
    if isinstance(statement, Function | ast.ClassDef):
        return False
    if any(isinstance(node, ast.Assert) for node in ast.walk(statement)):
        return True
    ends = {(Path("pytest"), name) for name in ENDS}
    return any(place in checkers() or place in ends for place in called(statement, path))


def each_test(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Yield the tests of a file."""
    for node in functions(tree):
        if node.name.startswith("test_"):
            yield node


def test_every_path_of_every_test_asserts() -> None:
    idle = []
    for path, tree in trees().items():
        for test in each_test(tree) if path.name.startswith("test_") else ():
            for way in escapes(test.body, path):
                place = f"{path.relative_to(ROOT)}::{test.name}"
                idle.append(f"{place}, {way or 'whose end is reached'} without an assertion")
    assert not idle, "\n".join(idle)
