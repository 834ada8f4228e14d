"""``bncc emit-c --package rust``: what the command does without C."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import was_set
from bncc.cli.output import staged_directory
from bncc.emit.options import EmitOptions
from bncc.emit.rust import RUST, Crate, emit_crate
from bncc.errors import OptionError
from bncc.model.model import Model

OF_C = (
    "target", "measure", "max_flash", "max_ram", "priced", "reserve", "optimize", "kernel",
    "compare", "constant_time", "provable",
)  # fmt: skip
"""Parameters of ``bncc emit-c`` that choose or price C."""


def refuse_options_of_c() -> None:
    """Refuse options without a meaning for a crate."""
    for param in click.get_current_context().command.params:
        if param.name in OF_C and was_set(param.name):
            raise OptionError(
                f"{param.opts[0]} is about C, and package '{RUST}' contains none; leave it out"
            )


def write_crate(
    console: Console, model: Model, options: EmitOptions, output: str, *, force: bool
) -> None:
    """Write a crate and report it."""
    crate = emit_crate(model, options)
    with staged_directory(output, force=force) as folder:
        for file, text in crate.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    facts = _facts(crate, output)
    fired = [step.name for step in crate.passes if step.fired]
    rows = [["wrote", file] for file in facts["files"]]
    rows += [["tables", f"{crate.table_bytes} bytes of flash"]]
    rows += [["passes", ", ".join(fired) or "none fired"]]
    console.result(facts, aligned(rows))


def _facts(crate: Crate, folder: str) -> dict[str, Any]:
    """Return the JSON object; what is known of C alone is null."""
    of_c = ("kernel", "layout", "reason", "candidates", "estimate", "resources", "bounds")
    return {
        "files": [str(Path(folder) / file) for file in crate.files],
        **dict.fromkeys(of_c),
        "passes": [asdict(step) for step in crate.passes],
        "table_bytes": crate.table_bytes,
    }
