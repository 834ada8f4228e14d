"""The C runtime of blobs: a loader, and the kernel ``cut-packed`` with addresses from a struct."""

from collections.abc import Mapping

from bncc.discretize.float_order import float_key
from bncc.emit.environment import render, with_terms
from bncc.pack.blob import COMMIT_BYTES, ERRORS, HEADER, MAGIC, MAX_CLASSES, MAX_FEATURES, ROUNDS

FILES = ("bncc_runtime.h", "bncc_runtime.c")
"""Files of the runtime; the template of each has the same name."""


def runtime_files(spdx: str | None = None) -> Mapping[str, str]:
    """Return the files of the runtime, text by name."""
    context: Mapping[str, object] = {
        "name": "bncc",
        "NAME": "BNCC",
        "number_type": "",
        "row_bytes": 2,  # any number of bytes, from the struct
        "prior_type": "",
        "gate_cuts": 0,
        "place_type": "uint_fast16_t",
        "float_inf_key": float_key(float("inf")),
        "errors": ERRORS,
        "header_bytes": HEADER.size,
        "magic": f"0x{MAGIC:08X}U",
        "rounds": ROUNDS,
        "sequence_at": HEADER.size - 2,
        "commit_bytes": COMMIT_BYTES,
        "max_features": MAX_FEATURES,
        "max_classes": MAX_CLASSES,
    }
    return {file: with_terms(file, render(f"pack/{file}.j2", **context), spdx) for file in FILES}
