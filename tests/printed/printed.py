"""Emitted C as a machine whose answers can be compared with the model's, without a compiler."""

from itertools import product

import numpy as np

from bncc.device.inputs.cases import Case
from bncc.device.machine import Machine
from tests.printed.program import CProgram
from tests.printed.types import Record


class Printed(Machine):
    """The interpreter in the place of a compiler."""

    def __init__(self, model, files, entries, *, int_bits=32, fast_bits=32):
        super().__init__(model, frozenset({"predict", *entries}), f"int of {int_bits} bits")
        self.program = CProgram(files, int_bits=int_bits, fast_bits=fast_bits)

    def close(self):
        """Do nothing; there is nothing to release."""

    def _answer(self, entry, rows):
        y = np.empty(len(rows), dtype=np.int16)
        n_scores = self.n_classes if entry == "scores" else 0
        scores = np.zeros((len(rows), n_scores), dtype=np.int64)
        for k, row in enumerate(rows):
            if entry == "scores":
                cells = [None] * self.n_classes
                y[k] = self.program.call("m_scores", (row.tolist(), 0), (cells, 0))
                if y[k] >= 0:
                    scores[k] = cells
            elif entry == "raw_missing":
                bits = (row["bits"].tolist(), 0)
                y[k] = self.program.call(
                    "m_predict_raw_missing", self._reading(row["readings"]), bits
                )
            elif entry == "raw":
                y[k] = self.program.call("m_predict_raw", self._reading(row))
            elif entry == "stream":
                y[k] = self._fed(row.tolist())
            else:
                name = "m_predict" if entry == "predict" else f"m_predict_{entry}"
                y[k] = self.program.call(name, (row.tolist(), 0))
        return y, scores

    def _reading(self, row):
        """Return a pointer to a reading: to an array where all columns share a type."""
        kind = self.program.types["m_raw_t"]
        if not isinstance(kind, Record):
            return list(row.item()), 0
        return [{name: [cell] for (name, _), cell in zip(kind.fields, row.item(), strict=True)}], 0

    def _fed(self, row):
        state = (self.program.cells_of("m_state_t"), 0)
        self.program.call("m_begin", state)
        order = np.random.default_rng(sum(row)).permutation(len(row)).tolist()
        for i in order:
            error = self.program.call("m_feed", state, i, row[i])
            if error < 0:
                return error
        return self.program.call("m_end", state)


def row_cases(program, costs, n_random=4, seed=0):
    """Yield states that reach every row of every table of a program, with answers by its costs."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, program.n_states, (n_random, len(program.n_states)))
    X = np.concatenate([drawn, _row_cover(program, rng)])
    total = costs(X)
    total -= total.min(axis=1, keepdims=True)
    yield Case("states", X, total.argmin(axis=1).astype(np.int16), total)


def _row_cover(program, rng):
    """Return inputs with all joint states of every table's features, many to an input."""
    wanted = [{f: s} for f, n in enumerate(program.n_states) for s in range(n)]
    for table in program.tables:
        every = ([(f, s) for s in range(program.n_states[f])] for f in table.features)
        wanted += [dict(row) for row in product(*every)]
    inputs: list[dict[int, int]] = []
    for row in sorted(wanted, key=len, reverse=True):
        for known in inputs:
            if all(known.get(f, s) == s for f, s in row.items()):
                known.update(row)
                break
        else:
            inputs.append(row)
    X = rng.integers(0, program.n_states, (len(inputs), len(program.n_states)))
    for k, known in enumerate(inputs):
        X[k, list(known)] = list(known.values())
    return X
