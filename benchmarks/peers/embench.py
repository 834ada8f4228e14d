"""
Embench's task `xgboost` with a classifier of bncc, compared with Embench's own trees.

    python -m benchmarks.peers.embench --embench ../embench-iot --mnist ../mnist --write

Needs a copy of Embench IoT 2.0, the four files of MNIST (``train-images-idx3-ubyte.gz`` and so on),
arm-none-eabi-gcc and unicorn. It trains for some minutes; results stay in a file, so it can resume.
Classifiers are selected on a fifth of the training images, and the result is trained on all of
them. Test images evaluate it once. All C is built at -Os for a Cortex-M0.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from benchmarks.peers.embench_digits import (
    Digits,
    digits,
    task_files,
    task_rows,
    with_rows,
    write_archive,
)
from benchmarks.peers.peer_forms import FIXED, HELD
from benchmarks.shared.log import appending, last_results
from benchmarks.shared.markdown import renew, table
from bncc.baselines.learn import Shape
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.target import fold_parts
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.image import Builder
from bncc.device.machine import HarnessError
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import Sources, sources, support_file
from bncc.discretize.feature import Feature
from bncc.emit.emitter import emit_c
from bncc.emit.options import EmitOptions
from bncc.errors import MisfitError
from bncc.model.file import save_model
from bncc.model.model import Model
from bncc.on_device import sources_of
from bncc.search.config import settings_of, train_words
from bncc.search.option_domains import STRUCTURE_OPTION
from bncc.search.trial_result import Choice
from bncc.structure.catalog import SUM
from bncc.targets import find_target
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

FLASH, INSTRUCTIONS = 6144, 3000
"""Limits of the project for this task: bytes, and instructions of the slowest decision measured."""
TARGET, LEVEL = "cortex-m0", "-Os"
NAME = "digits"
"""Prefix of the symbols of bncc's C."""
ROUNDS = 12
"""GLOBAL_SCALE_FACTOR: with fewer, `verify_benchmark` accepts every result."""
HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "peers.md"
FORMS: Sequence[tuple[int, int, int]] = (
    (72, 8, 3), (45, 16, 3), (47, 16, 3), (49, 16, 3), (56, 16, 2), (30, 32, 3),
)  # fmt: skip
"""
Numbers of tables, limits on their rows, and bits of a cost.

On the validation images, 45 tables of 16 rows err at 4.08 %. With `SOFT` of `peer_forms` they err
at 4.63 %, and with ``shift=8x8`` at 8.67 %: a pixel is an eighth of the image.
"""


@dataclass(frozen=True)
class Tried:
    """A form, trained without the validation images."""

    key: str  # Options of ``bncc train``
    error: float  # On the validation images, 0 .. 1


@dataclass(frozen=True)
class Result:
    """A classifier on the task; the images are those of MNIST's test set."""

    words: str  # Description in the table
    right: int  # Right answers on these images
    harness: int  # Right among the task's 128 images, counted by Embench's `benchmark`
    is_verified: bool  # What `verify_benchmark` says
    flash: int  # Bytes of a decision with all that it links
    mean: float  # mean and max: Instructions of a decision, over the task's images
    max: int


def forms() -> Iterator[dict[str, Choice]]:
    """Yield the options of ``bncc train`` of all forms, as in a trial of a study."""
    for tables, rows, bits in FORMS:
        yield {
            "structure": SUM,
            f"{STRUCTURE_OPTION}.tables": tables,
            f"{STRUCTURE_OPTION}.rows": rows,
            "bits": bits,
        }


def settings(form: Mapping[str, Choice], held: float) -> TrainSettings:
    """Return the settings of a training with a fraction of validation images."""
    fixed: dict[str, Any] = {**FIXED, "validation": held}
    return replace(settings_of(form, 0), **fixed)


def words_of(form: Mapping[str, Choice]) -> str:
    """Return the description of a form in the table."""
    tables, rows = (form[f"{STRUCTURE_OPTION}.{key}"] for key in ("tables", "rows"))
    return f"bncc, {tables} tables of {rows} rows, {form['bits']} bits"


def command(form: Mapping[str, Choice], archive: Path) -> str:
    """Return the command that trains the result."""
    fixed = ("--readings", "uint8", "--validation", "0", "-o", f"{NAME}.bncc")
    return shlex.join(("bncc", "train", archive.name, "--fold", "1", *train_words(form), *fixed))


def validated(train: Dataset, log: Path) -> list[tuple[float, dict[str, Choice]]]:
    """Train every form without the validation images, and return those by ascending error."""
    known = last_results(log, Tried)
    found = []
    for form in forms():
        key = shlex.join(train_words(form))
        if key not in known:
            error = train_model(train, settings(form, HELD)).model.training["error_validation"]
            known[key] = Tried(key, float(error))
            with appending(log) as write:
                write(known[key])
            click.echo(f"{known[key].error:.4f}  {key}")
        found.append((known[key].error, form))
    return sorted(found, key=lambda one: one[0])


def emitted(model: Model, bench: Toolchain, rows: Digits) -> Sources | None:
    """Return the C of a model, the first within the limits; None if there is none."""
    for goal in ("balanced", "size", "speed"):
        try:
            emission = emit_c(model, EmitOptions(NAME, optimize=goal, target=TARGET))
            built = sources_of(model, emission)
            flash, _, most = costs(built, bench, rows)
        except MisfitError:
            continue
        click.echo(f"{goal}: {flash:,} bytes, at most {most:,} instructions")
        if flash <= FLASH and most <= INSTRUCTIONS:
            return built
    return None


def chosen(
    train: Dataset, bench: Toolchain, rows: Digits, log: Path
) -> tuple[dict[str, Choice], Model, Sources]:
    """Return the form of least validation error that fits when it is trained on all images."""
    for _, form in validated(train, log):
        model = train_model(train, settings(form, 0.0)).model
        if (built := emitted(model, bench, rows)) is not None:
            return form, model, built
    raise click.ClickException("no form meets the limits of flash and instructions")


def trees(files: Mapping[str, str]) -> Sources:
    """Return Embench's trees behind the interface of bncc's C; there are no states."""
    header = (
        "#ifndef M_H\n#define M_H\n#include <stdint.h>\ntypedef uint8_t m_raw_t;\n"
        "int16_t m_predict(const uint8_t *x);\nint16_t m_predict_raw(const m_raw_t *x);\n#endif\n"
    )
    body = (
        '#include "m.h"\n#include "xgboost.c"\n'
        "int16_t m_predict(const uint8_t *x)\n{\n    (void)x;\n    return -1;\n}\n"
        "int16_t m_predict_raw(const m_raw_t *x)\n{\n    return (int16_t)predict(x);\n}\n"
    )
    features = tuple(Feature(f"x{i}", "state", 255) for i in range(64))
    built = sources(Shape(features, 10), {"m.h": header, "m.c": body})
    return replace(built, files={**built.files, **files})


def costs(built: Sources, bench: Toolchain, rows: Digits) -> tuple[int, float, int]:
    """Return bytes of a decision, and its mean and most instructions over some images."""
    R = rows.X.astype(np.float64)
    with Meter(built, bench, LEVEL, is_foreign=built.name != NAME) as meter:
        cost = meter.costs(Inputs(np.zeros(R.shape, dtype=np.int64), R), ("raw",))["raw"]
        return meter.footprint(("raw",)).flash, cost.mean, cost.max


def run_task(
    built: Sources, files: Mapping[str, str], bench: Toolchain, n: int, rounds: int
) -> tuple[int, bool]:
    """Run Embench's benchmark in the simulator; return its right answers, and its own verdict."""
    is_ours = built.name == NAME
    mains = ("embench_task.c", built.main) if is_ours else ("xgboost.c",)
    with TemporaryDirectory(prefix="bncc-") as folder:
        builder = Builder(Path(folder), bench.target, bench.compiler, is_foreign=True)
        builder.write({path.name: path.read_text("utf-8") for path in HERE.glob("embench_*.c")})
        builder.write({**built.files, **files, "bncc_port.h": support_file(bench.simulator.port)})
        macros = (*bench.simulator.defines, f"GLOBAL_SCALE_FACTOR={rounds}")
        objects = [
            builder.compile(name, f"{name}.o", LEVEL, *macros)
            for name in ("embench_main.c", "testbench.c", *mains)
        ]
        image = builder.link("task.elf", *objects)
        said = np.frombuffer(bench.simulator.run(image, b""), dtype="<i4")
    total, verdict = (int(word) for word in said)
    if total % rounds or not 0 <= total <= rounds * n:
        raise HarnessError(f"Embench's benchmark counted {total} of {rounds} times {n} images")
    return total // rounds, bool(verdict)


def result(
    words: str, built: Sources, files: Mapping[str, str], bench: Toolchain, test: Digits
) -> Result:
    """Measure a classifier on the task, and count its right answers on all test images."""
    rows = task_rows(files["xgboost.c"])
    harness, is_verified = run_task(built, files, bench, len(rows.y), ROUNDS)
    right, _ = run_task(built, with_rows(files, test), bench, len(test.y), 1)
    return Result(words, right, harness, is_verified, *costs(built, bench, rows))


def results_table(results: Sequence[Result], n: int, n_task: int) -> str:
    """Return the table of the page."""
    rows = [
        (
            one.words, f"{100 * one.right / n:.2f} %", f"{one.harness} of {n_task}",
            "accepted" if one.is_verified else "refused",
            f"{one.flash:,}", f"{one.mean:,.0f}", f"{one.max:,}",
        )
        for one in results
    ]  # fmt: skip
    head = (
        "classifier", "accuracy", "right in the task", "`verify_benchmark`", "flash",
        "instructions, mean", "at most",
    )  # fmt: skip
    return table(head, rows)


@click.command()
@click.option("--embench", required=True, help="A copy of github.com/embench/embench-iot.")
@click.option("--mnist", required=True, help="Folder with the four files of MNIST.")
@click.option("-o", "--output", default="try/embench", help="Folder of the log and the results.")
@click.option("--write", is_flag=True, help="Update docs/peers.md.")
def main(embench: str, mnist: str, output: str, write: bool) -> None:
    """Select and train the model, and compare it with Embench's trees."""
    folder = Path(output)
    files, test = task_files(Path(embench)), digits(Path(mnist), "t10k")
    rows = task_rows(files["xgboost.c"])
    n, differing = len(rows.y), (rows.X != test.X[: len(rows.y)]).sum()
    click.echo(f"{differing} of {rows.X.size:,} pixels differ from Embench's")
    if differing > 1 or (rows.y != test.y[:n]).any():
        raise click.ClickException("the images converted here are not those of this Embench")
    archive = folder / f"{NAME}.npz"
    write_archive(digits(Path(mnist), "train"), test, archive)
    train, _ = fold_parts(read_table(archive, fold=1), None, 1)
    (bench,) = find_toolchain(find_target(TARGET))
    form, model, built = chosen(train, bench, rows, folder / "forms.jsonl")
    save_model(model, folder / f"{NAME}.bncc", overwrite=True)
    results = [
        result("Embench's 400 trees", trees(files), files, bench, test),
        result(words_of(form), built, files, bench, test),
    ]
    text = f"{results_table(results, len(test.y), n)}\nTraining: `{command(form, archive)}`\n"
    tables = {"embench": text}
    click.echo("\n".join(tables.values()))
    if write:
        renew(PAGE, tables)


if __name__ == "__main__":
    main()
