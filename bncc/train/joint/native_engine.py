"""Structure and tables of all candidates in training by C on one core, see structure.c."""

from collections.abc import Mapping

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.native import aligned
from bncc.train.gradient.engine import Chance, Learned, Passed, StructureProblem
from bncc.train.gradient.native_engine import Memory, contiguous, zeros
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.joint.candidate_layout import counted_start

UNBOUNDED = 1e30
"""A unit beyond every logarithm: before quantization all widths read the same."""


class NativeStructureEngine:
    """A model in training, see `bncc.train.gradient.engine.StructureEngine`."""

    kind = "native"

    def __init__(self, problem: StructureProblem, hyper: Hyperparameters) -> None:
        layout = problem.layout
        log_prior, log_table = counted_start(
            problem.X, problem.y, layout, problem.n_classes, problem.weights
        )
        n_features, n_slots = layout.offset.shape
        self._layout = layout
        self._fmt: QFormat | None = None
        self._memory = memory = Memory("structure_engine_t", problem.n_classes)
        memory.set_objective(hyper)
        memory.set_samples(problem.X, problem.y, hyper)
        self._tables = memory.parameters("tables", log_table, more_rows=1)
        self._prior = memory.parameters("prior", log_prior[None])
        self._phi = zeros((n_features, n_slots), ("phi", "phi_first", "phi_second"))
        read = {
            "n_states": layout.n_states,
            "offset": layout.offset,
            "read_offset": layout.read_offset,
            "parent": layout.parent,
            "stride": layout.stride,
        }
        memory.keep(contiguous(read))
        memory.keep_changing(self._phi | zeros((n_features, layout.n_choices), ["n_drawn"], "u4"))
        memory.keep(
            zeros((n_features, n_slots), ("phi_gradient", "soft"))
            | zeros((n_slots,), ("p", "log_p"))
            | zeros((n_features,), ["choice"], "u4")
            | zeros((n_features, hyper.batch_size), ["state"], "u2")
            | zeros((hyper.batch_size,), ["kept"], "u4")
        )
        memory.keep({"slope": aligned((hyper.batch_size, memory.n_lanes))})
        self._read = self._tables["theta"]
        if layout.widths:
            self._read = aligned((layout.n_planes * layout.n_rows, memory.n_lanes))
            memory.keep_changing({"read": self._read})
        self._steering = zeros((n_features, n_slots), ["price"])
        self._steering |= zeros((n_features, n_slots), ["size"], "u4")
        self._steering |= zeros((len(layout.widths),), ["span"])
        memory.keep({"read": self._read} | self._steering)
        engine = memory.engine
        engine.n_slots, engine.n_choices = n_slots, layout.n_choices
        engine.n_rows, engine.n_widths = layout.n_rows, len(layout.widths)
        engine.phi_lr = problem.step
        self._normalize(None)

    def epoch(self, chance: Chance, lr: float, tau: float, prices: FloatArray) -> Passed:
        """Take one step for each batch; see `StructureEngine`."""
        memory = self._memory
        memory.engine.tau = tau
        self._steering["price"][:] = prices
        arrays = (
            np.ascontiguousarray(chance.order, dtype=np.uint32),
            chance.noise,
            np.ascontiguousarray(chance.gumbel, dtype=np.float32),
        )
        pointers = (memory.pointer(array) for array in arrays)
        total = memory.library.bncc_structure_epoch(memory.engine, *pointers, len(chance.order), lr)
        return memory.passed(float(total), len(chance.order))

    def see(self, X: IntArray) -> None:
        """Use other states of the same samples from now on."""
        self._memory.see(X)

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        self._fmt = fmt
        for of_slots in self._phi.values():
            self._layout.spread(of_slots)
        self._normalize(fmt)

    def costs(self) -> IntArray:
        """Return all quantized tables; see `StructureEngine`."""
        assert self._fmt is not None
        end = self._layout.n_planes * self._layout.n_rows
        widest = self._read[end - self._layout.n_rows : end, : self._memory.n_classes]
        return np.rint(widest * -(2.0**self._fmt.frac_bits)).astype(np.int64)

    def learned(self) -> Learned:
        """Return the most probable structure, and its tables before quantization."""
        layout, choice = self._layout, self._most_probable()
        self._normalize(None)
        n = self._memory.n_classes
        prior, tables = (p["theta"][:, :n].astype(np.float64) for p in (self._prior, self._tables))
        self._normalize(self._fmt)
        chosen = np.arange(len(choice)), choice
        ends = layout.offset[chosen] + layout.n_table_rows[chosen]
        parts = zip(layout.offset[chosen], ends, strict=True)
        return layout.choose(choice), (prior[0], tuple(tables[a:b] for a, b in parts))

    def widths(self) -> tuple[int, ...]:
        """Return the bits of the most probable slots; see `StructureEngine`."""
        return self._layout.widths_of(self._most_probable())

    def _most_probable(self) -> IntArray:
        is_present = self._layout.is_present(has_widths=self._fmt is not None)
        phi = np.where(is_present, self._phi["phi"], -np.inf)
        return np.asarray(phi.argmax(axis=1))

    def state(self) -> dict[str, AnyArray]:
        """Return copies of all numbers that steps change; see `Resumable`."""
        return self._memory.state()

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Restore the numbers of `state`; see `Resumable`."""
        self._memory.restore(state)

    def _normalize(self, fmt: QFormat | None) -> None:
        layout, steering = self._layout, self._steering
        self._memory.set_format(fmt)
        unit = 2.0**-fmt.frac_bits if fmt is not None else UNBOUNDED
        steering["span"][:] = layout.most * unit
        steering["size"][:] = layout.n_table_rows * layout.is_present(has_widths=fmt is not None)
        self._memory.library.bncc_structure_normalize(self._memory.engine)
