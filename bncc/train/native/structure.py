"""Structure and tables of all candidates in training by C on one core, see structure.c."""

from collections.abc import Mapping

import numpy as np

from bncc._types import AnyArray
from bncc.fixed_point import QFormat
from bncc.train.candidate_layout import candidate_layout, counted_start
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.native.memory import Memory, aligned, contiguous, zeros
from bncc.train.structure_engine import Chance, Learned, StructureProblem


class NativeStructureEngine:
    """A model in training, see `bncc.train.structure_engine.StructureEngine`.

    Parameters
    ----------
    problem : StructureProblem
        What is trained.
    hyper : Hyperparameters
        What steers it.

    Raises
    ------
    ToolchainError
        If the C cannot be built.
    """

    kind = "native"

    def __init__(self, problem: StructureProblem, hyper: Hyperparameters) -> None:
        layout = candidate_layout(problem.candidates, problem.n_states)
        log_prior, log_table = counted_start(problem.X, problem.y, layout, problem.n_classes)
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
            "parent": layout.parent,
            "stride": layout.stride,
            "size": layout.n_table_rows,
        }
        memory.keep(contiguous(read))
        memory.keep_changing(self._phi | zeros((n_features, n_slots), ["n_drawn"], "u4"))
        memory.keep(
            zeros((n_features, n_slots), ("phi_gradient", "soft"))
            | zeros((n_slots,), ("p", "log_p"))
            | zeros((n_features,), ["choice"], "u4")
            | zeros((n_features, hyper.batch_size), ["state"], "u2")
            | zeros((hyper.batch_size,), ["kept"], "u4")
        )
        memory.keep({"slope": aligned((hyper.batch_size, memory.n_lanes))})
        engine = memory.engine
        engine.n_slots, engine.n_rows = n_slots, layout.n_rows
        engine.phi_lr, engine.size_weight = problem.step, problem.size_weight
        memory.library.bncc_structure_normalize(engine)

    def epoch(self, chance: Chance, lr: float, tau: float) -> float:
        """Take one step for each batch; see `StructureEngine`."""
        memory = self._memory
        memory.engine.tau = tau
        arrays = (
            np.ascontiguousarray(chance.order, dtype=np.uint32),
            chance.noise,
            np.ascontiguousarray(chance.gumbel, dtype=np.float32),
        )
        pointers = (memory.pointer(array) for array in arrays)
        total = memory.library.bncc_structure_epoch(memory.engine, *pointers, len(chance.order), lr)
        return float(total) / len(chance.order)

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        self._fmt = fmt
        self._normalize(fmt)

    def learned(self) -> Learned:
        """Return the most probable structure, and its tables before quantization."""
        layout = self._layout
        phi = np.where(layout.n_table_rows > 0, self._phi["phi"], -np.inf)
        choice = phi.argmax(axis=1)
        self._normalize(None)
        n = self._memory.n_classes
        prior, tables = (p["theta"][:, :n].astype(np.float64) for p in (self._prior, self._tables))
        self._normalize(self._fmt)
        chosen = np.arange(len(choice)), choice
        ends = layout.offset[chosen] + layout.n_table_rows[chosen]
        parts = zip(layout.offset[chosen], ends, strict=True)
        return layout.candidates.choose(choice), (prior[0], tuple(tables[a:b] for a, b in parts))

    def state(self) -> dict[str, AnyArray]:
        """Return copies of all numbers that steps change; see `Resumable`."""
        return self._memory.state()

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Take the numbers of `state` up again; see `Resumable`."""
        self._memory.restore(state)

    def _normalize(self, fmt: QFormat | None) -> None:
        self._memory.set_format(fmt)
        self._memory.library.bncc_structure_normalize(self._memory.engine)
