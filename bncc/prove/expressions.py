"""Expressions and flags of instructions over all inputs."""

from collections.abc import Collection, Mapping

from bncc.prove.floats import compared
from bncc.prove.instructions import Expr, Flags
from bncc.prove.slices import Deferred, Operands, distance_of, lowest_of_address, names_in
from bncc.prove.state import SHIFTED, Content, Draft, read
from bncc.prove.values import WORD, OpenOrderError, UndecidedError, Value, signed
from bncc.prove.words import Words

_ALIGNED_4, _ALIGNED_8 = (1 << 32) - 4, (1 << 32) - 8
_NEGATED = {"ne": "eq", "cc": "cs", "pl": "mi", "vc": "vs", "ls": "hi", "lt": "ge", "le": "gt"}


class Expressions:
    """Evaluates expressions in a state, in the current region of an algebra."""

    _flags: Collection[str] = ()  # Operands that are flags, each by itself

    def __init__(self, algebra: Words) -> None:
        self._algebra = algebra

    def value(self, draft: Draft, expression: Expr) -> Value:
        """Return the value of an expression."""
        if isinstance(expression, int):
            return Value(expression % (1 << 32))
        if isinstance(expression, str):
            return read(draft.registers[expression], self._algebra)
        operation, *rest = expression
        if operation == "flag":
            return self._flag(draft, str(rest[0]))
        if operation == "zext" and isinstance(rest[0], tuple) and rest[0][0] == "shr":
            # A bit field: what is above it may be anything.
            whole, k = (self.value(draft, one) for one in rest[0][1:])
            if k.number is not None and k.const < 32:
                return self._algebra.field(whole, k.const, int(str(rest[1])))
        operands = [self.value(draft, one) for one in rest]
        return self._operation(str(operation), operands)

    def _operation(self, name: str, operands: list[Value]) -> Value:
        algebra = self._algebra
        a, b = operands[0], operands[1] if len(operands) > 1 else Value(0)
        if name == "add":
            return algebra.add(a, b)
        if name == "sub":
            return algebra.sub(a, b)
        is_of_stack = a.base == "stack" and not a.terms
        if name == "and" and is_of_stack and b.number in (_ALIGNED_4, _ALIGNED_8):
            return Value(a.const & b.const, base=a.base)  # sp is a multiple of 8 at the entry
        if name in ("and", "or", "xor"):
            if a.number is not None:
                a, b = b, a
            if name == "xor" and b.number == 1 << 31:
                return algebra.add(a, b)
            if name == "xor" and b.number == (1 << 32) - 1:
                return algebra.sub(Value((1 << 32) - 1), a)
            return algebra.bitwise(a, b, name)
        if name == "zext":
            return algebra.low(a, b.const)
        if name == "sext":
            return algebra.signed(a, b.const)
        if name == "eq":
            return algebra.equal(a, b)
        if name == "ult":
            return algebra.less(a, b)
        if name == "slt":
            return algebra.less(a, b, is_signed=True)
        if name == "ite":
            return algebra.chosen(a, b, operands[2])
        if name == "mul":
            if a.number is not None:
                a, b = b, a
            if b.number is None:
                return self._pointwise(name, a, b)
            return algebra.scaled(a, b.const)
        if name in ("shl", "shr", "sar", "ror"):
            if b.number is None:
                return self._pointwise(name, a, b)
            return self._shift(name, a, b.const)
        if name in ("feq", "flt", "fle"):
            return compared(self._algebra, name, a, b)
        raise UndecidedError("operation", f"the operation {name} is not modelled")

    def _shift(self, name: str, a: Value, k: int) -> Value:
        algebra = self._algebra
        if name == "shl":
            return algebra.scaled(a, 1 << k) if k < 32 else Value(0)
        if name == "shr":
            return algebra.moved_down(a, k)
        if name == "sar":
            return algebra.shifted_signed(a, k)
        k %= 32
        if k == 0:
            return a
        return algebra.add(algebra.shifted(a, k), algebra.scaled(a, 1 << (32 - k)))

    def _pointwise(self, name: str, a: Value, b: Value) -> Value:
        """Return an operation on two functions of few inputs, case by case."""
        algebra = self._algebra
        operations = {
            "mul": lambda x, y: x * y,
            "shl": lambda x, y: x << min(y, 32),
            "shr": lambda x, y: x >> min(y, 32),
            "sar": lambda x, y: signed(x) >> min(y, 32),
            "ror": lambda x, y: (x | x << 32) >> y % 32,
        }
        a, b = algebra.plain(a), algebra.plain(b)
        algebra.check_number(a)
        algebra.check_number(b)
        both_terms = [*a.terms.values(), *b.terms.values()]
        if not both_terms:
            return Value(operations[name](a.const, b.const) % WORD)
        units = [t if t.slopes is None else algebra.unit(t) for t in both_terms]
        term = algebra.joint(units, f"an operation {name}")
        term = algebra.inside(term)
        first = algebra.on(a, term.partition)
        second = algebra.on(b, term.partition)
        pairs = zip(first, second, strict=True)
        return algebra.mapped(term, (operations[name](x, y) for x, y in pairs))

    def low_of_address(self, draft: Draft, expression: Expr) -> Content | None:
        """Return the lowest bits of an address, which no operation reads; None for others."""
        if not isinstance(expression, tuple) or expression[0] != "zext":
            return None
        return lowest_of_address(draft.registers.get(str(expression[1])), int(str(expression[2])))

    def set_flags(self, draft: Draft, effect: Flags) -> None:
        """Note what the flags are of; conditions are evaluated when they are tested."""
        distance = None
        if effect.kind == "sub":  # A loop that compilers count by the lowest bits of a pointer
            parts = (draft.registers.get(str(one)) for one in (effect.left, effect.right))
            distance = distance_of(*parts)
        if distance is not None:
            draft.flags = {"nz": ("distance", (Value(distance),))}
            return
        left, right = self.value(draft, effect.left), self.value(draft, effect.right)
        flags = dict(draft.flags)
        if effect.kind == "logic":
            flags["nz"] = ("value", (left,))
            if effect.carry is not None:
                try:
                    flags["c"] = (SHIFTED, (self._carried(draft, effect.carry),))
                except (UndecidedError, OpenOrderError):
                    flags.pop("c", None)
        elif effect.kind in ("adc", "sbc"):
            carry = self.value(draft, effect.carry or ("flag", "cs"))
            if effect.kind == "sbc":
                right = self._algebra.sub(Value((1 << 32) - 1), right)
            total = self._algebra.add(self._algebra.add(left, right), carry)
            flags = {"nz": ("value", (total,)), "c": ("adc", (left, right, carry))}
        else:
            record = (effect.kind, (left, right))
            flags = {"nz": record, "c": record, "v": record}
        draft.flags = flags

    def _carried(self, draft: Draft, expression: Expr) -> Content:
        """Return a carry of a shift, a bit of a sum that hardly any code tests."""
        names = set(names_in(expression))
        if not names <= draft.registers.keys():  # It shifts by a number of a register
            return self.value(draft, expression)
        return Deferred(expression, {name: draft.registers[name] for name in names}, self._later)

    def _later(self, operands: Mapping[str, Content], expression: object) -> Value:
        return self.value(Operands(operands, self._flags), expression)  # type: ignore[arg-type]

    def _flag(self, draft: Draft, name: str) -> Value:
        algebra = self._algebra
        if name in _NEGATED:
            return algebra.sub(Value(1), self._flag(draft, _NEGATED[name]))
        part = {"eq": "nz", "mi": "nz", "cs": "c", "vs": "v", "hi": "c", "ge": "nz", "gt": "nz"}
        if part[name] not in draft.flags:
            raise UndecidedError("flags", f"the condition {name} tests flags of two paths")
        kind, contents = draft.flags[part[name]]
        values = [read(content, self._algebra) for content in contents]
        if kind == "float":
            return self._float_flag(name, *values)
        if kind == "distance" and name == "eq":
            return algebra.equal(values[0], Value(0))
        if kind == "value":
            if name == "eq":
                return algebra.equal(values[0], Value(0))
            if name == "mi":
                return algebra.less(values[0], Value(0), is_signed=True)
            raise UndecidedError("flags", f"the condition {name} after a logic operation")
        if kind == SHIFTED and name == "cs":
            return values[0]
        if kind == "sub":
            a, b = values
            if name == "eq":
                return algebra.equal(a, b)
            if name == "mi":
                return algebra.less(algebra.sub(a, b), Value(0), is_signed=True)
            if name == "cs":
                return algebra.sub(Value(1), algebra.less(a, b))
            if name == "hi" and draft.flags.get("nz") == draft.flags["c"]:
                return algebra.less(b, a)
            if name == "ge":
                return algebra.sub(Value(1), algebra.less(a, b, is_signed=True))
            if name == "gt":
                return algebra.less(b, a, is_signed=True)
        if kind == "add":
            a, b = values
            if name == "eq":
                return algebra.equal(algebra.add(a, b), Value(0))
            if name == "mi":
                return algebra.less(algebra.add(a, b), Value(0), is_signed=True)
            if name == "hi" and draft.flags.get("nz") == draft.flags["c"]:
                # A carry and a result that is not zero.
                none = algebra.equal(algebra.add(a, b), Value(0))
                return algebra.chosen(none, Value(0), self._carry(values))
            if name in ("ge", "gt"):
                return self._sign_of_sum(name, a, b)
        if kind in ("add", "adc") and name == "cs":
            return self._carry(values)
        raise UndecidedError("flags", f"the condition {name} after {kind}")

    def _sign_of_sum(self, name: str, a: Value, b: Value) -> Value:
        """Return 1 where the sum of two signed numbers, as an integer, is >= 0 or > 0."""
        algebra = self._algebra
        if b.number is None:
            a, b = b, a
        if b.number is None and self._is_sum_exact(a, b):
            total = algebra.add(a, b)
            if name == "gt":
                return algebra.less(Value(0), total, is_signed=True)
            return algebra.sub(Value(1), algebra.less(total, Value(0), is_signed=True))
        if b.number in (None, 1 << 31):
            raise UndecidedError("flags", f"the condition {name} after a sum of two variables")
        negative = Value(-b.const % (1 << 32))
        if name == "gt":
            return algebra.less(negative, a, is_signed=True)
        return algebra.sub(Value(1), algebra.less(a, negative, is_signed=True))

    def _is_sum_exact(self, a: Value, b: Value) -> bool:
        """Return whether the sum of two signed numbers is always one of 32 bits."""
        algebra, half = self._algebra, 1 << 31
        if algebra.is_word(a) or algebra.is_word(b):
            return False
        ends = [algebra.range_of(algebra.exact(algebra.add(x, Value(half)))) for x in (a, b)]
        low, high = (sum(own) - 2 * half for own in zip(*ends, strict=True))
        return bool(-half <= low and high < half)

    def _carry(self, values: list[Value]) -> Value:
        """Return the carry of a sum of two numbers and a bit."""
        a, b = values[0], values[1]
        c = values[2] if len(values) > 2 else Value(0)
        # a + b + c >= 2^32 is a > 2^32 - 1 - b - c, which is -1 only if b is all ones and c is 1.
        if c.number == 0:
            return self._algebra.less(self._algebra.sub(Value((1 << 32) - 1), b), a)
        if c.number == 1:
            flipped = self._algebra.sub(Value((1 << 32) - 1), b)
            return self._algebra.sub(Value(1), self._algebra.less(a, flipped))
        raise UndecidedError("flags", "a carry into a carry")

    def _float_flag(self, name: str, a: Value, b: Value) -> Value:
        algebra = self._algebra
        if name == "eq":
            return compared(self._algebra, "feq", a, b)
        if name == "mi":
            return compared(self._algebra, "flt", a, b)
        if name == "cs":
            return algebra.sub(Value(1), compared(self._algebra, "flt", a, b))
        if name == "hi":
            return algebra.sub(Value(1), compared(self._algebra, "fle", a, b))
        if name == "ge":
            return compared(self._algebra, "fle", b, a)
        if name == "gt":
            return compared(self._algebra, "flt", b, a)
        raise UndecidedError("flags", f"the condition {name} after a comparison of floats")
