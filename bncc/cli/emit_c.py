"""``bncc emit-c``: a model as dependency-free C99."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from bncc.cli.bounds import bench_of, emit_measured, facts_of_bounds
from bncc.cli.console import Console, aligned
from bncc.cli.inputs import rows_to_classify
from bncc.cli.lowering import Lowering, lowering_options
from bncc.cli.machines import check_fit
from bncc.cli.options import (
    TARGETS,
    budget,
    class_option,
    fold_option,
    force_option,
    model_argument,
    speaks,
)
from bncc.cli.output import check_free, staged_directory
from bncc.compiler.choose import Optimize
from bncc.emit.emitter import Emission, emit_c
from bncc.emit.estimate import MACHINE
from bncc.emit.identifiers import model_name
from bncc.emit.packages import PACKAGES
from bncc.emit.vectors import MOST_VECTORS, Vectors, drawn_vectors, vectors_of_table
from bncc.errors import OptionError
from bncc.model.file import load_model
from bncc.model.model import Model

ENTRIES = ("raw", "scores", "missing", "stream", "trusted")


@click.command("emit-c")
@model_argument
@click.option("-o", "--output", required=True, metavar="DIR", help="Where to.")
@click.option("--name", metavar="NAME", help="Prefix of files and symbols [default: the model's].")
@click.option("--package", type=click.Choice(tuple(PACKAGES)), default="plain", show_default=True)
@click.option("--target", type=click.Choice(TARGETS), help="A machine [default: generic C].")
@click.option(
    "--measure", is_flag=True, help="Put stack and counts of --target, as measured, in the header."
)
@click.option("--max-flash", callback=budget, metavar="N[k]", help="Budget in bytes.")
@click.option("--max-ram", callback=budget, metavar="N[k]", help="Budget in bytes.")
@lowering_options
@click.option(
    "--with",
    "entries",
    type=click.Choice(ENTRIES),
    multiple=True,
    help="An entry point beside predict, repeatable; raw is there whenever there are thresholds.",
)
@click.option(
    "--vectors",
    "n_vectors",
    type=click.IntRange(1, MOST_VECTORS),
    metavar="N",
    help="Inputs of the self-test [default: 32, fewer where they are large].",
)
@click.option("--data", "data_path", metavar="DATA", help="Readings to take these inputs from.")
@class_option
@fold_option
@force_option
@speaks
def command(
    console: Console,
    model_path: str,
    output: str,
    name: str | None,
    package: str,
    target: str | None,
    measure: bool,
    optimize: Optimize,
    max_flash: int | None,
    max_ram: int | None,
    kernel: str | None,
    constant_time: bool,
    entries: tuple[str, ...],
    n_vectors: int | None,
    data_path: str | None,
    class_name: str | None,
    fold: int | None,
    force: bool,
) -> None:
    """Write MODEL as C, with test vectors, a self-test, and what a build system wants around it."""
    if target == "all":
        raise OptionError("generic C builds for all machines; leave --target out")
    if measure:
        bench_of(target)
    check_free(output, force=force, directory=True)
    model = load_model(model_path)
    chosen = name if name is not None else model_name(Path(model_path).stem)
    options = Lowering(optimize, kernel, constant_time).options(
        target, chosen, frozenset(entries), package
    )
    vectors = _vectors(model, n_vectors, data_path, class_name, fold, console)
    options = replace(options, max_flash=max_flash, max_ram=max_ram, vectors=vectors)
    emission = emit_measured(model, options) if measure else emit_c(model, options)
    if target is not None:
        check_fit(target, emission)
    with staged_directory(output, force=force) as folder:
        for file, text in emission.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    payload = facts_of(emission, output)
    console.result(payload, _report(payload, options.target or MACHINE))


def _vectors(
    model: Model,
    n_vectors: int | None,
    data_path: str | None,
    class_name: str | None,
    fold: int | None,
    console: Console,
) -> Vectors:
    """Return the inputs of the self-test: rows of DATA, or what is drawn without it."""
    if data_path is not None:
        table = rows_to_classify(data_path, class_name, fold, console)
        return vectors_of_table(model, table, n_vectors)
    if fold is not None or class_name is not None:
        console.note("--class and --fold have no effect without --data")
    return drawn_vectors(model, n_vectors)


def facts_of(emission: Emission, folder: str) -> dict[str, Any]:
    """Return the JSON object of ``emit-c``.

    Parameters
    ----------
    emission : Emission
        What was emitted.
    folder : str
        Where its files are.

    Returns
    -------
    dict
        ``files`` (paths), ``kernel`` (its family), ``layout`` (in words), ``reason``,
        ``candidates`` (the layouts that were compared, the best first, each with the estimates of
        its kernel alone), ``passes``, ``table_bytes``, ``estimate``, ``bounds`` (null where nothing
        was measured).
    """
    return {
        "files": [str(Path(folder) / file) for file in emission.files],
        "kernel": emission.kernel,
        "layout": emission.choice.kernel.summary,
        "reason": emission.choice.reason,
        "candidates": [
            {
                "kernel": each.kernel.family,
                "layout": each.kernel.summary,
                "instructions": each.instructions,
                "flash": each.flash,
            }
            for each in emission.choice.candidates
        ],
        "passes": [asdict(step) for step in emission.passes],
        "table_bytes": emission.table_bytes,
        "estimate": asdict(emission.estimate),
        "bounds": facts_of_bounds(emission.bounds),
    }


def _report(facts: dict[str, Any], machine: str) -> str:
    estimate = facts["estimate"]
    unit = "cycles" if machine == "avr" else "instructions"
    rows = [["wrote", file] for file in facts["files"]]
    rows += [["kernel", f"{facts['kernel']}: {facts['layout']} ({facts['reason']})"]]
    rows += [["tables", f"{facts['table_bytes']} bytes"]]
    rows += [
        [
            "estimate",
            f"{estimate['flash']} bytes flash, {estimate['ram']} bytes RAM (stack), "
            f"{estimate['instructions']} {unit} per decision on {machine}",
        ]
    ]
    fired = [step["name"] for step in facts["passes"] if step["fired"]]
    rows += [["passes", ", ".join(fired) or "none fired"]]
    return aligned(rows)
