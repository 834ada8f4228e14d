"""``bncc emit-c``: a model as dependency-free C99."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import (
    TARGETS,
    budget,
    force_option,
    model_argument,
    refuse_later,
    speaks,
)
from bncc.cli.output import check_free, staged_directory
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.estimate import MACHINE
from bncc.emit.identifiers import model_name
from bncc.errors import BudgetError
from bncc.model.file import load_model

PACKAGES = ("plain", "cmake", "arduino", "platformio", "zephyr", "esp-idf")
ENTRIES = ("raw", "scores", "missing", "stream", "trusted")
OPTIMIZE = ("balanced", "size", "speed")
KERNELS = ("plain",)


@click.command("emit-c")
@model_argument
@click.option("-o", "--output", required=True, metavar="DIR", help="Where to.")
@click.option("--name", metavar="NAME", help="Prefix of files and symbols [default: the model's].")
@click.option("--package", type=click.Choice(PACKAGES), default="plain", show_default=True)
@click.option("--target", type=click.Choice(TARGETS), help="A machine [default: generic C].")
@click.option("--optimize", type=click.Choice(OPTIMIZE), default="balanced", show_default=True)
@click.option("--max-flash", callback=budget, metavar="N[k]", help="Budget in bytes.")
@click.option("--max-ram", callback=budget, metavar="N[k]", help="Budget in bytes.")
@click.option("--kernel", metavar="NAME", help="The kernel [default: the best; only 'plain' yet].")
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
    optimize: str,
    max_flash: int | None,
    max_ram: int | None,
    kernel: str | None,
    entries: tuple[str, ...],
    force: bool,
) -> None:
    """Write MODEL as C: DIR/NAME.c, DIR/NAME.h, test vectors and a self-test."""
    refuse_later(package != "plain", f"--package {package}", "use --package plain")
    refuse_later(
        target not in (None, "host", "x86"),
        f"--target {target}",
        "leave it out: the generic C builds for every machine",
    )
    check_lowering(optimize, kernel)
    for entry in ("missing", "stream"):
        refuse_later(entry in entries, f"--with {entry}", "use raw, scores or trusted")
    check_free(output, force=force, directory=True)
    model = load_model(model_path)
    chosen = name if name is not None else model_name(Path(model_path).stem)
    emission = emit_c(model, EmitOptions(name=chosen, entries=frozenset(entries), package=package))
    check_budget("--max-flash", "flash", emission.estimate.flash, max_flash)
    check_budget("--max-ram", "RAM", emission.estimate.ram, max_ram)
    with staged_directory(output, force=force) as folder:
        for file, text in emission.files.items():
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    payload = facts_of(emission, output)
    console.result(payload, _report(payload))


def check_lowering(optimize: str, kernel: str | None) -> None:
    """Refuse ``--optimize`` and ``--kernel`` values that have no effect yet.

    Parameters
    ----------
    optimize : str
        Value of ``--optimize``.
    kernel : str or None
        Value of ``--kernel``.

    Raises
    ------
    OptionError
        If this version cannot do what they ask for.
    """
    refuse_later(optimize != "balanced", f"--optimize {optimize}", "leave it out")
    refuse_later(kernel not in (None, *KERNELS), f"--kernel {kernel}", "use --kernel plain")


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
        ``files`` (paths), ``kernel``, ``passes``, ``table_bytes``, ``estimate``.
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
