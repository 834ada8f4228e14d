"""The expensive steps of boosting by C on one core, see growth.c, branches.c, slopes.c, sum.c."""

from typing import Any

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.branches import LEAST_SAMPLES, LeafCut
from bncc.boosting.cuts import BestCuts, Bins, Cut
from bncc.boosting.descent import GATE_WEIGHT, Pace, SumProblem
from bncc.boosting.sums import Samples, Scores, Unit
from bncc.native import BOOSTING, POINTERS, VECTOR, aligned
from bncc.toolchain.library import native_library

NO_CLASS = -1e30
"""Score of the padding of a row."""
POINTER_TYPES = {**POINTERS, "f8": "double *"}


def native_best_cuts(bins: Bins, l2: float, n_classes: int, most_cells: int) -> BestCuts:
    """Return the native engine; see `bncc.boosting.cuts.numpy_best_cuts`."""
    ffi, library = native_library(BOOSTING)
    n_lanes = _lanes(2 * n_classes)
    n_bins = bins.n_bins.astype(np.uint16)
    most_bins = int(n_bins.max())
    padded = aligned((bins.codes.shape[1], n_lanes))
    arrays: dict[str, AnyArray] = {
        "bins": bins.codes,
        "n_bins": n_bins,
        "slopes": padded,
        "sums": aligned((most_cells * most_bins, n_lanes)),
        "gain": np.zeros(most_bins),
    }
    growth = ffi.new("growth_t *")
    growth.n_samples, growth.n_classes, growth.n_lanes = len(padded), n_classes, n_lanes
    growth.l2 = l2

    def best_cuts(slopes: AnyArray, cells: IntArray, n_cells: int, features: IntArray) -> list[Cut]:
        padded[:, : 2 * n_classes] = slopes
        arrays["cell"] = cells.astype(np.uint16)
        growth.n_cells = n_cells
        _point(ffi, growth, arrays)
        found = [(f, library.bncc_best_cut(growth, f)) for f in features.tolist()]
        return [Cut(f, cut.bin, cut.gain) for f, cut in found if cut.gain > 0.0]

    return best_cuts


class NativeLeafCuts:
    """Best cuts of leaves, see `bncc.boosting.branches.LeafCuts`."""

    def __init__(self, bins: Bins, l2: float, n_classes: int) -> None:
        self._ffi, self._library = native_library(BOOSTING)
        n_bins = bins.n_bins.astype(np.uint16)
        shape = int(n_bins.max()), _lanes(2 * n_classes)
        self._arrays: dict[str, AnyArray] = {
            "bins": bins.codes,
            "n_bins": n_bins,
            "slopes": aligned((bins.codes.shape[1], shape[1])),
            "sums": aligned(shape),
            "counts": np.zeros(shape[0], dtype=np.uint32),
        }
        self._growth = growth = self._ffi.new("branches_t *")
        growth.n_samples, growth.n_classes, growth.n_lanes = (
            bins.codes.shape[1],
            n_classes,
            shape[1],
        )
        growth.l2, growth.least = l2, LEAST_SAMPLES
        _point(self._ffi, growth, self._arrays)

    def __call__(self, slopes: AnyArray) -> LeafCut:
        """Return the search for these slopes; that for others ends with it."""
        self._arrays["slopes"][:, : slopes.shape[1]] = slopes
        return self._best

    def _best(self, samples: IntArray, features: IntArray) -> Cut | None:
        given = samples.astype(np.uint32), features.astype(np.uint32)  # named: they must stay
        leaf, read = (_address(self._ffi, array) for array in given)
        cut = self._library.bncc_best_split(self._growth, leaf, len(samples), read, len(features))
        return Cut(cut.feature, cut.bin, cut.gain) if cut.gain > 0.0 else None


class NativeSlopes:
    """Derivatives of the samples' losses, see `bncc.boosting.sums.Slopes`."""

    def __init__(self, samples: Samples) -> None:
        self._ffi, self._library = native_library(BOOSTING)
        self._arrays: dict[str, AnyArray] = {
            "y": samples.y.astype(np.uint16),
            "weight": samples.weights.astype(np.float32),
        }
        self._slopes = self._ffi.new("slopes_t *")
        self._slopes.n_samples, self._slopes.n_classes = len(samples.y), samples.n_classes
        _point(self._ffi, self._slopes, self._arrays)

    def of(self, sums: AnyArray) -> AnyArray:
        """Return the derivatives; see `Slopes`."""
        n_samples, n_classes = sums.shape
        given = np.ascontiguousarray(sums, dtype=np.float32)
        slopes = np.empty((n_samples, 2 * n_classes), dtype=np.float32)
        pointers = (_address(self._ffi, array) for array in (given, slopes))
        self._library.bncc_slopes(self._slopes, *pointers)
        return slopes

    def by_row(self, slopes: AnyArray, row: IntArray, n_rows: int) -> tuple[FloatArray, FloatArray]:
        """Add up derivatives by the row of a table; see `Slopes`."""
        sums = np.zeros((n_rows, slopes.shape[1]))
        arrays = slopes, row.astype(np.uint16), sums
        pointers = (_address(self._ffi, array) for array in arrays)
        self._library.bncc_slopes_by_row(self._slopes, *pointers)
        gradient, curvature = np.split(sums, 2, axis=1)
        return gradient, curvature


class NativeSumEngine:
    """Boosted tables in training, see `bncc.boosting.descent.SumEngine`."""

    def __init__(self, problem: SumProblem, start: Scores, pace: Pace) -> None:
        self._ffi, self._library = native_library(BOOSTING)
        self._n_rows, self._n_classes = start.rows.shape
        shape = self._n_rows + 2, _lanes(self._n_classes)
        names = ("rho", "theta", "gradient", "first", "second")
        self._arrays: dict[str, AnyArray] = {name: aligned(shape) for name in names}
        rho = self._arrays["rho"]
        rho[:-1] = NO_CLASS
        rho[: self._n_rows, : self._n_classes] = start.rows
        rho[self._n_rows, : self._n_classes] = start.prior
        self._arrays |= {
            "row": np.ascontiguousarray(problem.rows, dtype=np.uint32),
            "y": problem.y.astype(np.uint16),
            "weight": problem.weights.astype(np.float32),
            "n_hits": np.zeros(len(rho), dtype=np.uint32),
        }
        self._sum = engine = self._ffi.new("sum_t *")
        engine.n_tables, engine.n_classes = problem.rows.shape[1], self._n_classes
        engine.n_rows, engine.n_lanes = self._n_rows, rho.shape[1]
        engine.batch_size, engine.dropped_below = pace.batch_size, pace.dropped_below
        engine.has_prior, engine.decay = pace.has_prior, pace.weight_decay
        engine.n_gate, engine.gate_weight = pace.gate, GATE_WEIGHT
        _point(self._ffi, engine, self._arrays)
        self._library.bncc_sum_read(engine)

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> float:
        """Take one step of Adam for each batch; see `SumEngine`."""
        samples = np.ascontiguousarray(order, dtype=np.uint32)
        pointers = (_address(self._ffi, array) for array in (samples, noise))
        total = self._library.bncc_sum_epoch(self._sum, *pointers, len(samples), lr)
        return float(total) / len(samples)

    def quantize(self, unit: Unit) -> None:
        """Add up rounded costs from now on; see `SumEngine`."""
        self._sum.is_quantized = True
        self._sum.unit, self._sum.most = unit.nats, float(unit.most)
        self._library.bncc_sum_read(self._sum)

    def scores(self) -> Scores:
        """Return the scores before rounding; see `SumEngine`."""
        free = self._arrays["rho"][:-1, : self._n_classes].astype(np.float64)
        return Scores(free[:-1], free[-1])


def _lanes(n: int) -> int:
    return -(-n // VECTOR) * VECTOR


def _address(ffi: Any, array: AnyArray) -> Any:
    assert array.flags.c_contiguous
    return ffi.cast(POINTER_TYPES[array.dtype.str[1:]], array.ctypes.data)


def _point(ffi: Any, target: Any, arrays: dict[str, AnyArray]) -> None:
    """Set members of a C structure to arrays, which the caller keeps alive."""
    for name, array in arrays.items():
        setattr(target, name, _address(ffi, array))
