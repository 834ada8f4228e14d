"""
Single trees that belong on the frontier of `peers.csv` and were not measured with the others.

    python -m benchmarks.peers.tree_points --data ../shared/data

scikit-learn trains each tree with its defaults and seed 0 on the bytes of fold 1. emlearn prints it
inline, thresholds repaired. Flash is that of the tree and of its vote at -Os on a Cortex-M4.
As in all rows of the file, it excludes ``memset``, which clears the votes: the start-up code of
most programs links it anyway. Instructions are the mean of 100 random test rows at -O2 on a
Cortex-M0. The command also measures trees that are in the file, and prints the differences.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import click
import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from benchmarks.peers.encoded_readings import Encoding
from benchmarks.peers.peers import PEERS
from benchmarks.peers.tree_peers import Candidate, Form, Grown, cost_on
from benchmarks.peers.uint8_sets import SETS, Fold, fold_of
from bncc.baselines.exporters import Style, imported, trees_text
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.image import Builder
from bncc.device.measure import N_ROWS
from bncc.targets import find_target

COLUMNS = (
    "set", "model", "generator", "is_frontier", "is_added", "error", "flash_m4",
    "instructions_m0",
)  # fmt: skip
UNUSED = "peer_predict_proba"
"""A function that emlearn prints and the decision does not call."""


@dataclass(frozen=True)
class Tree:
    """A tree of the file."""

    set: str
    leaves: int
    c_type: Literal["uint8_t", "int16_t"] = "uint8_t"

    @property
    def model(self) -> str:
        """Name in the file."""
        return f"dt{self.leaves}_eml_inl" + ("_u8" if self.c_type == "uint8_t" else "")


ADDED = (
    Tree("letter", 24), Tree("letter", 128), Tree("letter", 512), Tree("satimage", 24),
    Tree("usps", 24),
)  # fmt: skip
KNOWN = (
    *(Tree(name, 256) for name in SETS),
    *(Tree(name, 64, "int16_t") for name in SETS),
)


@dataclass(frozen=True)
class Figures:
    """Measured figures of a tree."""

    error: float  # On test rows, percent
    flash: int  # Bytes on a Cortex-M4 at -Os
    instructions: int  # Executed on a Cortex-M0 per decision


def figures_of(tree: Tree, fold: Fold) -> Figures:
    """Train and measure a tree."""
    (m4,), (m0,) = (find_toolchain(find_target(f"cortex-{core}")) for core in ("m4", "m0"))
    form, style = Form(1, leaves=tree.leaves), Style(tree.c_type)
    estimator = form.estimator(seed=0).fit(fold.X, fold.y)
    nothing = np.zeros(fold.X.shape[1])
    encoding = Encoding((style,), (), nothing, nothing, nothing)
    grown = Grown(Candidate(form, encoding, style, 0.0, 0), estimator, len(np.unique(fold.y)))
    error = 100 * float((grown.decide(fold.X_test) != fold.y_test).mean())
    timed = np.random.default_rng(0).permutation(len(fold.X_test))[:N_ROWS]
    mean = cost_on(m0, grown, fold.X_test[timed].astype(np.float64), "-O2").mean
    text = trees_text(imported("emlearn"), estimator, style)
    return Figures(error, flash_of(m4, text), round(mean))


def flash_of(bench: Toolchain, text: str) -> int:
    """Return the bytes of a tree and of its vote, without the library."""
    with TemporaryDirectory(prefix="bncc-") as folder:
        builder = Builder(Path(folder), bench.target, bench.compiler, is_foreign=True)
        builder.write({"tree.c": text})
        name = builder.compile("tree.c", "tree.o", "-Os")
        with (Path(folder) / name).open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            return sum(
                int(symbol["st_size"])
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] in ("STT_FUNC", "STT_OBJECT") and symbol.name != UNUSED
            )


def row_of(tree: Tree, figures: Figures) -> tuple[str, ...]:
    """Return a row of the file."""
    return (
        tree.set, tree.model, "emlearn inline", "0", "1", f"{figures.error:.2f}",
        str(figures.flash), str(figures.instructions),
    )  # fmt: skip


def difference(tree: Tree, figures: Figures, rows: Sequence[dict[str, str]]) -> str:
    """Return a comparison with the row of the file."""
    (row,) = (row for row in rows if (row["set"], row["model"]) == (tree.set, tree.model))
    pairs = (
        ("error", f"{float(row['error']):.2f}", f"{figures.error:.2f}"),
        ("bytes", row["flash_m4"], str(figures.flash)),
        ("instructions", row["instructions_m0"], str(figures.instructions)),
    )
    words = ", ".join(f"{what} {before} in the file and {now} now" for what, before, now in pairs)
    return f"{tree.set} {tree.model}: {words}"


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper/letter.npz` etc.")
def main(data: str) -> None:
    """Print the rows that are added, then the differences of known ones."""
    folds = {name: fold_of(Path(data), name) for name in SETS}
    print(",".join(COLUMNS))
    for tree in ADDED:
        print(",".join(row_of(tree, figures_of(tree, folds[tree.set]))), flush=True)
    with PEERS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for tree in KNOWN:
        print(difference(tree, figures_of(tree, folds[tree.set]), rows), flush=True)


if __name__ == "__main__":
    main()
