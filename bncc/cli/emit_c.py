"""``bncc emit-c``: a model as dependency-free C99."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.lowering import Lowering, lowering_options
from bncc.cli.machines import check_fit
from bncc.cli.options import (
    TARGETS,
    budget,
    force_option,
    model_argument,
    refuse_later,
    speaks,
)
from bncc.cli.output import check_free, staged_directory
from bncc.compiler.choose import Optimize
from bncc.emit.emitter import Emission, emit_c
from bncc.emit.estimate import MACHINE
from bncc.emit.identifiers import model_name
from bncc.errors import BudgetError, OptionError
from bncc.model.file import load_model

PACKAGES = ("plain", "cmake", "arduino", "platformio", "zephyr", "esp-idf")
ENTRIES = ("raw", "scores", "missing", "stream", "trusted")


@click.command("emit-c")
@model_argument
@click.option("-o", "--output", required=True, metavar="DIR", help="Where to.")
@click.option("--name", metavar="NAME", help="Prefix of files and symbols [default: the model's].")
@click.option("--package", type=click.Choice(PACKAGES), default="plain", show_default=True)
@click.option("--target", type=click.Choice(TARGETS), help="A machine [default: generic C].")
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
@force_option
@speaks
def command(
    console: Console,
    model_path: str,
    output: str,
    name: str | None,
    package: str,
    target: str | None,
    optimize: Optimize,
    max_flash: int | None,
    max_ram: int | None,
    kernel: str | None,
    entries: tuple[str, ...],
    force: bool,
) -> None:
    """Write MODEL as C: DIR/NAME.c, DIR/NAME.h, test vectors and a self-test."""
    refuse_later(package != "plain", f"--package {package}", "use --package plain")
    for entry in ("missing", "stream"):
        refuse_later(entry in entries, f"--with {entry}", "use raw, scores or trusted")
    if target == "all":
        raise OptionError("generic C builds for all machines; leave --target out")
    check_free(output, force=force, directory=True)
    model = load_model(model_path)
    chosen = name if name is not None else model_name(Path(model_path).stem)
    options = Lowering(optimize, kernel).options(target, chosen, frozenset(entries), package)
    emission = emit_c(model, options)
    if target is not None:
        check_fit(target, emission)
    check_budget("--max-flash", "flash", emission.estimate.flash, max_flash)
    check_budget("--max-ram", "RAM", emission.estimate.ram, max_ram)
    with staged_directory(output, force=force) as folder:
        for file, text in emission.files.items():
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    payload = facts_of(emission, output)
    console.result(payload, _report(payload))


def check_budget(option: str, what: str, needed: int, allowed: int | None) -> None:
    """Fail when an estimate exceeds a budget.

    Parameters
    ----------
    option : str
        The option that set the budget.
    what : str
        Flash or RAM.
    needed : int
        The estimate, bytes.
    allowed : int or None
        The budget, bytes.

    Raises
    ------
    BudgetError
        If it is exceeded.
    """
    if allowed is not None and needed > allowed:
        raise BudgetError(
            f"the C needs about {needed} bytes of {what} on {MACHINE}, {option} allows {allowed}; "
            "allow more, or train with --structure naive or coarser --discretize"
        )


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
        ``files`` (paths), ``kernel`` (its family), ``passes``, ``table_bytes``, ``estimate``.
    """
    return {
        "files": [str(Path(folder) / file) for file in emission.files],
        "kernel": emission.kernel,
        "passes": [asdict(step) for step in emission.passes],
        "table_bytes": emission.table_bytes,
        "estimate": asdict(emission.estimate),
    }


def _report(facts: dict[str, Any]) -> str:
    estimate = facts["estimate"]
    rows = [["wrote", file] for file in facts["files"]]
    rows += [["tables", f"{facts['table_bytes']} bytes, kernel '{facts['kernel']}'"]]
    rows += [
        [
            "estimate",
            f"{estimate['flash']} bytes flash, {estimate['ram']} bytes RAM, "
            f"{estimate['instructions']} instructions per decision on {MACHINE}",
        ]
    ]
    fired = [step["name"] for step in facts["passes"] if step["fired"]]
    rows += [["passes", ", ".join(fired) or "none fired"]]
    return aligned(rows)
