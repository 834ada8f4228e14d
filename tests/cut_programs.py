"""Random programs whose tables read a few cuts of a few features, as boosting grows them."""

import numpy as np
from hypothesis import strategies as st

from bncc.discretize.feature import Feature
from bncc.emit.emitter import Emission, EmitOptions, emit_candidate
from bncc.fixed_point import QFormat
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.base import Kernel
from bncc.model.model import Model
from bncc.program.ir import Program, Table
from bncc.structure.decision_tables import DecisionTable
from bncc.structure.graph import forest


def cut_program(
    n_features: int,
    n_states: int,
    n_classes: int,
    n_tables: int,
    n_rows: int,
    *,
    bits: int = 3,
    seed: int = 0,
    has_prior: bool = False,
    share_of_grids: float = 0.3,
) -> Program:
    """
    Return a program of tables over cuts.

    Parameters
    ----------
    n_features, n_states, n_classes : int
        Its inputs, all of that cardinality, and its classes.
    n_tables : int
        Its tables.
    n_rows : int
        No table has more rows; it has as many as cuts that are drawn one by one allow.
    bits : int, default=3
        Costs are ``0 .. 2**bits - 1``, and every row has a zero.
    seed : int, default=0
        Of everything.
    has_prior : bool, default=False
        Whether the prior is drawn too, else zeros.
    share_of_grids : float, default=0.3
        How often a cut is one more of a feature that the table reads already.

    Returns
    -------
    Program
        The same for the same arguments.
    """
    rng = np.random.default_rng(seed)
    features = tuple(Feature(f"x{i}", "state", n_states) for i in range(n_features))
    tables = []
    for _ in range(n_tables):
        grid = _grid(rng, n_features, n_states, n_rows, share_of_grids)
        costs = rng.integers(0, 1 << bits, (grid.n_rows, n_classes))
        costs[np.arange(grid.n_rows), rng.integers(0, n_classes, grid.n_rows)] = 0
        maps = grid.maps([n_states] * n_features)
        tables.append(Table(f"x{grid.features[-1]}", grid.features, costs, 8, maps))
    prior = rng.integers(0, 1 << bits, n_classes) * has_prior
    classes = tuple(f"c{c}" for c in range(n_classes))
    return Program(features, classes, 2, prior, tuple(tables))


def _grid(
    rng: np.random.Generator, n_features: int, n_states: int, n_rows: int, share_of_grids: float
) -> DecisionTable:
    """Draw cuts until one more would make too many rows."""
    cuts: dict[int, set[int]] = {}
    while True:
        again = rng.random() < share_of_grids and cuts
        others = [f for f in range(n_features) if f not in cuts]
        f = int(rng.choice(list(cuts) if again or not others else others))
        longer = cuts.get(f, set()) | {int(rng.integers(n_states - 1))}
        grown = {**cuts, f: longer}
        rows = np.prod([len(some) + 1 for some in grown.values()])
        if rows > n_rows or (cuts and all(len(some) >= n_states - 1 for some in cuts.values())):
            break
        cuts = grown
    return DecisionTable(tuple(cuts), tuple(tuple(sorted(some)) for some in cuts.values()))


@st.composite
def cut_programs(draw: st.DrawFn, max_classes: int = 12, max_tables: int = 12) -> Program:
    """Draw programs of cuts small enough to compile by the dozen."""
    return cut_program(
        draw(st.integers(2, 40)),
        draw(st.sampled_from([2, 3, 16, 255, 300])),
        draw(st.integers(2, max_classes)),
        draw(st.integers(1, max_tables)),
        draw(st.sampled_from([2, 6, 8, 16, 32])),
        bits=draw(st.integers(1, 5)),
        seed=draw(st.integers(0, 2**16)),
        has_prior=draw(st.booleans()),
        share_of_grids=draw(st.sampled_from([0.0, 0.4, 0.8])),
    )


def stand_in(program: Program) -> Model:
    """
    Return a model with a program's inputs and classes, to be emitted and loaded in its name.

    It has no costs: `emit_candidate` prints the program that it is given.
    """
    return Model(
        program.features,
        program.classes,
        forest([None] * len(program.features)),
        QFormat(2, program.frac_bits),
        np.zeros(program.n_classes, dtype=np.int64),
        tuple(np.zeros((n, program.n_classes), dtype=np.int64) for n in program.n_states),
        {},
    )


def emitted(program: Program, kernel: Kernel, options: EmitOptions) -> Emission:
    """Return the C of a kernel of a program."""
    return emit_candidate(stand_in(program), candidate(program, kernel, options.target), options)


def letter_like(n_tables: int = 45, n_rows: int = 16) -> Program:
    """Return a program like those for letters: 16 features of 16 states, 26 classes."""
    return cut_program(16, 16, 26, n_tables, n_rows)


def usps_like(n_tables: int = 10, n_rows: int = 32) -> Program:
    """Return a program like those for digits of 256 pixels: 10 classes."""
    return cut_program(256, 16, 10, n_tables, n_rows)


def satimage_like(n_tables: int = 20, n_rows: int = 16) -> Program:
    """Return a program like those for pixels in 4 bands: 36 features, 6 classes."""
    return cut_program(36, 16, 6, n_tables, n_rows)
