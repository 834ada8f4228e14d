"""Statements and functions of emitted C as Python functions."""

from pycparser import c_ast

from tests.printed.operations import cells_of, check_assignable
from tests.printed.types import Array, Pointer, converted
from tests.printed.values import Values

_BREAK, _CONTINUE = object(), object()


class Function:
    """A function; it may be called before it is defined."""

    def define(self, program, node):
        self.body = program.body(program)
        self.result = program.type_of(node.decl.type.type)
        parameters = node.decl.type.args.params if node.decl.type.args else []
        parameters = [each for each in parameters if each.name is not None]
        self.kinds = [_decayed(program.type_of(each.type)) for each in parameters]
        for each, kind in zip(parameters, self.kinds, strict=True):
            self.body.add(each.name, kind)
        self.run = self.body.statement(node.body)

    def call(self, values):
        frame = [None] * len(self.body.variables)
        for k, (value, kind) in enumerate(zip(values, self.kinds, strict=True)):
            frame[k] = [converted(value, kind)]
        returned = self.run(frame)
        return None if self.result is None else converted(returned[0], self.result)


def _decayed(kind):
    return Pointer(kind.of) if isinstance(kind, Array) else kind


class Body(Values):
    """The statements of a function, as functions of a frame."""

    # Statements return None to continue, _BREAK, _CONTINUE, or a tuple with the returned value.

    def statement(self, node):
        if node is None or isinstance(node, c_ast.EmptyStatement):
            return lambda frame: None
        return getattr(self, f"_{type(node).__name__.lower()}", self._expression)(node)

    def _expression(self, node):
        run = self.value(node)[1]

        def execute(frame):
            run(frame)

        return execute

    def _compound(self, node):
        self.scopes.append({})
        steps = [self.statement(each) for each in node.block_items or ()]
        self.scopes.pop()
        return _sequence(steps)

    def _decllist(self, node):
        return _sequence([self._decl(each) for each in node.decls])

    def _decl(self, node):
        kind = self.program.type_of(node.type)
        at = self.add(node.name, kind)
        if node.init is None:

            def make(frame):
                frame[at] = cells_of(kind)

            return make
        given, initial = self.value(node.init)
        check_assignable(kind, given)

        def make_with(frame):
            frame[at] = [converted(initial(frame), kind)]

        return make_with

    def _return(self, node):
        if node.expr is None:
            return lambda frame: (None,)
        run = self.value(node.expr)[1]
        return lambda frame: (run(frame),)

    def _break(self, node):
        return lambda frame: _BREAK

    def _continue(self, node):
        return lambda frame: _CONTINUE

    def _if(self, node):
        holds = self.value(node.cond)[1]
        yes, no = self.statement(node.iftrue), self.statement(node.iffalse)
        return lambda frame: yes(frame) if holds(frame) else no(frame)

    def _while(self, node):
        return self._loop(None, node.cond, None, node.stmt)

    def _for(self, node):
        self.scopes.append({})
        loop = self._loop(node.init, node.cond, node.next, node.stmt)
        self.scopes.pop()
        return loop

    def _dowhile(self, node):
        body, loop = self.statement(node.stmt), self._loop(None, node.cond, None, node.stmt)

        def execute(frame):
            signal = body(frame)
            if signal is _BREAK:
                return None
            return signal if isinstance(signal, tuple) else loop(frame)

        return execute

    def _loop(self, init, cond, step, stmt):
        start = self.statement(init)
        holds = self.value(cond)[1] if cond is not None else lambda frame: 1
        step, body = self.statement(step), self.statement(stmt)

        def execute(frame):
            start(frame)
            while holds(frame):
                signal = body(frame)
                if signal is _BREAK:
                    break
                if isinstance(signal, tuple):
                    return signal
                step(frame)
            return None

        return execute


def _sequence(steps):
    def execute(frame):
        for step in steps:
            signal = step(frame)
            if signal is not None:
                return signal
        return None

    return execute
