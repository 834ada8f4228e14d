"""Probes in a copy of the tree: calls that record the tests that execute a mutated place."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.campaigns.mutation_operators import Site, anchor_of

HIT = "_mutation_hit"
_IN_JINJA = '{{ lipsum.__globals__["__builtins__"]["%s"](%d) }}'
_START = f"""
try:
    import mutation_probe
except ImportError:
    import builtins
    builtins.{HIT} = lambda *_: ""
"""
Function = ast.FunctionDef | ast.Lambda


def instrument(tree: Path, places: Sequence[tuple[str, Site]]) -> dict[str, list[int]]:
    """Put probe k at place k in the files of a tree; return C files, which can only be watched."""
    watched: dict[str, list[int]] = defaultdict(list)
    probes: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    starts: dict[str, list[int]] = defaultdict(list)
    in_templates: dict[str, list[tuple[int, int]]] = defaultdict(list)
    sources = {
        path.relative_to(tree).as_posix(): path.read_bytes() for path in tree.glob("bncc/**/*.py")
    }
    for k, (path, site) in enumerate(places):
        if path.endswith(".j2"):
            in_templates[path].append((_text_start(tree / path, site), k))
        elif not path.endswith(".py"):
            watched[str(tree / path)].append(k)
        elif (names := import_time_names(sources[path], site)) is None:
            probes[path][site.anchor].append(k)
        else:
            for module in {path, *importers(path, names, sources)}:
                starts[module].append(k)
    for path, places_of in in_templates.items():
        _put_into_template(tree / path, places_of)
    for path in {*probes, *starts}:
        text = with_probes(sources[path], probes[path], starts[path])
        (tree / path).write_text(text, encoding="utf-8")
    first = tree / "bncc" / "__init__.py"
    first.write_text(first.read_text("utf-8") + _START, encoding="utf-8")
    return dict(watched)


def _text_start(file: Path, site: Site) -> int:
    """Return the position of the first printed byte, or the operator, of a site in a template."""
    text = file.read_bytes()
    start = site.start
    while text[start : start + 1] in (b" ", b"\t"):
        start += 1
    return start


def _put_into_template(file: Path, places: Iterable[tuple[int, int]]) -> None:
    text = file.read_bytes()
    for start, k in sorted(places, reverse=True):
        text = text[:start] + (_IN_JINJA % (HIT, k)).encode() + text[start:]
    file.write_bytes(text)


def with_probes(source: bytes, probes: dict[str, list[int]], starts: Sequence[int]) -> str:
    """Return Python with probes at syntax nodes, and others at the start of each function."""
    tree = _Probes(probes, starts).visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class _Probes(ast.NodeTransformer):
    def __init__(self, probes: dict[str, list[int]], starts: Sequence[int]) -> None:
        self.probes = probes
        self.starts = list(starts)

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        """Put the probes of a node before it, and those of a function into it."""
        ks = self.probes.get(anchor_of(node)) if hasattr(node, "lineno") else None
        self.generic_visit(node)
        if isinstance(node, ast.FunctionDef) and self.starts:
            after = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body.insert(after, ast.Expr(_call(self.starts)))
        if not ks:
            return node
        if isinstance(node, ast.stmt):
            return [ast.Expr(_call(ks)), node]
        return ast.BoolOp(ast.Or(), [_call(ks), node])


def _call(ks: Sequence[int]) -> ast.Call:
    return ast.Call(ast.Name(HIT, ast.Load()), [ast.Constant(k) for k in ks], [])


def import_time_names(source: bytes, site: Site) -> set[str] | None:
    """Return the names that a site defines on import, or None where a function runs it."""
    tree = ast.parse(source)
    for statement in tree.body:
        for node, is_run in _with_time(statement, is_run=False):
            if hasattr(node, "lineno") and anchor_of(node) == site.anchor:
                return None if is_run else _closure(tree, _defined(statement))
    raise ValueError(f"no syntax node {site.anchor}")


def _with_time(node: ast.AST, *, is_run: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes below one, and whether they run in a function or on import."""
    yield node, is_run
    for name, value in ast.iter_fields(node):
        inner = is_run or (isinstance(node, Function) and name == "body")
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _with_time(child, is_run=inner)


def _defined(statement: ast.AST) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _closure(tree: ast.Module, names: set[str]) -> set[str]:
    """Return names with those that the module defines from them on import."""
    while True:
        more = {
            name
            for statement in tree.body
            if any(
                isinstance(node, ast.Name) and node.id in names and not is_run
                for node, is_run in _with_time(statement, is_run=False)
            )
            for name in _defined(statement)
        }
        if more <= names:
            return names
        names = names | more


def importers(path: str, names: set[str], sources: dict[str, bytes]) -> Iterator[str]:
    """Yield the modules that import one of these names from a module, or the module."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, last = module.rpartition(".")
    for other, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                found = any(alias.name == module for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                asked = {alias.name for alias in node.names}
                found = bool(node.module == module and asked & names)
                found |= node.module == package and last in asked
            else:
                found = False
            if found:
                yield other
                break
