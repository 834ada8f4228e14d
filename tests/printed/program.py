"""
An interpreter of emitted C, without any compiler.

The text is parsed by pycparser and executed by the C99 standard, on a machine whose int
and fast types are as wide as a test asks for. What the standard leaves undefined is an error:
signed overflow, shifts by the width or more, reads of variables that are not set, and accesses out
of bounds. So are conversions and shifts of negative numbers, which it leaves to the compiler.
"""

from functools import cached_property, lru_cache

from pycparser import c_ast, c_parser

from tests.printed.body import Body, Function
from tests.printed.operations import cells_of
from tests.printed.preprocessor import preprocessed
from tests.printed.types import Array, Float, Int, Pointer, Record, Rom, converted

_WORDS = ("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")
_FAST = ("uint_fast8_t", "uint_fast16_t", "uint_fast32_t", "int_fast16_t", "int_fast32_t")
_LIMITS = {
    "INT8_MIN": "(-127 - 1)", "INT8_MAX": "127",
    "INT16_MIN": "(-32767 - 1)", "INT16_MAX": "32767",
    "INT32_MIN": "(-2147483647L - 1)", "INT32_MAX": "2147483647L",
}  # fmt: skip


class CProgram:
    """
    Emitted C, ready to be called.

    Parameters
    ----------
    files : mapping of str to str
        Emitted files by name.
    name : str
        The name of the C file.
    int_bits : {16, 32}
        Width of int.
    fast_bits : {16, 32, 64}
        Width of the fast types of 16 bits or more.
    """

    body = Body
    """Parser of functions."""

    def __init__(self, files, name="m.c", *, int_bits=32, fast_bits=32):
        self.int_bits = int_bits
        self.types = {word: _word(word) for word in _WORDS}
        self.types |= {word: _word(word, fast_bits) for word in _FAST}
        self.globals = {}  # name -> (type, cells) of variables
        self.functions = {}  # name -> _Function
        self.constants = {}  # of enumerations
        for node in _parsed(preprocessed(name, files, _LIMITS)):
            self._declare(node)

    def call(self, name, *values):
        """Call a function with numbers and pointers."""
        return self.functions[name].call(values)

    @cached_property
    def rom(self):
        """Constant arrays by name; each records which entries were read."""
        return {name: cells for name, (_, cells) in self.globals.items() if isinstance(cells, Rom)}

    def cells_of(self, name):
        """Return cells that are not set for an object of a type of the program."""
        return cells_of(self.types[name])

    # Declarations

    def _declare(self, node):
        if isinstance(node, c_ast.FuncDef):
            known = self.functions.setdefault(node.decl.name, Function())
            known.define(self, node)
        elif isinstance(node, c_ast.Typedef):
            self.types.setdefault(node.name, self.type_of(node.type))
        elif isinstance(node.type, c_ast.Enum):
            self._enumerate(node.type)
        elif isinstance(node.type, c_ast.FuncDecl):
            self.functions.setdefault(node.name, Function())
        else:
            self._variable(node)

    def _enumerate(self, node):
        value = 0
        for each in node.values.enumerators:
            if each.value is not None:
                value = Body(self).value(each.value)[1](())
            self.constants[each.name] = value
            value += 1

    def _variable(self, node):
        kind = self.type_of(node.type)
        assert "const" in node.quals or "const" in _qualifiers(node.type), node.name
        values = self._initial(node.init, kind)
        if isinstance(kind, Array):
            kind = Array(kind.of, len(values))
        self.globals[node.name] = (kind, Rom(values))

    def _initial(self, node, kind):
        """Return the cells of a constant with initial values."""
        if isinstance(kind, Array) and isinstance(node, c_ast.InitList):
            (first, *others) = node.exprs
            if isinstance(first, c_ast.Constant) and first.type == "string" and not others:
                return self._initial(first, kind)
            assert not any(isinstance(each, c_ast.NamedInitializer) for each in node.exprs)
            cells = [self._initial(each, kind.of)[0] for each in node.exprs]
        elif isinstance(kind, Array):
            text = node.value[1:-1].encode("utf-8").decode("unicode_escape").encode("latin-1")
            cells = [byte - (byte > 127) * 256 for byte in text] + [0]
        else:
            return [converted(Body(self).value(node)[1](()), kind)]
        assert kind.n in (None, len(cells)), "an array is not as long as its entries"
        return cells

    def type_of(self, node):
        """Return the type that a declarator, or a type name, stands for."""
        if isinstance(node, c_ast.TypeDecl | c_ast.Typename):
            return self.type_of(node.type)
        if isinstance(node, c_ast.PtrDecl):
            return Pointer(self.type_of(node.type))
        if isinstance(node, c_ast.ArrayDecl):
            n = None if node.dim is None else Body(self).value(node.dim)[1](())
            return Array(self.type_of(node.type), n)
        if isinstance(node, c_ast.Struct | c_ast.Union):
            fields = tuple((each.name, self.type_of(each.type)) for each in node.decls)
            return Record(fields, isinstance(node, c_ast.Union))
        return self._named(" ".join(node.names))

    def _named(self, name):
        if name == "void":
            return None
        if name == "float":
            return Float()
        if name == "char":
            return Int(8, True)
        if name in ("int", "unsigned int"):
            return Int(self.int_bits, name == "int")
        return self.types[name]


@lru_cache(maxsize=4)
def _parsed(text):
    """Return the declarations of a text; programs for several machines share them."""
    prelude = "".join(f"typedef int {word};\n" for word in (*_WORDS, *_FAST))
    return c_parser.CParser().parse(prelude + text).ext[len(_WORDS) + len(_FAST) :]


def _word(name, fast_bits=0):
    bits = int("".join(filter(str.isdigit, name)))
    return Int(max(bits, fast_bits), not name.startswith("u"))


def _qualifiers(node):
    return [*getattr(node, "quals", ()), *(_qualifiers(node.type) if hasattr(node, "type") else ())]
