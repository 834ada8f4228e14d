"""``bncc pack``: a model as a blob, and the C runtime that loads it."""

import click

from bncc.cli.console import Console, aligned
from bncc.cli.options import force_option, model_argument, speaks
from bncc.cli.output import check_free, staged_directory, write_file
from bncc.emit.environment import check_spdx
from bncc.model.file import load_model
from bncc.pack.blob import MAX_CLASSES, MAX_FEATURES, SEQUENCES
from bncc.pack.runtime import runtime_files
from bncc.pack.writer import Packed, pack, reading_type


@click.command("pack")
@model_argument
@click.option("-o", "--output", required=True, metavar="FILE.bin", help="Output blob.")
@click.option(
    "--sequence",
    type=click.IntRange(0, SEQUENCES - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Sequence number; of two slots the one with the later number is active.",
)
@click.option(
    "--runtime", metavar="DIR", help="Output directory for bncc_runtime.c and bncc_runtime.h."
)
@click.option(
    "--spdx", metavar="ID", help="SPDX license identifier written to the runtime [default: none]."
)
@force_option
@speaks
def command(
    console: Console,
    model_path: str,
    output: str,
    sequence: int,
    runtime: str | None,
    spdx: str | None,
    force: bool,
) -> None:
    """
    Pack MODEL into a blob that a firmware loads without being built again.

    The firmware contains the runtime that --runtime writes, the same for all models. It refuses a
    blob unless every check passes, and decides as the model, bit for bit.
    """
    check_free(output, force=force, sources=[model_path])
    if runtime is not None:
        check_free(runtime, force=force, directory=True)
    files = runtime_files(None if spdx is None else check_spdx(spdx))
    model = load_model(model_path)
    packed = pack(model, sequence)
    write_file(output, packed.content, force=force)
    written = []
    if runtime is not None:
        with staged_directory(runtime, force=force) as folder:
            for file, text in files.items():
                (folder / file).write_text(text, encoding="utf-8", newline="\n")
        written = [f"{runtime}/{file}" for file in files]
    for macro in _macros(packed):
        console.note(f"the blob needs a runtime compiled with -D{macro}")
    header, kind = packed.header, reading_type(model.features)
    facts = {
        "blob": output,
        "bytes": len(packed.content),
        "table_bytes": packed.table_bytes,
        "tables": packed.n_tables,
        "cuts": packed.n_cuts,
        "features": header.n_features,
        "classes": header.n_classes,
        "sequence": header.sequence,
        "reading_type": kind,
        "defines": _macros(packed),
        "files": written,
    }
    console.result(facts, _report(output, written, kind, packed))


def _macros(packed: Packed) -> list[str]:
    """Return the macros that a runtime needs for a model that exceeds the defaults."""
    needed = (
        ("BNCC_MAX_FEATURES", packed.header.n_features, MAX_FEATURES),
        ("BNCC_MAX_CLASSES", packed.header.n_classes, MAX_CLASSES),
    )
    return [f"{name}={n}" for name, n, default in needed if n > default]


def _report(blob: str, files: list[str], kind: str, packed: Packed) -> str:
    rows = [
        ["wrote", f"{blob}, {len(packed.content)} bytes"],
        ["tables", f"{packed.n_tables}, {packed.table_bytes} bytes with {packed.n_cuts} cuts"],
        ["sequence", str(packed.header.sequence)],
        ["readings", f"{packed.header.n_features}, {kind} is wide enough"],
        *(["wrote", file] for file in files),
    ]
    return aligned(rows)
