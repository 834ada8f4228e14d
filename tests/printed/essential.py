"""
Casts in emitted C that rule 10.8 of MISRA C:2012 forbids, found by essential types.

cppcheck's add-on has the rule too, but sees few of the types that it needs.
"""

from pycparser import c_ast, c_generator

from tests.printed.body import Body
from tests.printed.program import CProgram
from tests.printed.types import Int

_SUMS = ("+", "-", "*", "/", "%", "&", "|", "^")
_SHIFTS = ("<<", ">>")
_BOOLEAN = "boolean"


class _Checker(Body):
    """The statements of a function, whose casts are checked as they are read."""

    def _cast_value(self, node):
        kind = self.program.type_of(node.to_type.type)
        if isinstance(kind, Int) and _is_composite(node.expr) and not self._is_constant(node.expr):
            given = self._essential(node.expr)
            if given is None or given.signed != kind.signed or given.bits < kind.bits:
                self.program.casts.append(c_generator.CGenerator().visit(node))
        return super()._cast_value(node)

    def _is_constant(self, node):
        if isinstance(node, c_ast.Constant):
            return True
        if isinstance(node, c_ast.ID):
            return node.name in self.program.constants
        if isinstance(node, c_ast.BinaryOp):
            return self._is_constant(node.left) and self._is_constant(node.right)
        if isinstance(node, c_ast.UnaryOp | c_ast.Cast):
            return self._is_constant(node.expr)
        return False

    def _essential(self, node):
        """Return the essential type: an Int, "boolean", or None where it is another one."""
        if isinstance(node, c_ast.UnaryOp) and node.op in ("~", "-", "+"):
            kind = self._essential(node.expr)
            if isinstance(kind, Int) and (kind.signed == (node.op != "~")):
                return self._lowest(node, kind)
        elif isinstance(node, c_ast.BinaryOp) and node.op in _SUMS:
            return self._lowest(node, self._of_two(node, node.left, node.right))
        elif isinstance(node, c_ast.BinaryOp) and node.op in _SHIFTS:
            kind = self._essential(node.left)
            if isinstance(kind, Int) and not kind.signed:
                return self._lowest(node, kind)
        elif isinstance(node, c_ast.BinaryOp) or (
            isinstance(node, c_ast.UnaryOp) and node.op == "!"
        ):
            return _BOOLEAN
        elif isinstance(node, c_ast.TernaryOp):
            return self._of_two(node, node.iftrue, node.iffalse)
        elif isinstance(node, c_ast.Assignment):
            return self._essential(node.lvalue)
        kind = self.value(node)[0]
        if self._is_constant(node) and not isinstance(node, c_ast.Cast):
            return self._lowest(node, kind)
        return kind if isinstance(kind, Int) else None

    def _of_two(self, node, left, right):
        """Return the wider essential type of two of one category, or else the standard type."""
        a, b = self._essential(left), self._essential(right)
        if isinstance(a, Int) and isinstance(b, Int) and a.signed == b.signed:
            return max(a, b, key=lambda kind: kind.bits)
        if a == b == _BOOLEAN:
            return Int(self.program.int_bits, True)
        kind = self.value(node)[0]
        return kind if isinstance(kind, Int) else None

    def _lowest(self, node, kind):
        """Return the narrowest type of a constant's category that has its value."""
        if not self._is_constant(node) or not isinstance(kind, Int):
            return kind
        value = self.value(node)[1](())
        return next(
            narrow
            for narrow in (Int(bits, kind.signed) for bits in (8, 16, 32, 64))
            if narrow.holds(value)
        )


class _Checked(CProgram):
    """Emitted C whose casts are listed."""

    body = _Checker

    def __init__(self, files, name, **widths):
        self.casts = []
        super().__init__(files, name, **widths)


def forbidden_casts(files, name="m.c", **widths):
    """
    Return casts of composite expressions to wider types, or to those of another category.

    Parameters
    ----------
    files : mapping of str to str
        Emitted files by name.
    name : str
        The name of the C file.
    **widths
        `int_bits` and `fast_bits` as for `CProgram`.

    Returns
    -------
    list of str
        The casts, each once, as a printer of C spells them.
    """
    return list(dict.fromkeys(_Checked(files, name, **widths).casts))


def _is_composite(node):
    if isinstance(node, c_ast.TernaryOp):
        return _is_composite(node.iftrue) or _is_composite(node.iffalse)
    return isinstance(node, c_ast.BinaryOp) and node.op in (*_SUMS, *_SHIFTS)
