"""Tables of a given structure in training by C on one core, see tables.c."""

from collections.abc import Mapping

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.fixed_point import QFormat
from bncc.train.gradient.engine import Passed, Problem
from bncc.train.gradient.layout import layout_of
from bncc.train.gradient.native_memory import Memory, contiguous, zeros
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.maximum_likelihood import LogTables


class NativeEngine:
    """A model in training, see `bncc.train.gradient.engine.Engine`."""

    kind = "native"

    def __init__(self, problem: Problem, hyper: Hyperparameters) -> None:
        layout = layout_of(problem.structure, problem.n_states)
        has_parents = layout.stride.any(axis=0)
        self._layout = layout
        self._fmt: QFormat | None = None
        self._memory = memory = Memory("tables_engine_t", len(problem.start[0]))
        memory.set_objective(hyper)
        memory.set_samples(problem.X, problem.y, hyper)
        self._tables = memory.parameters("tables", layout.stack(problem.start[1]), more_rows=1)
        self._prior = memory.parameters("prior", problem.start[0][None])
        read = {
            "offset": layout.offset,
            "parent": layout.parent.T[has_parents],
            "stride": layout.stride.T[has_parents],
            "group": np.array(layout.groups),
        }
        memory.keep(contiguous(read) | zeros(layout.offset.shape, ["row"], "u4"))
        engine = memory.engine
        engine.n_tables = len(layout.offset)
        engine.n_parents, engine.n_rows = int(has_parents.sum()), layout.n_rows
        engine.n_groups = len(layout.groups)
        memory.library.bncc_tables_normalize(engine)

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> Passed:
        """Take one step of Adam for each batch; see `Engine`."""
        memory = self._memory
        order = np.ascontiguousarray(order, dtype=np.uint32)
        total = memory.library.bncc_tables_epoch(
            memory.engine, memory.pointer(order), memory.pointer(noise), len(order), lr
        )
        return memory.passed(float(total), len(order))

    def see(self, X: IntArray) -> None:
        """Learn from other states of the same samples from now on."""
        self._memory.see(X)

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        self._fmt = fmt
        self._normalize(fmt)

    def log_tables(self) -> LogTables:
        """Return prior and tables before quantization; see `Engine`."""
        self._normalize(None)
        n = self._memory.n_classes
        prior, tables = (p["theta"][:, :n].astype(np.float64) for p in (self._prior, self._tables))
        self._normalize(self._fmt)
        return prior[0], self._layout.unstack(tables[:-1])

    def state(self) -> dict[str, AnyArray]:
        """Return copies of all numbers that steps change; see `Resumable`."""
        return self._memory.state()

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Take the numbers of `state` up again; see `Resumable`."""
        self._memory.restore(state)

    def _normalize(self, fmt: QFormat | None) -> None:
        self._memory.set_format(fmt)
        self._memory.library.bncc_tables_normalize(self._memory.engine)
