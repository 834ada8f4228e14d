"""
Count the `bit-slice` layouts that version 0.1.0 printed wrongly before November 2026.

A statement that read the second table of a pair alone took its word from the first table's row, or
from an undeclared pointer. The script counts the layouts of all models of
`benchmarks.shared.trained_models`, of the models of the documented figures, and of the given model
files:

    python -m benchmarks.campaigns.bit_slice_rows --data ../shared/data firmware_examples/*/*.bncc
"""

from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.shared.reference_models import (
    BUNDLED_SETS,
    PAPER_SETS,
    STRUCTURES,
    Recipe,
    reference,
)
from benchmarks.shared.trained_models import every_model
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.choose import layouts_for
from bncc.lower.kernels.bit_slice.carry_save import RowWord, UpperHalf
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.program.pipeline import optimize_each, program_of
from bncc.resources import Optimize
from bncc.targets import TARGETS

AIMS: tuple[Optimize, ...] = ("balanced", "size", "speed")
MACHINES = (None, *(name for name in TARGETS if name != "host"))


def is_affected(kernel: BitSliceKernel) -> bool:
    """
    Return whether some word of a row was read by a pointer to another row, or to none.

    The old rule for pointers: a block began at every first word of a row, and the lowest table of a
    statement was taken for the block's first.
    """
    table_at: dict[str, int] = {}
    for step in kernel.steps:
        words = [operand for operand in step.operands if isinstance(operand, RowWord)]
        starts = [word.table for word in words if word.word == 0]
        if starts or UpperHalf(0) in step.operands:
            pointed = zip(starts, ("row", "other"), strict=False)
            table_at |= {name: t for t, name in pointed if _has_pointer(kernel, t)}
        first = min((word.table for word in words), default=0)
        for word in words:
            pointer = "row" if word.table == first else "other"
            if _has_pointer(kernel, word.table) and table_at.get(pointer) != word.table:
                return True
    return False


def _has_pointer(kernel: BitSliceKernel, t: int) -> bool:
    return kernel.rows[t].shape[1] > 1


def layouts_of(model: Model) -> Iterator[BitSliceKernel]:
    """Yield the bit-slice layouts of a model, of all programs for any --optimize."""
    flows = {flow for aim in AIMS for flow in EmitOptions(optimize=aim).demands.flows(aim)}
    for program, _ in optimize_each(program_of(model), tuple(sorted(flows))):
        for kernel in layouts_for(program, "bit-slice", None):
            assert isinstance(kernel, BitSliceKernel)
            yield kernel


def chosen_wrongly(model: Model) -> list[str]:
    """Return the goals and targets for which the compiler selects a wrong layout."""
    found = []
    for aim in AIMS:
        for machine in MACHINES:
            kernel = emit_c(model, EmitOptions("m", optimize=aim, target=machine)).choice.kernel
            if isinstance(kernel, BitSliceKernel) and is_affected(kernel):
                found.append(f"{aim}, {machine or 'any machine'}")
    return found


def models(data: Path | None, files: tuple[Path, ...]) -> Iterator[tuple[str, str, Model]]:
    """Yield group, name and model of all counted models."""
    for file in files:
        yield "files", str(file), load_model(file)
    sets = (*BUNDLED_SETS, *(PAPER_SETS if data else ()))
    for recipe in (Recipe(d, s, b) for d in sets for s in STRUCTURES for b in range(1, 9)):
        yield "documentation", str(recipe), reference(recipe, data or Path()).model
    for trained in every_model() if data else ():
        yield "trained", str(trained), trained.model(data)


@click.command()
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Folder of data sets.")
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(data: Path | None, files: tuple[Path, ...]) -> None:
    """Print every model with wrong layouts, and the counts of each group."""
    totals: dict[str, list[int]] = {}
    for group, name, model in models(data, files):
        wrong = [is_affected(kernel) for kernel in layouts_of(model)]
        chosen = chosen_wrongly(model) if any(wrong) else []
        total = totals.setdefault(group, [0, 0, 0, 0])
        for k, n in enumerate((1, len(wrong), sum(wrong), bool(chosen))):
            total[k] += n
        if any(wrong):
            print(f"{name}: {sum(wrong)} of {len(wrong)} layouts; chosen for {chosen or 'nothing'}")
    for group, (n_models, n_layouts, n_wrong, n_chosen) in totals.items():
        print(
            f"{group}: {n_models} models, {n_wrong} of {n_layouts} layouts wrong, "
            f"{n_chosen} models for which one is chosen"
        )


if __name__ == "__main__":
    main()
