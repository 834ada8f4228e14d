"""Model to program: the first step of the compiler, a table for each of the model's."""

import numpy as np

from bncc.errors import IrError
from bncc.model.model import Model
from bncc.program.ir import WIDTHS, Program, Table
from bncc.program.ranges import largest_cost
from bncc.program.verifier import verify
from bncc.structure.graph import Structure


def program_of(model: Model) -> Program:
    """Return the program that computes a model's costs, before any pass."""
    program = Program(
        features=model.features,
        classes=model.classes,
        frac_bits=model.q_format.frac_bits,
        prior=model.prior.astype(np.int64),
        tables=tuple(
            Table(
                _name(model, t),
                lookup.features,
                table.astype(np.int64),
                maps=lookup.maps,
            )
            for t, (lookup, table) in enumerate(zip(model.lookups, model.tables, strict=True))
        ),
    )
    if largest_cost(program) >= 1 << WIDTHS[-1]:
        raise IrError(
            f"a sum of {model.n_features} costs in {model.q_format} can exceed 32 bits; "
            "train with fewer bits"
        )
    verify(program)
    return program


def _name(model: Model, t: int) -> str:
    """Return what a table stands for: its last feature, or the class where that has parents."""
    if isinstance(model.structure, Structure) and t == model.n_features:
        return "class"
    return model.features[model.lookups[t].features[-1]].name
