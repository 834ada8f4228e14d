"""The table of the README: error, bytes and verified inputs on the bundled data.

A random third of the rows is held out for the error. Flash is what `size` says of the model's C
with `predict` and `predict_raw` at -Os. Takes some two minutes and needs gcc, avr-gcc,
arm-none-eabi-gcc and riscv64-unknown-elf-gcc:

    .venv/bin/python benchmarks/readme_table.py
"""

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bncc.build.agreement import verify
from bncc.data.catalog import bundled_path
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.emit.emitter import emit_c
from bncc.model.model import Model
from bncc.train.pipeline import train_model
from bncc.train.settings import TrainSettings

ROWS = (
    ("robot", TrainSettings(structure="naive", discretize="quantile")),
    ("robot", TrainSettings(structure="chow-liu", discretize="quantile")),
    ("wifi", TrainSettings(structure="naive")),
    ("wifi", TrainSettings(structure="chow-liu")),
)
COMPILERS = {
    "AVR": ("avr-gcc", "-mmcu=atmega328p"),
    "Cortex-M0": ("arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb"),
    "RV32IC": ("riscv64-unknown-elf-gcc", "-march=rv32ic", "-mabi=ilp32"),
}


@dataclass(frozen=True)
class Figures:
    """What one row of the table says."""

    data: str
    structure: str
    error: float
    table_bytes: int

    def cells(self) -> list[str]:
        """Return the cells that need no compiler."""
        return [self.data, self.structure, f"{self.error:.2f} %", f"{self.table_bytes:,}"]


def train(data: str, settings: TrainSettings) -> tuple[Model, Dataset]:
    """Return the model of two thirds of the rows, and the other third."""
    dataset = dataset_of(read_table(bundled_path(data)))
    rest, held = stratified_holdout(dataset.y, 1 / 3, seed=0)
    test = dataset.take(held)
    return train_model(dataset.take(rest), settings, test=test).model, test


def figures(data: str, settings: TrainSettings, model: Model) -> Figures:
    """Return what can be said without a compiler."""
    error = 100 * model.training["error_test"]
    return Figures(data, settings.structure, error, emit_c(model).table_bytes)


def flash(files: Mapping[str, str], compiler: tuple[str, ...]) -> int:
    """Return the bytes of code and constants of the model's C, by `size`."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [*compiler, "-std=c99", "-Os", "-ffreestanding", "-c", "model.c"]
        subprocess.run(command, cwd=folder, check=True)
        size = compiler[0].replace("gcc", "size")
        said = subprocess.run([size, "model.o"], cwd=folder, check=True, capture_output=True)
    text, data, *_ = said.stdout.decode().splitlines()[1].split()
    return int(text) + int(data)


def main() -> None:
    titles = ["data", "structure", "test error", "table bytes"]
    titles += [f"flash {name}" for name in COMPILERS] + ["inputs verified", "differences"]
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    for data, settings in ROWS:
        model, test = train(data, settings)
        files = emit_c(model).files
        cells = figures(data, settings, model).cells()
        cells += [f"{flash(files, compiler):,}" for compiler in COMPILERS.values()]
        check = verify(model, table=test.table, compiler="all", n_random=100_000)
        cells += [f"{check.checked:,}", str(check.mismatches)]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
