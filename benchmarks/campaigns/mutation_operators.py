"""Mutation operators: small errors in the text of Python, of C, and of templates that print C."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
    "is not": "is", "in": "not in", "not in": "in", "+": "-", "-": "+", "*": "+", "//": "*",
    "<<": ">>", ">>": "<<", "&": "|", "|": "&", "and": "or", "or": "and", "&&": "||",
    "||": "&&", "===": "!==", "!==": "===", "+=": "-=", "-=": "+=",
    "min": "max", "max": "min", "True": "False", "False": "True",
}  # fmt: skip
"""Replacement of each operator and name."""
GENERIC = frozenset({"tuple", "dict", "list", "set", "frozenset", "type"})
TYPE_MAKERS = frozenset({"TypeVar", "NewType", "ParamSpec", "NamedTuple", "TypedDict"})
_OPERATORS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+",
    ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.And: "and", ast.Or: "or",
}  # fmt: skip
_JINJA = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_PRINTED = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_C_TEXT = re.compile(
    r"""/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[ \t]*(?:include|error)[^\n]*""",
    re.DOTALL | re.MULTILINE,
)
_JS_TEXT = re.compile(r"(?<!:)//[^\n]*|`(?:\\.|[^`\\])*`")
_C_OPERATOR = re.compile(
    r"(?<![<>=!+\-*/&|])(===|!==|<=|>=|==|!=|<<|>>|&&|\|\||\+=|-=|<|>|\+|-)(?![<>=&|+\-])"
)
_C_INTEGER = re.compile(r"(?<![\w.])(0[xX][0-9A-Fa-f]+|\d+)(?=[uUlL]*(?![\w.]))")


@dataclass(frozen=True)
class Site:
    """A place in a text and its replacement; `anchor` names the syntax node that runs there."""

    line: int
    operator: str
    start: int
    end: int
    after: str
    anchor: str = ""

    def applied(self, source: bytes) -> bytes:
        """Return the mutated text."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def anchor_of(node: ast.AST) -> str:
    """Return a name of a syntax node that another parse of the same text finds again."""
    place = (getattr(node, f"{end}{what}") for end in ("", "end_") for what in PLACE)
    return " ".join([type(node).__name__, *map(str, place)])


PLACE = ("lineno", "col_offset")


def is_mutable(path: str) -> bool:
    """Return whether operators apply to a file."""
    endings = (".py", ".c", ".h", ".js", ".c.j2", ".h.j2", ".ino.j2", ".cpp.j2")
    return path.startswith(("bncc/", "templates/")) and path.endswith(endings)


def sites(path: str, source: bytes) -> list[Site]:
    """Return every place of a file where an operator applies, by line."""
    if path.endswith(".py"):
        return sorted(_Python(source).sites(), key=lambda site: (site.line, site.start))
    return sorted(_c_sites(path, source), key=lambda site: (site.line, site.start))


def is_sound(path: str, source: bytes, site: Site) -> bool:
    """Return whether the mutated Python parses and has another meaning."""
    if not path.endswith(".py"):
        return True
    try:
        return ast.dump(ast.parse(site.applied(source))) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False


def draw(texts: Sequence[tuple[str, bytes]], n: int, seed: int) -> list[tuple[str, Site]]:
    """Sample lines uniformly from all mutable lines, for each an operator, then a site."""
    places: dict[tuple[str, int], list[Site]] = {}
    for path, source in texts:
        for site in sites(path, source):
            places.setdefault((path, site.line), []).append(site)
    rng = Random(seed)
    lines = sorted(places)
    rng.shuffle(lines)
    sources = dict(texts)
    found: list[tuple[str, Site]] = []
    for path, line in lines:
        operator = rng.choice(sorted({site.operator for site in places[path, line]}))
        site = rng.choice([site for site in places[path, line] if site.operator == operator])
        if is_sound(path, sources[path], site):
            found.append((path, site))
        if len(found) == n:
            break
    return found


class _Python:
    """The sites of one module, outside imports, annotations, docstrings and error messages."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the bytes of a node."""
        first, left, last, right = (
            getattr(node, f"{end}{what}") for end in ("", "end_") for what in PLACE
        )
        return self.starts[first - 1] + left, self.starts[last - 1] + right

    def is_placed(self, node: ast.AST) -> bool:
        """Return whether the bytes of an expression are its own: in f-strings some are not."""
        begin, end = self.span(node)
        try:
            again = ast.parse(b"(" + self.source[begin:end] + b")", mode="eval").body
        except (SyntaxError, ValueError):
            return False
        return ast.dump(again) == ast.dump(node)

    def sites(self) -> Iterator[Site]:
        """Generate them."""
        yield from self._below(self.tree, is_class=False, in_text=False)

    def _below(self, node: ast.AST, *, is_class: bool, in_text: bool) -> Iterator[Site]:
        in_text |= isinstance(node, ast.JoinedStr)
        for child in _children(node):
            is_inside = in_text and isinstance(child, ast.expr)
            if is_inside and not isinstance(node, ast.JoinedStr) and not self.is_placed(child):
                continue
            yield from self._of(child, is_class=is_class)
            yield from self._below(child, is_class=isinstance(child, ast.ClassDef), in_text=in_text)

    def _of(self, node: ast.AST, *, is_class: bool) -> Iterator[Site]:
        if isinstance(node, ast.Compare):
            terms = [node.left, *node.comparators]
            for op, left, right in zip(node.ops, terms, terms[1:], strict=False):
                yield from self._between(node, op, left, right, "comparison")
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from self._between(node, node.op, left, right, "and/or")
        elif isinstance(node, ast.BinOp):
            yield from self._between(node, node.op, node.left, node.right, "arithmetic")
        elif isinstance(node, ast.AugAssign):
            yield from self._between(node, node.op, node.target, node.value, "arithmetic")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            begin, _ = self.span(node)
            end = begin + len("not")
            while self.source[end : end + 1].isspace():
                end += 1
            yield self._site(node, "not removed", begin, end, "")
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            begin, end = self.span(node)
            yield self._site(
                node, "constant", begin, end, _plus_one(self.source[begin:end].decode())
            )
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield self._site(node, "True/False", *self.span(node), str(not node.value))
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        for test in _tests(node):
            if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
                begin, end = self.span(test)
                text = self.source[begin:end].decode()
                yield self._site(test, "condition negated", begin, end, f"not ({text})")
        if isinstance(node, ast.Return) and not (
            node.value is None
            or (isinstance(node.value, ast.Constant) and node.value.value is None)
        ):
            yield self._site(node, "return None", *self.span(node.value), "None")
        elif isinstance(node, ast.Expr | ast.Assign | ast.AugAssign) or (
            isinstance(node, ast.AnnAssign) and node.value is not None and not is_class
        ):
            yield self._site(node, "statement deleted", *self.span(node), "pass")

    def _of_call(self, node: ast.Call) -> Iterator[Site]:
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            yield self._site(node, "min/max", *self.span(node.func), SWAPS[node.func.id])
        given = sorted([*node.args, *node.keywords], key=self.span)
        spans = [self.span(each) for each in given]
        for k, (begin, end) in enumerate(spans):
            if isinstance(given[k], ast.GeneratorExp) and len(given) == 1:
                continue  # its parentheses are those of the call
            if k + 1 < len(spans):
                end = spans[k + 1][0]
            elif k > 0:
                begin = spans[k - 1][1]
            yield self._site(node, "argument dropped", begin, end, "")

    def _between(
        self, node: ast.AST, op: ast.AST, left: ast.AST, right: ast.AST, operator: str
    ) -> Iterator[Site]:
        """Yield the swap of an operator between two operands."""
        name = _OPERATORS.get(type(op))
        begin, end = self.span(left)[1], self.span(right)[0]
        if name in SWAPS:
            gap = re.sub(rb"#[^\n]*", lambda m: b" " * len(m[0]), self.source[begin:end])
            found = re.search(rb"\s+".join(map(re.escape, name.encode().split())), gap)
            if found:
                begin, end = begin + found.start(), begin + found.end()
                yield self._site(node, operator, begin, end, SWAPS[name])

    def _site(self, node: ast.AST, operator: str, start: int, end: int, after: str) -> Site:
        line = self.source.count(b"\n", 0, start) + 1
        return Site(line, operator, start, end, after, anchor_of(node))


def _is_for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _is_none(value: ast.AST | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _tests(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return [] if _is_for_checkers(node) else [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that are code, not descriptions."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "bases"):
            continue
        if _is_for_checkers(node) and name != "orelse":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _describes(child):
                yield child


def _describes(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise):
        return True
    if isinstance(node, ast.FunctionDef):
        return node.name == "__repr__"
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        return "__all__" in names or _is_type(node.value)
    return isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.dump(node.annotation)


def _is_type(value: ast.AST) -> bool:
    """Return whether a value is an alias of a type."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
        return _is_type(value.left) or _is_type(value.right)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in TYPE_MAKERS
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
        return False
    name = value.value.id
    return name in GENERIC or (name[0].isupper() and not name.isupper())


def _plus_one(text: str) -> str:
    number = int(text, 0) + 1
    return hex(number) if text[:2].lower() == "0x" else str(number)


def masked(path: str, text: str) -> str:
    """Return a text of the same length with code alone: no comment, string or part of Jinja."""
    text = _JINJA.sub(_blank, text)
    text = _PRINTED.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), text)
    if path.endswith(".js"):
        text = _JS_TEXT.sub(_blank, text)
    return _C_TEXT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _c_sites(path: str, source: bytes) -> Iterator[Site]:
    text = source.decode("ascii", errors="replace")  # one character a byte
    code = masked(path, text)
    for match in _C_OPERATOR.finditer(code):
        yield _c_site(text, "operator", *match.span(1), SWAPS[match[1]])
    for match in _C_INTEGER.finditer(code):
        yield _c_site(text, "constant", *match.span(1), _plus_one(match[1]))
    place, before = 0, (-1, "")
    for line, code_line in zip(text.splitlines(True), code.splitlines(True), strict=True):
        is_statement = code_line.rstrip().endswith(";") and not re.search(r"\{[%#]|%\}", line)
        if is_statement and not code_line.lstrip().startswith(("}", "#")):
            yield _c_site(text, "line deleted", place, place + len(line), "")
            if before[0] >= 0 and before[1] != line:
                both = f"{line}{before[1]}"
                yield _c_site(text, "lines swapped", before[0], place + len(line), both)
            before = (place, line)
        else:
            before = (-1, "")
        place += len(line)


def _c_site(text: str, operator: str, start: int, end: int, after: str) -> Site:
    return Site(text.count("\n", 0, start) + 1, operator, start, end, after)
