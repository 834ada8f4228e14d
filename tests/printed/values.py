"""Expressions of emitted C as Python functions."""

from pycparser import c_ast

from tests.printed.operations import (
    ARITHMETIC,
    COMPARISONS,
    cells_of,
    check_assignable,
    inside,
    moved,
    of_pointers,
    operand,
    shifted,
)
from tests.printed.types import (
    Array,
    CError,
    Float,
    Int,
    Pointer,
    Rom,
    checked,
    common,
    converted,
    literal,
    promoted,
)


class Values:
    """Expressions as functions of a frame: a list of every variable's cells."""

    def __init__(self, program):
        self.program = program
        self.variables = []  # types
        self.scopes = [{}]  # names -> places in the frame

    def add(self, name, kind):
        self.variables.append(kind)
        self.scopes[-1][name] = len(self.variables) - 1
        return len(self.variables) - 1

    # Values: (type, function of a frame)

    def value(self, node):
        if isinstance(node, c_ast.Constant):
            return self._constant(node)
        if isinstance(node, c_ast.ID) and node.name in self.program.constants:
            number = self.program.constants[node.name]
            return Int(self.program.int_bits, True), lambda frame: number
        if isinstance(node, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef):
            return self._read(node)
        return getattr(self, f"_{type(node).__name__.lower()}_value")(node)

    def _constant(self, node):
        if node.type == "string":
            raise CError("a string that is no initial value")
        if node.type == "float":
            number = converted(float(node.value.rstrip("fF")), Float())
            return Float(), lambda frame: number
        number, kind = literal(node.value, self.program.int_bits)
        return kind, lambda frame: number

    def _read(self, node):
        kind, place = self.place(node)
        if isinstance(kind, Array):
            return Pointer(kind.of), place
        name = getattr(node, "name", "an element")

        def read(frame):
            cells, k = place(frame)
            value = cells[inside(cells, k)]
            if value is None:
                raise CError(f"{name} is read before it is set")
            return value

        return kind, read

    def _unaryop_value(self, node):
        if node.op == "&":
            kind, place = self.place(node.expr)
            return Pointer(kind), place
        if node.op == "*":
            return self._read(node)
        if node.op in ("p++", "p--", "++", "--"):
            return self._stepped(node)
        if node.op == "sizeof":
            n = len(cells_of(kind := self.place(node.expr)[0]))
            assert kind == Array(Int(8, False), n), "the size of what is no array of bytes"
            return Int(self.program.int_bits, False), lambda frame: n
        kind, run = self.value(node.expr)
        if node.op == "!":
            return Int(self.program.int_bits, True), lambda frame: int(not run(frame))
        kind = promoted(kind, self.program.int_bits)
        if node.op == "~":
            return kind, lambda frame: checked(~run(frame), kind)
        if isinstance(kind, Float):
            return kind, lambda frame: -run(frame)
        return kind, lambda frame: checked(-run(frame), kind)

    def _stepped(self, node):
        kind, place = self.place(node.expr)
        by = 1 if "+" in node.op else -1

        def step(frame):
            cells, k = place(frame)
            old = cells[inside(cells, k)]
            new = moved(old, by) if isinstance(kind, Pointer) else checked(old + by, kind)
            cells[k] = new
            return old if node.op.startswith("p") else new

        return kind, step

    def _binaryop_value(self, node):
        (left, a), (right, b) = self.value(node.left), self.value(node.right)
        int_bits = self.program.int_bits
        op = node.op
        if op == "&&":
            return Int(int_bits, True), lambda frame: int(bool(a(frame)) and bool(b(frame)))
        if op == "||":
            return Int(int_bits, True), lambda frame: int(bool(a(frame)) or bool(b(frame)))
        if isinstance(left, Pointer) or isinstance(right, Pointer):
            return of_pointers(op, left, a, right, b, int_bits)
        if op in ("<<", ">>"):
            return shifted(op, promoted(left, int_bits), a, b)
        kind = common(left, right, int_bits)
        if op in COMPARISONS:
            compare = COMPARISONS[op]
            if isinstance(kind, Float):
                return Int(int_bits, True), lambda frame: int(compare(a(frame), b(frame)))
            return Int(int_bits, True), lambda frame: int(
                compare(operand(a(frame), kind), operand(b(frame), kind))
            )
        run = ARITHMETIC[op]
        return kind, lambda frame: checked(
            run(operand(a(frame), kind), operand(b(frame), kind)), kind
        )

    def _assignment_value(self, node):
        kind, place = self.place(node.lvalue)
        right = node.rvalue
        if node.op != "=":
            right = c_ast.BinaryOp(node.op[:-1], node.lvalue, node.rvalue)
        given, run = self.value(right)
        check_assignable(kind, given)

        def assign(frame):
            value = converted(run(frame), kind)
            cells, k = place(frame)
            if isinstance(cells, Rom):
                raise CError("a constant is written to")
            cells[inside(cells, k)] = value
            return value

        return kind, assign

    def _ternaryop_value(self, node):
        holds = self.value(node.cond)[1]
        (left, yes), (right, no) = self.value(node.iftrue), self.value(node.iffalse)
        if isinstance(left, Pointer):
            return left, lambda frame: yes(frame) if holds(frame) else no(frame)
        kind = common(left, right, self.program.int_bits)
        return kind, lambda frame: converted(yes(frame) if holds(frame) else no(frame), kind)

    def _cast_value(self, node):
        given, run = self.value(node.expr)
        kind = self.program.type_of(node.to_type.type)
        if kind is None:
            return None, run
        if isinstance(kind, Pointer) or isinstance(given, Pointer):
            assert kind == given, "a cast changes what a pointer points to"
        return kind, lambda frame: converted(run(frame), kind)

    def _funccall_value(self, node):
        function = self.program.functions[node.name.name]
        given = [self.value(each) for each in (node.args.exprs if node.args else ())]
        for kind, (each, _) in zip(function.kinds, given, strict=True):
            check_assignable(kind, each)
        runs = [run for _, run in given]
        return function.result, lambda frame: function.call([run(frame) for run in runs])

    # Places: (type, function of a frame that returns cells and an index)

    def place(self, node):
        if isinstance(node, c_ast.ID):
            return self._variable(node.name)
        if isinstance(node, c_ast.ArrayRef):
            kind, base = self.value(node.name)
            index = self.value(node.subscript)[1]
            return kind.to, lambda frame: moved(base(frame), index(frame))
        if isinstance(node, c_ast.UnaryOp) and node.op == "*":
            kind, base = self.value(node.expr)
            return kind.to, base
        return self._member(node)

    def _variable(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return self._local(scope[name])
        kind, cells = self.program.globals[name]
        return kind, lambda frame: (cells, 0)

    def _local(self, at):
        return self.variables[at], lambda frame: (frame[at], 0)

    def _member(self, node):
        kind, base = self.place(node.name) if node.type == "." else self.value(node.name)
        record = kind if node.type == "." else kind.to
        name = node.field.name

        def place(frame):
            cells, k = base(frame)
            return cells[inside(cells, k)][name], 0

        return dict(record.fields)[name], place
