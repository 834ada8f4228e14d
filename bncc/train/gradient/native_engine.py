"""Tables of a given structure in training by C on one core, see tables.c."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.native import DESCENT, POINTERS, VECTOR, aligned
from bncc.toolchain.library import native_library
from bncc.train.gradient.engine import Passed, Problem
from bncc.train.gradient.layout import LEAST_LOG, layout_of
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.maximum_likelihood import LogTables

PARAMETERS = ("rho", "theta", "p", "gradient", "first", "second")
"""Suffixes of each parameter's members in types.h."""
AT_REST = "gradient"
"""Those among them that are 0 between two steps."""
N_STEPS = "n_steps"
"""Number of Adam steps so far."""


class Memory:
    """One engine's structure in C and the arrays behind its pointers."""

    def __init__(self, kind: str, n_classes: int) -> None:
        self.ffi, self.library = native_library(DESCENT)
        self.engine = self.ffi.new(f"{kind} *")
        self.n_classes = n_classes
        self.n_lanes = -(-n_classes // VECTOR) * VECTOR
        self._arrays: list[AnyArray] = []
        self._changing: dict[str, AnyArray] = {}

    def pointer(self, array: AnyArray) -> Any:
        """Return an array's address; the caller keeps it alive."""
        return self.ffi.cast(POINTERS[array.dtype.str[1:]], array.ctypes.data)

    def keep(self, arrays: Mapping[str, AnyArray]) -> None:
        """Set members of the engine to arrays."""
        for name, array in arrays.items():
            assert array.flags.c_contiguous
            self._arrays.append(array)
            setattr(self.engine, name, self.pointer(array))

    def keep_changing(self, arrays: Mapping[str, AnyArray]) -> None:
        """Set members of the engine to arrays that are part of its state."""
        self.keep(arrays)
        self._changing |= arrays

    def state(self) -> dict[str, AnyArray]:
        """
        Return copies of all numbers that steps change.

        These include derived numbers, since normalizing again may round otherwise.
        """
        n_steps = np.array([self.engine.n_steps], dtype=np.uint64)
        return {name: array.copy() for name, array in self._changing.items()} | {N_STEPS: n_steps}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Restore the return value of `state`."""
        for name, array in self._changing.items():
            array[:] = state[name]
        self.engine.n_steps = int(state[N_STEPS][0])

    def set_objective(self, hyper: Hyperparameters) -> None:
        """Fill in the loss, in floats: each member with the name of a term or an option."""
        objective = self.engine.objective
        objective.n_classes, objective.n_lanes = self.n_classes, self.n_lanes
        known = {name.rstrip("_"): value for name, value in vars(hyper).items()}
        known |= vars(hyper.terms)
        for name, _ in self.ffi.typeof("objective_t").fields:
            if name in known:
                setattr(objective, name, known[name])

    def set_format(self, fmt: QFormat | None) -> None:
        """Choose the number format, from the next normalization on."""
        self.engine.objective.is_quantized = fmt is not None
        if fmt is not None:
            self.engine.objective.scale = 2.0**fmt.frac_bits
            self.engine.objective.max_cost = float(fmt.max_cost)

    def set_samples(self, X: IntArray, y: IntArray, hyper: Hyperparameters) -> None:
        """Fill in the samples and their order."""
        samples = self.engine.samples
        samples.n_features, samples.batch_size = X.shape[1], hyper.batch_size
        samples.dropped_below = hyper.dropped_below
        arrays = [np.array(values, dtype=np.uint16, order="C") for values in (X, y)]
        self._arrays += arrays
        samples.x, samples.y = (self.pointer(array) for array in arrays)
        self._states = arrays[0]

    def see(self, X: IntArray) -> None:
        """Replace the states of the samples."""
        self._states[:] = X

    def passed(self, loss: float, n_samples: int) -> Passed:
        """Return the loss and error of an epoch, from the sum of its losses."""
        return Passed(loss / n_samples, self.engine.samples.n_wrong / n_samples)

    def parameters(
        self, name: str, start: FloatArray, more_rows: int = 0
    ) -> Mapping[str, AnyArray]:
        """
        Set members of the engine to parameters.

        Shapes: `start` (n_rows, n_classes) float64.
        """
        shape = len(start) + more_rows, self.n_lanes
        arrays = {part: aligned(shape) for part in PARAMETERS}
        arrays["rho"][: len(start), : self.n_classes] = np.maximum(start, LEAST_LOG)
        self._arrays += arrays.values()
        self._changing |= {f"{name}.{part}": arrays[part] for part in PARAMETERS if part != AT_REST}
        for part, array in arrays.items():
            setattr(getattr(self.engine, name), part, self.pointer(array))
        return arrays


def contiguous(arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Return indices and sizes in C's types."""
    return {name: np.ascontiguousarray(array, dtype=np.uint32) for name, array in arrays.items()}


def zeros(shape: Iterable[int], names: Iterable[str], kind: str = "f4") -> dict[str, AnyArray]:
    """Return arrays of zeros of one shape."""
    return {name: np.zeros(tuple(shape), dtype=kind) for name in names}


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
        """Use other states of the same samples from now on."""
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
        """Restore the numbers of `state`; see `Resumable`."""
        self._memory.restore(state)

    def _normalize(self, fmt: QFormat | None) -> None:
        self._memory.set_format(fmt)
        self._memory.library.bncc_tables_normalize(self._memory.engine)
